/* A remote MCP server for a client on a pair of descriptors: all of it ends with the client. */
#ifndef REMOTE_REMOTE_RUN_H
#define REMOTE_REMOTE_RUN_H

#include "remote/transfers.h"

/* Headers as remote_new takes them. Returns when the client is gone and the session has ended; an
 * exit code, or a negative error. */
int remote_run(int input, int output, const struct transfers_options *options,
	const char *const *headers, perch_err *err);

#endif

/* What a command of a plugin asks for through the socket of its calls (fledge/calls.h): one packet
 * of words, each with a NUL behind it. The first is a directory, the others are arguments for
 * perch:
 * `[--json] [--answer ANSWER]… run COMMAND …` or `plugins list --json`, and nothing else. */
#ifndef FLEDGE_CALL_REQUEST_H
#define FLEDGE_CALL_REQUEST_H

#include <stddef.h>

#include "perch/base.h"

enum { CALL_REQUEST_WORDS_MAX = 4096 };

struct call_request {
	const char *directory; /* an absolute path */
	const char **argv;     /* NULL-terminated; argv[0] is "", for the program's name */
};

/* The words stay where they are, in the packet. Fails with -EINVAL (it is no such request), -ENOMEM
 * and words. */
int call_request_read(
	const char *packet, size_t len, struct call_request *ret_request, perch_err *err);

void call_request_free(struct call_request *request);

#endif

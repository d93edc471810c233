/* `perch mcp`: what perch hosts, for an MCP client on a pair of descriptors. */
#ifndef MCP_STDIO_H
#define MCP_STDIO_H

#include "perch/host.h"

struct mcp_stdio;

/* Zero is the default of every number. */
struct mcp_stdio_options {
	int input;
	int output;
	bool without_prefix;
	size_t page_size;        /* of tools/list; 0 = all at once */
	size_t result_chars_max; /* 0 = 100,000 */
	/* A sentence for the log of the program that started us. */
	void (*warn)(void *data, const char *text);
	void *data;
};

/* Fails as perch_service_new does, and with -EEXIST where two things have one name for clients. */
int mcp_stdio_new(perch_host *host, const struct mcp_stdio_options *options,
	struct mcp_stdio **ret_stdio, perch_err *err);

/* Serves until the client is gone (its end of the input is closed, its process has ended, it does
 * not read), or until mcp_stdio_stop; then everything that runs is ended, within 1.5 s. 0, or
 * -ENOMEM. */
int mcp_stdio_run(struct mcp_stdio *stdio);

/* From the loop alone. */
void mcp_stdio_stop(struct mcp_stdio *stdio);

/* NULL is fine. */
void mcp_stdio_free(struct mcp_stdio *stdio);

#endif

/* Lines of the client. */
#ifndef MCP_INPUT_H
#define MCP_INPUT_H

#include "base/buf.h"
#include "base/str.h"
#include "perch/loop.h"

struct mcp_input;

/* The line is without its newline, and empty where it was longer than may be. Returns whether more
 * lines are wanted now. */
typedef bool mcp_line_fn(void *data, struct str line, bool is_too_long);

struct mcp_input {
	int fd;
	perch_source *source; /* NULL: a file, which is always ready */
	perch_timer *timer;   /* goes on with lines that were not wanted before */
	mcp_line_fn *take;
	void (*ended)(void *data);
	void *data;
	struct buf buf;
	size_t scanned; /* bytes without a newline */
	bool is_skipping;
	bool is_paused;
	bool has_ended;
};

int mcp_input_open(struct mcp_input *input, perch_host *host, int fd, perch_err *err);

/* Lines are wanted again. */
void mcp_input_resume(struct mcp_input *input);

/* Nothing more is wanted. */
void mcp_input_stop(struct mcp_input *input);

void mcp_input_close(struct mcp_input *input);

#endif

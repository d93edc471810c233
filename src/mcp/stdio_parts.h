/* What the parts of the transport on a pair of descriptors share. */
#ifndef MCP_STDIO_PARTS_H
#define MCP_STDIO_PARTS_H

#include "base/buf.h"
#include "base/str.h"
#include "mcp/front.h"
#include "mcp/stdio.h"
#include "perch/loop.h"

/* ---- stdio_output.c -------------------------------------------------------- */

/* Messages on their way to the client, in a descriptor that is not ours alone: it is never made
 * non-blocking, and never waited for. */

enum { MCP_OUTPUT_FULL = 4 * 1024 * 1024 }; /* bytes that the client has not read */

struct mcp_output {
	int fd;
	perch_source *source; /* NULL: a file, which is always ready */
	perch_timer *timer;
	struct buf queue;
	size_t begin; /* of what is still to be written */
	uint64_t taken;
	uint64_t written;
	uint64_t *gaps; /* before which byte the client must have read all others; ascending */
	size_t gap_count, gap_cap;
	unsigned gap_waits;
	bool has_notified; /* since the last response */
	bool no_nowait;
	int error;
};

/* 0, -ENOMEM, or as perch_source_new fails. */
int mcp_output_open(struct mcp_output *output, perch_host *host, int fd, perch_err *err);

/* The line has a '\n' behind it. A response is not in one read with a notification before it: there
 * are clients that forget the call of a progress as soon as they see its response. */
void mcp_output_take(struct mcp_output *output, struct str line, bool is_response);

static inline size_t mcp_output_waiting(const struct mcp_output *output)
{
	return output->queue.len - output->begin;
}

void mcp_output_close(struct mcp_output *output);

/* ---- stdio_input.c --------------------------------------------------------- */

/* Lines of the client. */

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

/* ---- a client -------------------------------------------------------------- */

enum { MCP_END_MS = 1400 }; /* clients kill after 2 s */

struct mcp_stdio {
	struct mcp_stdio_options options;
	perch_host *host;
	perch_service *service;
	struct mcp_front *front;
	struct mcp_caller caller;
	struct mcp_connection *connection; /* NULL: the client is gone */
	struct mcp_input input;
	struct mcp_output output;
	perch_timer *ladder; /* when the end must have come */
	perch_source *parent;
	int parent_fd;
	bool is_held; /* the client does not read: no job is read either */
	bool is_ending;
	bool is_late;
	bool has_no_memory;
};

#endif

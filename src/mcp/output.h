/* Messages on their way to the client, in a descriptor that is not ours alone: it is never made
 * non-blocking, and never waited for. */
#ifndef MCP_OUTPUT_H
#define MCP_OUTPUT_H

#include "base/buf.h"
#include "base/str.h"
#include "perch/loop.h"

enum { MCP_OUTPUT_FULL = 4 * 1024 * 1024 }; /* bytes that nobody has read */

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
 * are clients that forget whom a progress is for as soon as they see the response. */
void mcp_output_take(struct mcp_output *output, struct str line, bool is_response);

static inline size_t mcp_output_waiting(const struct mcp_output *output)
{
	return output->queue.len - output->begin;
}

void mcp_output_close(struct mcp_output *output);

#endif

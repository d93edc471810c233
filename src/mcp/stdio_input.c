/* Lines of the client: cut here, and not read while they are not wanted. The descriptor may be
 * shared with others, so it stays as it is: it is read when there is something to read. */
#include "mcp/stdio_parts.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "wire/mcp_server.h"

enum { MCP_INPUT_PIECE = 64 * 1024, MCP_INPUT_KEEP = 1024 * 1024 };

static void mcp_input_end(struct mcp_input *input)
{
	if (input->has_ended)
		return;
	mcp_input_stop(input);
	input->ended(input->data);
}

/* ---- lines ----------------------------------------------------------------- */

static bool mcp_input_tell(struct mcp_input *input, struct str line)
{
	bool was_skipping = input->is_skipping;
	input->is_skipping = false;
	if (was_skipping || line.len > MCP_LINE_MAX)
		return input->take(input->data, (struct str){ "", 0 }, true);
	return str_trim(line).len == 0 || input->take(input->data, line, false);
}

static void mcp_input_tidy(struct mcp_input *input, size_t taken)
{
	buf_consume(&input->buf, taken);
	input->scanned -= taken;
	if (!input->buf.len && input->buf.cap > MCP_INPUT_KEEP)
		buf_free(&input->buf);
	if (input->scanned <= MCP_LINE_MAX)
		return;
	input->is_skipping = true;
	input->scanned = 0;
	buf_clear(&input->buf);
}

static void mcp_input_cut(struct mcp_input *input)
{
	struct buf *buf = &input->buf;
	size_t begin = 0;
	while (!input->is_paused && !input->has_ended && input->scanned < buf->len) {
		const char *from = buf->data + input->scanned;
		const char *end = memchr(from, '\n', buf->len - input->scanned);
		if (!end) {
			input->scanned = buf->len;
			break;
		}
		const struct str line = { buf->data + begin, (size_t)(end - buf->data) - begin };
		begin += line.len + 1;
		input->scanned = begin;
		input->is_paused = !mcp_input_tell(input, line);
	}
	if (begin || input->scanned)
		mcp_input_tidy(input, begin);
}

/* ---- reading --------------------------------------------------------------- */

static void mcp_input_watch(struct mcp_input *input)
{
	bool wants_more = !input->is_paused && !input->has_ended;
	if (!input->source)
		perch_timer_set(input->timer, wants_more ? 0 : UINT64_MAX);
	else if (perch_source_watch(input->source, wants_more ? PERCH_READABLE : 0) < 0)
		mcp_input_end(input);
}

static void mcp_input_read(struct mcp_input *input)
{
	struct buf *buf = &input->buf;
	if (buf_reserve(buf, MCP_INPUT_PIECE) < 0) {
		mcp_input_end(input);
		return;
	}
	ssize_t n = read(input->fd, buf->data + buf->len, MCP_INPUT_PIECE);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) { /* what has no newline was not sent to its end */
		mcp_input_end(input);
		return;
	}
	buf->len += (size_t)n;
	mcp_input_cut(input);
}

static void mcp_input_ready(perch_source *source, void *data, unsigned events)
{
	(void)source;
	(void)events;
	struct mcp_input *input = data;
	mcp_input_read(input);
	mcp_input_watch(input);
}

static void mcp_input_due(perch_timer *timer, void *data)
{
	(void)timer;
	struct mcp_input *input = data;
	if (input->scanned < input->buf.len)
		mcp_input_cut(input);
	else if (!input->source && !input->is_paused)
		mcp_input_read(input);
	mcp_input_watch(input);
}

void mcp_input_resume(struct mcp_input *input)
{
	if (!input->is_paused || input->has_ended)
		return;
	input->is_paused = false;
	perch_timer_set(input->timer, 0);
}

int mcp_input_open(struct mcp_input *input, perch_host *host, int fd, perch_err *err)
{
	input->fd = fd;
	int r = perch_timer_new(host, mcp_input_due, input, &input->timer, err);
	if (r < 0)
		return r;
	r = perch_source_new(host, fd, PERCH_READABLE, mcp_input_ready, input, &input->source, err);
	if (r != -EPERM)
		return r;
	perch_timer_set(input->timer, 0);
	return 0;
}

void mcp_input_stop(struct mcp_input *input)
{
	input->has_ended = true;
	if (input->source)
		perch_source_watch(input->source, 0);
	if (input->timer)
		perch_timer_set(input->timer, UINT64_MAX);
}

void mcp_input_close(struct mcp_input *input)
{
	perch_source_free(input->source);
	perch_timer_free(input->timer);
	buf_free(&input->buf);
}

/* Lines of the client: cut here, and not read while they are not wanted. The descriptor may be
 * shared with others, so it stays as it is: it is read when there is something to read. */
#include "stdio/client.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { STDIO_INPUT_PIECE = 64 * 1024, STDIO_INPUT_KEEP = 1024 * 1024 };

static void stdio_input_end(struct stdio_input *input)
{
	if (input->has_ended)
		return;
	stdio_input_stop(input);
	input->ended(input->data);
}

/* ---- lines ----------------------------------------------------------------- */

static bool stdio_input_tell(struct stdio_input *input, struct str line)
{
	bool was_skipping = input->is_skipping;
	input->is_skipping = false;
	if (was_skipping || line.len > input->line_max)
		return input->take(input->data, (struct str){ "", 0 }, true);
	return str_trim(line).len == 0 || input->take(input->data, line, false);
}

static void stdio_input_tidy(struct stdio_input *input, size_t taken)
{
	buf_consume(&input->buf, taken);
	input->scanned -= taken;
	if (!input->buf.len && input->buf.cap > STDIO_INPUT_KEEP)
		buf_free(&input->buf);
	if (input->scanned <= input->line_max)
		return;
	input->is_skipping = true;
	input->scanned = 0;
	buf_clear(&input->buf);
}

static void stdio_input_cut(struct stdio_input *input)
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
		input->is_paused = !stdio_input_tell(input, line);
	}
	if (begin || input->scanned)
		stdio_input_tidy(input, begin);
}

/* ---- reading --------------------------------------------------------------- */

static void stdio_input_watch(struct stdio_input *input)
{
	bool wants_more = !input->is_paused && !input->has_ended;
	if (!input->source)
		perch_timer_set(input->timer, wants_more ? 0 : UINT64_MAX);
	else if (perch_source_watch(input->source, wants_more ? PERCH_READABLE : 0) < 0)
		stdio_input_end(input);
}

static void stdio_input_read(struct stdio_input *input)
{
	struct buf *buf = &input->buf;
	if (buf_reserve(buf, STDIO_INPUT_PIECE) < 0) {
		stdio_input_end(input);
		return;
	}
	ssize_t n = read(input->fd, buf->data + buf->len, STDIO_INPUT_PIECE);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) { /* what has no newline was not sent to its end */
		stdio_input_end(input);
		return;
	}
	buf->len += (size_t)n;
	stdio_input_cut(input);
}

static void stdio_input_ready(perch_source *source, void *data, unsigned events)
{
	(void)source;
	(void)events;
	struct stdio_input *input = data;
	stdio_input_read(input);
	stdio_input_watch(input);
}

static void stdio_input_due(perch_timer *timer, void *data)
{
	(void)timer;
	struct stdio_input *input = data;
	if (input->scanned < input->buf.len)
		stdio_input_cut(input);
	else if (!input->source && !input->is_paused)
		stdio_input_read(input);
	stdio_input_watch(input);
}

void stdio_input_resume(struct stdio_input *input)
{
	if (!input->is_paused || input->has_ended)
		return;
	input->is_paused = false;
	perch_timer_set(input->timer, 0);
}

int stdio_input_open(struct stdio_input *input, perch_host *host, int fd, perch_err *err)
{
	input->fd = fd;
	int r = perch_timer_new(host, stdio_input_due, input, &input->timer, err);
	if (r < 0)
		return r;
	r = perch_source_new(host, fd, PERCH_READABLE, stdio_input_ready, input, &input->source, err);
	if (r != -EPERM)
		return r;
	perch_timer_set(input->timer, 0);
	return 0;
}

void stdio_input_stop(struct stdio_input *input)
{
	input->has_ended = true;
	if (input->source)
		perch_source_watch(input->source, 0);
	if (input->timer)
		perch_timer_set(input->timer, UINT64_MAX);
}

void stdio_input_close(struct stdio_input *input)
{
	perch_source_free(input->source);
	perch_timer_free(input->timer);
	buf_free(&input->buf);
}

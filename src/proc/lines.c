/* Cuts a stream of bytes into lines. */
#include "proc/lines.h"

#include <string.h>

/* A buffer that once held a huge line must not stay that large for ever. */
enum { LINES_KEEP = 64 * 1024 };

void lines_init(struct lines *lines, size_t limit, line_fn *take, void *data)
{
	*lines = (struct lines){ .take = take, .data = data, .limit = limit };
}

void lines_free(struct lines *lines)
{
	buf_free(&lines->partial);
	buf_free(&lines->held);
}

/* Drops the content; the memory too, when it is more than is worth keeping. */
static void lines_empty(struct buf *buf)
{
	if (buf->cap > LINES_KEEP)
		buf_free(buf);
	else
		buf_clear(buf);
}

/* Hands out text[0..len), text[len] being writable. */
static void lines_hand_out(struct lines *lines, char *text, size_t len, unsigned flags)
{
	if (!(flags & PERCH_LINE_TOO_LONG) && len && text[len - 1] == '\r')
		len--;
	text[len] = '\0';
	perch_line line = {
		.data = text,
		.len = len,
		.number = ++lines->number,
		.flags = flags,
	};
	lines->stopped = !lines->take(lines->data, &line);
}

/* A line may end in a '\r' that does not count: at most one byte more. */
static bool lines_is_too_long(const struct lines *lines, const char *text, size_t len)
{
	if (len <= lines->limit)
		return false;
	return len > lines->limit + 1 || text[len - 1] != '\r';
}

/* The limit is crossed: report what there is of the line, skip the rest. */
static int lines_report_too_long(struct lines *lines, const char *text, size_t len)
{
	size_t room = lines->limit > lines->partial.len ? lines->limit - lines->partial.len : 0;
	size_t more = len < room ? len : room;
	buf_append(&lines->partial, text, more);
	int r = buf_terminate(&lines->partial);
	if (r < 0)
		return r;
	size_t head = lines->partial.len < lines->limit ? lines->partial.len : lines->limit;
	lines->skipped += lines->partial.len - head + len - more;
	lines_hand_out(lines, lines->partial.data, head, PERCH_LINE_TOO_LONG);
	lines_empty(&lines->partial);
	return 0;
}

/* The rest of a line whose start is in `partial`: text[0..len), complete. */
static int lines_complete_partial(struct lines *lines, const char *text, size_t len)
{
	buf_append(&lines->partial, text, len);
	int r = buf_terminate(&lines->partial);
	if (r < 0)
		return r;
	lines_hand_out(lines, lines->partial.data, lines->partial.len, 0);
	lines_empty(&lines->partial);
	return 0;
}

/* Would partial + text[0..len) be too long? */
static bool lines_joined_is_too_long(const struct lines *lines, const char *text, size_t len)
{
	size_t total = lines->partial.len + len;
	if (len)
		return total > lines->limit && (total > lines->limit + 1 || text[len - 1] != '\r');
	return lines_is_too_long(lines, lines->partial.data, total);
}

/* One line that ends here: text[0..len) without its newline. */
static int lines_end_line(struct lines *lines, char *text, size_t len)
{
	if (lines->skipping) {
		lines->skipping = false;
		lines->skipped += len;
		return 0;
	}
	if (lines_joined_is_too_long(lines, text, len))
		return lines_report_too_long(lines, text, len);
	if (lines->partial.len)
		return lines_complete_partial(lines, text, len);
	lines_hand_out(lines, text, len, 0);
	return 0;
}

/* The start (or the middle) of a line whose end has not come yet. */
static int lines_keep_start(struct lines *lines, const char *text, size_t len)
{
	if (lines->skipping)
		lines->skipped += len;
	if (lines->skipping || len == 0)
		return 0;
	if (!lines_joined_is_too_long(lines, text, len))
		return buf_append(&lines->partial, text, len);
	lines->skipping = true;
	return lines_report_too_long(lines, text, len);
}

/* Hands out lines until the bytes are used up or the taker refuses more. Writes how far it came. */
static int lines_scan(struct lines *lines, char *data, size_t len, size_t *ret_used)
{
	size_t from = 0;
	int r = 0;
	while (r == 0 && from < len && !lines->stopped) {
		char *newline = memchr(data + from, '\n', len - from);
		size_t end = newline ? (size_t)(newline - data) : len;
		r = newline ? lines_end_line(lines, data + from, end - from)
					: lines_keep_start(lines, data + from, end - from);
		from = newline ? end + 1 : len;
	}
	*ret_used = from;
	return r;
}

int lines_feed(struct lines *lines, char *data, size_t len)
{
	size_t used = 0;
	int r = lines->stopped ? 0 : lines_scan(lines, data, len, &used);
	if (r < 0 || used == len)
		return r;
	r = buf_append(&lines->held, data + used, len - used);
	return r < 0 ? r : buf_terminate(&lines->held);
}

int lines_resume(struct lines *lines)
{
	size_t used;
	lines->stopped = false;
	if (!lines_are_held(lines))
		return 0;
	int r = lines_scan(
		lines, lines->held.data + lines->held_from, lines->held.len - lines->held_from, &used);
	lines->held_from += used;
	if (!lines_are_held(lines)) {
		lines_empty(&lines->held);
		lines->held_from = 0;
	}
	return r;
}

int lines_finish(struct lines *lines)
{
	if (lines->skipping || !lines->partial.len)
		return 0;
	int r = buf_terminate(&lines->partial);
	if (r == 0)
		lines_hand_out(lines, lines->partial.data, lines->partial.len, PERCH_LINE_UNTERMINATED);
	lines_empty(&lines->partial);
	return r;
}

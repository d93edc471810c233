/* Reading server-sent events. */
#include "remote/sse.h"

#include <errno.h>

/* A wish for more than this is none: an hour. */
enum { SSE_RETRY_MOST_MS = 3600 * 1000 };

static void sse_take_retry(struct sse_reader *reader, struct str value)
{
	uint64_t number = 0;
	for (size_t i = 0; i < value.len; i++) {
		if (value.data[i] < '0' || value.data[i] > '9' || number > SSE_RETRY_MOST_MS)
			return;
		number = number * 10 + (uint64_t)(value.data[i] - '0');
	}
	if (!value.len || number > SSE_RETRY_MOST_MS)
		return;
	reader->retry_ms = number;
	reader->has_retry = true;
}

static int sse_take_field(struct sse_reader *reader, struct str name, struct str value)
{
	if (str_is(name, "data")) {
		if (reader->data.len + value.len + 1 > reader->limit)
			return PERCH_ELIMIT;
		buf_append(&reader->data, value.data, value.len);
		return buf_append_char(&reader->data, '\n');
	}
	if (str_is(name, "id") && (!value.len || !memchr(value.data, '\0', value.len))) {
		buf_clear(&reader->id);
		return buf_append(&reader->id, value.data, value.len);
	}
	if (str_is(name, "retry"))
		sse_take_retry(reader, value);
	return 0;
}

/* A blank line ends an event; one without data is none. */
static int sse_take_line(struct sse_reader *reader, struct str line, sse_event_fn *take, void *data)
{
	if (!line.len) {
		if (reader->data.len > 1)
			take(data, (struct str){ reader->data.data, reader->data.len - 1 });
		buf_clear(&reader->data);
		return 0;
	}
	struct str value = line;
	struct str name = str_cut(&value, ':');
	if (value.len && value.data[0] == ' ')
		value = (struct str){ value.data + 1, value.len - 1 };
	return sse_take_field(reader, name, value);
}

/* The end of a line has come. */
static int sse_end_line(struct sse_reader *reader, struct str rest, sse_event_fn *take, void *data)
{
	static const char mark[] = "\xEF\xBB\xBF"; /* that some write before the first line */
	struct str line = rest;
	if (reader->line.len) {
		if (buf_append(&reader->line, rest.data, rest.len) < 0)
			return -ENOMEM;
		line = (struct str){ reader->line.data, reader->line.len };
	}
	if (!reader->has_begun && str_has_prefix(line, STR(mark)))
		line = (struct str){ line.data + 3, line.len - 3 };
	reader->has_begun = true;
	int r = sse_take_line(reader, line, take, data);
	buf_clear(&reader->line);
	return r;
}

static size_t sse_find_end(struct str bytes)
{
	size_t len = 0;
	while (len < bytes.len && bytes.data[len] != '\n' && bytes.data[len] != '\r')
		len++;
	return len;
}

int sse_feed(struct sse_reader *reader, struct str bytes, sse_event_fn *take, void *data)
{
	while (bytes.len) {
		size_t len = sse_find_end(bytes);
		if (reader->was_cr && !len && bytes.data[0] == '\n') {
			reader->was_cr = false;
			bytes = (struct str){ bytes.data + 1, bytes.len - 1 };
			continue;
		}
		reader->was_cr = false;
		if (reader->line.len + len > reader->limit)
			return PERCH_ELIMIT;
		if (len == bytes.len)
			return buf_append(&reader->line, bytes.data, len);
		int r = sse_end_line(reader, (struct str){ bytes.data, len }, take, data);
		if (r < 0)
			return r;
		reader->was_cr = bytes.data[len] == '\r';
		bytes = (struct str){ bytes.data + len + 1, bytes.len - len - 1 };
	}
	return 0;
}

void sse_free(struct sse_reader *reader)
{
	buf_free(&reader->line);
	buf_free(&reader->data);
	buf_free(&reader->id);
}

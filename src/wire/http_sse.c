/* Writing server-sent events. */
#include "wire/http_sse.h"

#include <errno.h>

static bool sse_is_line(struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] == '\n' || text.data[i] == '\r' || text.data[i] == '\0')
			return false;
	return true;
}

static void sse_line(struct buf *out, const char *name, struct str text)
{
	buf_append_text(out, name);
	buf_append(out, text.data, text.len);
	buf_append_char(out, '\n');
}

/* Cuts the first line off *rest, with its line end. Returns whether there is another. */
static bool sse_cut_line(struct str *rest, struct str *ret_line)
{
	size_t len = 0;
	while (len < rest->len && rest->data[len] != '\n' && rest->data[len] != '\r')
		len++;
	*ret_line = (struct str){ rest->data, len };
	if (len == rest->len)
		return false;
	bool is_pair = rest->data[len] == '\r' && len + 1 < rest->len && rest->data[len + 1] == '\n';
	size_t end = len + (is_pair ? 2 : 1);
	*rest = (struct str){ rest->data + end, rest->len - end };
	return true;
}

/* All of it or nothing. */
static int sse_finish(struct buf *out, size_t before)
{
	if (!out->failed)
		return 0;
	out->len = before;
	return -ENOMEM;
}

int http_sse_event(struct buf *out, struct str id, struct str event, struct str data)
{
	size_t before = out->len;
	if (!sse_is_line(id) || !sse_is_line(event))
		return -EINVAL;
	if (id.len)
		sse_line(out, "id: ", id);
	if (event.len)
		sse_line(out, "event: ", event);
	struct str line;
	bool has_more = true;
	while (has_more) {
		has_more = sse_cut_line(&data, &line);
		sse_line(out, "data: ", line);
	}
	buf_append_char(out, '\n');
	return sse_finish(out, before);
}

int http_sse_comment(struct buf *out, struct str text)
{
	size_t before = out->len;
	buf_append_text(out, ": ");
	for (size_t i = 0; i < text.len; i++)
		buf_append_char(out, sse_is_line((struct str){ text.data + i, 1 }) ? text.data[i] : ' ');
	buf_append_text(out, "\n\n");
	return sse_finish(out, before);
}

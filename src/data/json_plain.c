/* JSON as people write it in settings, without what JSON does not have: comments, and commas behind
 * the last member. Every other byte keeps its place, so that an error has the right one. */
#include "data/json_plain.h"

#include <errno.h>

/* The end of a comment that begins here; `at` = none does. */
static size_t json_plain_comment(struct str text, size_t at)
{
	if (at + 1 >= text.len || text.data[at] != '/')
		return at;
	if (text.data[at + 1] == '/') {
		while (at < text.len && text.data[at] != '\n')
			at++;
	} else if (text.data[at + 1] == '*') {
		size_t end = at + 2;
		while (end + 1 < text.len && !(text.data[end] == '*' && text.data[end + 1] == '/'))
			end++;
		at = end + 2 < text.len ? end + 2 : text.len;
	}
	return at;
}

static size_t json_plain_string(struct str text, size_t at)
{
	for (at++; at < text.len && text.data[at] != '"'; at++)
		at += text.data[at] == '\\';
	return at + 1 < text.len ? at + 1 : text.len;
}

static void json_plain_blank(struct buf *out, struct str text, size_t from, size_t to)
{
	for (; from < to; from++)
		buf_append_char(out, text.data[from] == '\n' ? '\n' : ' ');
}

int json_plain(struct str text, struct buf *out)
{
	size_t comma = 0; /* 1 + the place of a comma behind which nothing came yet */
	for (size_t at = 0; at < text.len && !out->failed;) {
		size_t end = json_plain_comment(text, at);
		char c = text.data[at];
		if (end > at) {
			json_plain_blank(out, text, at, end);
			at = end;
			continue;
		}
		if ((c == ']' || c == '}') && comma)
			out->data[comma - 1] = ' ';
		if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
			comma = c == ',' ? out->len + 1 : 0;
		end = c == '"' ? json_plain_string(text, at) : at + 1;
		buf_append(out, text.data + at, end - at);
		at = end;
	}
	return out->failed ? -ENOMEM : 0;
}

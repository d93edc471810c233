/* Taking paths and queries apart. */
#include "wire/http_url.h"

#include <errno.h>
#include <limits.h>

#include "base/utf8.h"
#include "wire/http_text.h"

/* Decodes one character at the start of *text and moves on. NUL when it is none. */
static char url_take(struct str *text, enum http_decoding decoding)
{
	char c = text->data[0];
	size_t len = 1;
	if (c == '+' && decoding == HTTP_DECODE_QUERY) {
		c = ' ';
	} else if (c == '%') {
		int high = text->len < 3 ? -1 : http_hex_value(text->data[1]);
		int low = text->len < 3 ? -1 : http_hex_value(text->data[2]);
		if (high < 0 || low < 0)
			return '\0';
		c = (char)(high << 4 | low);
		len = 3;
	}
	text->data += len;
	text->len -= len;
	return c;
}

int http_url_decode(struct str text, enum http_decoding decoding, char *out, size_t size)
{
	size_t len = 0;
	while (text.len) {
		char c = url_take(&text, decoding);
		if (!c)
			return PERCH_ESYNTAX;
		if (len + 1 >= size || len == INT_MAX)
			return PERCH_ELIMIT;
		out[len++] = c;
	}
	if (size == 0)
		return PERCH_ELIMIT;
	if (!utf8_is_valid(out, len))
		return PERCH_ESYNTAX;
	out[len] = '\0';
	return (int)len;
}

/* Whether a text reads so when it is decoded. */
static bool url_reads(struct str text, enum http_decoding decoding, struct str wanted)
{
	while (text.len && wanted.len) {
		char c = url_take(&text, decoding);
		if (!c || c != wanted.data[0])
			return false;
		wanted.data++;
		wanted.len--;
	}
	return text.len == 0 && wanted.len == 0;
}

bool http_query_next(struct str *query, struct str *ret_name, struct str *ret_value)
{
	while (query->len) {
		struct str parameter = str_cut(query, '&');
		if (parameter.len == 0)
			continue;
		*ret_name = str_cut(&parameter, '=');
		*ret_value = parameter;
		return true;
	}
	return false;
}

int http_query_get(struct str query, const char *name, char *out, size_t size)
{
	struct str each, value, found = { 0 };
	size_t count = 0;
	while (http_query_next(&query, &each, &value)) {
		if (!url_reads(each, HTTP_DECODE_QUERY, str_from(name)))
			continue;
		found = value;
		count++;
	}
	if (count != 1)
		return count ? -EEXIST : -ENOENT;
	return http_url_decode(found, HTTP_DECODE_QUERY, out, size);
}

static bool url_is_walk(struct str segment)
{
	return segment.len == 0 || url_reads(segment, HTTP_DECODE_PATH, STR(".")) ||
		url_reads(segment, HTTP_DECODE_PATH, STR(".."));
}

int http_path_split(struct str path, struct http_segments *ret_segments)
{
	struct http_segments segments = { .count = 0 };
	if (path.len == 0 || path.data[0] != '/')
		return PERCH_ESYNTAX;
	struct str rest = { path.data + 1, path.len - 1 };
	bool has_more = path.len > 1;
	while (has_more) {
		has_more = memchr(rest.data, '/', rest.len) != NULL;
		struct str segment = str_cut(&rest, '/');
		if (url_is_walk(segment))
			return PERCH_ESYNTAX;
		if (segments.count == HTTP_SEGMENTS_MAX)
			return PERCH_ELIMIT;
		segments.items[segments.count++] = segment;
	}
	*ret_segments = segments;
	return 0;
}

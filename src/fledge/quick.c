/* The two messages that come in floods. A program that prints a million lines
 * sends a million `output` messages of one shape, and one that keeps much in its
 * store asks for it value by value; seeing that shape costs a quarter of reading
 * it as JSON. tests/unit/fledge_engine.c compares both ways. */
#include "fledge/fledge_engine_parts.h"

#include "base/macros.h"
#include "base/str.h"
#include "data/json_scan.h"

/* As the usual writers of JSON put it: compact, and with blanks. */
static const struct str output_heads[] = {
	{ "{\"type\":\"output\",\"text\":\"", 25 },
	{ "{\"type\": \"output\", \"text\": \"", 28 },
};
static const struct str tail = { "\"}", 2 };

static const struct {
	struct str head;
	struct str middle;
} load_shapes[] = {
	{ { "{\"type\":\"load\",\"id\":\"", 21 }, { "\",\"key\":\"", 9 } },
	{ { "{\"type\": \"load\", \"id\": \"", 24 }, { "\", \"key\": \"", 11 } },
};

/* What a backslash and this character stand for; 0 = not one of the simple ones. */
static char quick_unescape(char c)
{
	switch (c) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'r':
		return '\r';
	case 'b':
		return '\b';
	case 'f':
		return '\f';
	case '"':
	case '\\':
	case '/':
		return c;
	default:
		return 0;
	}
}

/* The length of the head that the line begins with; 0 = none. */
static size_t quick_head_of(struct str line)
{
	for (size_t i = 0; i < COUNT(output_heads); i++) {
		if (str_has_prefix(line, output_heads[i]))
			return output_heads[i].len;
	}
	return 0;
}

/* Copies from at to end with escapes taken out. NULL when something stands
 * there that is not simple, else the end of the copy. */
static char *quick_copy_simple(const char *at, const char *end, char *to)
{
	for (;;) {
		const char *stop = json_copy_ascii(at, end, to);
		to += stop - at;
		if (stop == end)
			return to;
		char plain = '\0';
		if (*stop == '\\' && end - stop > 1)
			plain = quick_unescape(stop[1]);
		if (!plain)
			return NULL;
		*to++ = plain;
		at = stop + 2;
	}
}

/* Nearly every text ends in an escaped newline and has no other: without it
 * the copy is one run of plain blocks. */
static bool quick_ends_in_newline(const char *at, const char *end)
{
	return end - at >= 3 && end[-1] == 'n' && end[-2] == '\\' && end[-3] != '\\';
}

bool quick_output(const char *line, size_t len, struct buf *text)
{
	size_t head = quick_head_of((struct str){ line, len });
	if (!head || len < head + tail.len || memcmp(line + len - tail.len, tail.data, tail.len) != 0)
		return false;
	buf_clear(text);
	if (buf_reserve(text, len) < 0)
		return false;
	const char *at = line + head;
	const char *end = line + len - tail.len;
	bool has_newline = quick_ends_in_newline(at, end);
	char *to = quick_copy_simple(at, has_newline ? end - 2 : end, text->data);
	if (!to)
		return false;
	if (has_newline)
		*to++ = '\n';
	text->len = (size_t)(to - text->data);
	return true;
}

/* Takes what stands before the next quote from the line; false when that is not
 * plain ASCII, and when there is no quote. */
static bool quick_take_plain(struct str *line, struct str *ret_text)
{
	size_t n = 0;
	while (n < line->len && json_plain_ascii[(unsigned char)line->data[n]])
		n++;
	if (n == line->len || line->data[n] != '"')
		return false;
	*ret_text = (struct str){ line->data, n };
	*line = (struct str){ line->data + n, line->len - n };
	return true;
}

static bool quick_take_word(struct str *line, struct str word)
{
	if (!str_has_prefix(*line, word))
		return false;
	*line = (struct str){ line->data + word.len, line->len - word.len };
	return true;
}

bool quick_load(const char *line, size_t len, struct str *ret_id, struct str *ret_key)
{
	struct str rest = { line, len };
	size_t i = 0;
	while (i < COUNT(load_shapes) && !quick_take_word(&rest, load_shapes[i].head))
		i++;
	struct str id;
	struct str key;
	if (i == COUNT(load_shapes) || !quick_take_plain(&rest, &id) ||
		!quick_take_word(&rest, load_shapes[i].middle) || !quick_take_plain(&rest, &key) ||
		!str_eq(rest, tail))
		return false;
	*ret_id = (struct str){ id.data - 1, id.len + 2 };
	*ret_key = key;
	return true;
}

/* Where the reader is, what it says when something is wrong, and what stands
 * between values: blanks, comments, line ends. */
#include "data/toml_reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/err.h"
#include "base/utf8.h"

/* Counts on from the last place asked for: places are asked for in the order
 * of the text, so all of them together cost one pass over it. */
struct toml_place toml_here(struct toml_reader *r)
{
	for (; r->mark < r->at; r->mark++) {
		unsigned char byte = (unsigned char)r->text.data[r->mark];
		if (byte == '\n') {
			r->mark_place.line++;
			r->mark_place.column = 1;
		} else if ((byte & 0xC0) != 0x80) {
			r->mark_place.column++;
		}
	}
	return r->mark_place;
}

int toml_fail(struct toml_reader *r, struct toml_place at, const char *format, ...)
{
	char text[PERCH_ERR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return err_set_at(r->err, PERCH_ESYNTAX, at.line, at.column, "%s", text);
}

int toml_limit(struct toml_reader *r, const char *what, size_t limit)
{
	struct toml_place at = toml_here(r);
	return err_set_at(
		r->err, PERCH_ELIMIT, at.line, at.column, "%s (the limit is %zu)", what, limit);
}

/* Control characters and those without a width are named, not printed: the text may come from a
 * stranger and goes to a terminal. */
static bool toml_reader_is_printable(uint32_t character)
{
	return utf8_character_width(character) > 0;
}

const char *toml_quote(struct str key, char out[TOML_QUOTE_MAX])
{
	enum { LONGEST_PIECE = 10, TAIL = 5 }; /* "\U0010FFFF"; "…`" and the NUL */
	size_t used = 0;
	size_t at = 0;
	out[used++] = '`';
	while (at < key.len && used + LONGEST_PIECE + TAIL < TOML_QUOTE_MAX) {
		uint32_t character;
		size_t length = utf8_decode(key.data + at, key.len - at, &character);
		if (toml_reader_is_printable(character))
			used += utf8_encode(character, out + used);
		else
			used += (size_t)snprintf(out + used, LONGEST_PIECE + 1,
				character < 0x10000 ? "\\u%04X" : "\\U%08X", (unsigned)character);
		at += length;
	}
	snprintf(out + used, TOML_QUOTE_MAX - used, "%s`", at < key.len ? "…" : "");
	return out;
}

bool toml_is_bare(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
		c == '-';
}

struct str toml_word(struct toml_reader *r)
{
	size_t start = r->at;
	while (toml_is_bare(toml_peek(r)) || toml_peek(r) == '.' || toml_peek(r) == '+')
		r->at++;
	return (struct str){ r->text.data + start, r->at - start };
}

int toml_expected(struct toml_reader *r, const char *what)
{
	struct toml_place at = toml_here(r);
	if (r->at >= r->text.len)
		return toml_fail(r, at, "expected %s, found the end of the file", what);
	const char *here = r->text.data + r->at;
	size_t left = r->text.len - r->at;
	if (*here == '\n' || (left > 1 && memcmp(here, "\r\n", 2) == 0))
		return toml_fail(r, at, "expected %s, found the end of the line", what);
	struct str found = toml_word(r);
	uint32_t character;
	if (found.len == 0)
		found = (struct str){ here, utf8_decode(here, left, &character) };
	char quoted[TOML_QUOTE_MAX];
	return toml_fail(r, at, "expected %s, found %s", what, toml_quote(found, quoted));
}

bool toml_take(struct toml_reader *r, char c)
{
	bool is_there = toml_peek(r) == (unsigned char)c;
	r->at += is_there;
	return is_there;
}

bool toml_take_newline(struct toml_reader *r)
{
	if (toml_take(r, '\n'))
		return true;
	bool is_crlf = r->text.len - r->at >= 2 && memcmp(r->text.data + r->at, "\r\n", 2) == 0;
	r->at += is_crlf ? 2 : 0;
	return is_crlf;
}

void toml_skip_blanks(struct toml_reader *r)
{
	while (toml_peek(r) == ' ' || toml_peek(r) == '\t')
		r->at++;
}

static int toml_reader_skip_comment(struct toml_reader *r)
{
	if (!toml_take(r, '#'))
		return 0;
	for (int c; (c = toml_peek(r)) != TOML_END; r->at++) {
		bool is_control = (c < 0x20 && c != '\t') || c == 0x7F;
		if (is_control)
			break;
	}
	size_t end = r->at;
	if (end == r->text.len || toml_take_newline(r)) {
		r->at = end;
		return 0;
	}
	return toml_expected(r, "a comment without control characters");
}

int toml_skip_blank_lines(struct toml_reader *r)
{
	do {
		toml_skip_blanks(r);
		int result = toml_reader_skip_comment(r);
		if (result < 0)
			return result;
	} while (toml_take_newline(r));
	return 0;
}

int toml_end_line(struct toml_reader *r)
{
	toml_skip_blanks(r);
	int result = toml_reader_skip_comment(r);
	if (result < 0)
		return result;
	if (r->at == r->text.len || toml_take_newline(r))
		return 0;
	return toml_expected(r, "the end of the line");
}

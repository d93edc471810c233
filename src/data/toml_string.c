/* Strings and keys. A string is read once, piece by piece, into the reader's
 * scratch buffer, and then copied to where it stays. */
#include "base/macros.h"
#include "data/toml_reader.h"

#include "base/err.h"
#include "base/utf8.h"

struct quoting {
	char quote;
	bool is_multiline;
	struct toml_place opened;
};

static const struct {
	char letter;
	char meaning;
} short_escapes[] = {
	{ 'b', '\b' },
	{ 't', '\t' },
	{ 'n', '\n' },
	{ 'f', '\f' },
	{ 'r', '\r' },
	{ '"', '"' },
	{ '\\', '\\' },
};

static int toml_string_hex_value(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Behind \u or \U. */
static int toml_string_read_code_point(struct toml_reader *r, unsigned digits)
{
	struct toml_place at = toml_here(r);
	uint32_t character = 0;
	for (unsigned i = 0; i < digits; i++, r->at++) {
		int value = toml_string_hex_value(toml_peek(r));
		if (value < 0)
			return toml_expected(r,
				digits == 4 ? "four hexadecimal digits behind \\u"
							: "eight hexadecimal digits behind \\U");
		character = character << 4 | (uint32_t)value;
	}
	bool is_surrogate = character >= 0xD800 && character <= 0xDFFF;
	if (is_surrogate || character > 0x10FFFF)
		return toml_fail(r, at, "U+%04X is not a character", (unsigned)character);
	char bytes[UTF8_MAX];
	buf_append(&r->scratch, bytes, utf8_encode(character, bytes));
	return 0;
}

/* A backslash at the end of a line takes the line end and all blanks and line
 * ends behind it away. */
static bool toml_string_skip_line_continuation(struct toml_reader *r)
{
	size_t start = r->at;
	toml_skip_blanks(r);
	if (!toml_take_newline(r)) {
		r->at = start;
		return false;
	}
	do
		toml_skip_blanks(r);
	while (toml_take_newline(r));
	return true;
}

static int toml_string_read_escape(struct toml_reader *r, const struct quoting *quoting)
{
	r->at++;
	if (quoting->is_multiline && toml_string_skip_line_continuation(r))
		return 0;
	int letter = toml_peek(r);
	for (size_t i = 0; i < COUNT(short_escapes); i++) {
		if (short_escapes[i].letter == letter) {
			r->at++;
			return buf_append_char(&r->scratch, short_escapes[i].meaning);
		}
	}
	if (letter != 'u' && letter != 'U')
		return toml_expected(r, "one of b t n f r u U \" \\ behind the backslash");
	r->at++;
	return toml_string_read_code_point(r, letter == 'u' ? 4 : 8);
}

/* Copies what stands for itself; stops at a quote, a backslash or a control
 * character. */
static void toml_string_copy_plain(struct toml_reader *r, const struct quoting *quoting)
{
	size_t start = r->at;
	int c;
	while ((c = toml_peek(r)) != TOML_END) {
		bool is_control = (c < 0x20 && c != '\t') || c == 0x7F;
		if (is_control || c == quoting->quote || (c == '\\' && quoting->quote == '"'))
			break;
		r->at++;
	}
	buf_append(&r->scratch, r->text.data + start, r->at - start);
}

/* At a quote. Up to two quotes may stand right before the three that close a
 * multi-line string. */
static bool toml_string_take_closing(struct toml_reader *r, const struct quoting *quoting)
{
	if (!quoting->is_multiline)
		return toml_take(r, quoting->quote);
	enum { CLOSING = 3, LONGEST_RUN = 5 };
	size_t run = 0;
	while (run < LONGEST_RUN && toml_take(r, quoting->quote))
		run++;
	bool closes = run >= CLOSING;
	for (size_t inside = closes ? run - CLOSING : run; inside; inside--)
		buf_append_char(&r->scratch, quoting->quote);
	return closes;
}

static int toml_string_not_closed(struct toml_reader *r, const struct quoting *quoting)
{
	size_t start = r->at;
	bool is_end = start == r->text.len || toml_take_newline(r);
	r->at = start;
	if (!is_end)
		return toml_expected(r, "a string without control characters (write them as \\u00XX)");
	const char *what = start == r->text.len ? "file" : "line";
	return toml_fail(r, toml_here(r),
		"expected %s to close the string opened in line %u, column %u, found the end of the %s",
		quoting->quote == '"' ? (quoting->is_multiline ? "\"\"\"" : "\"")
							  : (quoting->is_multiline ? "'''" : "'"),
		quoting->opened.line, quoting->opened.column, what);
}

static int toml_string_read_body(struct toml_reader *r, const struct quoting *quoting)
{
	for (;;) {
		toml_string_copy_plain(r, quoting);
		int c = toml_peek(r);
		size_t start = r->at;
		int result = 0;
		if (c == quoting->quote) {
			if (toml_string_take_closing(r, quoting))
				return 0;
		} else if (c == '\\') {
			result = toml_string_read_escape(r, quoting);
		} else if (quoting->is_multiline && toml_take_newline(r)) {
			buf_append(&r->scratch, r->text.data + start, r->at - start);
		} else {
			result = toml_string_not_closed(r, quoting);
		}
		if (result < 0)
			return result;
	}
}

static bool toml_string_take_triple(struct toml_reader *r)
{
	const char *here = r->text.data + r->at;
	bool is_triple = r->text.len - r->at >= 3 && here[1] == here[0] && here[2] == here[0];
	r->at += is_triple ? 3 : 0;
	return is_triple;
}

static int toml_string_keep_scratch(struct toml_reader *r, struct str *ret)
{
	char *copy = r->scratch.failed
		? NULL
		: arena_dup(&r->toml->arena, (struct str){ r->scratch.data, r->scratch.len });
	if (!copy)
		return err_no_memory(r->err);
	*ret = (struct str){ copy, r->scratch.len };
	return 0;
}

/* At a quote of either kind. */
int toml_read_string(struct toml_reader *r, struct str *ret)
{
	struct quoting quoting = { .quote = (char)toml_peek(r), .opened = toml_here(r) };
	quoting.is_multiline = toml_string_take_triple(r);
	if (quoting.is_multiline)
		toml_take_newline(r);
	else
		r->at++;
	buf_clear(&r->scratch);
	int result = toml_string_read_body(r, &quoting);
	if (r->scratch.failed)
		return err_no_memory(r->err);
	return result < 0 ? result : toml_string_keep_scratch(r, ret);
}

/* One part of a key, bare or quoted. */
int toml_read_key(struct toml_reader *r, struct toml_key *ret)
{
	ret->at = toml_here(r);
	size_t start = r->at;
	if (toml_peek(r) == '"' || toml_peek(r) == '\'') {
		if (toml_string_take_triple(r))
			return toml_fail(r, ret->at, "expected a key, found a multi-line string");
		return toml_read_string(r, &ret->text);
	}
	while (toml_is_bare(toml_peek(r)))
		r->at++;
	if (r->at == start)
		return toml_expected(r, "a key");
	char *copy = arena_dup(&r->toml->arena, (struct str){ r->text.data + start, r->at - start });
	if (!copy)
		return err_no_memory(r->err);
	ret->text = (struct str){ copy, r->at - start };
	return 0;
}

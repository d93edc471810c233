/* Telling a person where in a text something is wrong, and what. */
#include "data/json_parser.h"

#include <stdio.h>

#include "base/err.h"
#include "base/utf8.h"

enum { SHOWN_MAX = 64 };

/* Columns count characters: what an editor shows, whatever the encoding. */
void json_position(struct str text, const char *at, unsigned *ret_line, unsigned *ret_column)
{
	unsigned line = 1;
	struct str before = { text.data, (size_t)(at - text.data) };
	const char *newline;
	while (before.len && (newline = memchr(before.data, '\n', before.len))) {
		before.len -= (size_t)(newline + 1 - before.data);
		before.data = newline + 1;
		line++;
	}
	*ret_line = line;
	*ret_column = (unsigned)utf8_count(before.data, before.len) + 1;
}

/* Only printable ASCII is shown as it is: a character could turn the writing
 * direction of the terminal, or be a control character of its own. */
static void json_error_show_found(struct str text, const char *at, char out[SHOWN_MAX])
{
	size_t left = text.len - (size_t)(at - text.data);
	if (left == 0) {
		snprintf(out, SHOWN_MAX, "the end of the text");
		return;
	}
	unsigned char byte = (unsigned char)*at;
	uint32_t character;
	size_t length = utf8_decode(at, left, &character);
	if (character == 0xFEFF) {
		snprintf(out, SHOWN_MAX, "a byte order mark");
	} else if (byte >= 0x20 && byte < 0x7F) {
		snprintf(out, SHOWN_MAX, "'%c'", byte);
	} else if (byte >= 0x80 && utf8_is_valid(at, length)) {
		snprintf(out, SHOWN_MAX, "U+%04X", (unsigned)character);
	} else {
		snprintf(out, SHOWN_MAX, "the byte 0x%02X", byte);
	}
}

/* A name as it was written, quotes and all. */
static void json_error_show_name(const perch_json_value *name, char out[SHOWN_MAX])
{
	size_t length = name->length < SHOWN_MAX ? name->length : SHOWN_MAX - 1;
	for (size_t i = 0; i < length; i++) {
		bool is_printable = name->text[i] >= 0x20 && name->text[i] < 0x7F;
		out[i] = (char)(is_printable ? name->text[i] : '?');
	}
	out[length] = '\0';
}

const char *parser_fail(struct parser *parser, const char *at, const char *expected)
{
	parser->code = PERCH_ESYNTAX;
	parser->failed_at = at;
	parser->expected = expected;
	return NULL;
}

const char *parser_fail_with(struct parser *parser, const char *at, int code)
{
	parser->code = code;
	parser->failed_at = at;
	return NULL;
}

int parser_report(const struct parser *parser, perch_err *err)
{
	const perch_json *json = parser->json;
	struct str text = { json->text, json->length };
	unsigned line, column;
	char shown[SHOWN_MAX];
	if (parser->code == -ENOMEM)
		return err_no_memory(err);
	if (!err)
		return parser->code;
	json_position(text, parser->failed_at, &line, &column);
	if (parser->code == PERCH_ELIMIT) {
		return err_set_at(err, PERCH_ELIMIT, line, column, "nested deeper than %zu levels",
			json->options.depth_max);
	}
	if (parser->repeated) {
		json_error_show_name(parser->repeated, shown);
		return err_set_at(
			err, parser->code, line, column, "the name %s occurs twice in an object", shown);
	}
	json_error_show_found(text, parser->failed_at, shown);
	return err_set_at(err, parser->code, line, column, "%s, found %s", parser->expected, shown);
}

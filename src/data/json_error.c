/* Telling a person where in a text something is, and what. */
#include "data/json.h"

#include <stdio.h>

#include "base/utf8.h"

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
void json_show_found(struct str text, const char *at, char out[JSON_FOUND_MAX])
{
	size_t left = text.len - (size_t)(at - text.data);
	if (left == 0) {
		snprintf(out, JSON_FOUND_MAX, "the end of the text");
		return;
	}
	unsigned char byte = (unsigned char)*at;
	uint32_t character;
	size_t length = utf8_decode(at, left, &character);
	if (character == 0xFEFF)
		snprintf(out, JSON_FOUND_MAX, "a byte order mark");
	else if (byte >= 0x20 && byte < 0x7F)
		snprintf(out, JSON_FOUND_MAX, "'%c'", byte);
	else if (byte >= 0x80 && utf8_is_valid(at, length))
		snprintf(out, JSON_FOUND_MAX, "U+%04X", (unsigned)character);
	else
		snprintf(out, JSON_FOUND_MAX, "the byte 0x%02X", byte);
}

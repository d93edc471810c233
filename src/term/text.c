/* Text of a plugin on its way to the screen. */
#include "term/text.h"

#include "base/utf8.h"

static bool text_is_blank_control(uint32_t character)
{
	bool is_ascii = character >= '\t' && character <= '\r';
	return is_ascii || character == 0x85 || character == 0x2028 || character == 0x2029;
}

bool text_next(struct str *rest, const struct look *look, uint32_t *ret_character)
{
	while (rest->len) {
		uint32_t character;
		size_t used = utf8_decode(rest->data, rest->len, &character);
		rest->data += used;
		rest->len -= used;
		if (text_is_blank_control(character))
			character = ' ';
		else if (utf8_is_unseen(character))
			continue;
		else if (!look->utf8 && character > 0x7E)
			character = '?';
		*ret_character = character;
		return true;
	}
	return false;
}

void text_append(struct buf *buf, const struct look *look, struct str text, size_t most)
{
	bool is_cut = text.len > most;
	if (is_cut)
		text.len = most;
	uint32_t character;
	while (text_next(&text, look, &character)) {
		char encoded[UTF8_MAX];
		buf_append(buf, encoded, utf8_encode(character, encoded));
	}
	if (is_cut)
		buf_append_text(buf, style_glyph(look, GLYPH_ELLIPSIS));
}

size_t text_columns(const char *text)
{
	return utf8_width(text, strlen(text));
}

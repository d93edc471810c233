/* Decoding strings. The reader has checked every escape, and has set aside
 * room that is large enough, so nothing here can fail. */
#include "data/json.h"

#include "base/utf8.h"

static int json_string_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int json_hex4(const char *digits)
{
	int value = 0;
	for (int i = 0; i < 4; i++) {
		int digit = json_string_hex_digit(digits[i]);
		if (digit < 0)
			return -1;
		value = value << 4 | digit;
	}
	return value;
}

/* Decodes \uXXXX, or two of them that make a pair; returns how many bytes of
 * the text that took. Nothing is read behind the quote that ends the string:
 * what begins like an escape is a whole one. */
static size_t json_string_decode_unicode(struct buf *out, const char *at)
{
	int unit = json_hex4(at + 2);
	uint32_t character = (uint32_t)unit;
	size_t taken = 6;
	if (json_is_high_surrogate(unit) && at[6] == '\\' && at[7] == 'u') {
		int second = json_hex4(at + 8);
		if (json_is_low_surrogate(second)) {
			character = 0x10000 + ((character - 0xD800) << 10) + ((uint32_t)second - 0xDC00);
			taken = 12;
		}
	}
	char bytes[UTF8_MAX];
	buf_append(out, bytes, utf8_encode(character, bytes));
	return taken;
}

static size_t json_string_decode_escape(struct buf *out, const char *at)
{
	static const char meaning[128] = {
		['"'] = '"',
		['\\'] = '\\',
		['/'] = '/',
		['b'] = '\b',
		['f'] = '\f',
		['n'] = '\n',
		['r'] = '\r',
		['t'] = '\t',
	};
	if (at[1] == 'u')
		return json_string_decode_unicode(out, at);
	buf_append_char(out, meaning[(unsigned char)at[1] & 0x7F]);
	return 2;
}

struct str json_string_decode(perch_json_value *string)
{
	if (string->count != JSON_UNDECODED)
		return (struct str){ string->decoded, string->count };
	const char *at = string->text + 1;
	const char *end = string->text + string->length - 1;
	/* Room for three times the length is more than some have, but never less
	 * than they need: it only keeps buf from growing what is not its own. */
	struct buf out = { .data = string->decoded, .cap = 3 * (size_t)string->length };
	while (at < end) {
		const char *escape = memchr(at, '\\', (size_t)(end - at));
		const char *stop = escape ? escape : end;
		utf8_append_replaced(&out, at, (size_t)(stop - at));
		at = escape ? escape + json_string_decode_escape(&out, escape) : end;
	}
	string->count = (uint32_t)out.len;
	return (struct str){ out.data, out.len };
}

/* Letters, words and lists of HTTP. */
#include "wire/http_text.h"

int http_hex_value(char c)
{
	if (http_is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Whether c is one of the marks; NUL is none. */
static bool text_is_one_of(char c, struct str marks)
{
	return memchr(marks.data, c, marks.len) != NULL;
}

/* The bits from one of 64 characters to another. */
#define TEXT_BITS(from, to) (UINT64_MAX >> (63 - (to) % 64) & UINT64_MAX << (from) % 64)

bool http_is_token_char(char c)
{
	/* letters, digits and "!#$%&'*+-.^_`|~" */
	static const uint64_t bits[2] = {
		TEXT_BITS('!', '!') | TEXT_BITS('#', '\'') | TEXT_BITS('*', '+') | TEXT_BITS('-', '.') |
			TEXT_BITS('0', '9'),
		TEXT_BITS('A', 'Z') | TEXT_BITS('^', 'z') | TEXT_BITS('|', '|') | TEXT_BITS('~', '~'),
	};
	unsigned char byte = (unsigned char)c;
	return byte < 128 && bits[byte / 64] >> (byte % 64) & 1;
}

/* Eight bytes at a time: of a word whose bytes are less than 128, subtracting N from each sets the
 * top bit of one that is less than N. DEL is made zero first. */
static bool text_has_control(const char *text)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones * 0x80;
	uint64_t word;
	memcpy(&word, text, sizeof(word));
	uint64_t is_del = word ^ (ones * 0x7f);
	return (((word - ones * ' ') & ~word) | ((is_del - ones) & ~is_del)) & tops;
}

size_t http_line_span(const char *text, size_t len)
{
	size_t at = 0;
	while (len - at >= sizeof(uint64_t) && !text_has_control(text + at))
		at += sizeof(uint64_t);
	while (at < len && http_is_line_char(text[at]))
		at++;
	return at;
}

bool http_is_token(struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!http_is_token_char(text.data[i]))
			return false;
	return text.len > 0;
}

bool http_is_path_char(char c)
{
	return http_is_alnum(c) || text_is_one_of(c, STR("/-._~!$&'()*+,;=:@"));
}

static char text_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool http_same_word(struct str a, struct str b)
{
	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++)
		if (a.data[i] != b.data[i] && text_lower(a.data[i]) != text_lower(b.data[i]))
			return false;
	return true;
}

struct str http_trim(struct str text)
{
	while (text.len && http_is_blank(text.data[0])) {
		text.data++;
		text.len--;
	}
	while (text.len && http_is_blank(text.data[text.len - 1]))
		text.len--;
	return text;
}

bool http_list_next(struct str *rest, struct str *ret_member)
{
	if (!rest->data)
		return false;
	const char *comma = rest->len ? memchr(rest->data, ',', rest->len) : NULL;
	size_t len = comma ? (size_t)(comma - rest->data) : rest->len;
	*ret_member = http_trim((struct str){ rest->data, len });
	*rest = comma ? (struct str){ comma + 1, rest->len - len - 1 } : (struct str){ 0 };
	return true;
}

bool http_list_has(struct str list, struct str word)
{
	struct str member;
	while (http_list_next(&list, &member))
		if (http_same_word(member, word))
			return true;
	return false;
}

bool http_read_number(struct str text, uint64_t *ret_number)
{
	uint64_t number = 0;
	for (size_t i = 0; i < text.len; i++) {
		if (!http_is_digit(text.data[i]))
			return false;
		uint64_t digit = (uint64_t)(text.data[i] - '0');
		number = number > (UINT64_MAX - digit) / 10 ? UINT64_MAX : number * 10 + digit;
	}
	if (text.len == 0)
		return false;
	*ret_number = number;
	return true;
}

/* Numbers and strings: what stands inside a value that is no container. */
#include "data/json_parser.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "data/json_scan.h"

/* At least one digit, and all that follow. */
static inline const char *json_token_read_digits(
	struct parser *parser, const char *at, const char *end)
{
	if (!is_digit(peek(at, end)))
		return parser_fail(parser, at, "expected a digit");
	do {
		at++;
	} while (is_digit(peek(at, end)));
	return at;
}

static const char *json_token_read_fraction_and_exponent(
	struct parser *parser, const char *at, const char *end)
{
	if (peek(at, end) == '.') {
		at = json_token_read_digits(parser, at + 1, end);
		if (!at)
			return NULL;
	}
	if ((peek(at, end) | 0x20) == 'e') {
		at++;
		if (peek(at, end) == '+' || peek(at, end) == '-')
			at++;
		at = json_token_read_digits(parser, at, end);
	}
	return at;
}

const char *parser_read_number(struct parser *parser, const char *start, const char *end)
{
	const char *at = start + (*start == '-');
	bool leads_with_zero = peek(at, end) == '0';
	const char *digits = at;
	at = json_token_read_digits(parser, at, end);
	if (!at)
		return NULL;
	if (leads_with_zero && at - digits > 1)
		return parser_fail(parser, digits + 1, "expected no digit behind a leading 0");
	at = json_token_read_fraction_and_exponent(parser, at, end);
	if (!at)
		return NULL;
	return add_value(parser, PERCH_JSON_NUMBER, start, (size_t)(at - start)) ? at : NULL;
}

static const char *json_token_read_unicode_escape(
	struct parser *parser, const char *at, const char *end)
{
	int unit = end - at >= 6 ? json_hex4(at + 2) : -1;
	if (unit < 0)
		return parser_fail(parser, at, "expected \\u and four hex digits");
	if (!parser->json->options.reject_lone_surrogates)
		return at + 6;
	if (json_is_high_surrogate(unit)) {
		bool has_second = end - at >= 12 && at[6] == '\\' && at[7] == 'u';
		if (has_second && json_is_low_surrogate(json_hex4(at + 8)))
			return at + 12;
	}
	if (json_is_high_surrogate(unit) || json_is_low_surrogate(unit))
		return parser_fail(parser, at, "expected both halves of a surrogate pair");
	return at + 6;
}

static const char *json_token_read_escape(struct parser *parser, const char *at, const char *end)
{
	char c = peek(at + 1, end);
	if (json_escape_meaning((unsigned char)c))
		return at + 2;
	if (c == 'u')
		return json_token_read_unicode_escape(parser, at, end);
	return parser_fail(parser, at + 1, "expected one of \" \\ / b f n r t u behind a backslash");
}

/* Finds room to decode a string into, once for the whole text: a string at
 * some offset of the text has its room at that offset. */
static bool json_token_reserve_decoded(
	struct parser *parser, perch_json_value *string, bool is_broken)
{
	perch_json *json = parser->json;
	size_t need = json->length * json_growth(json);
	if (__builtin_expect(json->decoded_size < need, 0)) {
		free(json->decoded);
		json->decoded_size = 0;
		json->decoded = malloc(need);
		if (!json->decoded)
			return false;
		json->decoded_size = need;
	}
	size_t offset = (size_t)(string->text - json->text);
	string->decoded = json->decoded + offset * json_growth(json);
	string->count = is_broken ? JSON_UNDECODED_BROKEN : JSON_UNDECODED;
	return true;
}

/* Reads plain characters and checks their UTF-8. */
static const char *json_token_read_plain(
	struct parser *parser, const char *start, const char *end, bool *ret_is_broken)
{
	unsigned high = 0;
	const char *at = json_scan(start, end, &high);
	if (!high)
		return at;
	const char *valid = start + utf8_valid_prefix(start, (size_t)(at - start));
	if (valid == at)
		return at;
	if (!parser->json->options.replace_invalid_utf8)
		return parser_fail(parser, valid, "expected valid UTF-8");
	*ret_is_broken = true;
	return at;
}

const char *parser_read_odd_string(
	struct parser *parser, const char *start, const char *at, const char *end)
{
	bool differs = false; /* from the way it is written */
	bool is_broken = false;
	for (;;) {
		char c = peek(at, end);
		if (c == '\\') {
			differs = true;
			bool is_plain = end - at >= 2 && json_escape_meaning((unsigned char)at[1]);
			at = is_plain ? at + 2 : json_token_read_escape(parser, at, end);
			if (!at)
				return NULL;
			at = json_skip_ascii(at, end);
		} else if (c == '"') {
			break;
		} else if (at == end) {
			return parser_fail(parser, at, "expected '\"' at the end of a string");
		} else if ((unsigned char)c < ' ') {
			return parser_fail(parser, at, "expected control characters in a string to be escaped");
		} else {
			at = json_token_read_plain(parser, at, end, &is_broken);
			if (!at)
				return NULL;
		}
	}
	at = add_string(parser, start, at + 1);
	if (at && (differs || is_broken) &&
		!json_token_reserve_decoded(parser, parser->next - 1, is_broken))
		return parser_fail_with(parser, at, -ENOMEM);
	return at;
}

/* Reading JSON in place, in one pass and without recursion. Every function
 * that reads takes the place where it starts and returns the place behind
 * what it read, or NULL after it has noted what is wrong: so the place stays
 * in a register, and a failure ends everything. */
#include "perch/json.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "data/json.h"
#include "data/json_scan.h"

struct parser {
	perch_json *json;
	const char *end;
	size_t depth;
	/* The failure: its code, its place, and what should have stood there. */
	int code;
	const char *failed_at;
	const char *expected;
};

static __attribute__((cold, noinline)) const char *fail(
	struct parser *parser, const char *at, const char *expected)
{
	parser->code = PERCH_ESYNTAX;
	parser->failed_at = at;
	parser->expected = expected;
	return NULL;
}

static __attribute__((cold, noinline)) const char *fail_with(
	struct parser *parser, const char *at, int code)
{
	parser->code = code;
	parser->failed_at = at;
	return NULL;
}

static inline const char *skip_blanks(const struct parser *parser, const char *at)
{
	while (at < parser->end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
		at++;
	return at;
}

/* The byte at a place; behind the end a NUL, which is allowed nowhere. */
static inline char peek(const struct parser *parser, const char *at)
{
	return at < parser->end ? *at : '\0';
}

static __attribute__((cold, noinline)) bool grow_values(perch_json *json)
{
	perch_json_value *grown =
		vec_grow(json->values, &json->cap, json->count + 1, sizeof(*json->values));
	if (!grown)
		return false;
	json->values = grown;
	return true;
}

/* Adds a value that begins at `text`; NULL without memory. */
static inline perch_json_value *add_value(
	struct parser *parser, perch_json_type type, const char *text, size_t length)
{
	perch_json *json = parser->json;
	if (__builtin_expect(json->count == json->cap, 0) && !grow_values(json)) {
		fail_with(parser, text, -ENOMEM);
		return NULL;
	}
	perch_json_value *value = &json->values[json->count++];
	*value = (perch_json_value){
		.text = text,
		.length = length & JSON_LENGTH_MASK,
		.type = type & 7u,
	};
	return value;
}

static inline bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/* At least one digit, and all that follow. */
static inline const char *read_digits(struct parser *parser, const char *at)
{
	if (!is_digit(peek(parser, at)))
		return fail(parser, at, "expected a digit");
	do
		at++;
	while (is_digit(peek(parser, at)));
	return at;
}

static const char *read_fraction_and_exponent(struct parser *parser, const char *at)
{
	if (peek(parser, at) == '.') {
		at = read_digits(parser, at + 1);
		if (!at)
			return NULL;
	}
	if ((peek(parser, at) | 0x20) == 'e') {
		at++;
		if (peek(parser, at) == '+' || peek(parser, at) == '-')
			at++;
		at = read_digits(parser, at);
	}
	return at;
}

static inline const char *read_number(struct parser *parser, const char *start)
{
	const char *at = start + (*start == '-');
	bool leads_with_zero = peek(parser, at) == '0';
	const char *digits = at;
	at = read_digits(parser, at);
	if (!at)
		return NULL;
	if (leads_with_zero && at - digits > 1)
		return fail(parser, digits + 1, "expected no digit behind a leading 0");
	at = read_fraction_and_exponent(parser, at);
	if (!at)
		return NULL;
	return add_value(parser, PERCH_JSON_NUMBER, start, (size_t)(at - start)) ? at : NULL;
}

static inline const char *read_word(
	struct parser *parser, const char *at, perch_json_type type, struct str word)
{
	bool fits = (size_t)(parser->end - at) >= word.len;
	if (!fits || memcmp(at, word.data, word.len) != 0)
		return fail(parser, at, "expected true, false, null or another value");
	return add_value(parser, type, at, word.len) ? at + word.len : NULL;
}

static const char *read_unicode_escape(struct parser *parser, const char *at)
{
	const char *end = parser->end;
	int unit = end - at >= 6 ? json_hex4(at + 2) : -1;
	if (unit < 0)
		return fail(parser, at, "expected \\u and four hex digits");
	if (!parser->json->options.reject_lone_surrogates)
		return at + 6;
	if (json_is_high_surrogate(unit)) {
		bool has_second = end - at >= 12 && at[6] == '\\' && at[7] == 'u';
		if (has_second && json_is_low_surrogate(json_hex4(at + 8)))
			return at + 12;
	}
	if (json_is_high_surrogate(unit) || json_is_low_surrogate(unit))
		return fail(parser, at, "expected both halves of a surrogate pair");
	return at + 6;
}

static inline const char *read_escape(struct parser *parser, const char *at)
{
	switch (peek(parser, at + 1)) {
	case '"':
	case '\\':
	case '/':
	case 'b':
	case 'f':
	case 'n':
	case 'r':
	case 't':
		return at + 2;
	case 'u':
		return read_unicode_escape(parser, at);
	default:
		return fail(parser, at + 1, "expected one of \" \\ / b f n r t u behind a backslash");
	}
}

/* Finds room to decode a string into, once for the whole text: a string at
 * some offset of the text has its room at that offset. */
static bool reserve_decoded(struct parser *parser, perch_json_value *string)
{
	perch_json *json = parser->json;
	size_t need = json->length * json_growth(json);
	if (json->decoded_size < need) {
		free(json->decoded);
		json->decoded_size = 0;
		json->decoded = malloc(need);
		if (!json->decoded)
			return false;
		json->decoded_size = need;
	}
	size_t offset = (size_t)(string->text - json->text);
	string->decoded = json->decoded + offset * json_growth(json);
	string->count = JSON_UNDECODED;
	return true;
}

/* The slower half of a string: one that has escapes or is not plain ASCII. */
static __attribute__((noinline)) bool settle_string(struct parser *parser, bool has_escapes)
{
	perch_json *json = parser->json;
	perch_json_value *string = &json->values[json->count - 1];
	const char *content = string->text + 1;
	size_t length = string->length - 2u;
	size_t valid = utf8_valid_prefix(content, length);
	if (valid < length && !json->options.replace_invalid_utf8) {
		fail(parser, content + valid, "expected valid UTF-8");
		return false;
	}
	if (!has_escapes && valid == length)
		return true;
	if (!reserve_decoded(parser, string)) {
		fail_with(parser, string->text, -ENOMEM);
		return false;
	}
	return true;
}

static inline const char *read_string(struct parser *parser, const char *start)
{
	unsigned high = 0;
	bool has_escapes = false;
	const char *at = start + 1;
	for (;;) {
		at = json_scan(at, parser->end, &high);
		if (peek(parser, at) == '"')
			break;
		if (peek(parser, at) != '\\')
			return fail(parser, at,
				at < parser->end ? "expected control characters in a string to be escaped"
								 : "expected '\"' at the end of a string");
		has_escapes = true;
		at = read_escape(parser, at);
		if (!at)
			return NULL;
	}
	at++;
	if (!add_value(parser, PERCH_JSON_STRING, start, (size_t)(at - start)))
		return NULL;
	if ((high || has_escapes) && !settle_string(parser, has_escapes))
		return NULL;
	return at;
}

/* Notes a name for the search for duplicates. Equal names must share a bit
 * and unequal ones rarely should; a name with escapes could equal any. */
static inline void note_name(struct parser *parser, struct json_frame *frame)
{
	const perch_json_value *name = &parser->json->values[parser->json->count - 1];
	unsigned first = (unsigned char)name->text[1];
	unsigned last = (unsigned char)name->text[name->length - 2];
	uint64_t bit = UINT64_C(1) << ((first + last * 3 + name->length * 5) & 63);
	frame->names_collide |= (frame->name_bits & bit) != 0 || name->decoded;
	frame->name_bits |= bit;
}

/* A member up to its colon. */
static inline const char *read_name(struct parser *parser, const char *at, const char *expected)
{
	if (peek(parser, at) != '"')
		return fail(parser, at, expected);
	at = read_string(parser, at);
	if (!at)
		return NULL;
	note_name(parser, &parser->json->frames[parser->depth - 1]);
	at = skip_blanks(parser, at);
	if (peek(parser, at) != ':')
		return fail(parser, at, "expected ':' behind the name of a member");
	return at + 1;
}

static __attribute__((cold, noinline)) bool grow_frames(perch_json *json, size_t need)
{
	struct json_frame *grown = vec_grow(json->frames, &json->frames_cap, need, sizeof(*grown));
	if (!grown)
		return false;
	json->frames = grown;
	return true;
}

static inline const char *open_container(
	struct parser *parser, const char *at, perch_json_type type)
{
	perch_json *json = parser->json;
	if (parser->depth >= json->options.depth_max)
		return fail_with(parser, at, PERCH_ELIMIT);
	if (parser->depth == json->frames_cap && !grow_frames(json, parser->depth + 1))
		return fail_with(parser, at, -ENOMEM);
	json->frames[parser->depth++] = (struct json_frame){
		.value = (uint32_t)json->count,
		.is_object = type == PERCH_JSON_OBJECT,
	};
	return add_value(parser, type, at, 0) ? skip_blanks(parser, at + 1) : NULL;
}

static __attribute__((noinline)) bool settle_names(struct parser *parser, perch_json_value *object)
{
	const perch_json_value *second;
	int r = json_settle_duplicates(parser->json, object, &second);
	if (r == PERCH_ESYNTAX)
		fail(parser, second->text, "expected a name that the object does not have yet");
	else if (r < 0)
		fail_with(parser, object->text, r);
	return r == 0;
}

/* `at` is its last bracket. */
static inline const char *close_container(struct parser *parser, const char *at)
{
	perch_json *json = parser->json;
	const struct json_frame *frame = &json->frames[--parser->depth];
	perch_json_value *value = &json->values[frame->value];
	value->length = (size_t)(at + 1 - value->text) & JSON_LENGTH_MASK;
	value->count = frame->entries;
	value->span = json->count - frame->value;
	if (frame->names_collide && !settle_names(parser, value))
		return NULL;
	return at + 1;
}

static inline const char *read_object(struct parser *parser, const char *at, bool *ret_complete)
{
	at = open_container(parser, at, PERCH_JSON_OBJECT);
	if (!at)
		return NULL;
	*ret_complete = peek(parser, at) == '}';
	if (*ret_complete)
		return close_container(parser, at);
	return read_name(parser, at, "expected '}' or the name of a member in double quotes");
}

static inline const char *read_array(struct parser *parser, const char *at, bool *ret_complete)
{
	at = open_container(parser, at, PERCH_JSON_ARRAY);
	if (!at)
		return NULL;
	*ret_complete = peek(parser, at) == ']';
	return *ret_complete ? close_container(parser, at) : at;
}

/* A whole value, or the beginning of one up to the first value in it. */
static inline const char *read_value(struct parser *parser, const char *at, bool *ret_complete)
{
	*ret_complete = true;
	char c = peek(parser, at);
	switch (c) {
	case '"':
		return read_string(parser, at);
	case '{':
		return read_object(parser, at, ret_complete);
	case '[':
		return read_array(parser, at, ret_complete);
	case 't':
		return read_word(parser, at, PERCH_JSON_BOOL, STR("true"));
	case 'f':
		return read_word(parser, at, PERCH_JSON_BOOL, STR("false"));
	case 'n':
		return read_word(parser, at, PERCH_JSON_NULL, STR("null"));
	default:
		if (c == '-' || is_digit(c))
			return read_number(parser, at);
		return fail(parser, at, "expected a value");
	}
}

/* What may stand behind a value: a comma and then the next one, or the end of
 * the containers that end with it. */
static inline const char *read_behind_value(struct parser *parser, const char *at)
{
	while (parser->depth) {
		struct json_frame *frame = &parser->json->frames[parser->depth - 1];
		frame->entries++;
		at = skip_blanks(parser, at);
		char c = peek(parser, at);
		if (c == ',' && !frame->is_object)
			return at + 1;
		if (c == ',')
			return read_name(parser, skip_blanks(parser, at + 1),
				"expected the name of a member in double quotes behind ','");
		if (c != (frame->is_object ? '}' : ']'))
			return fail(parser, at,
				frame->is_object ? "expected ',' or '}' after a member"
								 : "expected ',' or ']' after an element");
		at = close_container(parser, at);
		if (!at)
			return NULL;
	}
	return at;
}

static const char *read_document(struct parser *parser, const char *at)
{
	do {
		bool complete;
		do {
			at = read_value(parser, skip_blanks(parser, at), &complete);
			if (!at)
				return NULL;
		} while (!complete);
		at = read_behind_value(parser, at);
		if (!at)
			return NULL;
	} while (parser->depth);
	at = skip_blanks(parser, at);
	return at == parser->end ? at : fail(parser, at, "expected nothing behind the value");
}

/* Puts a failure into words. */
static int report(const struct parser *parser, perch_err *err)
{
	const perch_json *json = parser->json;
	struct str text = { json->text, json->length };
	unsigned line, column;
	char found[JSON_FOUND_MAX];
	if (parser->code == -ENOMEM)
		return err_no_memory(err);
	if (!err)
		return parser->code;
	json_position(text, parser->failed_at, &line, &column);
	if (parser->code == PERCH_ELIMIT)
		return err_set_at(err, PERCH_ELIMIT, line, column, "nested deeper than %zu levels",
			json->options.depth_max);
	json_show_found(text, parser->failed_at, found);
	return err_set_at(err, parser->code, line, column, "%s, found %s", parser->expected, found);
}

int perch_json_parse(perch_json *json, const char *text, size_t length,
	const perch_json_value **ret_root, perch_err *err)
{
	perch_json_clear(json);
	if (length > json->options.text_max)
		return err_set(err, PERCH_ELIMIT, "a text of %zu bytes, and the limit is %zu", length,
			json->options.text_max);
	json->text = length ? text : "";
	json->length = length;
	struct parser parser = { .json = json, .end = json->text + length };
	if (!read_document(&parser, json->text)) {
		int r = report(&parser, err);
		perch_json_clear(json);
		return r;
	}
	*ret_root = json->values;
	return 0;
}

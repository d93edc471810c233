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

/* What is to be read next. */
enum step {
	STEP_VALUE,
	STEP_NAME,
	STEP_BEHIND, /* what follows a value */
	STEP_DONE,
};

struct parser {
	perch_json *json;
	perch_json_value *next; /* where the next value goes */
	perch_json_value *values_end;
	struct json_frame *frame; /* the innermost that is open; the lowest stands for the text */
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

/* The byte at a place; behind the end a NUL, which is allowed nowhere. */
static inline char peek(const char *at, const char *end)
{
	return at < end ? *at : '\0';
}

/* Moves over blanks to the next byte and returns it, or a NUL at the end. */
static inline char next_byte(const char **at, const char *end)
{
	for (; *at < end; (*at)++) {
		char c = **at;
		if ((unsigned char)c > ' ' || (c != ' ' && c != '\n' && c != '\t' && c != '\r'))
			return c;
	}
	return '\0';
}

static __attribute__((cold, noinline)) bool grow_values(struct parser *parser)
{
	perch_json *json = parser->json;
	size_t count = json->cap;
	perch_json_value *grown = vec_grow(json->values, &json->cap, count + 1, sizeof(*grown));
	if (!grown)
		return false;
	json->values = grown;
	parser->next = grown + count;
	parser->values_end = grown + json->cap;
	return true;
}

/* Adds a value that begins at `text`; NULL without memory. */
static inline perch_json_value *add_value(
	struct parser *parser, perch_json_type type, const char *text, size_t length)
{
	if (__builtin_expect(parser->next == parser->values_end, 0) && !grow_values(parser)) {
		fail_with(parser, text, -ENOMEM);
		return NULL;
	}
	perch_json_value *value = parser->next++;
	value->text = text;
	value->length = length & JSON_LENGTH_MASK;
	value->type = type & 7u;
	value->shadowed = 0;
	value->count = 0;
	value->decoded = NULL;
	return value;
}

static inline bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/* At least one digit, and all that follow. */
static inline const char *read_digits(struct parser *parser, const char *at, const char *end)
{
	if (!is_digit(peek(at, end)))
		return fail(parser, at, "expected a digit");
	do
		at++;
	while (is_digit(peek(at, end)));
	return at;
}

static const char *read_fraction_and_exponent(
	struct parser *parser, const char *at, const char *end)
{
	if (peek(at, end) == '.') {
		at = read_digits(parser, at + 1, end);
		if (!at)
			return NULL;
	}
	if ((peek(at, end) | 0x20) == 'e') {
		at++;
		if (peek(at, end) == '+' || peek(at, end) == '-')
			at++;
		at = read_digits(parser, at, end);
	}
	return at;
}

static inline const char *read_number(struct parser *parser, const char *start, const char *end)
{
	const char *at = start + (*start == '-');
	bool leads_with_zero = peek(at, end) == '0';
	const char *digits = at;
	at = read_digits(parser, at, end);
	if (!at)
		return NULL;
	if (leads_with_zero && at - digits > 1)
		return fail(parser, digits + 1, "expected no digit behind a leading 0");
	at = read_fraction_and_exponent(parser, at, end);
	if (!at)
		return NULL;
	return add_value(parser, PERCH_JSON_NUMBER, start, (size_t)(at - start)) ? at : NULL;
}

static inline const char *read_word(
	struct parser *parser, const char *at, const char *end, perch_json_type type, struct str word)
{
	bool fits = (size_t)(end - at) >= word.len;
	if (!fits || memcmp(at, word.data, word.len) != 0)
		return fail(parser, at, "expected true, false, null or another value");
	return add_value(parser, type, at, word.len) ? at + word.len : NULL;
}

static const char *read_unicode_escape(struct parser *parser, const char *at, const char *end)
{
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

static inline const char *read_escape(struct parser *parser, const char *at, const char *end)
{
	switch (peek(at + 1, end)) {
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
		return read_unicode_escape(parser, at, end);
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

static inline const char *add_string(struct parser *parser, const char *start, const char *behind)
{
	size_t length = (size_t)(behind - start);
	return add_value(parser, PERCH_JSON_STRING, start, length) ? behind : NULL;
}

/* Reads plain characters and checks their UTF-8. */
static inline const char *read_plain(
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
		return fail(parser, valid, "expected valid UTF-8");
	*ret_is_broken = true;
	return at;
}

/* Reads on in a string that is not plain ASCII throughout, or too near the
 * end of the text to be read in blocks. */
static __attribute__((noinline)) const char *read_odd_string(
	struct parser *parser, const char *start, const char *at, const char *end)
{
	bool differs = false; /* from the way it is written */
	for (;;) {
		at = read_plain(parser, at, end, &differs);
		if (!at || peek(at, end) == '"')
			break;
		if (at == end)
			return fail(parser, at, "expected '\"' at the end of a string");
		if (*at != '\\')
			return fail(parser, at, "expected control characters in a string to be escaped");
		differs = true;
		at = read_escape(parser, at, end);
		if (!at)
			break;
	}
	at = at ? add_string(parser, start, at + 1) : NULL;
	if (at && differs && !reserve_decoded(parser, parser->next - 1))
		return fail_with(parser, at, -ENOMEM);
	return at;
}

static inline const char *read_string(struct parser *parser, const char *start, const char *end)
{
	const char *at = json_skip_ascii(start + 1, end);
	if (peek(at, end) == '"')
		return add_string(parser, start, at + 1);
	return read_odd_string(parser, start, at, end);
}

/* Compares the newest name with the earlier ones of its object. */
static __attribute__((noinline)) void check_name(struct parser *parser)
{
	struct json_frame *frame = parser->frame;
	const perch_json_value *name = parser->next - 1;
	const perch_json_value *earlier = &parser->json->values[frame->value] + 1;
	if (name->decoded)
		frame->name_bits = UINT64_MAX; /* equal to others that share no bit with it */
	if (frame->entries > JSON_FEW_NAMES) {
		frame->may_repeat = true; /* to be found out all at once in the end */
		return;
	}
	for (; earlier < name && !frame->may_repeat; earlier = json_skip(earlier + 1))
		frame->may_repeat = str_eq(json_str(earlier), json_str(name));
}

/* Notes the name between two quotes for the search for duplicates: equal
 * names share a bit, others rarely do. */
static inline void note_name(struct parser *parser, const char *quote, const char *behind)
{
	struct json_frame *frame = parser->frame;
	unsigned first = (unsigned char)quote[1];
	unsigned last = (unsigned char)behind[-2];
	unsigned length = (unsigned)(behind - quote);
	uint64_t bit = UINT64_C(1) << ((first * 5 + last * 9 + length) & 63);
	bool is_known = (frame->name_bits & bit) != 0;
	frame->name_bits |= bit;
	if (__builtin_expect(is_known || parser->next[-1].decoded, 0))
		check_name(parser);
}

/* The name of a member, and its colon. */
static inline const char *read_name(struct parser *parser, const char *at, const char *end)
{
	if (next_byte(&at, end) != '"')
		return fail(parser, at,
			parser->frame->entries ? "expected the name of a member in double quotes behind ','"
								   : "expected '}' or the name of a member in double quotes");
	const char *behind = read_string(parser, at, end);
	if (!behind)
		return NULL;
	note_name(parser, at, behind);
	if (next_byte(&behind, end) != ':')
		return fail(parser, behind, "expected ':' behind the name of a member");
	return behind + 1;
}

/* Makes room for one more frame above the innermost. */
static __attribute__((cold, noinline)) bool grow_frames(struct parser *parser, size_t depth)
{
	perch_json *json = parser->json;
	struct json_frame *grown = vec_grow(json->frames, &json->frames_cap, depth + 2, sizeof(*grown));
	if (!grown)
		return false;
	json->frames = grown;
	parser->frame = grown + depth;
	return true;
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

/* `at` is the bracket that ends the innermost container. */
static inline const char *close_container(struct parser *parser, const char *at)
{
	const struct json_frame *frame = parser->frame--;
	perch_json_value *value = &parser->json->values[frame->value];
	value->length = (size_t)(at + 1 - value->text) & JSON_LENGTH_MASK;
	value->count = frame->entries;
	value->span = (size_t)(parser->next - value);
	if (frame->may_repeat && !settle_names(parser, value))
		return NULL;
	return at + 1;
}

static inline const char *open_container(struct parser *parser, const char *at, const char *end,
	perch_json_type type, enum step *ret_step)
{
	perch_json *json = parser->json;
	size_t depth = (size_t)(parser->frame - json->frames);
	if (depth >= json->options.depth_max)
		return fail_with(parser, at, PERCH_ELIMIT);
	if (depth + 1 >= json->frames_cap && !grow_frames(parser, depth))
		return fail_with(parser, at, -ENOMEM);
	perch_json_value *value = add_value(parser, type, at, 0);
	if (!value)
		return NULL;
	*++parser->frame = (struct json_frame){
		.value = (uint32_t)(value - json->values),
		.end = type == PERCH_JSON_OBJECT ? '}' : ']',
	};
	at++;
	if (next_byte(&at, end) == parser->frame->end)
		return close_container(parser, at);
	*ret_step = type == PERCH_JSON_OBJECT ? STEP_NAME : STEP_VALUE;
	return at;
}

/* A whole value, or the bracket that begins one. */
static inline const char *read_value(
	struct parser *parser, const char *at, const char *end, enum step *ret_step)
{
	*ret_step = STEP_BEHIND;
	char c = next_byte(&at, end);
	switch (c) {
	case '"':
		return read_string(parser, at, end);
	case '{':
		return open_container(parser, at, end, PERCH_JSON_OBJECT, ret_step);
	case '[':
		return open_container(parser, at, end, PERCH_JSON_ARRAY, ret_step);
	case 't':
		return read_word(parser, at, end, PERCH_JSON_BOOL, STR("true"));
	case 'f':
		return read_word(parser, at, end, PERCH_JSON_BOOL, STR("false"));
	case 'n':
		return read_word(parser, at, end, PERCH_JSON_NULL, STR("null"));
	default:
		if (c == '-' || is_digit(c))
			return read_number(parser, at, end);
		return fail(parser, at, "expected a value");
	}
}

static __attribute__((cold)) const char *fail_behind(struct parser *parser, const char *at)
{
	switch (parser->frame->end) {
	case '}':
		return fail(parser, at, "expected ',' or '}' after a member");
	case ']':
		return fail(parser, at, "expected ',' or ']' after an element");
	default:
		return fail(parser, at, "expected nothing behind the value");
	}
}

/* What may stand behind a value: a comma, the end of the container it is in,
 * or outside of all containers the end of the text. */
static inline const char *read_behind(
	struct parser *parser, const char *at, const char *end, enum step *ret_step)
{
	struct json_frame *frame = parser->frame;
	char c = next_byte(&at, end);
	frame->entries++;
	if (c == ',' && frame->end) {
		*ret_step = frame->end == '}' ? STEP_NAME : STEP_VALUE;
		return at + 1;
	}
	if (c == frame->end && c)
		return close_container(parser, at);
	if (at == end && !frame->end) {
		*ret_step = STEP_DONE;
		return at;
	}
	return fail_behind(parser, at);
}

static const char *read_document(struct parser *parser, const char *at, const char *end)
{
	enum step step = STEP_VALUE;
	while (step != STEP_DONE) {
		at = read_value(parser, at, end, &step);
		while (at && step == STEP_BEHIND)
			at = read_behind(parser, at, end, &step);
		if (at && step == STEP_NAME)
			at = read_name(parser, at, end);
		if (!at)
			return NULL;
	}
	return at;
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

static int parse(struct parser *parser)
{
	perch_json *json = parser->json;
	if (!json->frames && !grow_frames(parser, 0))
		return -ENOMEM;
	if (!json->values && !grow_values(parser))
		return -ENOMEM;
	parser->frame = json->frames;
	*parser->frame = (struct json_frame){ 0 };
	parser->next = json->values;
	parser->values_end = json->values + json->cap;
	return read_document(parser, json->text, json->text + json->length) ? 0 : parser->code;
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
	struct parser parser = { .json = json, .code = -ENOMEM };
	int r = parse(&parser);
	if (r < 0) {
		r = report(&parser, err);
		perch_json_clear(json);
		return r;
	}
	*ret_root = json->values;
	return 0;
}

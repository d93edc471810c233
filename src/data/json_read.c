/* Reading JSON in place, in one pass and without recursion. */
#include "perch/json.h"

#include <errno.h>

#include "base/err.h"
#include "base/vec.h"
#include "data/json_parser.h"
#include "data/json_scan.h"

/* What is to be read next. */
enum step {
	STEP_VALUE,
	STEP_NAME,
	STEP_BEHIND, /* what follows a value */
	STEP_DONE,
};

bool parser_grow(struct parser *parser)
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

/* Moves over blanks to the next byte and returns it, or a NUL at the end. */
static inline char json_read_next_byte(const char **at, const char *end)
{
	for (; *at < end; (*at)++) {
		char c = **at;
		if (__builtin_expect((unsigned char)c > ' ', 1) ||
			(c != ' ' && c != '\n' && c != '\t' && c != '\r'))
			return c;
	}
	return '\0';
}

static inline const char *json_read_word(
	struct parser *parser, const char *at, const char *end, perch_json_type type, struct str word)
{
	bool fits = (size_t)(end - at) >= word.len;
	if (__builtin_expect(!fits || memcmp(at, word.data, word.len) != 0, 0))
		return parser_fail(parser, at, "expected true, false, null or another value");
	return add_value(parser, type, at, word.len) ? at + word.len : NULL;
}

static inline const char *json_read_string(
	struct parser *parser, const char *start, const char *end)
{
	const char *at = json_skip_ascii(start + 1, end);
	if (peek(at, end) == '"')
		return add_string(parser, start, at + 1);
	return parser_read_odd_string(parser, start, at, end);
}

/* Compares the newest name with the earlier ones of its object. */
static __attribute__((noinline)) void json_read_check_name(struct parser *parser)
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
 * names share both of their bits, others rarely do. */
static inline void json_read_note_name(struct parser *parser, const char *quote, const char *behind)
{
	struct json_frame *frame = parser->frame;
	uint32_t looks = (uint32_t)(unsigned char)quote[1] | (uint32_t)(unsigned char)behind[-2] << 8 |
		(uint32_t)(behind - quote) << 16;
	uint32_t hash = looks * UINT32_C(0x9E3779B1);
	uint64_t bits = UINT64_C(1) << (hash >> 26) | UINT64_C(1) << (hash >> 20 & 63);
	bool is_known = (frame->name_bits & bits) == bits;
	frame->name_bits |= bits;
	if (__builtin_expect(is_known || parser->next[-1].decoded, 0))
		json_read_check_name(parser);
}

/* The name of a member, and its colon. */
static inline const char *json_read_name(struct parser *parser, const char *at, const char *end)
{
	if (json_read_next_byte(&at, end) != '"') {
		return parser_fail(parser, at,
			parser->frame->entries ? "expected the name of a member in double quotes behind ','"
								   : "expected '}' or the name of a member in double quotes");
	}
	const char *behind = json_read_string(parser, at, end);
	if (!behind)
		return NULL;
	json_read_note_name(parser, at, behind);
	if (json_read_next_byte(&behind, end) != ':')
		return parser_fail(parser, behind, "expected ':' behind the name of a member");
	return behind + 1;
}

/* Makes room for one more frame above the innermost. */
static __attribute__((cold, noinline)) bool json_read_grow_frames(
	struct parser *parser, size_t depth)
{
	perch_json *json = parser->json;
	struct json_frame *grown = vec_grow(json->frames, &json->frames_cap, depth + 2, sizeof(*grown));
	if (!grown)
		return false;
	json->frames = grown;
	parser->frame = grown + depth;
	return true;
}

static __attribute__((noinline)) bool json_read_settle_names(
	struct parser *parser, perch_json_value *object)
{
	int r = json_settle_duplicates(parser->json, object, &parser->repeated);
	if (r < 0)
		parser_fail_with(parser, parser->repeated ? parser->repeated->text : object->text, r);
	return r == 0;
}

/* `at` is the bracket that ends the innermost container. */
static inline const char *json_read_close_container(struct parser *parser, const char *at)
{
	const struct json_frame *frame = parser->frame--;
	perch_json_value *value = &parser->json->values[frame->value];
	value->length = (size_t)(at + 1 - value->text) & JSON_LENGTH_MASK;
	value->count = frame->entries;
	value->span = (size_t)(parser->next - value);
	if (frame->may_repeat && !json_read_settle_names(parser, value))
		return NULL;
	return at + 1;
}

static inline const char *json_read_open_container(struct parser *parser, const char *at,
	const char *end, perch_json_type type, enum step *ret_step)
{
	perch_json *json = parser->json;
	size_t depth = (size_t)(parser->frame - json->frames);
	if (__builtin_expect(depth >= json->options.depth_max, 0))
		return parser_fail_with(parser, at, PERCH_ELIMIT);
	if (__builtin_expect(depth + 1 >= json->frames_cap, 0) && !json_read_grow_frames(parser, depth))
		return parser_fail_with(parser, at, -ENOMEM);
	perch_json_value *value = add_value(parser, type, at, 0);
	if (!value)
		return NULL;
	*++parser->frame = (struct json_frame){
		.value = (uint32_t)(value - json->values),
		.end = type == PERCH_JSON_OBJECT ? '}' : ']',
	};
	at++;
	if (json_read_next_byte(&at, end) == parser->frame->end)
		return json_read_close_container(parser, at);
	*ret_step = type == PERCH_JSON_OBJECT ? STEP_NAME : STEP_VALUE;
	return at;
}

/* Most numbers are whole; what else may begin here is looked at more closely. */
static inline const char *json_read_digits(
	struct parser *parser, const char *start, const char *end)
{
	const char *at = start;
	while (at < end && is_digit(*at))
		at++;
	bool is_whole =
		at < end && *at != '.' && (*at | 0x20) != 'e' && (*start != '0' || at == start + 1);
	if (!is_whole)
		return parser_read_number(parser, start, end);
	return add_value(parser, PERCH_JSON_NUMBER, start, (size_t)(at - start)) ? at : NULL;
}

/* A whole value, or the bracket that begins one. */
static inline const char *json_read_value(
	struct parser *parser, const char *at, const char *end, enum step *ret_step)
{
	*ret_step = STEP_BEHIND;
	char c = json_read_next_byte(&at, end);
	switch (c) {
	case '"':
		return json_read_string(parser, at, end);
	case '{':
		return json_read_open_container(parser, at, end, PERCH_JSON_OBJECT, ret_step);
	case '[':
		return json_read_open_container(parser, at, end, PERCH_JSON_ARRAY, ret_step);
	case 't':
		return json_read_word(parser, at, end, PERCH_JSON_BOOL, STR("true"));
	case 'f':
		return json_read_word(parser, at, end, PERCH_JSON_BOOL, STR("false"));
	case 'n':
		return json_read_word(parser, at, end, PERCH_JSON_NULL, STR("null"));
	default:
		if (is_digit(c))
			return json_read_digits(parser, at, end);
		if (c == '-')
			return parser_read_number(parser, at, end);
		return parser_fail(parser, at, "expected a value");
	}
}

static __attribute__((cold)) const char *json_read_fail_behind(
	struct parser *parser, const char *at)
{
	switch (parser->frame->end) {
	case '}':
		return parser_fail(parser, at, "expected ',' or '}' after a member");
	case ']':
		return parser_fail(parser, at, "expected ',' or ']' after an element");
	default:
		return parser_fail(parser, at, "expected nothing behind the value");
	}
}

/* What may stand behind a value: a comma, the end of the container it is in,
 * or outside of all containers the end of the text. */
static inline const char *json_read_behind(
	struct parser *parser, const char *at, const char *end, enum step *ret_step)
{
	struct json_frame *frame = parser->frame;
	char c = json_read_next_byte(&at, end);
	frame->entries++;
	if (c == ',' && __builtin_expect(frame->end, 1)) {
		*ret_step = frame->end == '}' ? STEP_NAME : STEP_VALUE;
		return at + 1;
	}
	if (c == frame->end && c)
		return json_read_close_container(parser, at);
	if (at == end && !frame->end) {
		*ret_step = STEP_DONE;
		return at;
	}
	return json_read_fail_behind(parser, at);
}

static const char *json_read_document(struct parser *parser, const char *at, const char *end)
{
	enum step step = STEP_VALUE;
	while (step != STEP_DONE) {
		at = json_read_value(parser, at, end, &step);
		while (at && step == STEP_BEHIND)
			at = json_read_behind(parser, at, end, &step);
		if (at && step == STEP_NAME)
			at = json_read_name(parser, at, end);
		if (!at)
			return NULL;
	}
	return at;
}

static int json_read_parse(struct parser *parser)
{
	perch_json *json = parser->json;
	if (!json->frames && !json_read_grow_frames(parser, 0))
		return -ENOMEM;
	if (!json->values && !parser_grow(parser))
		return -ENOMEM;
	parser->frame = json->frames;
	*parser->frame = (struct json_frame){ 0 };
	parser->next = json->values;
	parser->values_end = json->values + json->cap;
	return json_read_document(parser, json->text, json->text + json->length) ? 0 : parser->code;
}

int perch_json_parse(perch_json *json, const char *text, size_t length,
	const perch_json_value **ret_root, perch_err *err)
{
	perch_json_clear(json);
	if (length > json->options.text_max) {
		return err_set(err, PERCH_ELIMIT, "a text of %zu bytes, and the limit is %zu", length,
			json->options.text_max);
	}
	json->text = length ? text : "";
	json->length = length;
	struct parser parser = { .json = json, .code = -ENOMEM };
	int r = json_read_parse(&parser);
	if (r < 0) {
		r = parser_report(&parser, err);
		perch_json_clear(json);
		return r;
	}
	*ret_root = json->values;
	return 0;
}

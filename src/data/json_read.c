/* Reading JSON in place, in one pass and without recursion.
 *
 * The last byte that is no blank guards the text: a bracket, at which every number, word and run of
 * blanks stops, so that only strings, and what follows a bracket, need to look for the end. */
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
	uintptr_t old = (uintptr_t)json->values;
	perch_json_value *grown = vec_grow(json->values, &json->cap, count + 1, sizeof(*grown));
	if (!grown)
		return false;
	for (struct json_frame *frame = json->frames + 1; frame <= parser->frame; frame++)
		frame->value = grown + ((uintptr_t)frame->value - old) / sizeof(*grown);
	json->values = grown;
	parser->next = grown + count;
	parser->values_end = grown + json->cap;
	return true;
}

static inline bool json_read_is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Moves over blanks to the next byte and returns it. The guard ends them at the latest. */
static inline char json_read_next_byte(const char **at)
{
	while (__builtin_expect((unsigned char)**at <= ' ', 0) && json_read_is_blank(**at))
		(*at)++;
	return **at;
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
	if (__builtin_expect(start >= parser->near_end, 0))
		return parser_read_odd_string(parser, start, start + 1);
	const char *at = json_skip_ascii(start + 1, end);
	if (__builtin_expect(*at != '"', 0))
		return parser_read_odd_string(parser, start, at);
	return add_string(parser, start, at + 1);
}

/* Compares the newest name with the earlier ones of its object. */
static __attribute__((noinline)) void json_read_check_name(struct parser *parser)
{
	struct json_frame *frame = parser->frame;
	const perch_json_value *name = parser->next - 1;
	const perch_json_value *earlier = frame->value + 1;
	if (name->decoded)
		frame->name_bits = UINT64_MAX; /* equal to others that share no bit with it */
	if (frame->entries > JSON_FEW_NAMES) {
		frame->may_repeat = true; /* to be found out all at once in the end */
		return;
	}
	for (; earlier < name && !frame->may_repeat; earlier = json_skip(earlier + 1))
		frame->may_repeat = str_eq(json_str(earlier), json_str(name));
}

/* Notes the name between two quotes for the search for duplicates: equal names share both of their
 * bits, which come from the last three characters and the length; others rarely do. */
static inline void json_read_note_name(struct parser *parser, const char *quote, const char *behind)
{
	struct json_frame *frame = parser->frame;
	size_t length = (size_t)(behind - quote);
	uint32_t looks = (unsigned char)behind[-2];
	if (__builtin_expect(length >= sizeof(looks), 1))
		memcpy(&looks, behind - sizeof(looks), sizeof(looks));
	uint32_t hash = (looks ^ (uint32_t)length) * UINT32_C(0x9E3779B1);
	uint64_t bits = UINT64_C(1) << (hash >> 26) | UINT64_C(1) << (hash >> 20 & 63);
	bool is_new = ~frame->name_bits & bits;
	frame->name_bits |= bits;
	if (__builtin_expect(!is_new, 0))
		json_read_check_name(parser);
}

/* The name of a member, and its colon. */
static inline const char *json_read_name(struct parser *parser, const char *at, const char *end)
{
	if (*at != '"' && json_read_next_byte(&at) != '"') {
		return parser_fail(parser, at,
			parser->frame->entries ? "expected the name of a member in double quotes behind ','"
								   : "expected '}' or the name of a member in double quotes");
	}
	const char *behind = json_read_string(parser, at, end);
	if (__builtin_expect(!behind, 0))
		return NULL;
	json_read_note_name(parser, at, behind);
	if (__builtin_expect(parser->next[-1].decoded != NULL, 0))
		json_read_check_name(parser);
	if (*behind != ':' && json_read_next_byte(&behind) != ':')
		return parser_fail(parser, behind, "expected ':' behind the name of a member");
	return behind + 1;
}

/* The lowest frame stands for the text. */
static void json_read_set_last_frame(struct parser *parser)
{
	const perch_json *json = parser->json;
	size_t room = json->frames_cap - 1, most = json->options.depth_max;
	parser->last_frame = json->frames + (most < room ? most : room);
}

/* Makes room for one more frame above the innermost, if the options allow it. */
static __attribute__((cold, noinline)) int json_read_grow_frames(struct parser *parser)
{
	perch_json *json = parser->json;
	size_t depth = json->frames ? (size_t)(parser->frame - json->frames) : 0;
	if (json->frames && depth >= json->options.depth_max)
		return PERCH_ELIMIT;
	struct json_frame *grown = vec_grow(json->frames, &json->frames_cap, depth + 2, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	json->frames = grown;
	parser->frame = grown + depth;
	json_read_set_last_frame(parser);
	return 0;
}

static __attribute__((noinline)) bool json_read_settle_names(
	struct parser *parser, perch_json_value *object)
{
	int r = json_settle_duplicates(parser->json, object, &parser->repeated);
	if (r < 0)
		parser_fail_with(parser, parser->repeated ? parser->repeated->text : object->text, r);
	return r == 0;
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

/* `at` is the bracket that ends the innermost container. Where it is the last byte of the text, it
 * must end the outermost, too. */
static inline const char *json_read_close_container(
	struct parser *parser, const char *at, const char *end, enum step *ret_step)
{
	const struct json_frame *frame = parser->frame--;
	perch_json_value *value = frame->value;
	at++;
	value->length = (size_t)(at - value->text) & JSON_LENGTH_MASK;
	value->count = frame->entries;
	value->span = (size_t)((char *)parser->next - (char *)value);
	if (__builtin_expect(frame->may_repeat, 0) && !json_read_settle_names(parser, value))
		return NULL;
	if (__builtin_expect(at == end, 0)) {
		if (parser->frame->end)
			return json_read_fail_behind(parser, parser_text_end(parser));
		*ret_step = STEP_DONE;
	}
	return at;
}

static inline const char *json_read_open_container(struct parser *parser, const char *at,
	const char *end, perch_json_type type, enum step *ret_step)
{
	int r = 0;
	if (__builtin_expect(parser->frame == parser->last_frame, 0))
		r = json_read_grow_frames(parser);
	if (r < 0)
		return parser_fail_with(parser, at, r);
	perch_json_value *value = add_value(parser, type, at, 0);
	if (!value)
		return NULL;
	struct json_frame *frame = ++parser->frame;
	frame->value = value;
	frame->name_bits = 0;
	frame->entries = 0;
	frame->may_repeat = false;
	frame->end = type == PERCH_JSON_OBJECT ? '}' : ']';
	at++;
	if (json_read_next_byte(&at) == (type == PERCH_JSON_OBJECT ? '}' : ']'))
		return json_read_close_container(parser, at, end, ret_step);
	*ret_step = type == PERCH_JSON_OBJECT ? STEP_NAME : STEP_VALUE;
	return at;
}

/* A number with a fraction and no exponent, or whatever else there may be. */
static inline const char *json_read_fraction(
	struct parser *parser, const char *start, const char *point, const char *end, uint64_t number)
{
	uint64_t digits = number;
	const char *first = point + 1;
	const char *at = json_gather_digits(first, end, &digits);
	bool is_simple =
		*point == '.' && at > first && (*at | 0x20) != 'e' && at - start <= JSON_SCALED_DIGITS + 1;
	if (__builtin_expect(!is_simple, 0))
		return parser_read_fraction(parser, start, point, end, number);
	perch_json_value *value = add_value(parser, PERCH_JSON_NUMBER, start, (size_t)(at - start));
	if (!value)
		return NULL;
	value->count = (uint32_t)(JSON_NUMBER_SCALED + (first - at));
	value->digits = digits;
	return at;
}

/* A number without a sign. Most are whole, and are converted while they are looked at; the others
 * are looked at more closely. */
static inline const char *json_read_number(
	struct parser *parser, const char *start, const char *end)
{
	uint64_t number = 0;
	const char *at = start;
	for (unsigned digit; (digit = json_digit(*at)) < 10; at++)
		number = number * 10 + digit;
	if (at - start > JSON_WHOLE_DIGITS || (*start == '0' && at - start > 1))
		return parser_read_number(parser, start, end);
	if (*at == '.' || (*at | 0x20) == 'e')
		return json_read_fraction(parser, start, at, end, number);
	perch_json_value *value = add_value(parser, PERCH_JSON_NUMBER, start, (size_t)(at - start));
	if (!value)
		return NULL;
	value->count = JSON_NUMBER_WHOLE;
	value->whole = (int64_t)number;
	return at;
}

/* A whole value, or the bracket that begins one. */
static inline const char *json_read_value(
	struct parser *parser, const char *at, const char *end, enum step *ret_step)
{
	*ret_step = STEP_BEHIND;
	char c = json_read_next_byte(&at);
	if (c == '"')
		return json_read_string(parser, at, end);
	if (is_digit(c))
		return json_read_number(parser, at, end);
	if (c == '{')
		return json_read_open_container(parser, at, end, PERCH_JSON_OBJECT, ret_step);
	if (c == '[')
		return json_read_open_container(parser, at, end, PERCH_JSON_ARRAY, ret_step);
	switch (c) {
	case '-':
		return parser_read_number(parser, at, end);
	case 't':
		return json_read_word(parser, at, end, PERCH_JSON_BOOL, STR("true"));
	case 'f':
		return json_read_word(parser, at, end, PERCH_JSON_BOOL, STR("false"));
	case 'n':
		return json_read_word(parser, at, end, PERCH_JSON_NULL, STR("null"));
	default:
		return parser_fail(parser, at, "expected a value");
	}
}

/* What may stand behind a value: a comma, the end of the container it is in, or outside of all
 * containers the end of the text. */
static inline const char *json_read_behind(
	struct parser *parser, const char *at, const char *end, enum step *ret_step)
{
	struct json_frame *frame = parser->frame;
	char c = *at == ',' ? ',' : json_read_next_byte(&at);
	frame->entries++;
	if (c == ',' && frame->end == '}') {
		*ret_step = STEP_NAME;
		return at + 1;
	}
	if (c == ',' && frame->end == ']') {
		*ret_step = STEP_VALUE;
		return at + 1;
	}
	if (c != frame->end || (!c && at != end))
		return json_read_fail_behind(parser, at);
	if (c)
		return json_read_close_container(parser, at, end, ret_step);
	*ret_step = STEP_DONE;
	return at;
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

static int json_read_text(struct parser *parser, const char *end)
{
	perch_json *json = parser->json;
	parser->frame = json->frames;
	if ((!json->frames && json_read_grow_frames(parser) < 0) ||
		(!json->values && !parser_grow(parser)))
		return -ENOMEM;
	json_read_set_last_frame(parser);
	*parser->frame = (struct json_frame){ 0 };
	parser->next = json->values;
	parser->values_end = json->values + json->cap;
	parser->near_end = end - json->text > JSON_ONE_BY_ONE ? end - JSON_ONE_BY_ONE : json->text;
	return json_read_document(parser, json->text, end) ? 0 : parser->code;
}

/* A text without a bracket at its end is a value alone, or broken. It is read from a copy, where a
 * NUL is the guard; the document keeps that in place of the text until a failure was reported. */
static __attribute__((noinline)) int json_read_copy(struct parser *parser)
{
	perch_json *json = parser->json;
	const char *text = json->text;
	char *copy = vec_grow(json->copy, &json->copy_size, json->length + 1, 1);
	if (!copy)
		return -ENOMEM;
	json->copy = copy;
	memcpy(copy, text, json->length);
	copy[json->length] = '\0';
	json->text = copy;
	int r = json_read_text(parser, copy + json->length);
	if (r < 0)
		return r;
	json->values->text = text + (json->values->text - copy);
	json->text = text;
	return 0;
}

static int json_read_parse(struct parser *parser)
{
	const char *end = parser_text_end(parser);
	while (end > parser->json->text && json_read_is_blank(end[-1]))
		end--;
	bool has_guard = end > parser->json->text && (end[-1] == '}' || end[-1] == ']');
	return has_guard ? json_read_text(parser, end) : json_read_copy(parser);
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

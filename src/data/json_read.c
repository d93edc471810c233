/* Reading JSON in place, in one pass and without recursion.
 *
 * The last byte that is no blank guards the text: a bracket, at which every number, word and run of
 * blanks stops, so that only strings, and what follows a bracket, need to look for the end. */
#include "perch/json.h"

#include <errno.h>

#include "base/err.h"
#include "base/vec.h"
#include "data/json_reader.h"

/* ---- containers -------------------------------------------------------------- */

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

static __attribute__((cold, noinline)) const char *json_read_another_frame(
	struct parser *parser, const char *at)
{
	int r = json_read_grow_frames(parser);
	return r < 0 ? parser_fail_with(parser, at, r) : at;
}

static __attribute__((cold, noinline)) bool json_read_settle_names(
	struct parser *parser, perch_json_value *object)
{
	int r = json_settle_duplicates(parser->json, object, &parser->repeated);
	if (r < 0)
		parser_fail_with(parser, parser->repeated ? parser->repeated->text : object->text, r);
	return r == 0;
}

static __attribute__((cold, noinline)) bool json_read_fail_behind(
	struct parser *parser, char bracket, const char *at)
{
	return parser_fail(parser, at,
		bracket == '}'       ? "expected ',' or '}' after a member"
			: bracket == ']' ? "expected ',' or ']' after an element"
							 : "expected nothing behind the value");
}

/* Behind a container in an array: the next one may be like it, and its strings as long as its are,
 * as it is about as long as the one before it. */
HOT void json_read_expect_another(
	struct reader *reader, const perch_json_value *value, struct json_frame *around)
{
	enum { ABOUT = 8 };
	uint32_t change = value->length - around->entry_length;
	if (around->entry_length)
		reader->is_regular = change + ABOUT <= 2 * ABOUT;
	if (!reader->has_habits || !reader->is_regular)
		reader->like = (const char *)value - (const char *)reader->next;
	around->entry_length = value->length;
}

/* At the bracket that ends the innermost container. Where it is the last byte of the text, it must
 * end the outermost, too. */
HOT bool json_read_close(struct reader *reader, perch_json_type type)
{
	struct json_frame *frame = reader->parser->frame;
	perch_json_value *value = frame->value;
	json_set(value, type, value->text, (size_t)(++reader->at - value->text));
	value->count = reader->entries;
	value->span = (size_t)((char *)reader->next - (char *)value);
	if (__builtin_expect(frame->may_repeat, 0) && !json_read_settle_names(reader->parser, value))
		return false;
	reader->entries = frame->entries_around;
	reader->name_bits = frame->name_bits_around;
	if (frame[-1].bracket == ']')
		json_read_expect_another(reader, value, frame - 1);
	reader->parser->frame = --frame;
	if (__builtin_expect(reader->at == reader->parser->end, 0) && frame->bracket)
		return json_read_fail_behind(
			reader->parser, frame->bracket, parser_text_end(reader->parser));
	return true;
}

/* The value is set when its end is known. */
HOT bool json_read_open(struct reader *reader, perch_json_type type, char bracket)
{
	struct parser *parser = reader->parser;
	if (__builtin_expect(parser->frame == parser->last_frame, 0) &&
		!json_reader_take_back(
			reader, json_read_another_frame(json_reader_lend(reader), reader->at)))
		return false;
	struct json_frame *frame = ++parser->frame;
	frame->value = json_reader_add(reader, type, reader->at + 1);
	frame->name_bits_around = reader->name_bits;
	frame->entries_around = reader->entries;
	frame->bracket = bracket;
	frame->may_repeat = false;
	frame->entry_length = 0;
	reader->name_bits = 0;
	reader->entries = 0;
	return true;
}

/* Whether the innermost container, in front of whose first entry this is, has none. */
HOT bool json_read_is_empty(struct reader *reader)
{
	return json_reader_next_byte(reader) == reader->parser->frame->bracket;
}

/* Behind a value: a comma leads to another. */
HOT bool json_read_comma(struct reader *reader)
{
	reader->entries++;
	if (*reader->at != ',' && json_reader_next_byte(reader) != ',')
		return false;
	reader->at++;
	return true;
}

HOT bool json_read_end(struct reader *reader, perch_json_type type, char bracket)
{
	if (__builtin_expect(*reader->at != bracket, 0))
		return json_read_fail_behind(reader->parser, bracket, reader->at);
	return json_read_close(reader, type);
}

/* The brackets that open a container lead into its loop, and the bracket that closes one back into
 * that of the container around it: jumps, so that all that is known stays in registers. */
HOT bool json_read_containers(struct reader *reader, bool is_inside)
{
	char c = *reader->at;
	if (is_inside)
		goto behind_element;
	goto open;
in_object:
	if (*reader->at != '"' && json_read_is_empty(reader)) {
		if (!json_read_close(reader, PERCH_JSON_OBJECT))
			return false;
		goto closed;
	}
member:
	if (!json_reader_has_room(reader) || !json_reader_name(reader))
		return false;
	c = json_reader_next_byte(reader);
	if (c != '"' && (c == '{' || c == '['))
		goto open;
	if (!json_reader_scalar(reader, c))
		return false;
behind_member:
	if (json_read_comma(reader))
		goto member;
	if (!json_read_end(reader, PERCH_JSON_OBJECT, '}'))
		return false;
	goto closed;
in_array:
	if (json_read_is_empty(reader)) {
		if (!json_read_close(reader, PERCH_JSON_ARRAY))
			return false;
		goto closed;
	}
element:
	c = json_reader_next_byte(reader);
	if (!json_reader_has_room(reader))
		return false;
	if (c != '"' && (c == '{' || c == '['))
		goto open;
	if (!json_reader_scalar(reader, c))
		return false;
behind_element:
	if (json_read_comma(reader))
		goto element;
	if (!json_read_end(reader, PERCH_JSON_ARRAY, ']'))
		return false;
closed:
	if (reader->parser->frame->bracket == '}')
		goto behind_member;
	if (reader->parser->frame->bracket == ']' && reader->is_regular == reader->has_habits)
		goto behind_element;
	return true;
open:
	if (c == '{') {
		if (json_read_open(reader, PERCH_JSON_OBJECT, '}'))
			goto in_object;
		return false;
	}
	if (json_read_open(reader, PERCH_JSON_ARRAY, ']'))
		goto in_array;
	return false;
}

/* The loop, twice. Where the linker puts them shall not decide how fast they are. */

static __attribute__((noinline, aligned(64))) bool json_read_with_habits(
	struct reader *shared, bool is_inside)
{
	struct reader reader = *shared;
	reader.has_habits = true;
	bool is_read = json_read_containers(&reader, is_inside);
	*shared = reader;
	return is_read;
}

static __attribute__((noinline, aligned(64))) bool json_read_without_habits(
	struct reader *shared, bool is_inside)
{
	struct reader reader = *shared;
	reader.has_habits = false;
	bool is_read = json_read_containers(&reader, is_inside);
	*shared = reader;
	return is_read;
}

/* Reads the container that begins here, and all that is in it. */
static const char *json_read_container(struct parser *parser, const char *at, const char *end)
{
	enum { JSON_NEAR = 1 + JSON_BLOCK + 1 }; /* a quote, a block, and a byte to look at behind it */
	const char *text = parser->json->text;
	struct reader reader = {
		.parser = parser,
		.at = at,
		.near_end = end - text > JSON_NEAR ? end - JSON_NEAR : text,
		.next = parser->next,
		.last = parser->values_end - 1,
		.like = parser_first_like(parser),
		.is_regular = parser->json->length == parser->json->former_length,
	};
	bool is_inside = false, is_read;
	do {
		is_read = reader.is_regular ? json_read_with_habits(&reader, is_inside)
									: json_read_without_habits(&reader, is_inside);
		is_inside = true;
	} while (is_read && parser->frame->bracket);
	return is_read ? reader.at : NULL;
}

static const char *json_read_word_alone(
	struct parser *parser, const char *at, perch_json_type type, struct str word)
{
	bool is_word = (size_t)(parser->end - at) >= word.len && !memcmp(at, word.data, word.len);
	if (!is_word)
		return parser_fail(parser, at, "expected true, false, null or another value");
	return add_value(parser, type, at, word.len) ? at + word.len : NULL;
}

/* A value that is in no container. */
static const char *json_read_alone(struct parser *parser, const char *at)
{
	switch (*at) {
	case '"':
		return parser_read_odd_string(parser, at, at + 1);
	case 't':
		return json_read_word_alone(parser, at, PERCH_JSON_BOOL, STR("true"));
	case 'f':
		return json_read_word_alone(parser, at, PERCH_JSON_BOOL, STR("false"));
	case 'n':
		return json_read_word_alone(parser, at, PERCH_JSON_NULL, STR("null"));
	default:
		if (*at != '-' && !is_digit(*at))
			return parser_fail(parser, at, "expected a value");
		return parser_read_number(parser, at, parser->end);
	}
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
	parser->end = end;
	const char *at = json->text;
	while (json_reader_is_blank(*at))
		at++;
	at = *at == '{' || *at == '[' ? json_read_container(parser, at, end)
								  : json_read_alone(parser, at);
	if (!at)
		return parser->code;
	while (at < end && json_reader_is_blank(*at))
		at++;
	if (at < end)
		json_read_fail_behind(parser, '\0', at);
	return at < end ? parser->code : 0;
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
	while (end > parser->json->text && json_reader_is_blank(end[-1]))
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
	json->former_length = length;
	if (r < 0) {
		r = parser_report(&parser, err);
		perch_json_clear(json);
		return r;
	}
	*ret_root = json->values;
	return 0;
}

/* Values, names and strings as the loop of json_read.c meets them: the plain ones, in as few steps
 * as may be. All of it becomes one function with that loop. */
#ifndef DATA_JSON_READER_H
#define DATA_JSON_READER_H

#include "data/json_parser.h"
#include "data/json_scan.h"

/* Who calls it is what it is for: the compiler shall see all of the loop. */
#define HOT static inline __attribute__((always_inline))

/* What is needed for every value, in registers as long as nobody gets its address: whatever is
 * rare gets the parser, which is told before and asked behind it where the reader is. The frames
 * hold what belongs to the containers around the innermost. */
struct reader {
	struct parser *parser;
	const char *at;
	const char *near_end; /* from here on nothing is read in blocks */
	perch_json_value *next;
	perch_json_value *last; /* from here on there is no room for two */
	uint64_t name_bits;
	ptrdiff_t like; /* in bytes, from the next value to the one that it is expected to be like */
	uint32_t entries;
	bool has_habits; /* the same in all of a loop: its strings end where they ended before */
	bool is_regular; /* what has_habits ought to be */
};

/* Before and behind everything that is not in sight of the compiler. */

HOT struct parser *json_reader_lend(const struct reader *reader)
{
	struct parser *parser = reader->parser;
	parser->next = reader->next;
	return parser;
}

HOT bool json_reader_take_back(struct reader *reader, const char *at)
{
	const struct parser *parser = reader->parser;
	reader->next = parser->next;
	reader->last = parser->values_end - 1;
	reader->at = at;
	if (!reader->like)
		reader->like = parser_first_like(parser);
	return at != NULL;
}

HOT bool json_reader_fail(struct reader *reader, const char *expected)
{
	return parser_fail(reader->parser, reader->at, expected);
}

HOT bool json_reader_is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Moves over blanks to the next byte and returns it. The guard ends them at the latest. */
HOT char json_reader_next_byte(struct reader *reader)
{
	while (
		__builtin_expect((unsigned char)*reader->at <= ' ', 0) && json_reader_is_blank(*reader->at))
		reader->at++;
	return *reader->at;
}

/* parser_grow, which notes a failure. */
bool json_reader_grow(struct parser *parser, const char *at) __attribute__((cold));

/* For a value and its name. */
HOT bool json_reader_has_room(struct reader *reader)
{
	if (__builtin_expect(reader->next < reader->last, 1))
		return true;
	bool has_grown = json_reader_grow(json_reader_lend(reader), reader->at);
	return json_reader_take_back(reader, reader->at) && has_grown;
}

/* Adds the value up to `behind`, for which there is room. */
HOT perch_json_value *json_reader_add(
	struct reader *reader, perch_json_type type, const char *behind)
{
	perch_json_value *value = reader->next++;
	json_set(value, type, reader->at, (size_t)(behind - reader->at));
	reader->at = behind;
	return value;
}

/* Where the plain part of a string ends. */
const char *json_reader_plain_end(const char *at, const char *end);

/* Where the string ends if it is as long as the one that stood at its place in the object before,
 * or in the text before. */
HOT const char *json_reader_guess(const struct reader *reader)
{
	const char *like = (const char *)reader->next + reader->like;
	return reader->at + ((const perch_json_value *)(const void *)like)->length - 1;
}

/* A place that turned out to be the guess. The processor guesses that, too, and reads on from
 * there, while it would have to wait for what comes out of a block: unless the compiler sees that
 * both are the same. */
HOT const char *json_reader_guessed(const char *guess)
{
	__asm__ volatile("" : "+r"(guess));
	return guess;
}

HOT const char *json_reader_plain_by_habit(const struct reader *reader)
{
	const char *stop = reader->at + 1;
	if (__builtin_expect(reader->at < reader->near_end, 1))
		stop = json_skip_ascii_by_habit(stop);
	if (__builtin_expect(*stop == '"', 1))
		return stop;
	return json_reader_plain_end(stop, reader->parser->end);
}

HOT const char *json_reader_plain_by_guess(const struct reader *reader)
{
	const char *guess = json_reader_guess(reader);
	const char *stop = reader->at + 1;
	if (__builtin_expect(reader->at < reader->near_end, 1))
		stop = json_skip_ascii_once(stop);
	if (__builtin_expect(stop == guess, 1))
		stop = json_reader_guessed(guess);
	if (__builtin_expect(*stop == '"', 1))
		return stop;
	stop = json_reader_plain_end(stop, reader->parser->end);
	return stop == guess ? json_reader_guessed(guess) : stop;
}

/* Where the plain part of the string that begins here ends. */
HOT const char *json_reader_plain_part(const struct reader *reader)
{
	return reader->has_habits ? json_reader_plain_by_habit(reader)
							  : json_reader_plain_by_guess(reader);
}

HOT bool json_reader_odd_string(struct reader *reader, const char *odd)
{
	const char *start = reader->at;
	return json_reader_take_back(
		reader, parser_read_odd_string(json_reader_lend(reader), start, odd));
}

HOT bool json_reader_string(struct reader *reader)
{
	const char *quote = json_reader_plain_part(reader);
	if (__builtin_expect(*quote != '"', 0))
		return json_reader_odd_string(reader, quote);
	json_reader_add(reader, PERCH_JSON_STRING, quote + 1);
	return true;
}

/* ---- names ------------------------------------------------------------------- */

/* Compares the newest name with the earlier ones of its object; returns the bits to go on with. */
uint64_t json_reader_check_name(
	struct json_frame *frame, const perch_json_value *name, uint32_t entries, uint64_t name_bits);

/* Equal names share both of their bits, which come from the last three characters and the length;
 * others rarely do. */
HOT uint64_t json_reader_name_bits(const char *start, const char *behind)
{
	uint32_t length = (uint32_t)(behind - start);
	uint32_t looks;
	if (__builtin_expect(length >= sizeof(looks), 1))
		memcpy(&looks, behind - sizeof(looks), sizeof(looks));
	else
		looks = (unsigned char)start[1];
	uint32_t hash = (looks ^ length) * UINT32_C(0x9E3779B1);
	return UINT64_C(1) << (hash >> 26) | UINT64_C(1) << (hash >> 20 & 63);
}

/* Notes the newest name for the search for duplicates. */
HOT void json_reader_note_name(struct reader *reader, uint64_t bits)
{
	uint64_t known = reader->name_bits;
	reader->name_bits |= bits;
	if (__builtin_expect(reader->name_bits == known, 0))
		reader->name_bits =
			json_reader_check_name(reader->parser->frame, reader->next - 1, reader->entries, known);
}

HOT bool json_reader_odd_name(struct reader *reader, const char *odd)
{
	const char *start = reader->at;
	if (!json_reader_odd_string(reader, odd))
		return false;
	const perch_json_value *name = reader->next - 1;
	uint64_t bits = json_reader_name_bits(start, reader->at);
	json_reader_note_name(reader, name->decoded ? 0 : bits);
	return true;
}

HOT bool json_reader_plain_name(struct reader *reader)
{
	const char *quote = json_reader_plain_part(reader);
	if (__builtin_expect(*quote != '"', 0))
		return json_reader_odd_name(reader, quote);
	uint64_t bits = json_reader_name_bits(reader->at, quote + 1);
	json_reader_add(reader, PERCH_JSON_STRING, quote + 1);
	json_reader_note_name(reader, bits);
	return true;
}

/* The name of a member, and its colon. */
HOT bool json_reader_name(struct reader *reader)
{
	if (*reader->at != '"' && json_reader_next_byte(reader) != '"') {
		json_reader_fail(reader,
			reader->entries ? "expected the name of a member in double quotes behind ','"
							: "expected '}' or the name of a member in double quotes");
		return false;
	}
	if (!json_reader_plain_name(reader))
		return false;
	if (*reader->at != ':' && json_reader_next_byte(reader) != ':') {
		json_reader_fail(reader, "expected ':' behind the name of a member");
		return false;
	}
	reader->at++;
	return true;
}

/* ---- values ------------------------------------------------------------------ */

HOT bool json_reader_word(
	struct reader *reader, perch_json_type type, const char *word, size_t length)
{
	size_t left = (size_t)(reader->parser->end - reader->at);
	bool is_word = left >= length && memcmp(reader->at + length - 4, word + length - 4, 4) == 0;
	if (__builtin_expect(!is_word, 0))
		return json_reader_fail(reader, "expected true, false, null or another value");
	json_reader_add(reader, type, reader->at + length);
	return true;
}

/* A number with a fraction and no exponent, or whatever else there may be. */
HOT bool json_reader_fraction(struct reader *reader, const char *point, uint64_t number)
{
	const char *start = reader->at;
	uint64_t digits = number;
	const char *first = point + 1;
	const char *at = json_gather_digits(first, reader->parser->end, &digits);
	bool is_simple =
		*point == '.' && at > first && (*at | 0x20) != 'e' && at - start <= JSON_SCALED_DIGITS + 1;
	if (__builtin_expect(!is_simple, 0)) {
		at = parser_read_fraction(
			json_reader_lend(reader), start, point, reader->parser->end, number);
		return json_reader_take_back(reader, at);
	}
	perch_json_value *value = json_reader_add(reader, PERCH_JSON_NUMBER, at);
	value->count = (uint32_t)(JSON_NUMBER_SCALED + (first - at));
	value->digits = digits;
	return true;
}

HOT bool json_reader_any_number(struct reader *reader)
{
	const char *at = parser_read_number(json_reader_lend(reader), reader->at, reader->parser->end);
	return json_reader_take_back(reader, at);
}

/* A number without a sign. Most are whole and have few digits; the others are looked at more
 * closely. */
HOT bool json_reader_number(struct reader *reader)
{
	const char *start = reader->at;
	uint64_t number = 0;
	const char *at = json_gather_digits(start, reader->parser->end, &number);
	if (at - start > JSON_WHOLE_DIGITS || (*start == '0' && at - start > 1))
		return json_reader_any_number(reader);
	if (*at != ',' && (*at == '.' || (*at | 0x20) == 'e'))
		return json_reader_fraction(reader, at, number);
	perch_json_value *value = json_reader_add(reader, PERCH_JSON_NUMBER, at);
	value->count = JSON_NUMBER_WHOLE;
	value->whole = (int64_t)number;
	return true;
}

/* A value that is no container and begins with `c`. */
HOT bool json_reader_scalar(struct reader *reader, char c)
{
	if (c == '"')
		return json_reader_string(reader);
	if (is_digit(c))
		return json_reader_number(reader);
	switch (c) {
	case '-':
		return json_reader_any_number(reader);
	case 't':
		return json_reader_word(reader, PERCH_JSON_BOOL, "true", 4);
	case 'f':
		return json_reader_word(reader, PERCH_JSON_BOOL, "false", 5);
	case 'n':
		return json_reader_word(reader, PERCH_JSON_NULL, "null", 4);
	default:
		return json_reader_fail(reader, "expected a value");
	}
}

#endif

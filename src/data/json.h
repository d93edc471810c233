/* What the parts of the JSON reader and writer know of each other, and what
 * perch's own code may use beyond include/perch/json.h: str for strings and
 * names, and a writer that appends to a buf of the caller. */
#ifndef DATA_JSON_H
#define DATA_JSON_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "perch/json.h"

DEFINE_POINTER_CLEANUP(cleanup_json, perch_json, perch_json_free)
#define _cleanup_json_ _cleanup_(cleanup_json)

/* A value, 24 bytes. The values of a document stand in one array in the order
 * of the text: an object is followed by name, value, name, value, …; an array
 * by its elements; each container knows how many places it takes. */
struct perch_json_value {
	const char *text;      /* as written; a string begins with its quote */
	uint32_t length : 28;  /* of text */
	uint32_t shadowed : 1; /* a name whose member lost to another of the same name */
	uint32_t type : 3;     /* perch_json_type */
	uint32_t count;        /* container: entries; decoded string: its length; number: json_number */
	union {
		size_t span;     /* container: bytes that its values take, with its own */
		char *decoded;   /* string: how it reads; NULL when that is as it is written */
		int64_t whole;   /* number: JSON_NUMBER_WHOLE */
		uint64_t digits; /* number: from JSON_NUMBER_SCALED on, without its sign */
	};
};

/* What was gathered of a number when it was read: so much that it need not be read again. */
enum json_number {
	JSON_NUMBER_LONG,             /* nothing: only the text has all of it */
	JSON_NUMBER_WHOLE,            /* digits only */
	JSON_NUMBER_SCALED = 1 << 16, /* and the exponent of ten of its digits */
};

/* So many digits fit into an int64_t, or into the digits of a scaled number. */
enum { JSON_WHOLE_DIGITS = 18, JSON_SCALED_DIGITS = 19 };

enum { JSON_LENGTH_MASK = (1 << 28) - 1 };
_Static_assert((int)PERCH_JSON_TEXT_CEILING <= (int)JSON_LENGTH_MASK, "a length must fit");

/* Up to so many names are compared each with each when they look alike. */
enum { JSON_FEW_NAMES = 16 };

/* An object or array that is still open while the text is read. */
struct json_frame {
	perch_json_value *value;
	uint64_t name_bits_around; /* of the container that it is in: two bits for every name seen */
	uint32_t entries_around;
	uint32_t entry_length; /* of an array: of the last container in it */
	char bracket;          /* its last one */
	bool may_repeat;       /* two of its names may be equal */
};

/* A name while the names of its object are compared. */
struct json_sorted_name {
	uint32_t hash;
	perch_json_value *name;
};

struct perch_json {
	perch_json_options options; /* no zeros left */
	const char *text;
	size_t length;
	size_t former_length; /* of the text before */
	perch_json_value *values;
	size_t cap;
	struct json_frame *frames;
	size_t frames_cap;
	char *decoded; /* room for strings with escapes, addressed like text */
	size_t decoded_size;
	char *copy; /* of a text that has no bracket at its end */
	size_t copy_size;
	struct json_sorted_name *sorted; /* room to sort names in */
	size_t sorted_cap;
};

/* How many bytes a byte of a string can become when it is decoded: only
 * broken UTF-8 grows, from one byte to the three of U+FFFD. */
static inline size_t json_growth(const perch_json *json)
{
	return json->options.replace_invalid_utf8 ? 3 : 1;
}

/* perch_json_type_of without a call. */
static inline bool json_is_of(const perch_json_value *value, perch_json_type type)
{
	return value && value->type == type;
}

/* What a byte means behind a backslash; 0 = nothing, or more than itself. */
static inline char json_escape_meaning(unsigned char byte)
{
	static const char meaning[256] = {
		['"'] = '"',
		['\\'] = '\\',
		['/'] = '/',
		['b'] = '\b',
		['f'] = '\f',
		['n'] = '\n',
		['r'] = '\r',
		['t'] = '\t',
	};
	return meaning[byte];
}

/* The value of four hex digits, or -1. */
int json_hex4(const char *digits);

static inline bool json_is_high_surrogate(int unit)
{
	return unit >= 0xD800 && unit <= 0xDBFF;
}

static inline bool json_is_low_surrogate(int unit)
{
	return unit >= 0xDC00 && unit <= 0xDFFF;
}

/* The content of a string or name, which it must be. */
static inline struct str json_str(const perch_json_value *string)
{
	if (string->decoded)
		return (struct str){ string->decoded, string->count };
	return (struct str){ string->text + 1, string->length - 2u };
}

/* Whether a member is there and true. */
bool json_flag(const perch_json_value *object, const char *name);

/* The value behind this one and all that is in it. */
static inline perch_json_value *json_skip(const perch_json_value *value)
{
	bool is_container = value->type >= PERCH_JSON_ARRAY;
	size_t span = is_container ? value->span : sizeof(*value);
	return (perch_json_value *)(void *)((char *)(void *)value + span);
}

/* Deals with names that occur twice in an object, as the options say. Returns
 * 0, -ENOMEM, or PERCH_ESYNTAX and in *ret_second the name that repeats one. */
int json_settle_duplicates(
	perch_json *json, perch_json_value *object, const perch_json_value **ret_second);

/* Line and column of a place in a text, both from 1. */
void json_position(struct str text, const char *at, unsigned *ret_line, unsigned *ret_column);

/* Room to write any double in; the longest takes 25 bytes of it. */
enum { JSON_DOUBLE_MAX = 48 };

/* Writes a finite double in its shortest form; returns the length. */
size_t json_format_double(double number, char out[JSON_DOUBLE_MAX]);

/* -1, 0 or 1 in *ret_order: which of two numbers is smaller, to the last digit.
 * -ERANGE when an exponent has more than 15 digits. */
int json_number_compare(const perch_json_value *a, const perch_json_value *b, int *ret_order);

/* Whether a number has no fraction, however it is written: 1.0 and 1e3 have none. */
int json_number_is_whole(const perch_json_value *number, bool *ret_is_whole);

enum json_place {
	JSON_FIRST,      /* at the start, or behind [ or { */
	JSON_NEXT,       /* behind a value */
	JSON_BEHIND_NAME /* a name is waiting for its value */
};

struct perch_json_writer {
	struct buf *out;
	struct buf own; /* what out points to in a writer of perch_json_writer_new */
	/* Not beside the style: a word of both could not be read as soon as one was written. */
	enum json_place place;
	int depth;
	perch_json_style style;
};

/* How many bytes a string takes when it is written, without its quotes. */
size_t json_written_size(struct str text);

/* Room for `extra` bytes, to be written without further checks. */
static inline bool json_has_room(struct buf *out, size_t extra)
{
	bool fits = extra <= out->cap - out->len && !out->failed;
	return __builtin_expect(fits, 1) || buf_reserve(out, extra) == 0;
}

/* The slower part of a string, from the first byte that is not plain ASCII: leaves room for the
 * quote at the end, or nothing without memory. */
bool json_escape_append(struct buf *out, const char *at, const char *end);

/* A writer that appends to a buffer of the caller, which looks at out->failed
 * in the end. Needs no freeing. */
static inline struct perch_json_writer json_writer_on(struct buf *out)
{
	return (struct perch_json_writer){ .out = out };
}

/* A member and its name. A text without data is an empty one. */
void json_write_text(perch_json_writer *writer, const char *name, struct str text);
void json_write_flag(perch_json_writer *writer, const char *name, bool flag);

/* A value in the one form that all equal values have, for hashes: members in the order of their
 * names, no blanks. -ENOMEM. */
int json_write_canonical(perch_json_writer *writer, const perch_json_value *value);

#endif

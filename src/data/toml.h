/* Reading TOML 1.0.0: text in, a tree of values out. Every value and every key
 * remembers its line and column, so that a caller can say where a setting that
 * makes no sense stands. toml_edit.h changes such texts. */
#ifndef DATA_TOML_H
#define DATA_TOML_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "perch/base.h"

/* What a text may cost; the limits of struct toml_options where it says 0.
 * A value takes up to 200 bytes of memory besides its text. */
enum {
	TOML_SIZE_MAX = 4 * 1024 * 1024, /* bytes of text */
	TOML_DEPTH_MAX = 128,            /* tables and arrays inside each other */
	TOML_VALUES_MAX = 500 * 1000,    /* values, tables and arrays included */
	TOML_DEPTH_HIGHEST = 1000,       /* no option goes beyond it: the parser recurses */
};

struct toml_options {
	size_t size_max;
	unsigned depth_max;
	size_t values_max;
};

enum toml_type {
	TOML_STRING,
	TOML_INTEGER,
	TOML_FLOAT,
	TOML_BOOL,
	TOML_OFFSET_DATETIME,
	TOML_LOCAL_DATETIME,
	TOML_LOCAL_DATE,
	TOML_LOCAL_TIME,
	TOML_ARRAY,
	TOML_TABLE,
};

/* Counted from 1, columns in characters. */
struct toml_place {
	unsigned line;
	unsigned column;
};

/* The parts that the type has; the others are 0. Every part is in its range
 * and the day exists; second may be 60. Digits beyond nanoseconds are cut. */
struct toml_time {
	uint32_t nanosecond;
	int16_t offset_minutes; /* east of UTC */
	uint16_t year;
	uint8_t month, day, hour, minute, second;
};

struct toml_value {
	enum toml_type type;
	unsigned char origin; /* for the parser and the editor, as is depth */
	uint16_t depth;
	struct toml_place at;     /* of the value; of its header for a [table] */
	struct toml_place key_at; /* of the key, in a table */
	struct str key;           /* in a table; NUL-terminated */
	struct toml_value *parent;
	union {
		struct str string; /* NUL-terminated, and may hold NULs */
		int64_t integer;
		double number;
		bool boolean;
		struct toml_time time;
		struct { /* of an array or a table, in the order of the file */
			struct toml_value **items;
			uint32_t count;
			uint32_t capacity;
			struct toml_branch *index;
		};
	};
};

struct toml;

/* Reads a whole text; options may be NULL. On success *ret_toml owns the tree,
 * which does not point into text. Fails with PERCH_ESYNTAX, PERCH_ELIMIT or
 * -ENOMEM; err then says where, what was expected and what was found. */
int toml_parse(
	struct str text, const struct toml_options *options, struct toml **ret_toml, perch_err *err);
void toml_free(struct toml *toml);
DEFINE_POINTER_CLEANUP(toml_freep, struct toml, toml_free)

const struct toml_value *toml_root(const struct toml *toml);

/* The value of a key in a table, or NULL. Takes time by the length of the key
 * alone. All keys: for (i = 0; i < table->count; i++) table->items[i]->key */
const struct toml_value *toml_get(const struct toml_value *table, const char *key);

/* What a config reader asks for: 1 when the key is there and fits, 0 when it
 * is absent (*ret is left alone), PERCH_ESYNTAX with words and the place when
 * it is something else: "`name` must be a string, not an integer". A float may
 * be written as an integer; a string with a NUL in it is an error. */
int toml_get_string(
	const struct toml_value *table, const char *key, const char **ret, perch_err *err);
int toml_get_bool(const struct toml_value *table, const char *key, bool *ret, perch_err *err);
int toml_get_float(const struct toml_value *table, const char *key, double *ret, perch_err *err);
int toml_get_integer(const struct toml_value *table, const char *key, int64_t low, int64_t high,
	int64_t *ret, perch_err *err);
int toml_get_table(
	const struct toml_value *table, const char *key, const struct toml_value **ret, perch_err *err);

/* An array whose elements are all of one type. */
int toml_get_array(const struct toml_value *table, const char *key, enum toml_type element_type,
	const struct toml_value **ret, perch_err *err);

/* An array of strings as a list that ends with NULL, copied into the arena; an
 * empty list when it is absent. Returns 0, PERCH_ESYNTAX or -ENOMEM. */
int toml_get_strings(const struct toml_value *table, const char *key, struct arena *arena,
	const char *const **ret, perch_err *err);

/* Refuses every key that is not one of `count` names, which stand `stride` bytes apart as those of
 * str_nearest do: a mistyped one must not be passed over. Returns 0 or PERCH_ESYNTAX. */
int toml_check_keys(const struct toml_value *table, const char *const *names, size_t count,
	size_t stride, perch_err *err);

/* The error for one such key: PERCH_ESYNTAX. */
int toml_unknown_key(const struct toml_value *value, const char *const *names, size_t count,
	size_t stride, perch_err *err);

/* "a string", "an integer", … for messages. */
const char *toml_type_name(enum toml_type type);

enum { TOML_QUOTE_MAX = 80 };

/* `text`, cut and with escapes where it would not be safe to print. */
const char *toml_quote(struct str text, char out[TOML_QUOTE_MAX]);

#endif

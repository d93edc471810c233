/* JSON (RFC 8259): reading a text in place and writing one.
 *
 * A perch_json is a document that is meant to be kept and used again for
 * every text: after the first few it allocates nothing. Values are handles
 * into it. They, and the strings they give out, stay valid until the next
 * perch_json_parse, perch_json_clear or perch_json_free of their document,
 * and as long as the caller keeps the text, which is never changed and needs
 * no NUL behind it. A document, with its values, belongs to one thread at a
 * time, even for reading; so does a writer.
 *
 * Every function that takes a value accepts NULL, "there is no such value",
 * so that lookups can be chained and checked once. */
#ifndef PERCH_JSON_H
#define PERCH_JSON_H

#include <string.h>

#include <perch/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perch_json perch_json;
typedef struct perch_json_value perch_json_value;
typedef struct perch_json_writer perch_json_writer;

typedef enum perch_json_type {
	PERCH_JSON_NONE, /* there is no value: what NULL is */
	PERCH_JSON_NULL,
	PERCH_JSON_BOOL,
	PERCH_JSON_NUMBER,
	PERCH_JSON_STRING,
	PERCH_JSON_ARRAY,
	PERCH_JSON_OBJECT,
} perch_json_type;

/* What an object with two members of one name means. A member that does not
 * win is not found, not counted and not iterated; the raw text still has it. */
typedef enum perch_json_duplicates {
	PERCH_JSON_DUPLICATES_LAST, /* the last one wins, as in nearly every other reader */
	PERCH_JSON_DUPLICATES_FIRST,
	PERCH_JSON_DUPLICATES_REJECT, /* PERCH_ESYNTAX */
} perch_json_duplicates;

enum {
	PERCH_JSON_TEXT_MAX = 16 * 1024 * 1024,    /* default of text_max: bytes */
	PERCH_JSON_TEXT_CEILING = (256 << 20) - 1, /* the most that text_max may be */
	PERCH_JSON_DEPTH_MAX = 512,                /* default of depth_max: open [ and { */
};

/* Zero is the sane default everywhere. */
typedef struct perch_json_options {
	size_t size;      /* PERCH_JSON_OPTIONS_INIT sets it; 0 = the first published size */
	size_t text_max;  /* longest text accepted, 0 = PERCH_JSON_TEXT_MAX */
	size_t depth_max; /* deepest nesting accepted, 0 = PERCH_JSON_DEPTH_MAX */
	perch_json_duplicates duplicates;
	bool replace_invalid_utf8;   /* read broken UTF-8 in strings as U+FFFD; default: an error */
	bool reject_lone_surrogates; /* half a pair of \uD8xx\uDCxx is an error; default: U+FFFD */
} perch_json_options;

#define PERCH_JSON_OPTIONS_INIT                                                    \
	{                                                                              \
		sizeof(perch_json_options), 0, 0, PERCH_JSON_DUPLICATES_LAST, false, false \
	}

/* Makes an empty document; options may be NULL and are copied. Fails with
 * -EINVAL (an option that cannot be) or -ENOMEM. */
PERCH_API int perch_json_new(const perch_json_options *options, perch_json **ret_json);

/* Frees the document and all its values. NULL is fine. */
PERCH_API void perch_json_free(perch_json *json);

/* Forgets the values; keeps the memory for the next text, but for what only
 * an unusually large text needed. perch_json_parse does the same first. */
PERCH_API void perch_json_clear(perch_json *json);

/* Reads one value with nothing but blanks around it. The whole text is
 * checked, so that nothing read from the values later can turn out broken.
 * Fails with PERCH_ESYNTAX (err tells where and what), PERCH_ELIMIT (text_max
 * or depth_max) or -ENOMEM; the document is empty then. Columns count
 * characters (code points), not bytes. */
PERCH_API int perch_json_parse(perch_json *json, const char *text, size_t length,
	const perch_json_value **ret_root, perch_err *err);

/* Where in the text of its document a value begins, both counted from 1: for
 * messages about a value that is well written but not wanted. */
PERCH_API void perch_json_where(const perch_json *json, const perch_json_value *value,
	unsigned *ret_line, unsigned *ret_column);

/* What it is; PERCH_JSON_NONE for NULL. */
PERCH_API perch_json_type perch_json_type_of(const perch_json_value *value);

/* "a string", "an object", …: a constant for use in messages. */
PERCH_API const char *perch_json_type_name(perch_json_type type);

/* The value exactly as it was written, without blanks around it: the digits
 * of a number, the quotes and escapes of a string, all of an object. Points
 * into the caller's text. NULL and 0 for NULL. */
PERCH_API const char *perch_json_raw(const perch_json_value *value, size_t *ret_length);

/* The member of that name, or NULL when there is none or `object` is none.
 * Names are compared as they read, however they were escaped. */
PERCH_API const perch_json_value *perch_json_get_n(
	const perch_json_value *object, const char *name, size_t length);

static inline const perch_json_value *perch_json_get(
	const perch_json_value *object, const char *name)
{
	return perch_json_get_n(object, name, strlen(name));
}

/* The member of that name, which must be there and of that type. Fails with
 * -ENOENT (there is none, or `object` is none) or -EINVAL (another type), and
 * a text like: member "id" must be a string, not a number. */
PERCH_API int perch_json_demand(const perch_json_value *object, const char *name,
	perch_json_type type, const perch_json_value **ret_value, perch_err *err);

/* How many elements or members there are; 0 for everything else. */
PERCH_API size_t perch_json_count(const perch_json_value *container);

/* Walks over an array or object (over nothing, if it is something else):
 *
 *     perch_json_iter iter = perch_json_iterate(container);
 *     for (const perch_json_value *value; (value = perch_json_next(&iter));)
 *         …
 *
 * In an object iter.name is the name of the member, a string value, in an
 * array NULL. The other fields are not for the caller. */
typedef struct perch_json_iter {
	const perch_json_value *name;
	const perch_json_value *following;
	size_t left;
	bool has_names;
} perch_json_iter;

PERCH_API perch_json_iter perch_json_iterate(const perch_json_value *container);

/* The next value, or NULL after the last. */
PERCH_API const perch_json_value *perch_json_next(perch_json_iter *iter);

/* The content of a string, escapes decoded; NULL and 0 when it is none. Not
 * NUL-terminated, and may contain NULs. Owned by the document. */
PERCH_API const char *perch_json_string(const perch_json_value *value, size_t *ret_length);

/* Is it a string, and this one? */
PERCH_API bool perch_json_is(const perch_json_value *value, const char *text);

/* true or false. Fails with -EINVAL when it is neither. */
PERCH_API int perch_json_bool(const perch_json_value *value, bool *ret_bool);

/* A number written as digits only. Fails with -EINVAL (no number, or one
 * written with a fraction or an exponent), -ERANGE (does not fit). */
PERCH_API int perch_json_int64(const perch_json_value *value, int64_t *ret_number);

/* The same for every number that is whole, however it is written: 1.0 is 1
 * and 1e3 is 1000. Exact: never goes through a double. */
PERCH_API int perch_json_whole_int64(const perch_json_value *value, int64_t *ret_number);

/* The double nearest to the number, whatever the locale. Fails with -EINVAL
 * (no number), -ERANGE (beyond the largest double). */
PERCH_API int perch_json_double(const perch_json_value *value, double *ret_number);

/* --- Writing ---
 *
 * A writer puts commas, colons and (in the pretty style) line breaks where
 * they belong; that names and values alternate in an object is the caller's
 * part. Functions that write return nothing: a failure is remembered until
 * perch_json_writer_finish. */

typedef enum perch_json_style {
	PERCH_JSON_COMPACT, /* no blanks at all, one line */
	PERCH_JSON_PRETTY,  /* every member and element on its own line, two blanks a level */
} perch_json_style;

/* Makes an empty writer. Fails with -ENOMEM. */
PERCH_API int perch_json_writer_new(perch_json_style style, perch_json_writer **ret_writer);

/* Frees the writer and its text. NULL is fine. */
PERCH_API void perch_json_writer_free(perch_json_writer *writer);

/* Forgets what was written, and any failure; keeps the memory. */
PERCH_API void perch_json_writer_clear(perch_json_writer *writer);

/* Gives out the text, which the writer goes on to own until it is written to,
 * cleared or freed. There is a NUL behind it, not counted. Fails with -ENOMEM
 * (now or in any write before) or -EINVAL (an object or array is still open,
 * or one was closed too often). */
PERCH_API int perch_json_writer_finish(
	perch_json_writer *writer, const char **ret_text, size_t *ret_length);

/* Begin and end an object or array; every begin needs its end. */
PERCH_API void perch_json_begin_object(perch_json_writer *writer);
PERCH_API void perch_json_end_object(perch_json_writer *writer);
PERCH_API void perch_json_begin_array(perch_json_writer *writer);
PERCH_API void perch_json_end_array(perch_json_writer *writer);

/* The name of the member whose value is written next. */
PERCH_API void perch_json_write_name_n(perch_json_writer *writer, const char *name, size_t length);

/* A string. Broken UTF-8 becomes U+FFFD, NULs are fine. */
PERCH_API void perch_json_write_string_n(
	perch_json_writer *writer, const char *text, size_t length);

/* A whole number, all its digits. */
PERCH_API void perch_json_write_int64(perch_json_writer *writer, int64_t number);
PERCH_API void perch_json_write_uint64(perch_json_writer *writer, uint64_t number);

/* The shortest digits that read back as the same double, laid out as
 * JavaScript does (so 1.0 is written 1), but -0 stays -0. What JSON cannot
 * say, infinity and NaN, becomes null. */
PERCH_API void perch_json_write_double(perch_json_writer *writer, double number);

/* true, false and null. */
PERCH_API void perch_json_write_bool(perch_json_writer *writer, bool value);
PERCH_API void perch_json_write_null(perch_json_writer *writer);

/* A value that is JSON text already: taken as it is, unchecked. */
PERCH_API void perch_json_write_raw(perch_json_writer *writer, const char *text, size_t length);

/* A value that was read: blanks between its parts are laid out in the style
 * of the writer, broken UTF-8 becomes U+FFFD, everything else (digits,
 * escapes, members that did not win) stays as it was written. */
PERCH_API void perch_json_write_value(perch_json_writer *writer, const perch_json_value *value);

static inline void perch_json_write_name(perch_json_writer *writer, const char *name)
{
	perch_json_write_name_n(writer, name, strlen(name));
}

static inline void perch_json_write_string(perch_json_writer *writer, const char *text)
{
	perch_json_write_string_n(writer, text, strlen(text));
}

#ifdef __cplusplus
}
#endif

#endif

/* What the parts of the TOML reader share. A reader stands at a byte of the
 * text; functions that read something leave it behind that. All that can fail
 * return 0 or a negative code and have filled the reader's err then. */
#ifndef DATA_TOML_READER_H
#define DATA_TOML_READER_H

#include <locale.h>

#include "base/arena.h"
#include "base/buf.h"
#include "data/toml.h"

/* How a table or an array came to be: decides what may add to it. */
enum toml_origin {
	TOML_INLINE,   /* = { … } or = [ … ]: complete as it stands */
	TOML_HEADER,   /* [table], or an array made of [[table]]s */
	TOML_IMPLICIT, /* on the way of a header: [it.table] */
	TOML_DOTTED,   /* on the way of a key: it.key = … */
};

/* Where a header, a key with its value, or an element of an array stands. */
struct toml_span {
	struct toml_value *container; /* the section, inline table or array it is written in */
	struct toml_value *value;     /* what it defines; for a header equal to container */
	size_t start;                 /* of the header, the key or the element */
	size_t value_start;
	size_t end;
};

struct toml {
	struct arena arena;
	struct toml_value *root;
	struct toml_span *spans; /* by start; only when the caller wants them */
	size_t span_count;
	size_t span_capacity;
};

struct toml_reader {
	struct str text;
	size_t at;
	struct toml *toml;
	struct toml_options limits;
	size_t value_count;
	bool keep_spans;
	struct buf scratch;
	locale_t c_locale; /* numbers have a point in every country */
	size_t mark;       /* the last byte whose place was asked for */
	struct toml_place mark_place;
	perch_err *err;
};

struct toml_key {
	struct str text;
	struct toml_place at;
};

enum { TOML_END = -1 };

static inline int toml_peek(const struct toml_reader *r)
{
	return r->at < r->text.len ? (unsigned char)r->text.data[r->at] : TOML_END;
}

/* toml_parse, and with keep_spans for callers that go back to the text. */
int toml_read(struct str text, const struct toml_options *options, bool keep_spans,
	struct toml **ret_toml, perch_err *err);

/* toml_reader.c: places, errors, and what stands between values. */
struct toml_place toml_here(struct toml_reader *r);
int toml_fail(struct toml_reader *r, struct toml_place at, const char *format, ...)
	PERCH_PRINTF(3, 4);
int toml_expected(struct toml_reader *r, const char *what); /* … found what is here */
int toml_limit(struct toml_reader *r, const char *what, size_t limit);
bool toml_take(struct toml_reader *r, char c);
bool toml_take_newline(struct toml_reader *r);
void toml_skip_blanks(struct toml_reader *r);
int toml_skip_blank_lines(struct toml_reader *r); /* and comments */
int toml_end_line(struct toml_reader *r);
bool toml_is_bare(int c);                    /* may stand in a key without quotes */
struct str toml_word(struct toml_reader *r); /* the run of letters, digits, "_-+." here */

/* toml_string.c, toml_number.c, toml_time.c */
int toml_read_string(struct toml_reader *r, struct str *ret);
int toml_read_key(struct toml_reader *r, struct toml_key *ret);
int toml_read_number(struct toml_reader *r, struct toml_value *value);
bool toml_is_time(const struct toml_reader *r);
int toml_read_time(struct toml_reader *r, struct toml_value *value);

/* toml_parse.c: from the first statement to the end of the text. */
int toml_read_document(struct toml_reader *r);

/* toml_tree.c: a new value, the last of its parent. In a table the key must
 * not be there yet; in an array it is NULL. */
int toml_add(struct toml_reader *r, struct toml_value *parent, const struct toml_key *key,
	struct toml_value **ret_value);
struct toml_value *toml_find(const struct toml_value *table, struct str key);
void toml_make_container(struct toml_value *value, enum toml_type type, enum toml_origin origin);

#endif

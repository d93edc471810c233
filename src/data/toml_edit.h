/* Changing a TOML text that people write too. Every function takes the whole
 * text, changes one thing, and leaves every other byte as it was: comments,
 * blank lines, order, line ends. The text is never touched; the new one is
 * parsed before it is handed out. docs/toml.md says which comments belong to
 * what. */
#ifndef DATA_TOML_EDIT_H
#define DATA_TOML_EDIT_H

#include "base/buf.h"
#include "base/macros.h"
#include "data/toml.h"

/* A key with a value to write. A value of type TOML_ARRAY has strings, one of
 * type TOML_TABLE entries. Texts must be UTF-8. */
struct toml_entry {
	const char *key;
	enum toml_type type; /* TOML_STRING, _INTEGER, _BOOL, _ARRAY or _TABLE */
	union {
		const char *string;
		int64_t integer;
		bool boolean;
		const char *const *strings;
		const struct toml_entry *entries;
	};
	size_t count; /* of strings or entries */
};

/* The way to a table, from the root: keys, and an index behind the key of an
 * array: TOML_PATH(TOML_KEY("plugins"), TOML_AT(2), TOML_KEY("capabilities")) */
struct toml_step {
	const char *key; /* NULL: the element with this index, counted from 0 */
	size_t index;
};

struct toml_path {
	const struct toml_step *steps;
	size_t count;
};

#define TOML_KEY(name) \
	{                  \
		.key = (name)  \
	}
#define TOML_AT(position)   \
	{                       \
		.index = (position) \
	}
#define TOML_PATH(...)                                              \
	((struct toml_path){ (const struct toml_step[]){ __VA_ARGS__ }, \
		COUNT(((const struct toml_step[]){ __VA_ARGS__ })) })
#define TOML_ROOT ((struct toml_path){ NULL, 0 })

/* All return 1 when something changed, 0 when there was nothing to do, and put
 * the whole new text into *ret_text (freeing what was in it). On failure
 * *ret_text is left alone: PERCH_ESYNTAX or PERCH_ELIMIT (the text, or what it
 * would become), -ENOENT (no such element), -EINVAL (the place is something
 * else, or the entries cannot be written), -ENOMEM. */

/* Gives a table a value under entry->key: in place, with the comment behind it,
 * when the key is there; else on a line of its own below the last one. Tables
 * on the way that are missing are made. */
int toml_edit_set(struct str text, struct toml_path table, const struct toml_entry *entry,
	struct buf *ret_text, perch_err *err);

/* Takes a key, a table or an element of an array away, with all that is below. */
int toml_edit_remove(struct str text, struct toml_path path, struct buf *ret_text, perch_err *err);

/* Gives a table new contents, its sub-tables included, below its old header.
 * A table that is not there yet is made. */
int toml_edit_replace(struct str text, struct toml_path table, const struct toml_entry *entries,
	size_t count, struct buf *ret_text, perch_err *err);

/* Puts one more element behind an array of tables, which is made when there is
 * none: as [[name]], or inline where the file has it inline. */
int toml_edit_append(struct str text, struct toml_path array, const struct toml_entry *entries,
	size_t count, struct buf *ret_text, perch_err *err);

/* The writer under all of this. A key is written bare where that is allowed. */
void toml_write_key(struct buf *buf, const char *key);
void toml_write_string(struct buf *buf, const char *string);
void toml_write_value(struct buf *buf, const struct toml_entry *entry); /* tables inline */

/* Lines `key = value`, then a [name.key] for each entry that is a table. name
 * is the dotted name of the table itself as it is written. */
void toml_write_lines(struct buf *buf, struct str name, const struct toml_entry *entries,
	size_t count, const char *line_end);

/* 0, or -EINVAL when an entry holds no UTF-8 or has a type that is not written. */
int toml_check_entries(const struct toml_entry *entries, size_t count, perch_err *err);

#endif

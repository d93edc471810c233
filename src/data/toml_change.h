/* A change of a TOML text under way: what the four functions of the editor
 * share. Finding the place is in toml_change.c, cutting in toml_cut.c, putting
 * in in toml_put.c; toml_edit.c decides which of them. */
#ifndef DATA_TOML_CHANGE_H
#define DATA_TOML_CHANGE_H

#include "base/buf.h"
#include "base/str.h"
#include "data/toml_edit.h"
#include "data/toml_reader.h"

/* ---- toml_layout.c ------------------------------------------------------------------- */

/* Where things stand in a TOML text, for the editor: lines, sections, and the
 * comments that belong to them. A section is a header with the lines below it
 * up to the next header. */

struct toml_layout {
	struct str text;
	size_t first; /* behind the byte order mark */
	const struct toml *toml;
};

/* Is value what ancestor is, or somewhere below it? */
bool toml_is_within(const struct toml_value *value, const struct toml_value *ancestor);

/* A header, or a key with its value that is not part of an inline table. */
bool toml_is_statement(const struct toml_span *span);
bool toml_is_header(const struct toml_span *span);

/* The text that defines value, or NULL (a table without header, the root). */
const struct toml_span *toml_span_of(
	const struct toml_layout *layout, const struct toml_value *value);

/* The next header behind span; NULL at the end. span may be NULL: the first one. */
const struct toml_span *toml_next_header(
	const struct toml_layout *layout, const struct toml_span *span);

/* The first byte of the line that holds `at`, and of the next line. */
size_t toml_line_start(const struct toml_layout *layout, size_t at);
size_t toml_line_end(const struct toml_layout *layout, size_t at);
bool toml_is_blank_line(const struct toml_layout *layout, size_t at);
bool toml_is_comment_line(const struct toml_layout *layout, size_t at);

/* Skips spaces and tabs, forwards and backwards. */
size_t toml_behind_blanks(const struct toml_layout *layout, size_t at);
size_t toml_before_blanks(const struct toml_layout *layout, size_t at);

/* A section with what belongs to it: the comment lines directly above its
 * header, and those directly below its last line unless they stand directly
 * above the next header. */
size_t toml_section_start(const struct toml_layout *layout, const struct toml_span *header);
size_t toml_section_end(const struct toml_layout *layout, const struct toml_span *header);

/* ---- toml_patch.c -------------------------------------------------------------------- */

/* Pieces of a text to be cut out or replaced, collected first and applied in
 * one pass. */

struct toml_patch {
	size_t start, end; /* of the old text */
	size_t from, to;   /* of the inserted text */
};

/* A failed allocation is remembered in inserted.failed. */
struct toml_patches {
	struct toml_patch *items;
	size_t count;
	size_t capacity;
	struct buf inserted;
};

/* Replaces [start, end) by what was appended to `inserted` since it had `from`
 * bytes. */
void toml_patch_put(struct toml_patches *patches, size_t start, size_t end, size_t from);

void toml_patch_cut(struct toml_patches *patches, size_t start, size_t end);

/* Appends the changed text to out. Cuts may overlap. -ENOMEM on failure. */
int toml_patch_apply(struct toml_patches *patches, struct str text, struct buf *out);

void toml_patches_free(struct toml_patches *patches);

/* ---- a change ------------------------------------------------------------------------ */

struct toml_change {
	struct toml_layout layout;
	struct toml *toml;
	struct toml_path path;
	struct toml_value *deepest; /* of what the path names, the last that is there */
	size_t resolved;            /* how many steps lead to it */
	const char *line_end;       /* as the file has it */
	struct toml_patches patches;
	perch_err *err;
};

/* Parses the text and follows the path as far as it goes. A change that failed
 * to begin needs no end. */
int toml_change_begin(
	struct toml_change *change, struct str text, struct toml_path path, perch_err *err);

/* When result is 0, makes the new text, checks it and hands it out; returns 1
 * or 0 as the editor does. Frees everything in any case. */
int toml_change_end(struct toml_change *change, int result, struct buf *ret_text);

/* All of the path is there. */
bool toml_change_is_resolved(const struct toml_change *change);

/* Tables made by dotted keys are written in another one, their home: the
 * section or inline table that holds those keys. */
const struct toml_value *toml_change_home(const struct toml_change *change);

/* The deepest value is not what the caller needs. Returns -EINVAL. */
int toml_change_wrong_kind(const struct toml_change *change, const char *wanted);

/* The keys of path from this step on, dotted, and behind them key if not NULL. */
void toml_change_write_name(
	const struct toml_change *change, struct buf *buf, size_t from_step, const char *key);

/* Cuts the sections at and below table, but not the one of `except`. */
void toml_cut_sections(
	struct toml_change *change, const struct toml_value *table, const struct toml_span *except);

/* Cuts the keys and elements outside of those sections that define value or
 * something below it, but not `except`. */
void toml_cut_items(
	struct toml_change *change, const struct toml_value *value, const struct toml_span *except);

/* The first of the items that toml_cut_items would cut, or NULL. */
const struct toml_span *toml_first_item(
	const struct toml_change *change, const struct toml_value *value);

/* A pair in the deepest table: what is left of the path and entry->key, which
 * may be NULL, are its key. */
void toml_put_pair(struct toml_change *change, const struct toml_entry *entry);

/* Another value in the place of one that has a span. */
void toml_put_value(
	struct toml_change *change, const struct toml_value *old, const struct toml_entry *entry);

/* A section of its own, named by the whole path, behind those of its parents. */
void toml_put_section(
	struct toml_change *change, bool is_element, const struct toml_entry *entries, size_t count);

/* One more inline table in an inline array. */
void toml_put_element(
	struct toml_change *change, const struct toml_value *array, const struct toml_entry *element);

/* New contents for the deepest table. */
void toml_put_contents(struct toml_change *change, const struct toml_entry *entries, size_t count);

#endif

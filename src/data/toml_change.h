/* A change of a TOML text under way: what the four functions of the editor
 * share. Finding the place is in toml_change.c, cutting in toml_cut.c, putting
 * in in toml_put.c; toml_edit.c decides which of them. */
#ifndef DATA_TOML_CHANGE_H
#define DATA_TOML_CHANGE_H

#include "data/toml_edit.h"
#include "data/toml_layout.h"
#include "data/toml_patch.h"

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

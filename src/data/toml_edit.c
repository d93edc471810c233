/* The editor: decides, for each kind of change and each way a table can be
 * written, where it goes. */
#include "data/toml_change.h"

#include <errno.h>

#include "base/err.h"

/* A table or array with headers of its own is more than a value to overwrite. */
static int toml_edit_set_existing(
	struct toml_change *change, const struct toml_value *value, const struct toml_entry *entry)
{
	char quoted[TOML_QUOTE_MAX];
	if (value->origin != TOML_INLINE)
		return err_set_at(change->err, -EINVAL, value->at.line, value->at.column,
			"%s is %s with lines of its own here: remove it first", toml_quote(value->key, quoted),
			toml_type_name(value->type));
	toml_put_value(change, value, entry);
	return 0;
}

static int toml_edit_set_value(struct toml_change *change, const struct toml_entry *entry)
{
	if (change->deepest->type != TOML_TABLE)
		return toml_change_wrong_kind(change, "a table");
	bool is_resolved = toml_change_is_resolved(change);
	const struct toml_value *old =
		is_resolved ? toml_find(change->deepest, str_from(entry->key)) : NULL;
	if (old)
		return toml_edit_set_existing(change, old, entry);
	if (is_resolved || toml_change_home(change)->origin == TOML_INLINE)
		toml_put_pair(change, entry);
	else
		toml_put_section(change, false, entry, 1);
	return 0;
}

int toml_edit_set(struct str text, struct toml_path table, const struct toml_entry *entry,
	struct buf *ret_text, perch_err *err)
{
	struct toml_change change;
	int result = toml_check_entries(entry, 1, err);
	if (result < 0)
		return result;
	result = toml_change_begin(&change, text, table, err);
	return result < 0 ? result
					  : toml_change_end(&change, toml_edit_set_value(&change, entry), ret_text);
}

static int toml_edit_remove_value(struct toml_change *change)
{
	if (!toml_change_is_resolved(change))
		return 0;
	if (change->deepest == change->toml->root)
		return err_set(change->err, -EINVAL, "the whole file cannot be removed from itself");
	toml_cut_sections(change, change->deepest, NULL);
	toml_cut_items(change, change->deepest, NULL);
	return 0;
}

int toml_edit_remove(struct str text, struct toml_path path, struct buf *ret_text, perch_err *err)
{
	struct toml_change change;
	int result = toml_change_begin(&change, text, path, err);
	return result < 0 ? result
					  : toml_change_end(&change, toml_edit_remove_value(&change), ret_text);
}

typedef int toml_put_fn(struct toml_change *change, const struct toml_entry *entries, size_t count);

static int toml_edit_replace_value(
	struct toml_change *change, const struct toml_entry *entries, size_t count)
{
	if (change->deepest->type != TOML_TABLE)
		return toml_change_wrong_kind(change, "a table");
	if (change->path.count == 0)
		return err_set(change->err, -EINVAL, "the root of a file cannot be replaced");
	struct toml_entry table = { .type = TOML_TABLE, .entries = entries, .count = count };
	if (toml_change_is_resolved(change))
		toml_put_contents(change, entries, count);
	else if (toml_change_home(change)->origin == TOML_INLINE)
		toml_put_pair(change, &table);
	else
		toml_put_section(change, false, entries, count);
	return 0;
}

/* Has a table put at a place of a text, by one of the ways here. */
static int toml_edit_put(toml_put_fn *put, struct str text, struct toml_path place,
	const struct toml_entry *entries, size_t count, struct buf *ret_text, perch_err *err)
{
	struct toml_change change;
	int result = toml_check_entries(entries, count, err);
	if (result == 0)
		result = toml_change_begin(&change, text, place, err);
	return result < 0 ? result : toml_change_end(&change, put(&change, entries, count), ret_text);
}

int toml_edit_replace(struct str text, struct toml_path table, const struct toml_entry *entries,
	size_t count, struct buf *ret_text, perch_err *err)
{
	return toml_edit_put(toml_edit_replace_value, text, table, entries, count, ret_text, err);
}

/* `name = []` on a line without comment: [[name]] reads better. */
static bool toml_edit_is_plain_empty_array(
	const struct toml_change *change, const struct toml_value *array)
{
	const struct toml_layout *layout = &change->layout;
	const struct toml_span *span = toml_span_of(layout, array);
	if (array->count || !toml_is_statement(span))
		return false;
	size_t start = toml_line_start(layout, span->start);
	size_t end = toml_line_end(layout, span->end);
	return memchr(layout->text.data + start, '#', end - start) == NULL;
}

static int toml_edit_append_inline(
	struct toml_change *change, const struct toml_value *array, const struct toml_entry *element)
{
	char quoted[TOML_QUOTE_MAX];
	if (array->count && array->items[0]->type != TOML_TABLE)
		return err_set_at(change->err, -EINVAL, array->at.line, array->at.column,
			"%s is an array here that does not hold tables: change the file by hand",
			toml_quote(array->key, quoted));
	toml_put_element(change, array, element);
	return 0;
}

static int toml_edit_append_to_existing(
	struct toml_change *change, const struct toml_entry *entries, size_t count)
{
	const struct toml_value *array = change->deepest;
	if (array->type != TOML_ARRAY)
		return toml_change_wrong_kind(change, "an array");
	struct toml_entry element = { .type = TOML_TABLE, .entries = entries, .count = count };
	if (array->origin == TOML_INLINE && !toml_edit_is_plain_empty_array(change, array))
		return toml_edit_append_inline(change, array, &element);
	if (array->origin == TOML_INLINE)
		toml_cut_items(change, array, NULL);
	change->deepest = array->parent;
	change->resolved--;
	toml_put_section(change, true, entries, count);
	return 0;
}

static int toml_edit_append_bytes(
	struct toml_change *change, const struct toml_entry *entries, size_t count)
{
	if (toml_change_is_resolved(change))
		return toml_edit_append_to_existing(change, entries, count);
	const struct toml_value *home = toml_change_home(change);
	if (home->origin == TOML_INLINE)
		return err_set_at(change->err, -EINVAL, home->at.line, home->at.column,
			"an inline table has no room for an array of tables: give it a header of its own");
	toml_put_section(change, true, entries, count);
	return 0;
}

int toml_edit_append(struct str text, struct toml_path array, const struct toml_entry *entries,
	size_t count, struct buf *ret_text, perch_err *err)
{
	return toml_edit_put(toml_edit_append_bytes, text, array, entries, count, ret_text, err);
}

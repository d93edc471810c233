/* Compares the trees before and after an edit. */
#include "harness/toml_oracle.h"

#include <math.h>

#include "data/toml_reader.h"

static bool has_same_items(const struct toml_value *a, const struct toml_value *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct toml_value *other =
			a->type == TOML_TABLE ? toml_find(b, a->items[i]->key) : b->items[i];
		if (!other || !oracle_is_same(a->items[i], other))
			return false;
	}
	return true;
}

static bool is_same_time(const struct toml_time *a, const struct toml_time *b)
{
	return a->year == b->year && a->month == b->month && a->day == b->day && a->hour == b->hour &&
		a->minute == b->minute && a->second == b->second && a->nanosecond == b->nanosecond &&
		a->offset_minutes == b->offset_minutes;
}

bool oracle_is_same(const struct toml_value *a, const struct toml_value *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case TOML_STRING:
		return str_eq(a->string, b->string);
	case TOML_INTEGER:
		return a->integer == b->integer;
	case TOML_FLOAT:
		return isnan(a->number) ? isnan(b->number) : a->number == b->number;
	case TOML_BOOL:
		return a->boolean == b->boolean;
	case TOML_ARRAY:
	case TOML_TABLE:
		return has_same_items(a, b);
	default:
		return is_same_time(&a->time, &b->time);
	}
}

static const struct toml_value *child_at(
	const struct toml_value *value, const struct toml_step *step)
{
	if (!value)
		return NULL;
	if (step->key)
		return value->type == TOML_TABLE ? toml_get(value, step->key) : NULL;
	return value->type == TOML_ARRAY && step->index < value->count ? value->items[step->index]
																   : NULL;
}

const struct toml_value *oracle_at(const struct toml_value *root, struct toml_path path)
{
	for (size_t i = 0; i < path.count; i++)
		root = child_at(root, &path.steps[i]);
	return root;
}

static struct toml_path rest_of(struct toml_path path)
{
	return (struct toml_path){ path.steps + 1, path.count - 1 };
}

/* Everything that is in a but not at key is in b too. */
static bool has_others(const struct toml_value *a, const struct toml_value *b, const char *key)
{
	for (size_t i = 0; i < a->count; i++) {
		struct str name = a->items[i]->key;
		if (str_is(name, key))
			continue;
		const struct toml_value *other = toml_find(b, name);
		if (!other || !oracle_is_same(a->items[i], other))
			return false;
	}
	return true;
}

static bool is_same_with_gap(
	const struct toml_value *longer, const struct toml_value *shorter, size_t gap)
{
	if (longer->count != shorter->count + 1)
		return false;
	for (size_t i = 0; i < shorter->count; i++) {
		if (!oracle_is_same(longer->items[i + (i >= gap)], shorter->items[i]))
			return false;
	}
	return true;
}

static bool is_same_array_except(
	const struct toml_value *a, const struct toml_value *b, struct toml_path path)
{
	size_t index = path.steps[0].index;
	if (path.count == 1 && a->count != b->count)
		return a->count > b->count ? is_same_with_gap(a, b, index) : is_same_with_gap(b, a, index);
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		bool is_same = i == index ? oracle_is_same_except(a->items[i], b->items[i], rest_of(path))
								  : oracle_is_same(a->items[i], b->items[i]);
		if (!is_same)
			return false;
	}
	return true;
}

bool oracle_is_same_except(
	const struct toml_value *a, const struct toml_value *b, struct toml_path path)
{
	if (path.count == 0)
		return true;
	if (!a || !b) {
		const struct toml_value *only = a ? a : b;
		if (!only)
			return true;
		bool is_container = only->type == TOML_TABLE || only->type == TOML_ARRAY;
		const struct toml_value *child = child_at(only, &path.steps[0]);
		return is_container && only->count == (child ? 1 : 0) &&
			oracle_is_same_except(child, NULL, rest_of(path));
	}
	if (a->type != b->type)
		return false;
	if (!path.steps[0].key)
		return a->type == TOML_ARRAY && is_same_array_except(a, b, path);
	const char *key = path.steps[0].key;
	return a->type == TOML_TABLE && has_others(a, b, key) && has_others(b, a, key) &&
		oracle_is_same_except(toml_get(a, key), toml_get(b, key), rest_of(path));
}

static bool has_entries(const struct toml_value *table, const struct toml_entry *entry)
{
	if (table->count != entry->count)
		return false;
	for (size_t i = 0; i < entry->count; i++) {
		const struct toml_value *value = toml_get(table, entry->entries[i].key);
		if (!value || !oracle_is_entry(value, &entry->entries[i]))
			return false;
	}
	return true;
}

static bool has_strings(const struct toml_value *array, const struct toml_entry *entry)
{
	if (array->count != entry->count)
		return false;
	for (size_t i = 0; i < entry->count; i++) {
		const struct toml_value *item = array->items[i];
		if (item->type != TOML_STRING || !str_is(item->string, entry->strings[i]))
			return false;
	}
	return true;
}

bool oracle_is_entry(const struct toml_value *value, const struct toml_entry *entry)
{
	if (!value || value->type != entry->type)
		return false;
	switch (entry->type) {
	case TOML_STRING:
		return str_is(value->string, entry->string);
	case TOML_INTEGER:
		return value->integer == entry->integer;
	case TOML_BOOL:
		return value->boolean == entry->boolean;
	case TOML_ARRAY:
		return has_strings(value, entry);
	default:
		return has_entries(value, entry);
	}
}

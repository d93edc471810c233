/* Typed access for readers of settings, with errors they can pass on. */
#include "data/toml_reader.h"

#include <inttypes.h>

#include "base/err.h"

static const char *const type_names[] = {
	[TOML_STRING] = "a string",
	[TOML_INTEGER] = "an integer",
	[TOML_FLOAT] = "a float",
	[TOML_BOOL] = "true or false",
	[TOML_OFFSET_DATETIME] = "a date and time with offset",
	[TOML_LOCAL_DATETIME] = "a local date and time",
	[TOML_LOCAL_DATE] = "a local date",
	[TOML_LOCAL_TIME] = "a local time",
	[TOML_ARRAY] = "an array",
	[TOML_TABLE] = "a table",
};

const char *toml_type_name(enum toml_type type)
{
	return type_names[type];
}

static int toml_get_wrong_type(
	const struct toml_value *value, enum toml_type wanted, perch_err *err)
{
	char quoted[TOML_QUOTE_MAX];
	err_set_at(err, PERCH_ESYNTAX, value->at.line, value->at.column, "%s must be %s, not %s",
		toml_quote(value->key, quoted), type_names[wanted], type_names[value->type]);
	return PERCH_ESYNTAX;
}

/* 1 and the value, 0, or an error. */
static int toml_get_typed(const struct toml_value *table, const char *key, enum toml_type type,
	const struct toml_value **ret, perch_err *err)
{
	const struct toml_value *value = toml_get(table, key);
	if (!value)
		return 0;
	if (value->type != type)
		return toml_get_wrong_type(value, type, err);
	*ret = value;
	return 1;
}

/* A NUL inside would cut the string for a caller that uses it as one of C. */
static int toml_get_check_string(const struct toml_value *value, struct str key, perch_err *err)
{
	if (strlen(value->string.data) == value->string.len)
		return 0;
	char quoted[TOML_QUOTE_MAX];
	return err_set_at(err, PERCH_ESYNTAX, value->at.line, value->at.column,
		"%s must not contain a NUL character", toml_quote(key, quoted));
}

int toml_get_string(
	const struct toml_value *table, const char *key, const char **ret, perch_err *err)
{
	const struct toml_value *value = NULL;
	int found = toml_get_typed(table, key, TOML_STRING, &value, err);
	if (found <= 0)
		return found;
	int result = toml_get_check_string(value, value->key, err);
	if (result < 0)
		return result;
	*ret = value->string.data;
	return 1;
}

int toml_get_bool(const struct toml_value *table, const char *key, bool *ret, perch_err *err)
{
	const struct toml_value *value = NULL;
	int found = toml_get_typed(table, key, TOML_BOOL, &value, err);
	if (found > 0)
		*ret = value->boolean;
	return found;
}

/* 5 is as good as 5.0 to a user who writes a setting. */
int toml_get_float(const struct toml_value *table, const char *key, double *ret, perch_err *err)
{
	const struct toml_value *value = toml_get(table, key);
	if (!value)
		return 0;
	if (value->type != TOML_FLOAT && value->type != TOML_INTEGER)
		return toml_get_wrong_type(value, TOML_FLOAT, err);
	*ret = value->type == TOML_FLOAT ? value->number : (double)value->integer;
	return 1;
}

int toml_get_integer(const struct toml_value *table, const char *key, int64_t low, int64_t high,
	int64_t *ret, perch_err *err)
{
	const struct toml_value *value = NULL;
	int found = toml_get_typed(table, key, TOML_INTEGER, &value, err);
	if (found <= 0)
		return found;
	char quoted[TOML_QUOTE_MAX];
	if (value->integer < low || value->integer > high)
		return err_set_at(err, PERCH_ESYNTAX, value->at.line, value->at.column,
			"%s must be from %" PRId64 " to %" PRId64 ", not %" PRId64,
			toml_quote(value->key, quoted), low, high, value->integer);
	*ret = value->integer;
	return 1;
}

int toml_get_table(
	const struct toml_value *table, const char *key, const struct toml_value **ret, perch_err *err)
{
	return toml_get_typed(table, key, TOML_TABLE, ret, err);
}

static int toml_get_check_element(
	const struct toml_value *array, size_t index, enum toml_type type, perch_err *err)
{
	const struct toml_value *element = array->items[index];
	if (element->type == type)
		return type == TOML_STRING ? toml_get_check_string(element, array->key, err) : 0;
	char quoted[TOML_QUOTE_MAX];
	return err_set_at(err, PERCH_ESYNTAX, element->at.line, element->at.column,
		"element %zu of %s must be %s, not %s", index + 1, toml_quote(array->key, quoted),
		type_names[type], type_names[element->type]);
}

int toml_get_array(const struct toml_value *table, const char *key, enum toml_type element_type,
	const struct toml_value **ret, perch_err *err)
{
	const struct toml_value *array = NULL;
	int found = toml_get_typed(table, key, TOML_ARRAY, &array, err);
	if (found <= 0)
		return found;
	for (size_t i = 0; i < array->count; i++) {
		int result = toml_get_check_element(array, i, element_type, err);
		if (result < 0)
			return result;
	}
	*ret = array;
	return 1;
}

int toml_get_strings(const struct toml_value *table, const char *key, struct arena *arena,
	const char *const **ret, perch_err *err)
{
	const struct toml_value *array = NULL;
	int found = toml_get_array(table, key, TOML_STRING, &array, err);
	if (found < 0)
		return found;
	size_t count = found ? array->count : 0;
	const char **list = arena_alloc(arena, (count + 1) * sizeof(*list));
	for (size_t i = 0; list && i < count; i++) {
		list[i] = arena_dup(arena, array->items[i]->string);
		if (!list[i])
			list = NULL;
	}
	if (!list)
		return err_no_memory(err);
	list[count] = NULL;
	*ret = list;
	return 0;
}

/* ---- unknown keys -------------------------------------------------------- */

int toml_unknown_key(const struct toml_value *value, const char *const *names, size_t count,
	size_t stride, perch_err *err)
{
	char quoted[TOML_QUOTE_MAX];
	const char *nearest = str_nearest(value->key.data, names, count, stride);
	toml_quote(value->key, quoted);
	return err_set_at(err, PERCH_ESYNTAX, value->key_at.line, value->key_at.column,
		nearest ? "there is no key %s here; did you mean `%s`?" : "there is no key %s here", quoted,
		nearest);
}

static bool toml_get_is_known(struct str key, const char *const *names, size_t count, size_t stride)
{
	for (size_t i = 0; i < count; i++) {
		if (str_is(key, *(const char *const *)((const char *)names + i * stride)))
			return true;
	}
	return false;
}

int toml_check_keys(const struct toml_value *table, const char *const *names, size_t count,
	size_t stride, perch_err *err)
{
	for (size_t i = 0; i < table->count; i++) {
		if (!toml_get_is_known(table->items[i]->key, names, count, stride))
			return toml_unknown_key(table->items[i], names, count, stride, err);
	}
	return 0;
}

/* The keys of a binding: which there are, and how the simple ones are read. */
#include "tool/binding_keys.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/sha256.h"

/* Of every time that can be set, in seconds. */
#define SECONDS_LOWEST 0.001
#define SECONDS_HIGHEST 86400.0

/* The member that a key fills; its reader knows the type. */
static void *binding_keys_target(const struct reading *reading, const struct key *key)
{
	return (char *)reading->into + key->offset;
}

int key_wrong(const struct reading *reading, const struct toml_value *value, const char *words)
{
	char quoted[TOML_QUOTE_MAX];
	return err_set_at(reading->err, PERCH_ESYNTAX, value->at.line, value->at.column, "%s %s",
		toml_quote(value->key, quoted), words);
}

/* ---- tables -------------------------------------------------------------- */

int binding_keys_read(
	struct reading *reading, const struct key *keys, size_t count, const struct toml_value *table)
{
	int r = 0;
	for (size_t i = 0; i < table->count && r >= 0; i++) {
		const struct key *key = NULL;
		for (size_t k = 0; k < count && !key; k++)
			key = str_is(table->items[i]->key, keys[k].name) ? &keys[k] : NULL;
		r = key ? key->read(reading, key, table)
				: toml_unknown_key(
					  table->items[i], &keys[0].name, count, sizeof(keys[0]), reading->err);
	}
	return r < 0 ? r : 0;
}

/* ---- values ---------------------------------------------------------------- */

int key_text(struct reading *reading, const struct key *key, const struct toml_value *table)
{
	const char *text;
	int r = toml_get_string(table, key->name, &text, reading->err);
	if (r < 0)
		return r;
	const char *kept = arena_dup(reading->arena, str_from(text));
	if (!kept)
		return err_no_memory(reading->err);
	*(const char **)binding_keys_target(reading, key) = kept;
	return 0;
}

const char *reading_absolute(const struct reading *reading, const char *path)
{
	if (path[0] == '/' || !path[0])
		return arena_dup(reading->arena, str_from(path));
	size_t size = reading->folder.len + strlen(path) + 2;
	char *joined = arena_alloc(reading->arena, size);
	if (joined)
		snprintf(joined, size, "%.*s/%s", (int)reading->folder.len, reading->folder.data, path);
	return joined;
}

int key_path(struct reading *reading, const struct key *key, const struct toml_value *table)
{
	const char *text;
	int r = toml_get_string(table, key->name, &text, reading->err);
	if (r < 0)
		return r;
	const char *path = reading_absolute(reading, text);
	if (!path)
		return err_no_memory(reading->err);
	*(const char **)binding_keys_target(reading, key) = path;
	return 0;
}

int key_seconds(struct reading *reading, const struct key *key, const struct toml_value *table)
{
	double seconds;
	int r = toml_get_float(table, key->name, &seconds, reading->err);
	if (r < 0)
		return r;
	if (!(seconds >= SECONDS_LOWEST && seconds <= SECONDS_HIGHEST))
		return key_wrong(
			reading, toml_get(table, key->name), "must be from 0.001 to 86400 (seconds)");
	*(uint64_t *)binding_keys_target(reading, key) = (uint64_t)(seconds * 1e9 + 0.5);
	return 0;
}

int key_flag(struct reading *reading, const struct key *key, const struct toml_value *table)
{
	return toml_get_bool(table, key->name, binding_keys_target(reading, key), reading->err);
}

int key_limit(struct reading *reading, const struct key *key, const struct toml_value *table)
{
	int64_t limit;
	int r = toml_get_integer(table, key->name, 1, INT64_MAX, &limit, reading->err);
	if (r > 0)
		*(uint64_t *)binding_keys_target(reading, key) = (uint64_t)limit;
	return r;
}

/* Strings, each through `keep`; the list ends with NULL. */
static int binding_keys_read_strings(struct reading *reading, const struct key *key,
	const struct toml_value *table,
	const char *(*keep)(const struct reading *reading, const char *text))
{
	const struct toml_value *array;
	int r = toml_get_array(table, key->name, TOML_STRING, &array, reading->err);
	if (r < 0)
		return r;
	const char **list = arena_alloc(reading->arena, (array->count + 1) * sizeof(*list));
	if (!list)
		return err_no_memory(reading->err);
	for (size_t i = 0; i < array->count; i++) {
		list[i] = keep(reading, array->items[i]->string.data);
		if (!list[i])
			return err_no_memory(reading->err);
	}
	list[array->count] = NULL;
	*(const char *const **)binding_keys_target(reading, key) = list;
	return 0;
}

static const char *binding_keys_as_it_is(const struct reading *reading, const char *text)
{
	return arena_dup(reading->arena, str_from(text));
}

int key_list(struct reading *reading, const struct key *key, const struct toml_value *table)
{
	return binding_keys_read_strings(reading, key, table, binding_keys_as_it_is);
}

int key_paths(struct reading *reading, const struct key *key, const struct toml_value *table)
{
	return binding_keys_read_strings(reading, key, table, reading_absolute);
}

static bool binding_keys_is_checksum(const char *text)
{
	return strlen(text) == SHA256_HEX_SIZE - 1 &&
		strspn(text, "0123456789abcdef") == SHA256_HEX_SIZE - 1;
}

int key_get_checksum(struct reading *reading, const struct toml_value *table, const char *key,
	const char **ret_checksum)
{
	const char *text;
	int r = toml_get_string(table, key, &text, reading->err);
	if (r < 0)
		return r;
	if (!binding_keys_is_checksum(text))
		return key_wrong(reading, toml_get(table, key), "must be a SHA-256: 64 digits 0-9 a-f");
	*ret_checksum = arena_dup(reading->arena, str_from(text));
	return *ret_checksum ? 0 : err_no_memory(reading->err);
}

int key_checksum(struct reading *reading, const struct key *key, const struct toml_value *table)
{
	return key_get_checksum(reading, table, key->name, binding_keys_target(reading, key));
}

int key_choice(struct reading *reading, const struct key *key, const struct toml_value *table,
	const char *const *words)
{
	const char *word;
	char known[128] = "must be";
	int r = toml_get_string(table, key->name, &word, reading->err);
	if (r < 0)
		return r;
	for (int i = 0; words[i]; i++) {
		size_t len = strlen(known);
		if (strcmp(word, words[i]) == 0)
			return i;
		snprintf(known + len, sizeof(known) - len, "%s \"%s\"", i ? " or" : "", words[i]);
	}
	return key_wrong(reading, toml_get(table, key->name), known);
}

int binding_keys_section(struct reading *reading, const char *name, const struct key *keys,
	size_t count, const struct toml_value *table)
{
	const struct toml_value *section;
	int r = toml_get_table(table, name, &section, reading->err);
	return r < 0 ? r : binding_keys_read(reading, keys, count, section);
}

/* Reading a TOML file of a plugin's author. */
#include "plugins/author_file.h"

#include "registry/names.h"

void *author_alloc(const struct author_file *file, size_t count, size_t size)
{
	void *memory = arena_alloc(file->arena, count * size + 1);
	if (memory)
		memset(memory, 0, count * size + 1);
	else
		file->findings->failed = true;
	return memory;
}

const char *author_copy(const struct author_file *file, struct str text)
{
	const char *kept = arena_dup(file->arena, text);
	if (!kept)
		file->findings->failed = true;
	return kept;
}

bool author_found(const struct author_file *file, int r, const perch_err *err)
{
	if (r < 0)
		findings_add_err(file->findings, err);
	return r > 0;
}

const char *author_string(
	const struct author_file *file, const struct toml_value *value, const char *what)
{
	if (value->type != TOML_STRING) {
		AUTHOR_WRONG(file, value, "%s must be a string, not %s", what, toml_type_name(value->type));
		return NULL;
	}
	if (strlen(value->string.data) != value->string.len) {
		AUTHOR_WRONG(file, value, "%s must not contain a NUL character", what);
		return NULL;
	}
	return author_copy(file, value->string);
}

const char *author_text(
	const struct author_file *file, const struct toml_value *table, const char *key)
{
	const char *text = NULL;
	perch_err err = { 0 };
	bool found = author_found(file, toml_get_string(table, key, &text, &err), &err);
	return found ? author_copy(file, str_from(text)) : NULL;
}

const char *const *author_list(
	const struct author_file *file, const struct toml_value *table, const char *key)
{
	static const char *const none[] = { NULL };
	const char *const *list = none;
	perch_err err = { 0 };
	author_found(file, toml_get_strings(table, key, file->arena, &list, &err), &err);
	return list;
}

struct author_pairs author_pairs(
	const struct author_file *file, const struct toml_value *table, const char *key)
{
	const struct toml_value *found = NULL;
	perch_err err = { 0 };
	if (!author_found(file, toml_get_table(table, key, &found, &err), &err))
		return (struct author_pairs){ 0 };
	struct author_pair *items = author_alloc(file, found->count, sizeof(*items));
	for (size_t i = 0; items && i < found->count; i++) {
		const struct toml_value *value = found->items[i];
		items[i] = (struct author_pair){ value->at, author_copy(file, value->key),
			author_string(file, value, key) };
		if (!items[i].key || !items[i].value)
			return (struct author_pairs){ 0 };
	}
	return (struct author_pairs){ items, items ? found->count : 0 };
}

void author_check_files(const struct author_file *file, const struct author_pairs *files)
{
	for (size_t i = 0; i < files->count; i++) {
		const char *path = files->items[i].key;
		const char *problem = binary_problem(str_from(path));
		char quoted[TOML_QUOTE_MAX];
		if (problem)
			findings_add(file->findings, FINDING_ERROR, &files->items[i].at, "the file %s %s",
				toml_quote(str_from(path), quoted),
				path[0] == '/' ? "must be relative to the project" : problem);
	}
}

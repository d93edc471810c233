/* One entry of plugins.toml. Only a name is required: any other value that is missing or wrong
 * counts as absent. */
#include "registry/registry.h"

#include <errno.h>
#include <stdio.h>

#include "base/macros.h"
#include "registry/names.h"

/* The text of a string; NULL for other types, and for a string with a NUL inside. */
static const char *entry_plain_string(const struct toml_value *value)
{
	if (!value || value->type != TOML_STRING || strlen(value->string.data) != value->string.len)
		return NULL;
	return value->string.data;
}

/* The text of a key, copied; "" when it is absent or something else. A date may
 * have been written without quotes. NULL without memory. */
static const char *entry_copy_text(
	const struct toml_value *table, const char *key, struct arena *arena)
{
	const struct toml_value *value = toml_get(table, key);
	const char *text = entry_plain_string(value);
	if (text)
		return arena_dup(arena, str_from(text));
	if (!value || value->type != TOML_LOCAL_DATE)
		return "";
	char date[sizeof("65535-255-255")];
	snprintf(
		date, sizeof(date), "%04u-%02u-%02u", value->time.year, value->time.month, value->time.day);
	return arena_dup(arena, str_from(date));
}

static int entry_read_texts(
	const struct toml_value *table, struct arena *arena, struct registry_entry *entry)
{
	const struct {
		const char *key;
		const char **ret_text;
	} texts[] = {
		{ "name", &entry->name },
		{ "source", &entry->source },
		{ "version", &entry->version },
		{ "installed", &entry->installed },
		{ "pinned_ref", &entry->pinned_ref },
		{ "commit", &entry->commit },
		{ "runtime", &entry->runtime },
	};
	for (size_t i = 0; i < COUNT(texts); i++) {
		*texts[i].ret_text = entry_copy_text(table, texts[i].key, arena);
		if (!*texts[i].ret_text)
			return -ENOMEM;
	}
	return 0;
}

/* The commands of the list that are valid names; its other elements are ignored. */
static int entry_read_commands(
	const struct toml_value *table, struct arena *arena, struct registry_entry *entry)
{
	const struct toml_value *array = toml_get(table, "commands");
	size_t most = array && array->type == TOML_ARRAY ? array->count : 0;
	const char **commands = arena_alloc(arena, (most + 1) * sizeof(*commands));
	if (!commands)
		return -ENOMEM;
	size_t count = 0;
	for (size_t i = 0; i < most; i++) {
		const char *name = entry_plain_string(array->items[i]);
		if (!name || command_name_problem(str_from(name)))
			continue;
		commands[count] = arena_dup(arena, str_from(name));
		if (!commands[count++])
			return -ENOMEM;
	}
	commands[count] = NULL;
	entry->commands = commands;
	return 0;
}

static bool entry_is_granted(const struct toml_value *table, const char *key)
{
	const struct toml_value *value = toml_get(table, key);
	return value && value->type == TOML_BOOL && value->boolean;
}

/* A value that we do not know was still meant to narrow: it is read as the narrowest. */
static enum filesystem_wish entry_granted_filesystem(const struct toml_value *table)
{
	const struct toml_value *value = toml_get(table, "filesystem");
	if (!value)
		return FILESYSTEM_UNSET;
	enum filesystem_wish wish = FILESYSTEM_NONE;
	const char *name = entry_plain_string(value);
	if (name)
		filesystem_from_name(name, &wish);
	return wish;
}

static void entry_read_granted(const struct toml_value *table, struct registry_entry *entry)
{
	const struct toml_value *granted = toml_get(table, "capabilities");
	if (!granted || granted->type != TOML_TABLE)
		return;
	entry->has_capabilities = true;
	entry->granted.filesystem = entry_granted_filesystem(granted);
	for (const struct capability *one = capability_table; one->name; one++)
		capabilities_put(&entry->granted, one, entry_is_granted(granted, one->name));
}

/* Whether the entry can be used at all; if not, why. */
static bool entry_is_usable(const struct toml_value *value, char problem[ENTRY_PROBLEM_MAX])
{
	const struct toml_value *name = value->type == TOML_TABLE ? toml_get(value, "name") : NULL;
	if (!name || name->type != TOML_STRING) {
		snprintf(problem, ENTRY_PROBLEM_MAX, "it has no name");
		return false;
	}
	const char *what = plugin_name_problem(name->string);
	char quoted[TOML_QUOTE_MAX];
	if (what)
		snprintf(
			problem, ENTRY_PROBLEM_MAX, "its name %s %s", toml_quote(name->string, quoted), what);
	return !what;
}

static const char *entry_directory_of(const char *plugins, const char *name, struct arena *arena)
{
	size_t size = strlen(plugins) + sizeof("/") + strlen(name);
	char *directory = arena_alloc(arena, size);
	if (directory)
		snprintf(directory, size, "%s/%s", plugins, name);
	return directory;
}

int entry_read(const struct toml_value *value, const char *plugins, struct arena *arena,
	struct registry_entry *ret_entry, char problem[ENTRY_PROBLEM_MAX])
{
	if (!entry_is_usable(value, problem))
		return 0;
	struct registry_entry entry = { 0 };
	int r = entry_read_texts(value, arena, &entry);
	if (r == 0)
		r = entry_read_commands(value, arena, &entry);
	if (r < 0)
		return r;
	entry_read_granted(value, &entry);
	entry.directory = entry_directory_of(plugins, entry.name, arena);
	if (!entry.directory)
		return -ENOMEM;
	*ret_entry = entry;
	return 1;
}

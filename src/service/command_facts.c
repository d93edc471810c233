/* Commands of installed plugins. The manifest is read a second time, as TOML, for what
 * registry/manifest.h does not keep. */
#include "service/command_facts.h"

#include <errno.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "data/json.h"
#include "data/toml.h"

enum { FACTS_MANIFEST_MAX = 1024 * 1024, FACTS_DEPTH_MAX = 8 };

static void facts_write_value(
	struct perch_json_writer *out, const struct toml_value *value, unsigned depth);

static void facts_write_items(
	struct perch_json_writer *out, const struct toml_value *value, unsigned depth)
{
	bool is_table = value->type == TOML_TABLE;
	if (is_table)
		perch_json_begin_object(out);
	else
		perch_json_begin_array(out);
	for (uint32_t i = 0; i < value->count; i++) {
		if (is_table)
			perch_json_write_name(out, value->items[i]->key.data);
		facts_write_value(out, value->items[i], depth + 1);
	}
	if (is_table)
		perch_json_end_object(out);
	else
		perch_json_end_array(out);
}

/* Times mean nothing in a list of arguments. */
static void facts_write_value(
	struct perch_json_writer *out, const struct toml_value *value, unsigned depth)
{
	bool is_container = value->type == TOML_TABLE || value->type == TOML_ARRAY;
	if (is_container && depth < FACTS_DEPTH_MAX)
		facts_write_items(out, value, depth);
	else if (value->type == TOML_STRING)
		perch_json_write_string_n(out, value->string.data, value->string.len);
	else if (value->type == TOML_INTEGER)
		perch_json_write_int64(out, value->integer);
	else if (value->type == TOML_FLOAT)
		perch_json_write_double(out, value->number);
	else if (value->type == TOML_BOOL)
		perch_json_write_bool(out, value->boolean);
	else
		perch_json_write_null(out);
}

static int facts_write_arguments(
	const struct toml_value *args, struct arena *arena, const char **ret_json)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct perch_json_writer out = json_writer_on(&text);
	facts_write_value(&out, args, 0);
	const char *kept = text.failed ? NULL : arena_dup(arena, (struct str){ text.data, text.len });
	*ret_json = kept;
	return kept ? 0 : -ENOMEM;
}

static const struct toml_value *facts_find_table(const struct toml_value *root, const char *command)
{
	const struct toml_value *commands = toml_get(root, "commands");
	for (uint32_t i = 0; commands && commands->type == TOML_ARRAY && i < commands->count; i++) {
		const struct toml_value *table = commands->items[i];
		const struct toml_value *name = table->type == TOML_TABLE ? toml_get(table, "name") : NULL;
		if (name && name->type == TOML_STRING && str_is(name->string, command))
			return table;
	}
	return NULL;
}

/* The manifest was read once already: a wrong value is left out. */
static int facts_read_extra(const struct registry_entry *entry, const char *command,
	struct arena *arena, struct command_facts *facts, perch_err *err)
{
	_cleanup_free_ char *path = str_join(entry->directory, "/plugin.toml", NULL);
	_cleanup_(buf_free) struct buf text = { 0 };
	_cleanup_(toml_freep) struct toml *toml = NULL;
	if (!path)
		return err_no_memory(err);
	int r = file_read(path, FACTS_MANIFEST_MAX, &text, err);
	if (r == 0)
		r = toml_parse((struct str){ text.data, text.len }, NULL, &toml, err);
	if (r < 0)
		return r;
	const struct toml_value *table = facts_find_table(toml_root(toml), command);
	const struct toml_value *args = table ? toml_get(table, "args") : NULL;
	if (args && args->type == TOML_ARRAY)
		r = facts_write_arguments(args, arena, &facts->arguments);
	return r < 0 ? err_no_memory(err) : 0;
}

int command_facts_read(const struct registry_entry *entry, const char *command, struct arena *arena,
	struct command_facts *ret_facts, perch_err *err)
{
	struct manifest manifest;
	struct command_facts facts = { 0 };
	int r = manifest_read(entry->directory, arena, &manifest, err);
	if (r == 0)
		r = manifest_check_protocol(&manifest, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < manifest.command_count; i++) {
		if (strcmp(manifest.commands[i].name, command) != 0)
			continue;
		facts.description = manifest.commands[i].description;
		facts.is_dangerous = manifest.commands[i].is_dangerous;
	}
	if (!facts.description)
		return err_set(err, -ENOENT, "the manifest of %.100s does not have it", entry->name);
	facts.is_protocol = manifest.protocol[0];
	r = facts_read_extra(entry, command, arena, &facts, err);
	if (r == 0)
		*ret_facts = facts;
	return r;
}

int command_facts_find(
	const char *command, struct arena *arena, struct command_facts *ret_facts, perch_err *err)
{
	struct registry registry;
	int r = registry_read(arena, &registry, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < registry.count; i++) {
		if (list_has(registry.entries[i].commands, command))
			return command_facts_read(&registry.entries[i], command, arena, ret_facts, err);
	}
	return err_set(err, -ENOENT, "there is no command '%.100s'", command);
}

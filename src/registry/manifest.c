/* plugin.toml: what a plugin says about itself and asks for. The text may come from a stranger: a
 * mistake is told with its place, and nothing that was not checked here gets into a struct
 * manifest. */
#include "registry/manifest.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/sha256.h"
#include "base/str.h"
#include "data/toml.h"
#include "registry/names.h"

#define HOOK(name) #name, offsetof(struct manifest, hooks.name)

const struct hook_kind hook_table[HOOK_COUNT] = {
	{ HOOK(build), false },
	{ HOOK(post_install), false },
	{ HOOK(post_remove), false },
	{ HOOK(pre_init), true },
	{ HOOK(post_work_start), true },
	{ HOOK(pre_push), true },
};

/* A complaint about a string: what it is, its text, what is wrong with it. */
static int manifest_wrong(
	const struct toml_value *value, const char *what, const char *problem, perch_err *err)
{
	char quoted[TOML_QUOTE_MAX];
	return err_set_at(err, PERCH_ESYNTAX, value->at.line, value->at.column, "%s %s %s", what,
		toml_quote(value->string, quoted), problem);
}

/* A text of the table, copied; "" when it is absent. */
static int manifest_read_text(const struct toml_value *table, const char *key, struct arena *arena,
	const char **ret_text, perch_err *err)
{
	const char *text = "";
	int r = toml_get_string(table, key, &text, err);
	if (r < 0)
		return r;
	*ret_text = r ? arena_dup(arena, str_from(text)) : "";
	return *ret_text ? 0 : err_no_memory(err);
}

/* A key that is missing; if another key was probably meant to be it, the message is about that. */
static int manifest_refuse_missing(
	const struct toml_value *table, const char *key, const char *what, perch_err *err)
{
	const struct toml_value *meant = NULL;
	unsigned best = UINT_MAX;
	for (size_t i = 0; i < table->count; i++) {
		if (str_is_nearer(table->items[i]->key.data, key, &best))
			meant = table->items[i];
	}
	if (!meant)
		return err_set_at(err, PERCH_ESYNTAX, table->at.line, table->at.column,
			"%s is missing here (the key `%s`)", what, key);
	char quoted[TOML_QUOTE_MAX];
	return err_set_at(err, PERCH_ESYNTAX, meant->key_at.line, meant->key_at.column,
		"unknown key %s: did you mean `%s`?", toml_quote(meant->key, quoted), key);
}

/* A text that must be there and pass the check. `what` names it in messages. */
static int manifest_read_checked(const struct toml_value *table, const char *key, const char *what,
	const char *(*problem_of)(struct str), struct arena *arena, const char **ret_text,
	perch_err *err)
{
	int r = manifest_read_text(table, key, arena, ret_text, err);
	if (r < 0)
		return r;
	const struct toml_value *value = toml_get(table, key);
	if (!value)
		return manifest_refuse_missing(table, key, what, err);
	const char *problem = problem_of(value->string);
	return problem ? manifest_wrong(value, what, problem, err) : 0;
}

static int manifest_read_plugin(
	const struct toml_value *root, struct arena *arena, struct manifest *manifest, perch_err *err)
{
	const struct toml_value *table = NULL;
	int r = toml_get_table(root, "plugin", &table, err);
	if (r < 0)
		return r;
	if (r == 0)
		return err_set_at(err, PERCH_ESYNTAX, 1, 1, "the table [plugin] is missing");
	r = manifest_read_checked(
		table, "name", "plugin.name", plugin_name_problem, arena, &manifest->name, err);
	if (r == 0)
		r = manifest_read_checked(
			table, "version", "plugin.version", version_problem, arena, &manifest->version, err);
	const struct {
		const char *key;
		const char **ret_text;
	} texts[] = {
		{ "description", &manifest->description },
		{ "author", &manifest->author },
		{ "protocol", &manifest->protocol },
		{ "runtime", &manifest->runtime },
	};
	for (size_t i = 0; i < COUNT(texts) && r == 0; i++)
		r = manifest_read_text(table, texts[i].key, arena, texts[i].ret_text, err);
	return r;
}

static int manifest_read_command(const struct toml_value *table, struct arena *arena,
	struct manifest_command *command, perch_err *err)
{
	int r = manifest_read_checked(
		table, "name", "a command's name", command_name_problem, arena, &command->name, err);
	if (r == 0)
		r = manifest_read_checked(
			table, "binary", "a command's binary", binary_problem, arena, &command->binary, err);
	if (r == 0)
		r = manifest_read_text(table, "description", arena, &command->description, err);
	const struct toml_value *dangerous = toml_get(table, "dangerous");
	command->is_dangerous = dangerous && (dangerous->type != TOML_BOOL || dangerous->boolean);
	return r;
}

static int manifest_refuse_second(const struct manifest_command *commands, size_t i,
	const struct toml_value *array, perch_err *err)
{
	for (size_t before = 0; before < i; before++) {
		if (strcmp(commands[before].name, commands[i].name) != 0)
			continue;
		char problem[64];
		snprintf(problem, sizeof(problem), "is also the name of the one in line %u",
			array->items[before]->at.line);
		return manifest_wrong(toml_get(array->items[i], "name"), "a command's name", problem, err);
	}
	return 0;
}

static int manifest_read_commands(
	const struct toml_value *root, struct arena *arena, struct manifest *manifest, perch_err *err)
{
	const struct toml_value *array = NULL;
	int r = toml_get_array(root, "commands", TOML_TABLE, &array, err);
	if (r <= 0 || array->count == 0)
		return r < 0 ? r : 0;
	if (array->count > MANIFEST_COMMANDS_MAX)
		return err_set_at(err, PERCH_ELIMIT, array->at.line, array->at.column,
			"a plugin cannot have more than %d commands", MANIFEST_COMMANDS_MAX);
	struct manifest_command *commands = arena_alloc(arena, array->count * sizeof(*commands));
	if (!commands)
		return err_no_memory(err);
	r = 0;
	for (size_t i = 0; i < array->count && r == 0; i++) {
		r = manifest_read_command(array->items[i], arena, &commands[i], err);
		if (r == 0)
			r = manifest_refuse_second(commands, i, array, err);
	}
	manifest->commands = commands;
	manifest->command_count = array->count;
	return r;
}

static int manifest_read_hooks(
	const struct toml_value *root, struct arena *arena, struct manifest *manifest, perch_err *err)
{
	static const struct toml_value nothing = { .type = TOML_TABLE };
	const struct toml_value *table = &nothing;
	int r = toml_get_table(root, "hooks", &table, err);
	for (size_t i = 0; i < HOOK_COUNT && r >= 0; i++)
		r = manifest_read_text(table, hook_table[i].name, arena,
			(const char **)((char *)manifest + hook_table[i].member), err);
	return r < 0 ? r : 0;
}

static int manifest_read_filesystem(
	const struct toml_value *table, struct capabilities *wishes, perch_err *err)
{
	const char *name = NULL;
	int r = toml_get_string(table, "filesystem", &name, err);
	if (r <= 0 || filesystem_from_name(name, &wishes->filesystem))
		return r < 0 ? r : 0;
	return manifest_wrong(toml_get(table, "filesystem"), "capabilities.filesystem",
		"must be \"none\", \"project\" or \"plugin\"", err);
}

static int manifest_read_wishes(
	const struct toml_value *root, struct capabilities *wishes, perch_err *err)
{
	const struct toml_value *table = NULL;
	int r = toml_get_table(root, "capabilities", &table, err);
	if (r <= 0)
		return r;
	for (const struct capability *one = capability_table; one->name && r >= 0; one++) {
		bool is_wished = false;
		r = toml_get_bool(table, one->name, &is_wished, err);
		capabilities_put(wishes, one, is_wished);
	}
	wishes->says_network = toml_get(table, "network") != NULL;
	if (r >= 0)
		r = toml_get_bool(table, "plugins", &wishes->plugins, err);
	return r < 0 ? r : manifest_read_filesystem(table, wishes, err);
}

static int manifest_read_all(
	struct str text, struct arena *arena, struct manifest *manifest, perch_err *err)
{
	_cleanup_(toml_freep) struct toml *toml = NULL;
	int r = toml_parse(text, NULL, &toml, err);
	if (r < 0)
		return r;
	const struct toml_value *root = toml_root(toml);
	r = manifest_read_plugin(root, arena, manifest, err);
	if (r == 0)
		r = manifest_read_commands(root, arena, manifest, err);
	if (r == 0)
		r = manifest_read_hooks(root, arena, manifest, err);
	if (r == 0)
		r = manifest_read_wishes(root, &manifest->wishes, err);
	return r;
}

int manifest_parse(const char *path, const char *text, size_t len, struct arena *arena,
	struct manifest *ret_manifest, perch_err *err)
{
	struct manifest manifest = { 0 };
	perch_err inner = { 0 };
	int r = manifest_read_all((struct str){ text, len }, arena, &manifest, &inner);
	if (r < 0)
		return file_blame(err, path, &inner);
	char hash[SHA256_HEX_SIZE];
	sha256_of(text, len, hash);
	manifest.hash = arena_dup(arena, str_from(hash));
	if (!manifest.hash)
		return err_no_memory(err);
	*ret_manifest = manifest;
	return 0;
}

int manifest_read(
	const char *directory, struct arena *arena, struct manifest *ret_manifest, perch_err *err)
{
	_cleanup_free_ char *path = str_join(directory, "/plugin.toml", NULL);
	if (!path)
		return err_no_memory(err);
	_cleanup_(buf_free) struct buf text = { 0 };
	int r = file_read(path, TOML_SIZE_MAX, &text, err);
	if (r < 0)
		return r;
	return manifest_parse(path, text.data, text.len, arena, ret_manifest, err);
}

const char *manifest_hook(const struct manifest *manifest, size_t i, const char **ret_text)
{
	const char *text = *(const char *const *)((const char *)manifest + hook_table[i].member);
	*ret_text = text ? text : "";
	return hook_table[i].name;
}

int manifest_check_protocol(const struct manifest *manifest, perch_err *err)
{
	char name[TOML_QUOTE_MAX];
	char found[TOML_QUOTE_MAX];
	toml_quote(str_from(manifest->name), name);
	if (manifest->runtime[0] && strcmp(manifest->runtime, "native") != 0)
		return err_set(err, -EPROTONOSUPPORT,
			"plugin %s needs the runtime %s, which is not supported by this build", name,
			toml_quote(str_from(manifest->runtime), found));
	if (manifest->protocol[0] && strcmp(manifest->protocol, MANIFEST_PROTOCOL) != 0)
		return err_set(err, -EPROTONOSUPPORT,
			"plugin %s speaks the protocol %s, but perch %s supports only " MANIFEST_PROTOCOL
			": upgrade perch, or ask for a version of the plugin that speaks it",
			name, toml_quote(str_from(manifest->protocol), found), perch_version());
	return 0;
}

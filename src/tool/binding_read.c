/* Reading a binding: what its keys mean. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/paths.h"
#include "base/sha256.h"
#include "tool/binding_keys.h"

enum { SCHEMA_VERSION = 1 };

static int binding_read_version(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	int64_t version;
	return toml_get_integer(
		table, key->name, SCHEMA_VERSION, SCHEMA_VERSION, &version, reading->err);
}

static int binding_read_spares(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	int64_t count;
	int r = toml_get_integer(table, key->name, 0, TOOL_SPARES_MAX, &count, reading->err);
	if (r > 0)
		reading->binding->spares = (unsigned)count;
	return r;
}

static int binding_read_verdict(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	static const char *const words[] = { "exit", "response", NULL };
	int r = key_choice(reading, key, table, words);
	if (r >= 0)
		reading->binding->verdict = r == 1 ? TOOL_VERDICT_RESPONSE : TOOL_VERDICT_EXIT;
	return r;
}

/* ---- [env] --------------------------------------------------------------- */

static int binding_read_variable(
	struct reading *reading, const struct toml_value *table, size_t i, const char **ret_variable)
{
	const struct toml_value *value = table->items[i];
	const char *text;
	int r = toml_get_string(table, value->key.data, &text, reading->err);
	if (r < 0)
		return r;
	struct str name = value->key;
	if (!name.len || memchr(name.data, '=', name.len) || strlen(name.data) != name.len)
		return key_wrong(reading, value, "can be no variable");
	const char *variable = arena_join(reading->arena, name.data, "=", text, NULL);
	if (!variable)
		return err_no_memory(reading->err);
	*ret_variable = variable;
	return 0;
}

static int binding_read_env(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	const struct toml_value *variables;
	int r = toml_get_table(table, key->name, &variables, reading->err);
	if (r < 0)
		return r;
	const char **list = arena_alloc(reading->arena, (variables->count + 1) * sizeof(*list));
	if (!list)
		return err_no_memory(reading->err);
	r = 0;
	for (size_t i = 0; i < variables->count && r == 0; i++)
		r = binding_read_variable(reading, variables, i, &list[i]);
	list[variables->count] = NULL;
	reading->binding->env = list;
	return r;
}

/* A blank one is none: it must not become a path in the binding's directory. */
static int binding_read_command(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	const char *text;
	int r = toml_get_string(table, key->name, &text, reading->err);
	if (r <= 0 || str_trim(str_from(text)).len)
		return r < 0 ? r : key_path(reading, key, table);
	reading->binding->command = "";
	return 0;
}

/* ---- pins ---------------------------------------------------------------- */

static int binding_read_checksum(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	return key_get_checksum(reading, table, key->name, &reading->checksum);
}

static int binding_read_note_pins(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	return toml_get_table(table, key->name, &reading->pins, reading->err);
}

/* The pin of the command comes first, wherever it stands in the file. */
static int binding_read_collect_pins(struct reading *reading)
{
	size_t count = reading->pins ? reading->pins->count : 0;
	struct tool_pin *pins = arena_alloc(reading->arena, (count + 1) * sizeof(*pins));
	if (!pins)
		return err_no_memory(reading->err);
	size_t at = 0;
	if (reading->checksum)
		pins[at++] = (struct tool_pin){ reading->binding->command, reading->checksum };
	for (size_t i = 0; i < count; i++, at++) {
		const char *file = reading->pins->items[i]->key.data;
		int r = key_get_checksum(reading, reading->pins, file, &pins[at].sha256);
		if (r < 0)
			return r;
		pins[at].path = reading_absolute(reading, file);
		if (!pins[at].path)
			return err_no_memory(reading->err);
	}
	reading->binding->pins = pins;
	reading->binding->pin_count = at;
	return 0;
}

/* ---- [timeouts] and [sandbox] -------------------------------------------- */

static int binding_read_timeouts(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	static const struct key keys[] = {
		{ "invocation", key_seconds, offsetof(struct tool_binding, invocation_ns) },
		{ "handshake", key_seconds, offsetof(struct tool_binding, handshake_ns) },
		{ "teardown", key_seconds, offsetof(struct tool_binding, teardown_ns) },
	};
	return binding_keys_section(reading, key->name, keys, COUNT(keys), table);
}

/* One of two words: 1 for the second, 0 for the first. */
static int binding_read_choice(struct reading *reading, const struct key *key,
	const struct toml_value *table, const char *first, const char *second)
{
	const char *const words[] = { first, second, NULL };
	return key_choice(reading, key, table, words);
}

static int binding_read_mode(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	int r = binding_read_choice(reading, key, table, "on", "off");
	if (r >= 0)
		reading->binding->widening.is_off = r == 1;
	return r;
}

static int binding_read_net(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	int r = binding_read_choice(reading, key, table, "none", "full");
	if (r >= 0)
		reading->binding->widening.net = r == 1 ? WIDENING_NET_FULL : WIDENING_NET_NONE;
	return r;
}

static int binding_read_limits(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	static const struct key keys[] = {
		{ "memory", key_limit, offsetof(struct tool_binding, limits.memory) },
		{ "processes", key_limit, offsetof(struct tool_binding, limits.processes) },
		{ "files", key_limit, offsetof(struct tool_binding, limits.files) },
		{ "size", key_limit, offsetof(struct tool_binding, limits.size) },
		{ "cpu", key_limit, offsetof(struct tool_binding, limits.cpu) },
	};
	return binding_keys_section(reading, key->name, keys, COUNT(keys), table);
}

static int binding_read_sandbox(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	static const struct key keys[] = {
		{ "mode", binding_read_mode, 0 },
		{ "read", key_paths, offsetof(struct tool_binding, widening.read) },
		{ "write", key_paths, offsetof(struct tool_binding, widening.write) },
		{ "net", binding_read_net, 0 },
		{ "env", key_list, offsetof(struct tool_binding, widening.env) },
		{ "presets", key_list, offsetof(struct tool_binding, widening.presets) },
		{ "limits", binding_read_limits, 0 },
	};
	return binding_keys_section(reading, key->name, keys, COUNT(keys), table);
}

/* ---- [[tools]] ----------------------------------------------------------- */

static int binding_read_tool(
	struct reading *reading, const struct toml_value *table, struct tool_known *tool)
{
	static const struct key keys[] = {
		{ "name", key_text, offsetof(struct tool_known, name) },
		{ "description", key_text, offsetof(struct tool_known, description) },
		{ "input_schema", key_text, offsetof(struct tool_known, input_schema) },
		{ "output_schema", key_text, offsetof(struct tool_known, output_schema) },
		{ "ask", key_flag, offsetof(struct tool_known, asks) },
		{ "title", key_text, offsetof(struct tool_known, title) },
		{ "annotations", key_text, offsetof(struct tool_known, annotations) },
		{ "pin", key_checksum, offsetof(struct tool_known, pin) },
	};
	*tool = tool_known_named("");
	struct reading inner = *reading;
	inner.into = tool;
	int r = binding_keys_read(&inner, keys, COUNT(keys), table);
	if (r == 0 && !str_trim(str_from(tool->name)).len)
		r = err_set_at(
			reading->err, PERCH_ESYNTAX, table->at.line, table->at.column, "a tool without a name");
	return r;
}

static int binding_read_tools(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	const struct toml_value *array;
	int r = toml_get_array(table, key->name, TOML_TABLE, &array, reading->err);
	if (r < 0)
		return r;
	if (array->count > TOOL_KNOWN_MAX)
		return err_set_at(reading->err, PERCH_ELIMIT, array->at.line, array->at.column,
			"a binding cannot have more than %d tools", TOOL_KNOWN_MAX);
	struct tool_known *tools = arena_alloc(reading->arena, array->count * sizeof(*tools));
	if (!tools)
		return err_no_memory(reading->err);
	r = 0;
	for (size_t i = 0; i < array->count && r == 0; i++) {
		r = binding_read_tool(reading, array->items[i], &tools[i]);
		if (r < 0)
			break;
		reading->binding->tools = tools;
		if (tool_binding_tool(reading->binding, tools[i].name))
			r = key_wrong(reading, toml_get(array->items[i], "name"), "is the name of two tools");
		reading->binding->tool_count = i + 1;
	}
	return r;
}

/* ------------------------------------------------------------------------- */

/* The defaults follow the protocol, wherever that stands. */
static void binding_read_begin(struct reading *reading, const struct toml_value *root)
{
	const struct tool_binding *given = reading->binding;
	const char *protocol;
	if (toml_get_string(root, "protocol", &protocol, NULL) <= 0 ||
		strcmp(protocol, TOOL_PROTOCOL_MCP) != 0)
		return;
	struct tool_binding binding = tool_binding_default_server();
	binding.path = given->path;
	binding.given = given->given;
	binding.sha256 = given->sha256;
	*reading->binding = binding;
}

static int binding_read_all(struct reading *reading, struct str text)
{
	static const struct key keys[] = {
		{ "schema", binding_read_version, 0 },
		{ "name", key_text, offsetof(struct tool_binding, name) },
		{ "command", binding_read_command, offsetof(struct tool_binding, command) },
		{ "args", key_list, offsetof(struct tool_binding, args) },
		{ "dir", key_path, offsetof(struct tool_binding, directory) },
		{ "protocol", key_text, offsetof(struct tool_binding, protocol) },
		{ "capabilities", key_list, offsetof(struct tool_binding, capabilities) },
		{ "sha256", binding_read_checksum, 0 },
		{ "spares", binding_read_spares, 0 },
		{ "spare_ttl", key_seconds, offsetof(struct tool_binding, spare_ttl_ns) },
		{ "verdict", binding_read_verdict, 0 },
		{ "env", binding_read_env, 0 },
		{ "timeouts", binding_read_timeouts, 0 },
		{ "sandbox", binding_read_sandbox, 0 },
		{ "pin", binding_read_note_pins, 0 },
		{ "tools", binding_read_tools, 0 },
		{ "mcp", binding_read_server, 0 },
	};
	_cleanup_(toml_freep) struct toml *toml = NULL;
	int r = toml_parse(text, NULL, &toml, reading->err);
	if (r == 0)
		binding_read_begin(reading, toml_root(toml));
	if (r == 0)
		r = binding_keys_read(reading, keys, COUNT(keys), toml_root(toml));
	return r < 0 ? r : binding_read_collect_pins(reading);
}

/* The folder of an absolute path. */
static struct str binding_read_folder_of(const char *path)
{
	return (struct str){ path, (size_t)(strrchr(path, '/') - path) };
}

int tool_binding_parse(const char *path, struct str text, struct arena *arena,
	struct tool_binding *ret_binding, perch_err *err)
{
	struct tool_binding binding = tool_binding_default();
	char sha256[SHA256_HEX_SIZE];
	sha256_of(text.data, text.len, sha256);
	binding.path = arena_dup(arena, str_from(path));
	binding.given = binding.path;
	binding.sha256 = arena_dup(arena, str_from(sha256));
	if (!binding.path || !binding.sha256)
		return err_no_memory(err);
	perch_err inner = { 0 };
	struct reading reading = {
		.folder = binding_read_folder_of(binding.path),
		.arena = arena,
		.binding = &binding,
		.into = &binding,
		.err = &inner,
	};
	int r = binding_read_all(&reading, text);
	if (r == -ENOMEM)
		return err_no_memory(err);
	if (r < 0)
		return file_blame(err, path, &inner);
	*ret_binding = binding;
	return 0;
}

int tool_binding_read(
	const char *path, struct arena *arena, struct tool_binding *ret_binding, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	char full[PATH_MAX];
	struct tool_binding binding;
	int r = file_read_resolved(path, TOML_SIZE_MAX, &text, full, err);
	if (r < 0)
		return r;
	r = tool_binding_parse(full, (struct str){ text.data, text.len }, arena, &binding, err);
	if (r == 0)
		r = paths_absolute(path, arena, &binding.given, err);
	if (r == 0)
		*ret_binding = binding;
	return r;
}

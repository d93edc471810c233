/* plugin.toml, rule by rule. The reader of manifests stops at the first mistake; here every one is
 * told, and values that are allowed but probably not meant. */
#include "base/macros.h"
#include "plugins/validation.h"

#include <ctype.h>
#include <string.h>

#include "registry/manifest.h"
#include "registry/names.h"

/* ---- keys of a table ------------------------------------------------------ */

struct key_rule {
	const char *name;
	enum toml_type type;
	bool is_needed;
	bool is_unread; /* nothing depends on it: a mistake is a warning */
	const char *(*problem_of)(struct str text);
	const char *advice; /* what its absence means, for a warning; NULL = nothing */
};

static const char *plugin_validate_protocol_problem(struct str protocol)
{
	return !protocol.len || str_is(protocol, MANIFEST_PROTOCOL)
		? NULL
		: "is not supported: this perch speaks " MANIFEST_PROTOCOL;
}

static const char *plugin_validate_runtime_problem(struct str runtime)
{
	return !runtime.len || str_is(runtime, "native") ? NULL
													 : "is not supported by this build of perch";
}

static const char *plugin_validate_filesystem_problem(struct str name)
{
	enum filesystem_wish wish;
	return filesystem_from_name(name.data, &wish) ? NULL
												  : "must be \"none\", \"project\" or \"plugin\"";
}

#define OPTIONAL(key)                              \
	{                                              \
		key, TOML_STRING, false, false, NULL, NULL \
	}
static const struct key_rule plugin_rules[] = {
	{ "name", TOML_STRING, true, false, plugin_name_problem, NULL },
	{ "version", TOML_STRING, true, false, version_problem, NULL },
	{ "description", TOML_STRING, false, false, NULL, "users see it when they install the plugin" },
	OPTIONAL("author"),
	{ "protocol", TOML_STRING, false, false, plugin_validate_protocol_problem, NULL },
	{ "runtime", TOML_STRING, false, false, plugin_validate_runtime_problem, NULL },
	{ 0 },
};

static const struct key_rule command_rules[] = {
	{ "name", TOML_STRING, true, false, command_name_problem, NULL },
	{ "binary", TOML_STRING, true, false, binary_problem, NULL },
	{ "description", TOML_STRING, false, false, NULL, "it says what the command is for" },
	{ "args", TOML_ARRAY, false, true, NULL, NULL },
	{ "dangerous", TOML_BOOL, false, true, NULL, NULL },
	{ 0 },
};

static const struct key_rule argument_rules[] = {
	{ "name", TOML_STRING, true, true, NULL, NULL },
	{ "type", TOML_STRING, false, true, NULL, NULL },
	{ "required", TOML_BOOL, false, true, NULL, NULL },
	{ "description", TOML_STRING, false, true, NULL, NULL },
	{ 0 },
};

static void plugin_validate_check_absent(struct findings *findings, const struct toml_value *table,
	const char *table_name, const struct key_rule *rule)
{
	if (rule->is_needed)
		findings_add(findings, rule->is_unread ? FINDING_WARNING : FINDING_ERROR, &table->at,
			"`%s` is missing in %s", rule->name, table_name);
	else if (rule->advice)
		findings_add(findings, FINDING_WARNING, &table->at, "there is no `%s` in %s: %s",
			rule->name, table_name, rule->advice);
}

static void plugin_validate_check_key(struct findings *findings, const struct toml_value *table,
	const char *table_name, const struct key_rule *rule)
{
	const struct toml_value *value = toml_get(table, rule->name);
	if (!value) {
		plugin_validate_check_absent(findings, table, table_name, rule);
		return;
	}
	if (value->type != rule->type) {
		findings_add(findings, rule->is_unread ? FINDING_WARNING : FINDING_ERROR, &value->at,
			"`%s` must be %s, not %s", rule->name, toml_type_name(rule->type),
			toml_type_name(value->type));
		return;
	}
	if (rule->type != TOML_STRING)
		return;
	bool has_nul = strlen(value->string.data) != value->string.len;
	const char *problem = has_nul ? "must not contain a NUL character" : NULL;
	if (!problem && rule->problem_of)
		problem = rule->problem_of(value->string);
	char quoted[TOML_QUOTE_MAX];
	if (problem)
		findings_add(findings, rule->is_unread ? FINDING_WARNING : FINDING_ERROR, &value->at,
			"`%s` %s %s", rule->name, toml_quote(value->string, quoted), problem);
}

static void plugin_validate_check_table(struct findings *findings, const struct toml_value *table,
	const char *table_name, const struct key_rule *rules)
{
	const char *names[CAPABILITIES_MAX + 2];
	size_t count = 0;
	for (; rules[count].name; count++) {
		names[count] = rules[count].name;
		plugin_validate_check_key(findings, table, table_name, &rules[count]);
	}
	names[count] = NULL;
	findings_add_unknown_keys(findings, table, names, false);
}

/* ---- tables --------------------------------------------------------------- */

/* The table of that name, NULL when there is none, or no table. */
static const struct toml_value *plugin_validate_find_table(
	struct findings *findings, const struct toml_value *root, const char *name)
{
	const struct toml_value *table = NULL;
	perch_err err = { 0 };
	if (toml_get_table(root, name, &table, &err) < 0)
		findings_add_err(findings, &err);
	return table;
}

static bool plugin_validate_is_text(const struct toml_value *value)
{
	return value && value->type == TOML_STRING && value->string.len;
}

/* 1.2.3, with any text behind it. */
static bool plugin_validate_is_usual_version(const char *version)
{
	for (int part = 0; part < 3; part++) {
		if (!isdigit((unsigned char)*version))
			return false;
		while (isdigit((unsigned char)*version))
			version++;
		if (part < 2 && *version++ != '.')
			return false;
	}
	return !*version || *version == '-' || *version == '+';
}

static void plugin_validate_check_plugin(struct findings *findings, const struct toml_value *table)
{
	plugin_validate_check_table(findings, table, "[plugin]", plugin_rules);
	const struct toml_value *version = toml_get(table, "version");
	char quoted[TOML_QUOTE_MAX];
	if (plugin_validate_is_text(version) && !plugin_validate_is_usual_version(version->string.data))
		findings_add(findings, FINDING_WARNING, &version->at,
			"`version` %s is not of the form 1.2.3: updates compare it",
			toml_quote(version->string, quoted));
	const struct toml_value *protocol = toml_get(table, "protocol");
	if (protocol && protocol->type == TOML_STRING && !protocol->string.len)
		findings_add(findings, FINDING_WARNING, &protocol->at,
			"`protocol` is empty: the plugin runs as a legacy plugin, with all rights of the user");
}

static void plugin_validate_check_arguments(
	struct findings *findings, const struct toml_value *command)
{
	const struct toml_value *args = toml_get(command, "args");
	for (size_t i = 0; args && args->type == TOML_ARRAY && i < args->count; i++) {
		if (args->items[i]->type == TOML_TABLE)
			plugin_validate_check_table(findings, args->items[i], "this argument", argument_rules);
		else
			findings_add(findings, FINDING_WARNING, &args->items[i]->at,
				"an argument must be a table, not %s", toml_type_name(args->items[i]->type));
	}
}

/* Commands that `fledge` has itself. */
static bool plugin_validate_is_taken(const struct toml_value *name)
{
	return str_is(name->string, "plugins") || str_is(name->string, "plugin") ||
		str_is(name->string, "help");
}

static void plugin_validate_check_name(
	struct findings *findings, const struct toml_value *commands, size_t i)
{
	const struct toml_value *name = toml_get(commands->items[i], "name");
	if (!plugin_validate_is_text(name))
		return;
	char quoted[TOML_QUOTE_MAX];
	toml_quote(name->string, quoted);
	if (plugin_validate_is_taken(name))
		findings_add(findings, FINDING_WARNING, &name->at,
			"the command %s can only be reached by `perch run`: fledge has one of that name",
			quoted);
	for (size_t before = 0; before < i; before++) {
		const struct toml_value *other = commands->items[before]->type == TOML_TABLE
			? toml_get(commands->items[before], "name")
			: NULL;
		if (plugin_validate_is_text(other) && str_eq(other->string, name->string)) {
			findings_add(findings, FINDING_ERROR, &name->at,
				"the command %s stands in line %u already", quoted, other->at.line);
			return;
		}
	}
}

static void plugin_validate_check_commands(struct findings *findings, const struct toml_value *root)
{
	const struct toml_value *array = NULL;
	perch_err err = { 0 };
	if (toml_get_array(root, "commands", TOML_TABLE, &array, &err) < 0) {
		findings_add_err(findings, &err);
		return;
	}
	if (array && array->count > MANIFEST_COMMANDS_MAX) {
		findings_add(findings, FINDING_ERROR, &array->at,
			"a plugin cannot have more than %d commands", MANIFEST_COMMANDS_MAX);
		return;
	}
	for (size_t i = 0; array && i < array->count; i++) {
		plugin_validate_check_table(findings, array->items[i], "this command", command_rules);
		plugin_validate_check_arguments(findings, array->items[i]);
		plugin_validate_check_name(findings, array, i);
	}
	if ((!array || !array->count) && !toml_get(root, "hooks"))
		findings_add(findings, FINDING_WARNING, NULL,
			"the plugin has neither [[commands]] nor [hooks]: nothing of it ever runs");
}

/* ---- rules about several values --------------------------------------------- */

static bool plugin_validate_is_true(const struct toml_value *table, const char *key)
{
	const struct toml_value *value = table ? toml_get(table, key) : NULL;
	return value && value->type == TOML_BOOL && value->boolean;
}

static void plugin_validate_check_hooks(struct findings *findings, const struct toml_value *hooks,
	const struct toml_value *capabilities, bool is_protocol)
{
	struct key_rule rules[HOOK_COUNT + 1] = { 0 };
	for (size_t i = 0; i < HOOK_COUNT; i++)
		rules[i] = (struct key_rule){ .name = hook_table[i].name, .type = TOML_STRING };
	plugin_validate_check_table(findings, hooks, "[hooks]", rules);
	for (size_t i = 0; i < hooks->count; i++) {
		const struct toml_value *hook = hooks->items[i];
		if (hook->type == TOML_STRING && !str_trim(hook->string).len)
			findings_add(
				findings, FINDING_WARNING, &hook->at, "this hook is empty: nothing is run");
	}
	for (size_t i = 0; i < HOOK_COUNT; i++) {
		const struct toml_value *hook = toml_get(hooks, hook_table[i].name);
		if (hook && hook_table[i].is_lifecycle && is_protocol &&
			!plugin_validate_is_true(capabilities, "exec"))
			findings_add(findings, FINDING_WARNING, &hook->key_at,
				"`%s` never runs: that needs `exec = true` in [capabilities]", hook_table[i].name);
	}
}

static void plugin_validate_check_capabilities(
	struct findings *findings, const struct toml_value *capabilities)
{
	struct key_rule rules[CAPABILITIES_MAX + 2] = { 0 };
	size_t count = 0;
	for (const struct capability *one = capability_table; one->name; one++)
		rules[count++] = (struct key_rule){ .name = one->name, .type = TOML_BOOL };
	rules[count] = (struct key_rule){
		.name = "filesystem",
		.type = TOML_STRING,
		.problem_of = plugin_validate_filesystem_problem,
	};
	plugin_validate_check_table(findings, capabilities, "[capabilities]", rules);
}

void validate_root(const struct toml_value *root, struct findings *findings)
{
	static const char *const tables[] = { "plugin", "commands", "hooks", "capabilities", NULL };
	findings_add_unknown_keys(findings, root, tables, false);
	const struct toml_value *plugin = plugin_validate_find_table(findings, root, "plugin");
	if (plugin)
		plugin_validate_check_plugin(findings, plugin);
	else if (!toml_get(root, "plugin"))
		findings_add(
			findings, FINDING_ERROR, &(struct toml_place){ 1, 1 }, "the table [plugin] is missing");
	plugin_validate_check_commands(findings, root);
	bool is_protocol = plugin && plugin_validate_is_text(toml_get(plugin, "protocol"));
	const struct toml_value *capabilities =
		plugin_validate_find_table(findings, root, "capabilities");
	if (capabilities) {
		plugin_validate_check_capabilities(findings, capabilities);
		if (plugin && !is_protocol)
			findings_add(findings, FINDING_WARNING, &capabilities->at,
				"[capabilities] means nothing without `protocol = \"" MANIFEST_PROTOCOL
				"\"`: a legacy plugin runs with all rights of the user");
	}
	const struct toml_value *hooks = plugin_validate_find_table(findings, root, "hooks");
	if (hooks)
		plugin_validate_check_hooks(findings, hooks, capabilities, is_protocol);
}

void validate_manifest(struct str text, struct findings *findings)
{
	_cleanup_(toml_freep) struct toml *toml = NULL;
	perch_err err = { 0 };
	if (toml_parse(text, NULL, &toml, &err) < 0)
		findings_add_err(findings, &err);
	else
		validate_root(toml_root(toml), findings);
}

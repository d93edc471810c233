/* What a case gives the host, or the plugin, is data: cases may come from strangers, and a word, a
 * variable, a path or a line of settings in one must not become a right that the user of the kit
 * has not given. */
#include <errno.h>

#include "base/macros.h"
#include "conformance/case.h"
#include "data/yaml.h"

#define WRONG AUTHOR_WRONG

/* ---- variables ------------------------------------------------------------------- */

/* Variables that mean nothing to a loader, a shell or a host. In a profile or a binding also
 * AGENT_…, which the contract speaks of. */
static bool given_may_set(const char *name, bool is_of_actor)
{
	static const char *const starts[] = { "CONFORM_", "AGENT_CONFORM", "FLEDGE_CONFORM" };
	for (size_t i = 0; i < COUNT(starts); i++) {
		if (strncmp(name, starts[i], strlen(starts[i])) == 0)
			return true;
	}
	return is_of_actor && strncmp(name, "AGENT_", 6) == 0;
}

static void given_check_env(const struct author_file *reader, const struct author_pairs *env)
{
	for (size_t i = 0; i < env->count; i++) {
		if (!given_may_set(env->items[i].key, false))
			WRONG(reader, &env->items[i],
				"a variable of a case is named CONFORM_…, AGENT_CONFORM… or FLEDGE_CONFORM…");
	}
}

/* ---- words ----------------------------------------------------------------------- */

static const struct {
	enum protocol protocol;
	const char *word;
	bool has_value;
} given_options[] = {
	{ PROTOCOL_TOOL, "--context", true },
	{ PROTOCOL_AGENT, "--no-stream", false },
	{ PROTOCOL_AGENT, "--session", true },
	{ PROTOCOL_AGENT, "--session-name", true },
	{ PROTOCOL_AGENT, "--from", true },
	{ PROTOCOL_AGENT, "--image", true },
	{ PROTOCOL_AGENT, "--file", true },
	{ PROTOCOL_AGENT, "--audio", true },
	{ PROTOCOL_AGENT, "--video", true },
};

/* How many words an option is with its value; 0 = there is no option of that name. */
static size_t given_option_length(enum protocol protocol, const char *word)
{
	for (size_t i = 0; i < COUNT(given_options); i++) {
		if (given_options[i].protocol == protocol && strcmp(given_options[i].word, word) == 0)
			return given_options[i].has_value ? 2 : 1;
	}
	return 0;
}

static void given_check_options(const struct author_file *reader, const struct toml_value *table,
	enum protocol protocol, const char *const *options)
{
	const struct toml_value *value = toml_get(table, "options");
	while (*options) {
		size_t length = given_option_length(protocol, *options);
		if (!length) {
			WRONG(reader, value, "a case may not give the host the word `%.40s`", *options);
			return;
		}
		if (length == 2 && (!options[1] || options[1][0] == '-')) {
			WRONG(reader, value, "`%s` needs a value that does not begin with -", *options);
			return;
		}
		options += length;
	}
}

/* ---- settings -------------------------------------------------------------------- */

/* Settings that change neither the program nor its rights. */
static const char *const given_profile_keys[] = { "args", "stdin", "cwd", "env", "env_allowlist",
	"timeout_secs", "idle_timeout_secs", "kill_grace_secs", "max_reply_chars", "truncation_suffix",
	"include_stderr_in_reply", "send_error_reply", "streaming", "session_line_prefix", "protocol",
	"permission", NULL };
static const char *const given_binding_keys[] = { "protocol", "args", "dir", "env", "timeouts",
	NULL };

static void given_refuse_key(
	const struct author_file *reader, const struct toml_value *at, const char *name)
{
	WRONG(reader, at, "the settings of a case may not say `%.40s`", name);
}

static void given_check_profile(
	const struct author_file *reader, const struct toml_value *at, const char *text)
{
	const struct yaml_value *root = NULL;
	perch_err err = { 0 };
	int r = yaml_parse(str_from(text), reader->arena, &root, &err);
	if (r == -ENOMEM)
		reader->findings->failed = true;
	else if (r < 0)
		WRONG(reader, at, "these settings cannot be read: %s", err.text);
	else if (root->type != YAML_MAP)
		WRONG(reader, at, "settings are lines of a profile");
	for (size_t i = 0; r == 0 && root->type == YAML_MAP && i < root->count; i++) {
		const struct yaml_entry *entry = &root->entries[i];
		if (!list_has(given_profile_keys, entry->name))
			given_refuse_key(reader, at, entry->name);
		bool is_env = strcmp(entry->name, "env") == 0 && entry->value->type == YAML_MAP;
		for (size_t k = 0; is_env && k < entry->value->count; k++) {
			if (!given_may_set(entry->value->entries[k].name, true))
				given_refuse_key(reader, at, entry->value->entries[k].name);
		}
	}
}

static void given_check_binding_keys(
	const struct author_file *reader, const struct toml_value *at, const struct toml_value *root)
{
	for (size_t i = 0; i < root->count; i++) {
		if (!list_has_str(given_binding_keys, root->items[i]->key))
			given_refuse_key(reader, at, root->items[i]->key.data);
	}
	const struct toml_value *env = toml_get(root, "env");
	for (size_t i = 0; env && env->type == TOML_TABLE && i < env->count; i++) {
		if (!given_may_set(env->items[i]->key.data, true))
			given_refuse_key(reader, at, env->items[i]->key.data);
	}
}

/* Lines of a manifest stay in the table that they are put into. A text that is no TOML can only be
 * a single line: such a line opens no table, however it is read. */
static void given_check_manifest_keys(
	const struct author_file *reader, const struct toml_value *at, const struct toml_value *root)
{
	for (size_t i = 0; i < root->count; i++) {
		if (!str_is(root->items[i]->key, "plugin"))
			given_refuse_key(reader, at, root->items[i]->key.data);
	}
}

static void given_check_toml(const struct author_file *reader, const struct toml_value *at,
	enum protocol protocol, const char *text)
{
	bool is_manifest = protocol == PROTOCOL_FLEDGE;
	_cleanup_(toml_freep) struct toml *toml = NULL;
	perch_err err = { 0 };
	const char *whole =
		arena_join(reader->arena, is_manifest ? "[plugin]\n" : "", text, "\n", NULL);
	int r = whole ? toml_parse(str_from(whole), NULL, &toml, &err) : -ENOMEM;
	if (r == -ENOMEM)
		reader->findings->failed = true;
	else if (r < 0 && (!is_manifest || strchr(text, '\n') || strchr(text, '[')))
		WRONG(reader, at, "these settings cannot be read: %s", err.text);
	else if (r == 0 && is_manifest)
		given_check_manifest_keys(reader, at, toml_root(toml));
	else if (r == 0)
		given_check_binding_keys(reader, at, toml_root(toml));
}

/* ---- all of it ------------------------------------------------------------------- */

void given_check(const struct author_file *reader, const struct toml_value *table,
	enum protocol protocol, const struct conformance_case *test)
{
	const struct toml_value *settings = toml_get(table, "settings");
	author_check_files(reader, &test->files);
	given_check_env(reader, &test->env);
	given_check_options(reader, table, protocol, test->options);
	if (test->tool && test->tool[0] == '-')
		WRONG(reader, toml_get(table, "tool"), "the name of a tool does not begin with -");
	if (test->settings && (protocol == PROTOCOL_AGENT || protocol == PROTOCOL_ACP))
		given_check_profile(reader, settings, test->settings);
	else if (test->settings)
		given_check_toml(reader, settings, protocol, test->settings);
}

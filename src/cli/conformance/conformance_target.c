/* What `perch conformance --plugin` is to check, and which protocol it speaks. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent_launch.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/tree.h"
#include "cli/conformance/conformance_command.h"
#include "plugins/new_file.h"

int conformance_protocol(const char *name, enum protocol *ret_protocol)
{
	char hint[64];
	for (size_t i = 0; i < PROTOCOL_COUNT; i++) {
		if (strcmp(name, protocol_names[i]) == 0) {
			*ret_protocol = (enum protocol)i;
			return 0;
		}
	}
	const char *near = str_nearest(name, protocol_names, PROTOCOL_COUNT, sizeof(protocol_names[0]));
	snprintf(hint, sizeof(hint), "did you mean: --protocol %s", near ? near : "");
	return cli_usage_error(
		near ? hint : "there are fledge, tool, agent and acp", "there is no protocol '%s'", name);
}

/* ---- a host --------------------------------------------------------------------- */

static int conformance_target_refuse_placeholder(enum protocol protocol, struct str unknown)
{
	const char *const *names = scene_placeholders(protocol);
	_cleanup_free_ char *name = str_dup(unknown);
	const char *near = name ? str_nearest(name, names, list_count(names), sizeof(*names)) : NULL;
	_cleanup_(buf_free) struct buf hint = { 0 };
	if (near)
		buf_printf(&hint, "did you mean {%s}? ", near);
	buf_append_text(&hint, "There are ");
	for (size_t i = 0; names[i]; i++)
		buf_printf(&hint, "%s{%s}", i ? ", " : "", names[i]);
	return cli_usage_error(buf_terminate(&hint) < 0 ? NULL : hint.data,
		"%s has no placeholder {%.*s}", protocol_names[protocol], (int)unknown.len, unknown.data);
}

int conformance_check_host(const struct conformance_wish *wish)
{
	enum protocol protocol = PROTOCOL_FLEDGE;
	if (!str_trim(str_from(wish->host)).len)
		return cli_usage_error(NULL, "--host needs a command");
	if (!strchr(wish->host, '{'))
		return 0;
	if (!wish->protocol)
		return cli_usage_error("say so: --protocol fledge, tool, agent or acp",
			"what a command line of your own speaks is not known");
	int r = conformance_protocol(wish->protocol, &protocol);
	if (r)
		return r;
	struct str unknown = scene_unknown_placeholder(protocol, wish->host);
	return unknown.len ? conformance_target_refuse_placeholder(protocol, unknown) : 0;
}

/* ---- a plugin ------------------------------------------------------------------- */

static bool conformance_target_has_file(const char *path, const char *name)
{
	_cleanup_free_ char *full = str_join(path, "/", name, NULL);
	return full && access(full, F_OK) == 0;
}

static bool conformance_target_ends_with(const char *path, const char *suffix)
{
	return str_has_suffix(str_from(path), str_from(suffix));
}

static bool conformance_target_is_profile(const char *path)
{
	return conformance_target_ends_with(path, ".yaml") ||
		conformance_target_ends_with(path, ".yml");
}

/* One that cannot be read is an agent's: the words for it come when it is. */
static enum protocol conformance_target_profile_protocol(const char *path, struct arena *arena)
{
	struct agent_profile profile;
	bool is_acp =
		agent_profile_read(path, arena, &profile, NULL) == 0 && profile.dialect == AGENT_ACP;
	return is_acp ? PROTOCOL_ACP : PROTOCOL_AGENT;
}

/* The protocol, by the files that lie there; a single program does not say. */
static int conformance_target_find_protocol(
	const struct conformance_wish *wish, struct arena *arena, enum protocol *ret_protocol)
{
	const char *path = wish->plugin;
	if (wish->protocol)
		return conformance_protocol(wish->protocol, ret_protocol);
	if (conformance_target_has_file(path, "plugin.toml"))
		*ret_protocol = PROTOCOL_FLEDGE;
	else if (conformance_target_has_file(path, TOOL_BUNDLE_FILE) ||
		conformance_target_ends_with(path, ".json") || conformance_target_ends_with(path, ".toml"))
		*ret_protocol = PROTOCOL_TOOL;
	else if (conformance_target_is_profile(path))
		*ret_protocol = conformance_target_profile_protocol(path, arena);
	else
		return cli_usage_error("say so: --protocol fledge, tool, agent or acp",
			"what %s speaks cannot be seen from its name", path);
	return 0;
}

/* ---- fledge --------------------------------------------------------------------- */

static const struct manifest_command *conformance_target_find_command(
	const struct manifest *manifest, const char *name)
{
	for (size_t i = 0; i < manifest->command_count; i++) {
		if (!name || strcmp(manifest->commands[i].name, name) == 0)
			return &manifest->commands[i];
	}
	return NULL;
}

static int conformance_target_read_program(
	const char *path, struct arena *arena, struct trial_subject *target)
{
	const char *slash = strrchr(path, '/');
	target->program = path;
	target->command = slash[1] ? slash + 1 : path;
	target->directory = arena_dup(arena, (struct str){ path, (size_t)(slash - path) });
	return target->directory ? 0 : cli_no_memory();
}

static int conformance_target_read_fledge(const struct conformance_wish *wish, const char *path,
	struct arena *arena, struct conformance_target *target)
{
	struct stat status;
	perch_err err = { 0 };
	if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode))
		return conformance_target_read_program(path, arena, &target->plugin);
	if (manifest_read(path, arena, &target->manifest, &err) < 0) {
		cli_error(NULL, "%s", err.text);
		return EXIT_HOST;
	}
	const struct manifest_command *command =
		conformance_target_find_command(&target->manifest, wish->command);
	if (!command || strcmp(target->manifest.protocol, MANIFEST_PROTOCOL) != 0)
		return cli_usage_error("see its plugin.toml",
			command ? "%s does not speak fledge-v1" : "%s has no such command", path);
	target->plugin.program = arena_join(arena, path, "/", command->binary, NULL);
	target->plugin.directory = path;
	target->plugin.command = command->name;
	target->plugin.manifest = &target->manifest;
	return target->plugin.program ? 0 : cli_no_memory();
}

/* ---- tool ----------------------------------------------------------------------- */

/* On one line, because it is sent as one. */
static int conformance_target_read_input(
	const char *text, struct arena *arena, struct conformance_target *target)
{
	perch_json *json = NULL;
	const perch_json_value *root = NULL;
	perch_err err = { 0 };
	_cleanup_(buf_free) struct buf line = { 0 };
	perch_json_writer writer = json_writer_on(&line);
	int r = perch_json_new(NULL, &json);
	if (r == 0)
		r = perch_json_parse(json, text, strlen(text), &root, &err);
	if (r == 0)
		perch_json_write_value(&writer, root);
	perch_json_free(json);
	if (r == PERCH_ESYNTAX || r == PERCH_ELIMIT)
		return cli_usage_error(NULL, "--input is not JSON: %s", err.text);
	if (r == 0 && !line.failed)
		target->plugin.input = arena_dup(arena, (struct str){ line.data, line.len });
	return r == 0 && !line.failed && target->plugin.input ? 0 : cli_no_memory();
}

static int conformance_target_read_tool(
	const char *path, struct arena *arena, struct conformance_target *target)
{
	perch_err err = { 0 };
	int r = conformance_target_ends_with(path, ".toml")
		? tool_binding_read(path, arena, &target->source.binding, &err)
		: tool_source_read(path, NULL, arena, &target->source, &err);
	if (r < 0) {
		cli_error(NULL, "%s", err.text);
		return EXIT_HOST;
	}
	/* Whether a sandbox suits the tool is the operator's decision, in their binding. */
	if (!conformance_target_ends_with(path, ".toml"))
		target->source.binding.widening.is_off = true;
	target->plugin.binding = &target->source.binding;
	return 0;
}

/* ---- agent ---------------------------------------------------------------------- */

#define PROFILE "profile.yaml"

/* A program without a profile gets the smallest one. */
static int conformance_target_write_profile(const char *program, struct conformance_target *target)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	perch_json_writer writer = json_writer_on(&text);
	buf_append_text(&text, "args: []\ncommand: ");
	perch_json_write_string(&writer, program);
	buf_append_char(&text, '\n');
	perch_err err = { 0 };
	int r = text.failed ? err_no_memory(&err) : tree_make("perch-profile-", &target->folder, &err);
	if (r == 0)
		r = new_file_write(
			target->folder, PROFILE, 0600, (struct str){ text.data, text.len }, &err);
	target->profile = r == 0 ? str_join(target->folder, "/" PROFILE, NULL) : NULL;
	target->plugin.profile = target->profile;
	if (r == 0 && !target->profile)
		r = err_no_memory(&err);
	if (r < 0)
		cli_error(NULL, "no profile can be written: %s", err.text);
	return r < 0 ? EXIT_HOST : 0;
}

/* ---- acp ------------------------------------------------------------------------ */

/* What is on the command line comes behind the arguments of the profile. */
static int conformance_target_take_argv(const struct launch *launch, struct arena *arena,
	const char *const *more, struct trial_subject *target)
{
	size_t own = list_count(launch->argv) - 1, count = list_count(more);
	const char **args = arena_alloc(arena, (own + count + 1) * sizeof(*args));
	if (!args)
		return cli_no_memory();
	for (size_t i = 0; i < own; i++)
		args[i] = launch->argv[i + 1];
	for (size_t i = 0; i < count; i++)
		args[own + i] = more[i];
	args[own + count] = NULL;
	target->program = target->command = launch->argv[0];
	target->args = args;
	target->env = launch->env;
	return 0;
}

/* The program of a profile, as perch would start it but for the directory and the sandbox. */
static int conformance_target_read_acp(
	const char *path, struct arena *arena, struct trial_subject *target)
{
	struct agent_profile profile;
	perch_err err = { 0 };
	if (!conformance_target_is_profile(path))
		return conformance_target_read_program(path, arena, target);
	int r = agent_profile_read(path, arena, &profile, &err);
	if (r == 0 && profile.dialect != AGENT_ACP)
		return cli_usage_error("it needs protocol: acp; or give the program itself: --plugin "
							   "PROGRAM --protocol acp -- ARGUMENTS",
			"the profile %s is not of an agent that speaks ACP", path);
	const struct agent_turn_options options = { .profile = &profile, .session_id = "" };
	struct launch launch = {
		.arena = arena,
		.options = &options,
		.dialect = &dialect_acp,
		.own_env = (const char *const *)environ,
	};
	if (r == 0)
		r = launch_finish(&launch, &err);
	launch_free(&launch);
	if (r == 0)
		return conformance_target_take_argv(&launch, arena, target->args, target);
	cli_error(NULL, "%s", err.text);
	return EXIT_HOST;
}

int conformance_target_read(
	const struct conformance_wish *wish, struct arena *arena, struct conformance_target *target)
{
	char resolved[PATH_MAX];
	*target = (struct conformance_target){
		.plugin = { .tool = wish->tool, .input = "{}", .args = wish->args.items }
	};
	if (!realpath(wish->plugin, resolved)) {
		cli_error(NULL, "%s: %s", wish->plugin, perch_strerror(-errno));
		return EXIT_NOT_FOUND;
	}
	const char *path = arena_dup(arena, str_from(resolved));
	int r =
		path ? conformance_target_find_protocol(wish, arena, &target->protocol) : cli_no_memory();
	if (r == 0 && wish->input)
		r = conformance_target_read_input(wish->input, arena, target);
	if (r)
		return r;
	switch (target->protocol) {
	case PROTOCOL_FLEDGE:
		return conformance_target_read_fledge(wish, path, arena, target);
	case PROTOCOL_TOOL:
		return conformance_target_read_tool(path, arena, target);
	case PROTOCOL_ACP:
		return conformance_target_read_acp(path, arena, &target->plugin);
	default:
		target->plugin.profile = path;
		return conformance_target_is_profile(path) ? 0
												   : conformance_target_write_profile(path, target);
	}
}

void conformance_target_close(struct conformance_target *target)
{
	if (target->folder)
		tree_remove(target->folder);
	free(target->folder);
	free(target->profile);
}

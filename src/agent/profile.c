/* Reading a profile, with a place for every mistake. */
#include "agent/profile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/profile_parts.h"
#include "agent/template.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/sha256.h"
#include "proc/ladder.h"

/* ---- what is odd --------------------------------------------------------- */

static int profile_warn(struct profile_reader *reader, const char *text)
{
	struct path_list *warnings = &reader->warnings;
	const char *kept = arena_dup(reader->arena, str_from(text));
	if (!warnings->arena)
		path_list_begin(warnings, reader->arena, NULL);
	if (kept)
		path_list_add(warnings, kept);
	if (!kept || warnings->failed)
		return err_no_memory(reader->err);
	reader->profile->warnings = warnings->items;
	return 0;
}

int profile_warn_unknown(
	struct profile_reader *reader, const struct yaml_entry *entry, const char *nearest)
{
	char shown[FILE_SHOWN_MAX];
	char key[FILE_SHOWN_MAX];
	char text[2 * FILE_SHOWN_MAX + 128];
	snprintf(text, sizeof(text), "%s:%u: unknown key '%s%s' is ignored%s%s%s",
		file_shown(reader->profile->path, shown), entry->line, reader->prefix,
		file_shown(entry->name, key), nearest ? "; did you mean '" : "", nearest ? nearest : "",
		nearest ? "'?" : "");
	return profile_warn(reader, text);
}

/* ---- keys ---------------------------------------------------------------- */

static int profile_take_unknown(struct profile_reader *reader, const struct yaml_entry *entry)
{
	const char *nearest = profile_nearest_key(entry->name);
	if (nearest && strcmp(nearest, "command") == 0 && !reader->like_command)
		reader->like_command = entry;
	return profile_warn_unknown(reader, entry, nearest);
}

/* A key without a value counts as absent. */
static int profile_read_entry(
	struct profile_reader *reader, const struct yaml_entry *entry, bool seen[PROFILE_KEYS])
{
	int key = profile_find_key(entry->name);
	if (key < 0)
		return profile_take_unknown(reader, entry);
	if (strcmp(entry->name, "command") == 0)
		reader->command = entry;
	if (entry->value->type == YAML_NULL)
		return 0;
	if (seen[key])
		return profile_refuse(reader, entry, "stands both at the top and under agentproc");
	seen[key] = true;
	return profile_read_key(reader, key, entry);
}

static int profile_read_inner(
	struct profile_reader *reader, const struct yaml_entry *entry, bool seen[PROFILE_KEYS])
{
	if (entry->value->type != YAML_MAP)
		return profile_refuse_type(reader, entry, "a mapping");
	reader->prefix = "agentproc.";
	int r = 0;
	for (size_t i = 0; r == 0 && i < entry->value->count; i++)
		r = profile_read_entry(reader, &entry->value->entries[i], seen);
	reader->prefix = "";
	return r;
}

static int profile_read_keys(struct profile_reader *reader, const struct yaml_value *root)
{
	bool seen[PROFILE_KEYS] = { false };
	int r = 0;
	for (size_t i = 0; r == 0 && i < root->count; i++) {
		const struct yaml_entry *entry = &root->entries[i];
		bool is_inner = strcmp(entry->name, "agentproc") == 0;
		r = is_inner ? profile_read_inner(reader, entry, seen)
					 : profile_read_entry(reader, entry, seen);
	}
	return r;
}

/* ---- the whole ----------------------------------------------------------- */

static void profile_set_defaults(struct agent_profile *profile)
{
	static const char *const nothing[] = { NULL };
	*profile = (struct agent_profile){
		.command = "",
		.args = nothing,
		.cwd = "",
		.env = nothing,
		.env_allowlist = nothing,
		.timeout_ns = 1800 * NSEC_PER_SEC,
		.kill_grace_ns = AGENT_KILL_AFTER_NS,
		.permission_timeout_ns = 300 * NSEC_PER_SEC,
		.acp = { .fs = true,
			.terminal = true,
			.elicitation = true,
			.idle_ns = 300 * NSEC_PER_SEC,
			.max_processes = 16 },
		.max_reply_chars = 8000,
		.truncation_suffix = "\n\n…(truncated)",
		.send_error_reply = true,
		.streaming = true,
		.session_prefix = "AGENT_SESSION:",
		.programs = PERCH_PROGRAMS_PATH,
		.warnings = nothing,
	};
}

static int profile_warn_of_placeholder(struct profile_reader *reader, const char *template)
{
	char text[TEMPLATE_WORDS_MAX];
	return template_explain_unknown(str_from(template), text) ? profile_warn(reader, text) : 0;
}

static int profile_warn_of_placeholders(struct profile_reader *reader)
{
	const struct agent_profile *profile = reader->profile;
	int r = profile_warn_of_placeholder(reader, profile->command);
	if (r == 0)
		r = profile_warn_of_placeholder(reader, profile->cwd);
	for (const char *const *text = profile->args; r == 0 && *text; text++)
		r = profile_warn_of_placeholder(reader, *text);
	for (const char *const *text = profile->env; r == 0 && *text; text++)
		r = profile_warn_of_placeholder(reader, *text);
	return r;
}

static int profile_check_command(struct profile_reader *reader, const struct yaml_value *root)
{
	if (reader->profile->command[strspn(reader->profile->command, " \t\n\v\f\r")])
		return 0;
	if (reader->command)
		return profile_refuse(reader, reader->command, "is empty: what is to be run?");
	if (reader->like_command)
		return err_set_at(reader->err, -EINVAL, reader->like_command->line,
			reader->like_command->column,
			"command is missing, and '%.100s' is no key: did you mean 'command'?",
			reader->like_command->name);
	if (reader->has_executor)
		return err_set_at(reader->err, -EINVAL, root->line, root->column,
			"command is missing: the executor '%.100s' runs inside of another bridge, here a "
			"command must say what to run",
			reader->executor);
	return err_set_at(
		reader->err, -EINVAL, root->line, root->column, "command is missing: what is to be run?");
}

static int profile_conclude(struct profile_reader *reader, const struct yaml_value *root)
{
	struct agent_profile *profile = reader->profile;
	if (!reader->has_protocol && (reader->has_executor || reader->has_permission)) {
		profile->dialect = AGENT_0_4;
		profile->evidence = DIALECT_SAID;
	}
	/* An agent of ACP asks by itself. */
	if (profile->dialect == AGENT_ACP && !reader->has_permission)
		profile->permission = true;
	int r = profile_check_command(reader, root);
	if (r == 0 && reader->has_executor)
		r = profile_warn(reader, "the executor is not known here: command is run instead");
	if (r == 0)
		r = profile_warn_of_placeholders(reader);
	profile->oddities = list_count(profile->warnings);
	return r < 0 ? r : agent_profile_infer(reader->arena, profile, reader->err);
}

static int profile_read_root(struct profile_reader *reader, const struct yaml_value *root)
{
	if (root->type != YAML_MAP)
		return err_set_at(reader->err, -EINVAL, root->line, root->column,
			"a profile must be a mapping with the key command, not %s", yaml_type_name(root->type));
	int r = profile_read_keys(reader, root);
	return r < 0 ? r : profile_conclude(reader, root);
}

int agent_profile_parse(const char *path, struct str text, struct arena *arena,
	struct agent_profile *ret_profile, perch_err *err)
{
	struct agent_profile profile;
	profile_set_defaults(&profile);
	const char *slash = strrchr(path, '/');
	profile.path = arena_dup(arena, str_from(path));
	profile.directory = arena_dup(
		arena, (struct str){ path, slash ? (size_t)(slash - path) + (slash == path) : 0 });
	char sha256[SHA256_HEX_SIZE];
	sha256_of(text.data, text.len, sha256);
	profile.given = profile.path;
	profile.sha256 = arena_dup(arena, str_from(sha256));
	if (!profile.path || !profile.directory || !profile.sha256)
		return err_no_memory(err);
	const char *home = getenv("HOME");
	perch_err inner = { 0 };
	struct profile_reader reader = {
		.arena = arena,
		.profile = &profile,
		.err = &inner,
		.home = home ? home : "",
		.prefix = "",
	};
	const struct yaml_value *root;
	int r = yaml_parse(text, arena, &root, &inner);
	if (r == 0)
		r = profile_read_root(&reader, root);
	if (r < 0)
		return file_blame(err, path, &inner);
	*ret_profile = profile;
	return 0;
}

int agent_profile_read(
	const char *path, struct arena *arena, struct agent_profile *ret_profile, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	char canonical[PATH_MAX];
	struct agent_profile profile;
	int r = file_read_resolved(path, AGENT_PROFILE_SIZE_MAX, &text, canonical, err);
	if (r < 0)
		return r;
	r = agent_profile_parse(canonical, (struct str){ text.data, text.len }, arena, &profile, err);
	if (r == 0)
		r = paths_absolute(path, arena, &profile.given, err);
	if (r == 0)
		*ret_profile = profile;
	return r;
}

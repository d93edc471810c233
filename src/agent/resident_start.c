/* The start of an agent's process that outlives the turn it was started for: everything that it
 * needs is copied. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent_engine.h"
#include "agent/resident_parts.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "proc/ladder.h"

/* ---- copies ---------------------------------------------------------------- */

#define AT(member) offsetof(struct agent_profile, member)

static const size_t resident_texts[] = { AT(path), AT(given), AT(directory), AT(programs),
	AT(sha256), AT(command), AT(cwd), AT(truncation_suffix), AT(session_prefix), AT(widen_by),
	AT(widening.allow_by) };

static const size_t resident_lists[] = { AT(args), AT(env), AT(env_allowlist), AT(widening.read),
	AT(widening.write), AT(widening.env), AT(widening.presets), AT(widening.fixed),
	AT(widening.granted), AT(made) };

/* What nobody asks a process for stays behind: words for people, its servers, its permits. */
static int resident_copy_profile(
	struct arena *arena, const struct agent_profile *from, struct agent_profile *ret_copy)
{
	static const char *const nothing[] = { NULL };
	struct agent_profile copy = *from;
	bool is_whole = true;
	for (size_t i = 0; i < COUNT(resident_texts); i++) {
		const char **text = (const char **)(void *)((char *)&copy + resident_texts[i]);
		if (*text)
			is_whole = (*text = arena_dup(arena, str_from(*text))) && is_whole;
	}
	for (size_t i = 0; i < COUNT(resident_lists); i++) {
		const char *const **list =
			(const char *const **)(void *)((char *)&copy + resident_lists[i]);
		if (*list)
			is_whole = (*list = arena_dup_list(arena, *list)) && is_whole;
	}
	copy.about = (struct profile_about){ 0 };
	copy.warnings = nothing;
	copy.permits = NULL;
	copy.acp.servers = NULL;
	copy.acp.server_count = 0;
	*ret_copy = copy;
	return is_whole ? 0 : -ENOMEM;
}

static int resident_copy_options(
	struct resident *resident, const struct seat_options *options, perch_err *err)
{
	const struct agent_turn_options *turn = options->turn;
	char cwd[PATH_MAX];
	if (!realpath(options->cwd ? options->cwd : ".", cwd))
		return err_set(err, -errno, "the agent's directory cannot be used: %s", strerror(errno));
	resident->cwd = arena_dup(&resident->arena, str_from(cwd));
	resident->key = resident_key(&resident->arena, options);
	resident->options = (struct agent_turn_options){
		.profile = &resident->profile,
		.session_id = "",
		.cwd = resident->cwd,
		.env = turn->env ? arena_dup_list(&resident->arena, turn->env) : NULL,
		.own_env = turn->own_env,
		.line_limit = turn->line_limit,
		.allow_shell_message = turn->allow_shell_message,
	};
	if (!resident->cwd || !resident->key || (turn->env && !resident->options.env) ||
		resident_copy_profile(&resident->arena, turn->profile, &resident->profile) < 0)
		return err_no_memory(err);
	return 0;
}

/* ---- what makes two of them the same --------------------------------------- */

/* With their lengths: no text can pass for two, nor for the end of its list. */
static void resident_key_list(struct buf *key, const char *const *list)
{
	for (; list && *list; list++)
		buf_printf(key, "%zu:%s", strlen(*list), *list);
	buf_append_char(key, '\n');
}

const char *resident_key(struct arena *arena, const struct seat_options *options)
{
	const struct agent_turn_options *turn = options->turn;
	const struct agent_profile *profile = turn->profile;
	const struct policy_widening *widening = &profile->widening;
	_cleanup_(buf_free) struct buf key = { 0 };
	char cwd[PATH_MAX];
	const char *const place[] = { profile->path, profile->sha256,
		realpath(options->cwd ? options->cwd : ".", cwd) ? cwd : "", NULL };
	buf_printf(&key, "%d %d\n", profile->is_sandboxed, widening->net);
	resident_key_list(&key, place);
	resident_key_list(&key, turn->env);
	resident_key_list(&key, widening->read);
	resident_key_list(&key, widening->write);
	resident_key_list(&key, widening->env);
	resident_key_list(&key, widening->presets);
	return key.failed ? NULL : arena_dup(arena, (struct str){ key.data, key.len });
}

/* ---- the process ----------------------------------------------------------- */

static int resident_prepare(struct resident *resident, perch_err *err)
{
	struct launch *launch = &resident->launch;
	*launch = (struct launch){
		.arena = &resident->arena,
		.options = &resident->options,
		.dialect = dialect_of(resident->profile.dialect),
		.own_env = resident->options.own_env,
		.cwd = resident->cwd,
	};
	int r = 0;
	if (resident->profile.is_sandboxed) {
		r = launch_open_sandbox(launch, resident->host, &resident->sandbox, err);
		launch->tmp = r == 0 ? sandbox_tmp(resident->sandbox) : NULL;
	}
	/* They were recorded, and belong to the turn. */
	resident->profile.unrecorded = NULL;
	resident->profile.approved = NULL;
	return r < 0 ? r : launch_finish(launch, err);
}

static int resident_spawn(struct resident *resident, perch_err *err)
{
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	ending_apply(ENDING_RESIDENT, &spec);
	memcpy(resident->ladder, spec.ladder, sizeof(resident->ladder));
	resident->ladder[2].after_ns = resident->ladder[1].after_ns + resident->profile.kill_grace_ns;
	spec.ladder = resident->ladder;
	spec.argv = resident->launch.argv;
	spec.env = resident->launch.env;
	spec.cwd = resident->cwd;
	spec.confine = sandbox_confine(resident->sandbox);
	spec.background =
		resident->profile.keeps_background ? PERCH_BACKGROUND_KEEP : PERCH_BACKGROUND_END;
	spec.stdin_mode = PERCH_STDIN_PIPE;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	spec.stderr_mode = PERCH_OUTPUT_BYTES;
	spec.line_limit =
		resident->options.line_limit ? resident->options.line_limit : AGENT_LINE_LIMIT;
	spec.write_limit = RESIDENT_UNREAD_MAX;
	spec.events = &resident_child_events;
	spec.data = resident;
	return perch_child_start(resident->host, &spec, &resident->child, err);
}

DEFINE_POINTER_CLEANUP(resident_cleanup, struct resident, resident_free)

int resident_start(perch_host *host, const struct seat_options *options,
	struct resident **ret_resident, perch_err *err)
{
	_cleanup_(resident_cleanup) struct resident *resident = calloc(1, sizeof(*resident));
	if (!resident)
		return err_no_memory(err);
	resident->host = host;
	resident->is_read = true;
	int r = resident_copy_options(resident, options, err);
	if (r == 0)
		r = perch_timer_new(host, resident_idle_due, resident, &resident->idle, err);
	if (r == 0)
		r = perch_timer_new(host, resident_again_due, resident, &resident->again, err);
	if (r == 0)
		r = resident_prepare(resident, err);
	if (r == 0)
		r = resident_spawn(resident, err);
	const struct acp_client_options hello = {
		.name = STR("perch"),
		.version = str_from(perch_version()),
		.offers_files = resident->profile.acp.fs,
		.offers_terminals = resident->profile.acp.terminal,
		.offers_forms = resident->profile.acp.elicitation,
	};
	if (r == 0 &&
		(acp_client_new(&hello, &resident_client_table, resident, &resident->client) < 0 ||
			resident->is_deaf))
		r = err_no_memory(err);
	if (r < 0)
		return r;
	*ret_resident = steal(&resident);
	return 0;
}

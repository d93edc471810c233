/* The target of a run: the command, its plugin, its environment, its sandbox. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "cli/ui/granted.h"
#include "cli/run/run_session.h"

/* ---- whether a user may be asked ----------------------------------------- */

static enum fledge_asking run_target_asking_of(const struct session *session)
{
	const char *given = session->cli->non_interactive;
	if (given && strcmp(given, "strict") == 0)
		return FLEDGE_DEMAND_DEFAULTS;
	if (cli_forbids_asking(session->cli) || !session->frontend->is_interactive)
		return FLEDGE_TAKE_DEFAULTS;
	return FLEDGE_ASK;
}

/* ---- what is run --------------------------------------------------------- */

/* A missing file of ours must not look like a missing command. */
int target_as_host_failure(int r)
{
	return r < 0 ? -EIO : r;
}

/* For a plugin: no question is asked, nothing is told that the plugin itself does not say, and the
 * caller decides nothing but the arguments. */
static int run_target_be_called(struct session *session, perch_err *err)
{
	int r = plugin_caller_check(&session->caller, &session->target, err);
	if (r < 0)
		return r;
	session->cli->non_interactive = "";
	session->cli->quiet = true;
	r = plugin_caller_show(&session->caller, &session->arena, &session->target);
	return r < 0 ? target_as_host_failure(err_no_memory(err)) : 0;
}

int target_find(struct session *session, const char *name, perch_err *err)
{
	struct plugin_target *target = &session->target;
	struct arena *arena = &session->arena;
	int r = plugin_caller_read(arena, &session->caller);
	if (r < 0)
		return target_as_host_failure(err_no_memory(err));
	r = registry_read(arena, &target->registry, err);
	if (r < 0)
		return target_as_host_failure(r);
	r = registry_resolve(&target->registry, name, getenv("PATH"), arena, &target->command, err);
	if (r == 0)
		r = target_as_host_failure(plugin_target_inspect(target, arena, err));
	return r < 0 || !session->caller.chain[0] ? r : run_target_be_called(session, err);
}

void target_tell_registry_warnings(struct session *session)
{
	const char *const *warning = session->target.registry.warnings;
	for (; warning && *warning; warning++)
		session_tell(session, PERCH_SHOWN_WARNING, *warning);
}

static const char *const *run_target_make_environment(struct session *session)
{
	if (!session->target.command.owner)
		unsetenv("FLEDGE_PLUGIN_DIR");
	bool asks = session->options.asking == FLEDGE_ASK;
	return plugin_target_environment(&session->target, asks, &session->arena);
}

/* Warns of what the sandbox does not enforce, and of what the plugin may not write. */
static void run_target_tell_of_sandbox(struct session *session)
{
	const struct plugin_target *target = &session->target;
	const char *const *warning = target->sandbox ? sandbox_warnings(target->sandbox) : NULL;
	for (; warning && *warning; warning++)
		session_tell(session, PERCH_SHOWN_WARNING, *warning);
	if (target->note)
		session_tell(session, PERCH_SHOWN_WARNING, target->note);
}

/* The policy again, for explanations: put together when something has failed. NULL = it cannot be.
 */
static const struct explain_context *run_target_explain(void *data)
{
	struct session *session = data;
	const struct registry_entry *owner = session->target.command.owner;
	if (session->explain.policy)
		return &session->explain;
	const char *widen_by =
		owner ? arena_join(&session->arena, "perch plugins allow ", owner->name, " ", NULL) : NULL;
	if (!widen_by || /* a command without a plugin cannot be granted more */
		confinement_policy(&session->confinement, &session->arena, &session->policy, NULL) < 0)
		return NULL;
	session->policy.protect = sandbox_protected(session->target.sandbox);
	session->explain = (struct explain_context){
		.policy = &session->policy,
		.policy_name = "fledge",
		.widen_by = widen_by,
	};
	return &session->explain;
}

/* What is told of a plugin that failed. */
static int run_target_note_denials(struct session *session, perch_err *err)
{
	struct plugin_target *target = &session->target;
	const struct registry_entry *owner = target->command.owner;
	if (!owner || (!target->is_protocol && !target->sandbox))
		return 0;
	session->denials = (struct denials_options){
		.plugin = owner->name,
		.variables = policy_withheld(&session->arena, &target->grant.widening),
		.widening = &target->grant.widening,
		.may_call = list_count(target->grant.callees) > 0,
		.explain = target->sandbox ? run_target_explain : NULL,
		.data = session,
	};
	session->options.denials = &session->denials;
	return session->denials.variables ? 0 : err_no_memory(err);
}

/* The policy of the plugin and its commands. */
static int run_target_make_sandbox(struct session *session, perch_err *err)
{
	struct plugin_target *target = &session->target;
	const struct registry_entry *owner = target->command.owner;
	if (owner && !target->cache)
		target->cache = confinement_cache(owner->name, &session->arena);
	const char *project = session->options.directory ? session->options.directory : "";
	struct confinement *confinement = &session->confinement;
	*confinement = plugin_target_confinement(target, project);
	confinement->is_strict = session->cli->is_strict;
	int r = plugin_target_confine(target, session->host, confinement, &session->arena, err);
	if (r < 0)
		return r;
	run_target_tell_of_sandbox(session);
	if (target->sandbox && session->cli->verbose)
		session->options.explain = run_target_explain(session);
	return 0;
}

/* Git first: while it looks at the work tree, the sandbox is made. */
static int run_target_look_around(struct session *session, perch_err *err)
{
	struct fledge_run_options *options = &session->options;
	return surroundings_begin(
		session->host, options->directory, options->own_env, &options->surroundings, err);
}

/* argv[0] is the path of the program, also for a legacy plugin. */
int target_prepare(struct session *session, char **argv, perch_err *err)
{
	int r = settings_read(
		session->cli, session->target.registry.config, &session->arena, &session->settings, err);
	if (r < 0)
		return target_as_host_failure(r);
	struct plugin_target *target = &session->target;
	struct fledge_run_options *options = &session->options;
	*options = (struct fledge_run_options){
		.command = argv[0],
		.args = (const char *const *)argv + (target->is_protocol ? 1 : 0),
		.plugin_name = argv[0],
		.plugin_version = "",
		.directory = getcwd(session->directory, sizeof(session->directory)),
		.own_env = (const char *const *)environ,
		.asking = run_target_asking_of(session),
		.prompt_timeout_ns = clock_from_seconds(session->settings.prompt_timeout),
		.line_limit = (size_t)session->settings.line_limit,
		.waiting_limit = (size_t)session->settings.waiting_limit,
		.unread_timeout_ns = clock_from_seconds(session->settings.unread_timeout),
		.exec_timeout_max = session->settings.exec_timeout_max,
		.shell = session->cli->shell || !target->grant.shell ? session->settings.shell
															 : target->grant.shell,
		.frontend = session->frontend,
		.trace = session->trace,
	};
	r = settings_answers(
		session->cli, &session->arena, &options->answers, &options->answer_count, err);
	granted_for_now(session->cli, &target->grant.widening);
	if (r == 0 && target->is_protocol)
		r = run_target_look_around(session, err);
	if (r == 0 && plugin_target_is_confined(target))
		r = run_target_make_sandbox(session, err);
	if (r == 0)
		r = run_target_note_denials(session, err);
	if (r == 0 && session->cli->is_strict && !target->sandbox)
		session_tell(session, PERCH_SHOWN_WARNING,
			"--strict: there is no sandbox, so nothing is looked for that git would execute");
	if (r == 0 &&
		plugin_calls_prepare(target, &session->caller, options->directory ? options->directory : "",
			&session->arena, &session->calls) < 0)
		r = err_no_memory(err);
	plugin_target_describe(target, options);
	options->calls = session->calls.program ? &session->calls : NULL;
	options->env = run_target_make_environment(session);
	if (r == 0 && !options->env)
		r = err_no_memory(err);
	argv[0] = (char *)target->command.path;
	return target_as_host_failure(r);
}

/* From the options of include/perch/fledge.h to those of a run: its texts, its sandbox, its
 * environment, and what can be said of it when it fails. */
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "fledge/exec.h"
#include "fledge/surroundings.h"
#include "plugins/fledge_api_parts.h"

/* A plugin that is silent for so long makes us tell the user a possible cause. */
#define FLEDGE_PREPARE_SILENCE_NS (5 * NSEC_PER_SEC)

/* ---- how it is run ----------------------------------------------------------------- */

/* NULL without memory. */
static const struct fledge_answer *fledge_prepare_answers(
	perch_fledge_run *run, const char *const *answers)
{
	size_t count = list_count(answers);
	struct fledge_answer *copy = arena_alloc(&run->arena, (count + 1) * sizeof(*copy));
	const char *const *kept = arena_dup_list(&run->arena, answers);
	if (!copy || !kept)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		struct str value = str_from(kept[i]);
		copy[i].message = str_cut(&value, '=');
		copy[i].value = value;
	}
	run->options.answer_count = count;
	return copy;
}

/* A program without a protocol finds its name among its arguments. NULL without memory. */
static const char *const *fledge_prepare_args(perch_fledge_run *run, const char *const *given)
{
	const char *path = run->target.command.path;
	const char *const *kept = arena_dup_list(&run->arena, given);
	if (run->target.is_protocol || !kept)
		return kept;
	size_t count = list_count(kept);
	const char **args = arena_alloc(&run->arena, (count + 2) * sizeof(*args));
	if (!args)
		return NULL;
	args[0] = path;
	memcpy(args + 1, kept, (count + 1) * sizeof(*args));
	return args;
}

static uint64_t fledge_prepare_either(uint64_t given, uint64_t otherwise)
{
	return given ? given : otherwise;
}

/* A user who cannot be asked counts as none. */
static enum fledge_asking fledge_prepare_asking(const perch_fledge_run *run, perch_asking given)
{
	bool asks_nobody = !run->events.ask || run->command->facts.is_called;
	if (given == PERCH_ASKING_USER && asks_nobody)
		return FLEDGE_TAKE_DEFAULTS;
	return (enum fledge_asking)given;
}

static const char *fledge_prepare_shell(perch_fledge_run *run, const char *given)
{
	const char *granted = run->target.grant.shell ? run->target.grant.shell : "sh";
	return arena_dup(&run->arena, str_from(given ? given : granted));
}

static int fledge_prepare_options(
	perch_fledge_run *run, const perch_fledge_options *given, perch_err *err)
{
	char here[PATH_MAX];
	const char *project = given->project_dir ? given->project_dir : getcwd(here, sizeof(here));
	uint64_t prompt_ns =
		fledge_prepare_either(given->prompt_timeout_ns, FLEDGE_PROMPT_TIMEOUT_DEFAULT_NS);
	uint64_t exec_ns =
		fledge_prepare_either(given->exec_timeout_max_ns, EXEC_TIMEOUT_MAX_DEFAULT * NSEC_PER_SEC);
	struct arena *arena = &run->arena;
	struct fledge_run_options *options = &run->options;
	*options = (struct fledge_run_options){
		.command = arena_dup(arena, str_from(given->command)),
		.plugin_version = "",
		.args = fledge_prepare_args(run, given->args),
		.directory = project ? arena_dup(arena, str_from(project)) : NULL,
		.own_env = (const char *const *)environ,
		.asking = fledge_prepare_asking(run, given->asking),
		.prompt_timeout_ns = prompt_ns == UINT64_MAX ? 0 : prompt_ns,
		.line_limit = given->line_limit ? given->line_limit : FLEDGE_LINE_LIMIT_DEFAULT,
		.waiting_limit = given->waiting_limit,
		.unread_timeout_ns = given->unread_timeout_ns,
		.silence_ns = FLEDGE_PREPARE_SILENCE_NS,
		.exec_timeout_max = (double)exec_ns / 1e9,
		.shell = fledge_prepare_shell(run, given->shell),
		.frontend = &run->frontend,
		.trace = run->trace,
	};
	options->plugin_name = options->command;
	options->cwd = given->project_dir ? options->directory : NULL;
	options->answers = fledge_prepare_answers(run, given->answers);
	bool is_whole = options->command && options->args && options->shell && options->answers;
	return is_whole && (!project || options->directory) ? 0 : err_no_memory(err);
}

/* ---- words about what was denied --------------------------------------------------- */

/* The policy again: put together when something has failed. NULL = it cannot be. */
static const struct explain_context *fledge_prepare_explain(void *data)
{
	perch_fledge_run *run = data;
	const struct plugin_target *target = &run->target;
	if (run->explain.policy)
		return &run->explain;
	const char *widen_by = target->grant_by
		? arena_join(&run->arena, "perch plugins allow ", target->command.owner->name, " ", NULL)
		: NULL; /* what is not installed cannot be granted more */
	if (!widen_by || confinement_policy(&run->confinement, &run->arena, &run->policy, NULL) < 0)
		return NULL;
	run->policy.protect = sandbox_protected(target->sandbox);
	run->explain = (struct explain_context){
		.policy = &run->policy,
		.policy_name = "fledge",
		.widen_by = widen_by,
	};
	return &run->explain;
}

static int fledge_prepare_denials(perch_fledge_run *run, perch_err *err)
{
	const struct plugin_target *target = &run->target;
	if (!target->grant_by || (!target->is_protocol && !target->sandbox))
		return 0;
	run->denials = (struct denials_options){
		.plugin = target->command.owner->name,
		.variables = policy_withheld(&run->arena, &target->grant.widening),
		.widening = &target->grant.widening,
		.may_call = list_count(target->grant.callees) > 0,
		.explain = target->sandbox ? fledge_prepare_explain : NULL,
		.data = run,
	};
	run->options.denials = &run->denials;
	return run->denials.variables ? 0 : err_no_memory(err);
}

/* ---- its sandbox -------------------------------------------------------------------- */

static void fledge_prepare_choice(perch_fledge_run *run, perch_sandbox_choice choice)
{
	struct policy_widening *widening = &run->target.grant.widening;
	if (choice == PERCH_SANDBOX_AS_GRANTED)
		return;
	widening->is_off = choice == PERCH_SANDBOX_OFF;
	widening->is_on = choice == PERCH_SANDBOX_ON;
}

/* A path that the program has named may have links; the current directory has none. NULL without
 * memory. */
static const char *fledge_prepare_project(perch_fledge_run *run)
{
	char resolved[PATH_MAX];
	const char *project = run->options.directory ? run->options.directory : "";
	if (run->options.cwd && realpath(project, resolved))
		return arena_dup(&run->arena, str_from(resolved));
	return project;
}

static int fledge_prepare_sandbox(
	perch_fledge_run *run, const perch_fledge_options *given, const char *project, perch_err *err)
{
	struct plugin_target *target = &run->target;
	const struct registry_entry *owner = target->command.owner;
	if (target->grant_by && !target->cache)
		target->cache = confinement_cache(owner->name, &run->arena);
	run->confinement = plugin_target_confinement(target, project);
	run->confinement.is_strict = given->is_strict;
	int r = plugin_target_confine(target, run->host, &run->confinement, &run->arena, err);
	if (r < 0)
		return r;
	fledge_api_warn_of_all(run, target->sandbox ? sandbox_warnings(target->sandbox) : NULL);
	if (target->note)
		fledge_api_warn(run, target->note);
	if (target->sandbox && given->explains)
		run->options.explain = fledge_prepare_explain(run);
	return 0;
}

static int fledge_prepare_rest(perch_fledge_run *run, const char *project, perch_err *err)
{
	struct plugin_target *target = &run->target;
	plugin_target_describe(target, &run->options);
	if (plugin_calls_prepare(target, &run->command->caller, project, &run->arena, &run->calls) < 0)
		return err_no_memory(err);
	run->options.calls = run->calls.program ? &run->calls : NULL;
	run->options.env =
		plugin_target_environment(target, run->options.asking == FLEDGE_ASK, &run->arena);
	return run->options.env ? 0 : err_no_memory(err);
}

/* Git first: while it looks at the work tree, the sandbox is made. */
int fledge_prepare(perch_fledge_run *run, const perch_fledge_options *given, perch_err *err)
{
	struct plugin_target *target = &run->target;
	struct fledge_run_options *options = &run->options;
	fledge_prepare_choice(run, given->sandbox);
	int r = fledge_prepare_options(run, given, err);
	if (r < 0)
		return r;
	const char *project = fledge_prepare_project(run);
	if (!project)
		return err_no_memory(err);
	if (target->is_protocol)
		r = surroundings_begin(
			run->host, options->directory, options->own_env, &options->surroundings, err);
	if (r == 0 && plugin_target_is_confined(target))
		r = fledge_prepare_sandbox(run, given, project, err);
	if (r == 0)
		r = fledge_prepare_denials(run, err);
	if (r == 0 && given->is_strict && !target->sandbox)
		fledge_api_warn(
			run, "--strict: there is no sandbox, so nothing is looked for that git would execute");
	return r < 0 ? r : fledge_prepare_rest(run, project, err);
}

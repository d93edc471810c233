/* One case for a plugin, a tool or an agent: the kit plays its host. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/err.h"
#include "base/exit_status.h"
#include "base/macros.h"
#include "conformance/case_player.h"
#include "conformance/trial.h"
#include "plugins/lint.h"
#include "proc/host.h"
#include "proc/ladder.h"
#include "tool/tool_launch.h"

enum { PLUGIN_LINE_MAX = 8 * 1024 * 1024 };

struct plugin_trial {
	struct kit *kit;
	const struct conformance_case *test;
	const struct trial_subject *target;
	struct trial_report *report;
	struct scene scene;
	struct launch launch; /* of a tool */
	struct variable variables[10];
	struct lint lint; /* of a fledge plugin */
	struct player player;
	perch_child *child;
	struct timer timer;
	perch_result result;
	bool has_ended;
	bool is_timed_out;
	bool is_killed; /* by us */
};

/* ---- talking -------------------------------------------------------------------- */

static bool plugin_trial_is_linted(const struct plugin_trial *trial)
{
	return trial->kit->protocol == PROTOCOL_FLEDGE;
}

static void plugin_trial_kill_plugin(struct plugin_trial *trial)
{
	trial->is_killed = true;
	perch_child_signal(trial->child, SIGKILL);
}

/* A plugin that does not read any more is no error by itself. */
static void plugin_trial_write_to(struct plugin_trial *trial, struct str text)
{
	perch_child_write(trial->child, text.data, text.len);
	while (text.len) {
		struct str line = str_cut(&text, '\n');
		transcript_add(&trial->report->transcript, TRACE_TO_PLUGIN, line);
		if (plugin_trial_is_linted(trial))
			lint_to_plugin(&trial->lint, line);
	}
}

static void plugin_trial_carry_on(struct plugin_trial *trial)
{
	struct act act;
	while ((act = player_next(&trial->player)).kind != ACT_WAIT && act.kind != ACT_DONE) {
		if (act.kind == ACT_WRITE)
			plugin_trial_write_to(trial, act.text);
		else if (act.kind == ACT_CLOSE_STDIN)
			perch_child_close_stdin(trial->child);
		else if (act.kind == ACT_SIGNAL)
			perch_child_signal(trial->child, act.number);
	}
	if (trial->player.has_failed)
		plugin_trial_kill_plugin(trial);
}

static void plugin_trial_on_line(
	perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	(void)child;
	struct plugin_trial *trial = data;
	struct str text = { line->data, line->len };
	bool is_said = stream == PERCH_STDOUT;
	transcript_add(
		&trial->report->transcript, is_said ? TRACE_FROM_PLUGIN : TRACE_PLUGIN_ERR, text);
	if (!is_said)
		return;
	if (plugin_trial_is_linted(trial))
		lint_from_plugin(&trial->lint, text);
	if (text.len || !plugin_trial_is_linted(trial))
		player_hear(&trial->player, text);
	plugin_trial_carry_on(trial);
}

static void plugin_trial_on_closed(perch_child *child, void *data, perch_stream stream)
{
	(void)child;
	struct plugin_trial *trial = data;
	if (stream != PERCH_STDOUT)
		return;
	player_hear_end(&trial->player);
	plugin_trial_carry_on(trial);
}

static void plugin_trial_on_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct plugin_trial *trial = data;
	trial->result = *result;
	trial->has_ended = true;
}

static const perch_child_events events = {
	.size = sizeof(events),
	.line = plugin_trial_on_line,
	.closed = plugin_trial_on_closed,
	.ended = plugin_trial_on_ended,
};

static void plugin_trial_time_is_up(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct plugin_trial *trial = container_of(timer, struct plugin_trial, timer);
	trial->is_timed_out = true;
	plugin_trial_kill_plugin(trial);
}

/* ---- starting ------------------------------------------------------------------- */

static int plugin_trial_start_fledge(
	struct plugin_trial *trial, perch_child_spec *spec, perch_err *err)
{
	const struct trial_subject *target = trial->target;
	struct scene *scene = &trial->scene;
	const char *const argv[] = { target->program, NULL };
	const char *const extra[] = { arena_join(
									  &scene->arena, "FLEDGE_PLUGIN_DIR=", target->directory, NULL),
		"FLEDGE_NON_INTERACTIVE=1", NULL };
	spec->argv = argv;
	spec->cwd = scene->project;
	spec->env = extra[0]
		? environment_build(&scene->arena, (const char *const *)environ, NULL, extra)
		: NULL;
	if (!spec->env)
		return err_no_memory(err);
	return perch_child_start(trial->kit->host, spec, &trial->child, err);
}

/* As an editor starts it: in the project, with our environment or that of its profile. */
static int plugin_trial_start_acp(
	struct plugin_trial *trial, perch_child_spec *spec, perch_err *err)
{
	const struct trial_subject *target = trial->target;
	size_t count = list_count(target->args);
	const char **argv = arena_alloc(&trial->scene.arena, (count + 2) * sizeof(*argv));
	if (!argv)
		return err_no_memory(err);
	argv[0] = target->program;
	for (size_t i = 0; i < count; i++)
		argv[i + 1] = target->args[i];
	argv[count + 1] = NULL;
	spec->argv = argv;
	spec->env = target->env;
	spec->cwd = trial->scene.project;
	return perch_child_start(trial->kit->host, spec, &trial->child, err);
}

static int plugin_trial_start(struct plugin_trial *trial, perch_err *err)
{
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.stdin_mode = PERCH_STDIN_PIPE;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	spec.stderr_mode = PERCH_OUTPUT_LINES;
	spec.line_limit = PLUGIN_LINE_MAX;
	ending_apply(ENDING_TESTED_PROGRAM, &spec);
	spec.events = &events;
	spec.data = trial;
	if (trial->kit->protocol == PROTOCOL_TOOL)
		return launch_start(
			&trial->launch, trial->kit->host, trial->target->binding, &spec, &trial->child, err);
	if (trial->kit->protocol == PROTOCOL_ACP)
		return plugin_trial_start_acp(trial, &spec, err);
	return plugin_trial_start_fledge(trial, &spec, err);
}

static void plugin_trial_set_variable(
	struct plugin_trial *trial, const char *name, const char *json)
{
	size_t i = 0;
	while (trial->variables[i].name)
		i++;
	trial->variables[i] = (struct variable){ name, json };
}

static void plugin_trial_set_text(struct plugin_trial *trial, const char *name, const char *text)
{
	const char *quoted = scene_quote(&trial->scene, text);
	trial->report->findings.failed = trial->report->findings.failed || !quoted;
	plugin_trial_set_variable(trial, name, quoted ? quoted : "null");
}

static const char *plugin_trial_args_text(struct plugin_trial *trial)
{
	const char *const *args = trial->target->args;
	const char *text = "[";
	for (size_t i = 0; text && args && args[i]; i++) {
		const char *quoted = scene_quote(&trial->scene, args[i]);
		text = quoted ? arena_join(&trial->scene.arena, text, i ? "," : "", quoted, NULL) : NULL;
	}
	return text ? arena_join(&trial->scene.arena, text, "]", NULL) : NULL;
}

static void plugin_trial_set_variables(struct plugin_trial *trial)
{
	const struct trial_subject *target = trial->target;
	plugin_trial_set_text(trial, "project", trial->scene.project);
	if (trial->kit->protocol == PROTOCOL_FLEDGE) {
		const char *args = plugin_trial_args_text(trial);
		trial->report->findings.failed = trial->report->findings.failed || !args;
		plugin_trial_set_text(trial, "command", target->command);
		plugin_trial_set_text(
			trial, "name", target->manifest ? target->manifest->name : target->command);
		plugin_trial_set_text(
			trial, "version", target->manifest ? target->manifest->version : "0.0.0");
		plugin_trial_set_text(trial, "dir", target->directory);
		plugin_trial_set_variable(trial, "args", args ? args : "[]");
		return;
	}
	if (trial->kit->protocol == PROTOCOL_ACP)
		return;
	plugin_trial_set_text(trial, "protocol", target->binding->protocol);
	plugin_trial_set_variable(trial, "input", target->input);
	if (target->tool)
		plugin_trial_set_text(trial, "manifest.exposed_tools.0", target->tool);
}

/* ---- the verdict ---------------------------------------------------------------- */

/* The last lines of a program before its death often tell why it died. */
static const struct transcript_line *plugin_trial_last_complaint(
	const struct transcript *transcript)
{
	for (size_t i = transcript->count; i > 0; i--) {
		const struct transcript_line *line = &transcript->items[i - 1];
		if (line->direction == TRACE_PLUGIN_ERR && line->text.len)
			return line;
	}
	return NULL;
}

static void plugin_trial_judge_plugin_end(struct plugin_trial *trial)
{
	const struct player *player = &trial->player;
	struct trial_report *report = trial->report;
	const struct transcript_line *last = plugin_trial_last_complaint(&report->transcript);
	if (player->problem.len)
		PROBLEM(report, "%.*s", (int)player->problem.len, player->problem.data);
	if (player->problem.len && last)
		PROBLEM(report, "its last words on stderr: %.*s", (int)last->text.len, last->text.data);
	if (player->problem.len)
		return;
	if (trial->is_timed_out)
		PROBLEM(report, "it did not end within %g seconds", trial_within(trial->kit, trial->test));
	else if (trial->result.signal && !trial->is_killed)
		PROBLEM(report, "it died of signal %d", trial->result.signal);
}

/* A plugin that ended by itself before the point of the case cannot be judged by it. */
static void plugin_trial_skip(struct plugin_trial *trial)
{
	trial->report->outcome = OUTCOME_SKIPPED;
	findings_add(
		&trial->report->findings, FINDING_WARNING, NULL, "it ended before this could be seen");
}

/* Where the host falls silent, its answers are not waited for. */
static bool plugin_trial_is_served_to_its_end(const struct conformance_case *test)
{
	return test->step_count && test->steps[test->step_count - 1].kind == STEP_SERVE;
}

static int plugin_trial_judge_plugin(struct plugin_trial *trial)
{
	struct trial_report *report = trial->report;
	const struct observed observed = {
		.code = exit_status_of(trial->result.signal, trial->result.exit_code),
	};
	report->duration_ns = trial->result.duration_ns;
	if (plugin_trial_is_linted(trial) && plugin_trial_is_served_to_its_end(trial->test))
		lint_end(&trial->lint);
	plugin_trial_judge_plugin_end(trial);
	if (trial->player.is_out_of_memory)
		return -ENOMEM;
	if (report->findings.errors || trial->is_killed)
		return 0;
	if (trial->player.ended_early) {
		plugin_trial_skip(trial);
		return 0;
	}
	return judge_outside(trial->test, trial->variables, &observed, report);
}

/* ---- a trial -------------------------------------------------------------------- */

static int plugin_trial_prepare(struct plugin_trial *trial, perch_err *err)
{
	const struct capabilities everything = capabilities_all();
	const struct manifest *manifest = trial->target->manifest;
	int r = scene_make_bare(&trial->scene, err);
	if (r < 0)
		return r;
	plugin_trial_set_variables(trial);
	player_init(&trial->player, trial->test, trial->variables);
	if (lint_init(&trial->lint, manifest ? &manifest->wishes : &everything,
			&trial->report->findings) < 0 ||
		timers_promise(&trial->kit->host->loop.timers) < 0)
		return err_no_memory(err);
	trial->timer.due = plugin_trial_time_is_up;
	return 0;
}

static int plugin_trial_converse(struct plugin_trial *trial, perch_err *err)
{
	struct kit *kit = trial->kit;
	int r = plugin_trial_start(trial, err);
	if (r < 0)
		return r;
	timer_set(&kit->host->loop.timers, &trial->timer,
		clock_after(clock_now_ns(), clock_from_seconds(trial_within(trial->kit, trial->test))));
	plugin_trial_carry_on(trial);
	while (r >= 0 && !trial->has_ended && !kit->is_stopped)
		r = perch_host_wait(kit->host, -1);
	if (kit->is_stopped)
		return err_set(err, -ECANCELED, "interrupted");
	return r < 0 ? err_set(err, r, "waiting failed: %s", perch_strerror(r)) : 0;
}

static void plugin_trial_close_trial(struct plugin_trial *trial)
{
	perch_child_free(trial->child);
	if (trial->timer.due) {
		timer_cancel(&trial->kit->host->loop.timers, &trial->timer);
		timers_release(&trial->kit->host->loop.timers);
	}
	launch_close(&trial->launch);
	lint_free(&trial->lint);
	player_free(&trial->player);
	scene_remove(&trial->scene);
}

static int plugin_trial_try_on_the_wire(struct kit *kit, const struct conformance_case *test,
	const struct trial_subject *target, struct trial_report *report, perch_err *err)
{
	struct plugin_trial trial = { .kit = kit, .test = test, .target = target, .report = report };
	int r = plugin_trial_prepare(&trial, err);
	if (r == 0)
		r = plugin_trial_converse(&trial, err);
	if (r == 0 && plugin_trial_judge_plugin(&trial) < 0)
		r = err_no_memory(err);
	plugin_trial_close_trial(&trial);
	return r;
}

int trial_of_plugin(struct kit *kit, const struct conformance_case *test,
	const struct trial_subject *target, struct trial_report *report, perch_err *err)
{
	orphans_adopt();
	int r = kit->protocol == PROTOCOL_AGENT
		? agent_trial(kit, test, target, report, err)
		: plugin_trial_try_on_the_wire(kit, test, target, report, err);
	orphans_end(kit->host);
	return r < 0 ? r : judge_end(report, err);
}

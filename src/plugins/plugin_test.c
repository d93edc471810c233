/* Testing a plugin: a run as any other, but with a user who follows a script, and every line
 * checked. */
#include "plugins/plugin_test.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/macros.h"
#include "fledge/exec.h"
#include "fledge/fledge_run.h"
#include "plugins/plugin_test_parts.h"
#include "plugins/plugin_confinement.h"
#include "plugins/files.h"
#include "plugins/lint.h"
#include "proc/host.h"
#include "proc/program.h"
#include "registry/approval.h"

struct plugin_test {
	const struct plugin_test_options *options;
	perch_host *host;
	struct arena arena;
	struct workspace workspace;
	struct lint lint;
	struct script script;
	struct trace *trace;
	struct sandbox *sandbox;
	struct fledge_run_options run_options;
	struct fledge_run *run; /* NULL = it could not be started */
	struct timer timer;
	bool is_timed_out;
	bool is_judged;
	struct test_report report;
};

#define TEST_OF(pointer, member) container_of(pointer, struct plugin_test, member)

/* ---- listening ------------------------------------------------------------------ */

/* Notes of the host are left out: its messages come by `plugin_test_told`. */
static void plugin_test_heard(void *data, const struct trace_entry *entry)
{
	struct plugin_test *test = data;
	if (entry->direction == TRACE_HOST)
		return;
	transcript_add(&test->report.transcript, entry->direction, entry->line);
	if (entry->direction == TRACE_FROM_PLUGIN)
		lint_from_plugin(&test->lint, entry->line);
	else if (entry->direction == TRACE_TO_PLUGIN)
		lint_to_plugin(&test->lint, entry->line);
}

static bool plugin_test_is_found_already(const struct findings *findings, unsigned line)
{
	return findings->count && findings->items[findings->count - 1].at.line == line;
}

/* A warning of the host becomes a finding, unless the line that caused it has one already. */
static void plugin_test_told(void *data, perch_shown_kind kind, struct str text)
{
	struct plugin_test *test = data;
	struct findings *findings = &test->report.findings;
	transcript_add(&test->report.transcript, TRACE_HOST, text);
	if (kind == PERCH_SHOWN_WARNING && !plugin_test_is_found_already(findings, test->lint.line))
		findings_add(findings, FINDING_WARNING, &(struct toml_place){ test->lint.line, 0 }, "%.*s",
			(int)text.len, text.data);
}

/* ---- the run -------------------------------------------------------------------- */

/* As a real run has it. The plugin's real directory is not written: its links lead there, and
 * nothing allows it. It may lie inside a hidden place. */
static int plugin_test_make_sandbox(struct plugin_test *test, perch_err *err)
{
	const struct plugin_test_options *options = test->options;
	const struct capabilities force =
		capabilities_in_force(&options->test->granted, &options->manifest->wishes);
	const char *const read[] = { options->directory, test->workspace.top, NULL };
	const struct policy_widening widening = { .read = read };
	const struct confinement confinement = {
		.config = options->config,
		.project = test->workspace.project,
		.directory = test->workspace.directory,
		.may_write_project =
			force.filesystem == FILESYSTEM_UNSET || force.filesystem == FILESYSTEM_PROJECT,
		.may_write_directory = force.filesystem != FILESYSTEM_NONE,
		.has_network = capabilities_reach_network(&force),
		.widening = &widening,
	};
	int r = confinement_open(test->host, &confinement, &test->arena, &test->sandbox, err);
	if (r < 0)
		return r;
	const char *const *warning = sandbox_warnings(test->sandbox);
	for (; warning && *warning; warning++)
		transcript_add(&test->report.transcript, TRACE_HOST, str_from(*warning));
	test->run_options.confine = sandbox_confine(test->sandbox);
	test->run_options.layers = sandbox_layers(test->sandbox);
	return 0;
}

static const char *plugin_test_variable(
	struct plugin_test *test, const char *name, const char *value)
{
	return arena_join(&test->arena, name, "=", value, NULL);
}

static int plugin_test_make_environment(struct plugin_test *test)
{
	const char *const extra[] = {
		plugin_test_variable(test, "FLEDGE_PLUGIN_DIR", test->workspace.directory),
		NULL,
	};
	if (!extra[0])
		return -ENOMEM;
	test->run_options.env = confinement_environment(NULL, NULL, test->sandbox, extra, &test->arena);
	return test->run_options.env ? 0 : -ENOMEM;
}

static int plugin_test_prepare_run(struct plugin_test *test, perch_err *err)
{
	const struct test_case *given = test->options->test;
	test->run_options = (struct fledge_run_options){
		.command = given->command->name,
		.path = test->workspace.program,
		.args = given->args,
		.plugin_name = test->options->manifest->name,
		.plugin_version = test->options->manifest->version,
		.plugin_dir = test->workspace.directory,
		.granted = given->granted,
		.directory = test->workspace.project,
		.cwd = test->workspace.project,
		.own_env = test->options->env,
		.asking = FLEDGE_ASK,
		.line_limit = FLEDGE_LINE_LIMIT_DEFAULT,
		.exec_timeout_max = EXEC_TIMEOUT_MAX_DEFAULT,
		.shell = "sh",
		.frontend = &test->script.frontend,
		.trace = test->trace,
		.reads_stderr = true,
	};
	int r = plugin_test_make_sandbox(test, err);
	if (r == 0 && plugin_test_make_environment(test) < 0)
		r = err_no_memory(err);
	return r;
}

/* The ladder begins at once: a plugin that did not answer in all this time will not do so now. */
static void plugin_test_end_now(struct plugin_test *test)
{
	for (int step = 0; test->run && step < 3; step++)
		fledge_run_interrupt(test->run, SIGKILL);
}

static void plugin_test_time_is_up(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct plugin_test *test = TEST_OF(timer, timer);
	test->is_timed_out = true;
	findings_add(&test->report.findings, FINDING_ERROR, NULL,
		"the plugin did not end within %g seconds%s", test->options->test->timeout,
		fledge_run_keeps_output_back(test->run) ? ", and has sent nothing: " PROGRAM_FLUSH_HINT
												: "");
	plugin_test_end_now(test);
}

static int plugin_test_make_parts(struct plugin_test *test, perch_err *err)
{
	struct findings *findings = &test->report.findings;
	findings->arena = &test->arena;
	test->report.transcript.arena = &test->arena;
	test->script = (struct script){
		.loop = &test->host->loop,
		.test = test->options->test,
		.findings = findings,
		.line = &test->lint.line,
		.told = plugin_test_told,
		.data = test,
	};
	int r = lint_init(&test->lint, &test->options->manifest->wishes, findings);
	if (r == 0)
		r = script_init(&test->script);
	if (r == 0)
		r = trace_listen(plugin_test_heard, test, &test->trace);
	if (r == 0)
		r = timers_promise(&test->host->loop.timers);
	if (r < 0)
		return err_no_memory(err);
	test->timer.due = plugin_test_time_is_up;
	return 0;
}

/* A plugin that was not built yet must not look broken. */
static bool plugin_test_has_program(struct plugin_test *test)
{
	const struct plugin_test_options *options = test->options;
	const char *binary = options->test->command->binary;
	const char *build = options->manifest->hooks.build;
	const char *problem;
	if (files_program(options->directory, binary, &problem) != PROGRAM_MISSING)
		return true;
	char remedy[FILES_REMEDY_MAX];
	files_remedy(PROGRAM_MISSING, options->directory, binary, remedy);
	findings_add(&test->report.findings, FINDING_ERROR, NULL, "the program %s %s%s%s", binary,
		problem, build[0] ? ": build it first: " : remedy, build);
	return false;
}

int plugin_test_start(perch_host *host, const struct plugin_test_options *options,
	struct plugin_test **ret_test, perch_err *err)
{
	struct plugin_test *test = calloc(1, sizeof(*test));
	if (!test)
		return err_no_memory(err);
	test->options = options;
	test->host = host;
	int r = plugin_test_make_parts(test, err);
	if (r == 0)
		r = workspace_make(
			options->directory, options->manifest, options->test, &test->workspace, err);
	if (r == 0)
		r = plugin_test_prepare_run(test, err);
	if (r < 0) {
		plugin_test_free(test);
		return r;
	}
	*ret_test = test;
	if (!plugin_test_has_program(test))
		return 0;
	perch_err inner = { 0 };
	r = fledge_run_start(host, &test->run_options, &test->run, &inner);
	if (r < 0)
		findings_add(
			&test->report.findings, FINDING_ERROR, NULL, "it cannot be started: %s", inner.text);
	else
		timer_set(&host->loop.timers, &test->timer,
			clock_after(clock_now_ns(), clock_from_seconds(options->test->timeout)));
	return 0;
}

void plugin_test_interrupt(struct plugin_test *test)
{
	test->report.is_interrupted = true;
	plugin_test_end_now(test);
}

/* ---- the verdict ---------------------------------------------------------------- */

static void plugin_test_judge(struct plugin_test *test)
{
	struct test_report *report = &test->report;
	const perch_fledge_end *outcome = fledge_run_outcome(test->run);
	_cleanup_(buf_free) struct buf state = { 0 };
	timer_cancel(&test->host->loop.timers, &test->timer);
	buf_terminate(&test->script.output);
	report->output = (struct str){ test->script.output.data, test->script.output.len };
	report->exit_code = outcome->exit_code;
	report->signal = outcome->signal;
	report->duration_ns = outcome->duration_ns;
	lint_end(&test->lint);
	script_check_used(&test->script);
	int r = workspace_read_state(&test->workspace, &state);
	if (r < 0)
		findings_add(&report->findings, FINDING_ERROR, NULL, "state.json cannot be read: %s",
			perch_strerror(r));
	const struct run_result result = { report->exit_code, report->output,
		{ state.data, r < 0 ? 0 : state.len } };
	if (!test->is_timed_out && !report->is_interrupted)
		check_result(&test->options->test->expect, &result, &report->findings);
	if (report->findings.failed || report->transcript.failed || test->script.output.failed)
		findings_add(&report->findings, FINDING_ERROR, NULL, "out of memory");
}

const struct test_report *plugin_test_report(struct plugin_test *test)
{
	if (test->run && !fledge_run_outcome(test->run))
		return NULL;
	if (test->run && !test->is_judged)
		plugin_test_judge(test);
	test->is_judged = true;
	return &test->report;
}

void plugin_test_free(struct plugin_test *test)
{
	if (!test)
		return;
	fledge_run_free(test->run);
	sandbox_close(test->sandbox);
	workspace_remove(&test->workspace);
	trace_close(test->trace, NULL);
	script_free(&test->script);
	lint_free(&test->lint);
	if (test->timer.due) {
		timer_cancel(&test->host->loop.timers, &test->timer);
		timers_release(&test->host->loop.timers);
	}
	findings_free(&test->report.findings);
	transcript_free(&test->report.transcript);
	arena_free(&test->arena);
	free(test);
}

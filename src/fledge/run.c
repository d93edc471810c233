/* A run of a plugin: connects the process, the engine, what is lent, and the
 * frontend. Decides nothing of the protocol itself. */
#include "fledge/run.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/environment.h"
#include "fledge/run_parts.h"
#include "trace/trace.h"

#define RUN_LINGER_NS (500 * NSEC_PER_MSEC)
#define DIRTY_TIMEOUT_NS (10 * NSEC_PER_SEC)

/* The cancel message is the engine's; then this. */
static const perch_step ladder[] = {
	{ PERCH_STEP_TERM, .after_ns = 5 * NSEC_PER_SEC },
	{ PERCH_STEP_KILL, .after_ns = 10 * NSEC_PER_SEC },
};

static void warn(void *data, const char *text)
{
	run_say(data, SHOWN_WARNING, text);
}

static void deadline_due(struct timer *timer, uint64_t now_ns)
{
	struct fledge_run *run = RUN_OF(timer, deadline);
	fledge_engine_tick(run->engine, now_ns);
	run_attend(run);
}

/* ---- from the user ------------------------------------------------------- */

static void answered(void *data, const struct answer *answer)
{
	struct fledge_run *run = data;
	if (run->has_ended)
		return;
	if (answer->cancelled && !run->interrupted_by)
		run->interrupted_by = SIGINT;
	fledge_engine_answer(run->engine, answer, clock_now_ns());
	run_attend(run);
}

static void user_went_away(void *data)
{
	struct fledge_run *run = data;
	if (run->has_ended)
		return;
	fledge_engine_stop_asking(run->engine, clock_now_ns());
	run_attend(run);
}

void fledge_run_interrupt(struct fledge_run *run, int signal)
{
	if (run->has_ended)
		return;
	if (!run->interrupted_by)
		run->interrupted_by = signal;
	if (perch_child_result(run->child)->stop_asked)
		perch_child_stop(run->child);
	else
		fledge_engine_cancel(run->engine, "user_interrupt", clock_now_ns());
	run_attend(run);
}

void fledge_run_suspend(struct fledge_run *run)
{
	run->options.frontend->table->suspend(run->options.frontend);
	if (!run->has_ended) {
		perch_child_signal(run->child, SIGSTOP);
		execs_signal(run->execs, SIGSTOP);
	}
}

void fledge_run_resume(struct fledge_run *run, uint64_t slept_ns)
{
	timers_delay(&run->host->loop.timers, slept_ns);
	fledge_engine_delay(run->engine, slept_ns);
	if (!run->has_ended) {
		perch_child_signal(run->child, SIGCONT);
		execs_signal(run->execs, SIGCONT);
	}
	run->options.frontend->table->resume(run->options.frontend);
}

/* ---- from the plugin ------------------------------------------------------ */

static void on_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct fledge_run *run = data;
	run->has_ended = true;
	run->result = *result;
	if (fledge_engine_is_asking(run->engine))
		run->options.frontend->table->withdraw(run->options.frontend);
	timer_cancel(&run->host->loop.timers, &run->deadline);
	execs_free(run->execs);
	run->execs = NULL;
	capture_free(run->dirty);
	run->dirty = NULL;
	run_conclude(run);
}

static void on_line(perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	(void)child;
	struct fledge_run *run = data;
	if (stream == PERCH_STDERR) {
		trace_line(run->options.trace, TRACE_PLUGIN_ERR, line->data, line->len);
		return;
	}
	bool is_too_long = line->flags & PERCH_LINE_TOO_LONG;
	trace_line(run->options.trace, TRACE_FROM_PLUGIN, line->data, line->len);
	fledge_engine_line(
		run->engine, line->data, line->len, is_too_long, loop_now_ns(&run->host->loop));
	run_attend(run);
}

static void on_drained(perch_child *child, void *data)
{
	(void)child;
	run_drained(data);
}

static const perch_child_events child_events = {
	.size = sizeof(child_events),
	.line = on_line,
	.drained = on_drained,
	.ended = on_ended,
};

/* ---- the beginning ------------------------------------------------------- */

static int start_child(struct fledge_run *run, perch_err *err)
{
	const char *const argv[] = { run->options.path, NULL };
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = argv;
	spec.env = run->options.env;
	spec.cwd = run->options.cwd;
	spec.confine = run->options.confine;
	spec.stdin_mode = PERCH_STDIN_PIPE;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	spec.stderr_mode = run->options.reads_stderr ? PERCH_OUTPUT_LINES : PERCH_OUTPUT_INHERIT;
	spec.line_limit = run->options.line_limit;
	spec.write_limit = SIZE_MAX / 2; /* bounded by not reading, see UNREAD_MAX */
	spec.linger_ns = RUN_LINGER_NS;
	spec.ladder = ladder;
	spec.ladder_len = sizeof(ladder) / sizeof(ladder[0]);
	spec.events = &child_events;
	spec.data = run;
	return perch_child_start(run->host, &spec, &run->child, err);
}

static void dirty_known(void *data, struct capture *capture)
{
	struct fledge_run *run = data;
	if (!run->is_init_sent)
		run_send_init(run, capture->out.len > 0);
}

/* Only git itself knows whether the work tree is dirty; the plugin's
 * interpreter starts meanwhile. */
static void ask_git(struct fledge_run *run, const char *const *git_env)
{
	if (!run->project.is_known || !run->project.git.is_repository) {
		run_send_init(run, false);
		return;
	}
	const char *const *argv = NULL;
	git_command("dirty", &run->project.git, &run->arena, &argv);
	if (!argv) {
		run_say(run, SHOWN_DEBUG, "git is not asked whether the work tree is dirty");
		run_send_init(run, false);
		return;
	}
	const struct capture_spec spec = {
		.argv = argv,
		.env = git_env,
		.cwd = run->options.directory,
		.limit = 1,
		.timeout_ns = DIRTY_TIMEOUT_NS,
		.first_byte = true,
		.drop_stderr = true,
		.done = dirty_known,
		.data = run,
	};
	perch_err err = { 0 };
	if (capture_start(run->host, &spec, &run->dirty, &err) < 0) {
		run_say(run, SHOWN_DEBUG, err.text);
		run_send_init(run, false);
	}
}

/* Where the plugin's directory really is: a live link leads elsewhere. */
static const char *resolved_plugin_dir(struct fledge_run *run)
{
	char resolved[PATH_MAX];
	if (!run->options.plugin_dir[0] || !realpath(run->options.plugin_dir, resolved))
		return "";
	const char *kept = arena_dup(&run->arena, str_from(resolved));
	return kept ? kept : "";
}

static int make_parts(struct fledge_run *run, const char *const *git_env)
{
	const struct fledge_run_options *options = &run->options;
	run->engine_options = (struct fledge_engine_options){
		.plugin = str_from(options->plugin_name),
		.may_exec = options->granted.exec,
		.may_store = options->granted.store && options->plugin_dir[0],
		.may_read_metadata = options->granted.metadata,
		.asking = options->asking,
		.prompt_timeout_ns = options->prompt_timeout_ns,
		.answers = options->answers,
		.answer_count = options->answer_count,
	};
	const struct execs_options execs = {
		.host = run->host,
		.shell = options->shell,
		.project_root = options->directory ? options->directory : "",
		.plugin_dir = resolved_plugin_dir(run),
		.env = options->env,
		.confine = options->confine,
		.explain = options->explain,
		.explained = run_explained,
		.parallel = EXEC_PARALLEL_DEFAULT,
		.timeout_max = options->exec_timeout_max,
		.done = run_result_known,
		.data = run,
	};
	const struct lending_options lending = {
		.host = run->host,
		.plugin_dir = options->plugin_dir,
		.directory = options->directory,
		.own_env = options->own_env,
		.git_env = git_env,
		.git = &run->project.git,
		.done = run_result_known,
		.warn = warn,
		.data = run,
	};
	int r = fledge_engine_new(&run->engine_options, &run_effects, run, &run->engine);
	if (r == 0)
		r = execs_new(&execs, &run->execs);
	return r < 0 ? r : lending_new(&lending, &run->lending);
}

static int prepare(struct fledge_run *run, const char *const **ret_git_env)
{
	struct timers *timers = &run->host->loop.timers;
	int r = timers_promise(timers);
	if (r < 0)
		return r;
	r = timers_promise(timers);
	if (r < 0) {
		timers_release(timers);
		return r;
	}
	run->deadline.due = deadline_due;
	run->ending.due = run_ending_due;
	*ret_git_env =
		environment_build(&run->arena, run->options.own_env, git_keeps_variable, git_environment());
	return *ret_git_env ? make_parts(run, *ret_git_env) : -ENOMEM;
}

int fledge_run_start(perch_host *host, const struct fledge_run_options *options,
	struct fledge_run **ret_run, perch_err *err)
{
	struct fledge_run *run = calloc(1, sizeof(*run));
	if (!run)
		return err_no_memory(err);
	run->options = *options;
	run->host = host;
	const char *const *git_env = NULL;
	int r = prepare(run, &git_env);
	if (r < 0) {
		err_no_memory(err);
	} else {
		options->frontend->answered = answered;
		options->frontend->went_away = user_went_away;
		options->frontend->answered_data = run;
		r = start_child(run, err);
	}
	/* The child is on its way; now there is time to look around. */
	if (r == 0 && options->directory)
		r = project_read(options->directory, &run->arena, &run->project);
	if (r < 0) {
		fledge_run_free(run);
		return r;
	}
	ask_git(run, git_env);
	*ret_run = run;
	return 0;
}

const struct outcome *fledge_run_outcome(const struct fledge_run *run)
{
	return run->is_over ? &run->outcome : NULL;
}

void fledge_run_free(struct fledge_run *run)
{
	if (!run)
		return;
	struct timers *timers = &run->host->loop.timers;
	timer_cancel(timers, &run->deadline);
	timer_cancel(timers, &run->ending);
	if (run->deadline.due) {
		timers_release(timers);
		timers_release(timers);
	}
	perch_child_free(run->child);
	execs_free(run->execs);
	capture_free(run->dirty);
	lending_free(run->lending);
	fledge_engine_free(run->engine);
	arena_free(&run->arena);
	buf_free(&run->early);
	free(run);
}

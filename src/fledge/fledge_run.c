/* A run of a plugin: connects the process, the engine, the services and the frontend. Decides
 * nothing of the protocol itself. */
#include "fledge/fledge_run.h"

#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/macros.h"
#include "fledge/fledge_notes.h"
#include "fledge/run_parts.h"
#include "proc/ladder.h"
#include "proc/program.h"

enum { RUN_TIMERS = 5 };

static void fledge_run_warn(void *data, const char *text)
{
	run_say(data, PERCH_SHOWN_WARNING, text);
}

static void fledge_run_deadline_due(struct timer *timer, uint64_t now_ns)
{
	struct fledge_run *run = RUN_OF(timer, deadline);
	if (now_ns >= fledge_engine_deadline(run->engine))
		trace_event(run->options.trace, "timeout", NO_FACTS, "a question was open for too long");
	fledge_engine_tick(run->engine, now_ns);
	run_attend(run);
}

/* ---- from the user ------------------------------------------------------- */

static void fledge_run_answered(void *data, const struct answer *answer)
{
	struct fledge_run *run = data;
	if (run->has_ended)
		return;
	if (answer->cancelled && !run->interrupted_by)
		run->interrupted_by = SIGINT;
	fledge_note_answer(run->options.trace, answer);
	fledge_engine_answer(run->engine, answer, clock_now_ns());
	run_attend(run);
}

static void fledge_run_user_went_away(void *data)
{
	struct fledge_run *run = data;
	if (run->has_ended)
		return;
	trace_event(run->options.trace, "went_away", NO_FACTS, "nobody can be asked any more");
	fledge_engine_stop_asking(run->engine, clock_now_ns());
	run_attend(run);
}

/* ---- Ctrl+Z -------------------------------------------------------------- */

void fledge_run_suspend(struct fledge_run *run)
{
	run->suspended_ns = clock_now_ns();
	run->options.frontend->table->suspend(run->options.frontend);
	if (!run->has_ended) {
		perch_child_signal(run->child, SIGSTOP);
		execs_signal(run->execs, SIGSTOP);
		calls_signal(run->calls, SIGTSTP); /* a perch, which stops what it has started */
	}
}

void fledge_run_resume(struct fledge_run *run)
{
	uint64_t now_ns = clock_now_ns();
	host_slept(run->host, run->suspended_ns, now_ns);
	fledge_engine_delay(run->engine, now_ns - run->suspended_ns);
	if (!run->has_ended) {
		perch_child_signal(run->child, SIGCONT);
		execs_signal(run->execs, SIGCONT);
		calls_signal(run->calls, SIGCONT);
	}
	run->options.frontend->table->resume(run->options.frontend);
}

/* ---- from the plugin ------------------------------------------------------ */

static void fledge_run_on_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct fledge_run *run = data;
	run->has_ended = true;
	run->result = *result;
	fledge_note_exit(run->options.trace, result);
	if (fledge_engine_is_asking(run->engine))
		run->options.frontend->table->withdraw(run->options.frontend);
	timer_cancel(&run->host->loop.timers, &run->deadline);
	timer_cancel(&run->host->loop.timers, &run->standstill);
	timer_cancel(&run->host->loop.timers, &run->patience);
	timer_cancel(&run->host->loop.timers, &run->silence);
	execs_free(run->execs);
	run->execs = NULL;
	calls_drop(run->calls);
	surroundings_forget(run->surroundings);
	run_conclude(run);
}

/* Waiting with a timer costs each of a plugin's messages a tenth of a microsecond. */
static void fledge_run_speaks(struct fledge_run *run)
{
	run->has_spoken = true;
	timer_cancel(&run->host->loop.timers, &run->silence);
}

static void fledge_run_silence_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct fledge_run *run = RUN_OF(timer, silence);
	if (fledge_run_keeps_output_back(run))
		run_say(run, PERCH_SHOWN_WARNING, "the plugin has sent nothing yet: " PROGRAM_FLUSH_HINT);
}

static void fledge_run_on_line(
	perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	(void)child;
	struct fledge_run *run = data;
	if (stream == PERCH_STDERR) {
		run_hear_stderr(run, line);
		return;
	}
	if (run->is_given_up)
		return;
	if (!run->has_spoken)
		fledge_run_speaks(run);
	trace_child_line(run->options.trace, TRACE_FROM_PLUGIN, line);
	fledge_engine_line(run->engine, line->data, line->len, line->flags & PERCH_LINE_TOO_LONG,
		loop_now_ns(&run->host->loop));
	run_attend(run);
}

static void fledge_run_on_drained(perch_child *child, void *data)
{
	(void)child;
	run_drained(data);
}

static const perch_child_events child_events = {
	.size = sizeof(child_events),
	.line = fledge_run_on_line,
	.drained = fledge_run_on_drained,
	.ended = fledge_run_on_ended,
};

/* ---- the beginning ------------------------------------------------------- */

static int fledge_run_start_child(struct fledge_run *run, perch_err *err)
{
	const char *const argv[] = { run->options.path, NULL };
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = argv;
	spec.env = run->options.env;
	spec.cwd = run->options.cwd;
	spec.confine = run->options.confine;
	spec.stdin_mode = PERCH_STDIN_PIPE;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	/* The plugin gets a terminal for writing only, so that it does not read the user's keys. */
	_cleanup_fd_ int terminal = fd_terminal_to_write(STDERR_FILENO);
	if (run->options.reads_stderr)
		spec.stderr_mode = PERCH_OUTPUT_LINES;
	else
		spec.stderr_mode = terminal >= 0 ? PERCH_OUTPUT_FD : PERCH_OUTPUT_INHERIT;
	spec.stderr_fd = terminal;
	spec.line_limit = run->options.line_limit;
	spec.write_limit = SIZE_MAX / 2; /* bounded by not reading, see run_bounds.c */
	ending_apply(ENDING_FLEDGE, &spec);
	spec.events = &child_events;
	spec.data = run;
	fledge_note_start(run->options.trace, &run->options, &run->engine_options);
	int r = perch_child_start(run->host, &spec, &run->child, err);
	if (r < 0)
		trace_failure(run->options.trace, perch_strerror(r));
	return r;
}

static void fledge_run_dirty_known(void *data, bool is_dirty)
{
	struct fledge_run *run = data;
	run_send_init(run, is_dirty);
}

/* The resolved directory of the plugin: a live link leads elsewhere. */
static const char *fledge_run_resolved_plugin_dir(struct fledge_run *run)
{
	char resolved[PATH_MAX];
	if (!run->options.plugin_dir[0] || !realpath(run->options.plugin_dir, resolved))
		return "";
	const char *kept = arena_dup(&run->arena, str_from(resolved));
	return kept ? kept : "";
}

/* Without a sandbox its commands run other plugins' commands by themselves. */
static int fledge_run_make_calls(struct fledge_run *run)
{
	const struct fledge_run_options *options = &run->options;
	if (!options->calls || !options->confine)
		return 0;
	int r = calls_new(run->host, options->calls, &run->calls);
	if (r < 0)
		return r;
	run->execs_confine = *options->confine;
	run->execs_confine.channel_fd = calls_channel(run->calls);
	return 0;
}

static int fledge_run_make_parts(struct fledge_run *run)
{
	const struct fledge_run_options *options = &run->options;
	run->engine_options = (struct fledge_engine_options){
		.plugin = str_from(options->plugin_name),
		.granted = options->granted,
		.grant_by = options->grant_by,
		.wishes = options->wishes,
		.asking = options->asking,
		.prompt_timeout_ns = options->prompt_timeout_ns,
		.answers = options->answers,
		.answer_count = options->answer_count,
	};
	if (!options->plugin_dir[0])
		run->engine_options.granted.store = false; /* there is no place to store it */
	int r = fledge_run_make_calls(run);
	if (r < 0)
		return r;
	run->denials = denials_new(options->denials);
	const struct execs_options execs = {
		.host = run->host,
		.shell = options->shell,
		.project_root = options->directory ? options->directory : "",
		.plugin_dir = fledge_run_resolved_plugin_dir(run),
		.env = options->env,
		.confine = run->calls ? &run->execs_confine : options->confine,
		.explain = options->explain,
		.explained = run_explained,
		.failed = run_command_failed,
		.parallel = EXEC_PARALLEL_DEFAULT,
		.meter = &run->meter,
		.timeout_max = options->exec_timeout_max,
		.done = run_result_known,
		.data = run,
	};
	const struct run_services_options run_services = {
		.host = run->host,
		.plugin_dir = options->plugin_dir,
		.directory = options->directory,
		.own_env = options->own_env,
		.git = &surroundings_project(run->surroundings)->git,
		.surroundings = run->surroundings,
		.meter = &run->meter,
		.done = run_result_known,
		.warn = fledge_run_warn,
		.settled = run_stored,
		.data = run,
	};
	r = fledge_engine_new(&run->engine_options, &run_effects, run, &run->engine);
	if (r == 0)
		r = execs_new(&execs, &run->execs);
	return r < 0 ? r : run_services_new(&run_services, &run->run_services);
}

static void fledge_run_release_timers(struct timers *timers, int count)
{
	while (count--)
		timers_release(timers);
}

static int fledge_run_promise_timers(struct timers *timers)
{
	for (int i = 0; i < RUN_TIMERS; i++) {
		int r = timers_promise(timers);
		if (r < 0) {
			fledge_run_release_timers(timers, i);
			return r;
		}
	}
	return 0;
}

static int fledge_run_prepare(struct fledge_run *run)
{
	int r = fledge_run_promise_timers(&run->host->loop.timers);
	if (r < 0)
		return r;
	run->deadline.due = fledge_run_deadline_due;
	run->ending.due = run_ending_due;
	run->standstill.due = run_standstill_due;
	run->patience.due = run_patience_due;
	run->silence.due = fledge_run_silence_due;
	run->meter = (struct meter){ .grew = run_meter_grew, .data = run };
	if (!run->options.waiting_limit)
		run->options.waiting_limit = FLEDGE_WAITING_LIMIT_DEFAULT;
	if (!run->options.unread_timeout_ns)
		run->options.unread_timeout_ns = FLEDGE_UNREAD_TIMEOUT_DEFAULT_NS;
	return fledge_run_make_parts(run);
}

static int fledge_run_begin(struct fledge_run *run, perch_err *err)
{
	const struct fledge_run_options *options = &run->options;
	if (!run->surroundings) {
		int r = surroundings_begin(
			run->host, options->directory, options->own_env, &run->surroundings, err);
		if (r < 0)
			return r;
	}
	if (fledge_run_prepare(run) < 0)
		return err_no_memory(err);
	if (!options->granted.metadata)
		surroundings_ask_no_more(run->surroundings);
	options->frontend->answered = fledge_run_answered;
	options->frontend->went_away = fledge_run_user_went_away;
	options->frontend->answered_data = run;
	return fledge_run_start_child(run, err);
}

int fledge_run_start(perch_host *host, const struct fledge_run_options *options,
	struct fledge_run **ret_run, perch_err *err)
{
	struct fledge_run *run = calloc(1, sizeof(*run));
	if (!run) {
		surroundings_free(options->surroundings);
		return err_no_memory(err);
	}
	run->options = *options;
	run->surroundings = options->surroundings;
	run->host = host;
	int r = fledge_run_begin(run, err);
	if (r < 0) {
		fledge_run_free(run);
		return r;
	}
	const char *note = surroundings_note(run->surroundings);
	if (note)
		run_say(run, PERCH_SHOWN_DEBUG, note);
	if (options->silence_ns)
		timer_set(
			&host->loop.timers, &run->silence, clock_after(clock_now_ns(), options->silence_ns));
	surroundings_await(run->surroundings, fledge_run_dirty_known, run);
	*ret_run = run;
	return 0;
}

bool fledge_run_keeps_output_back(const struct fledge_run *run)
{
	return !run->has_ended && !run->interrupted_by && !run->has_spoken &&
		program_keeps_output_back(run->options.path, NULL);
}

const perch_fledge_end *fledge_run_outcome(const struct fledge_run *run)
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
	timer_cancel(timers, &run->standstill);
	timer_cancel(timers, &run->patience);
	timer_cancel(timers, &run->silence);
	if (run->deadline.due)
		fledge_run_release_timers(timers, RUN_TIMERS);
	perch_child_free(run->child);
	execs_free(run->execs);
	calls_free(run->calls);
	denials_free(run->denials);
	run_services_free(run->run_services);
	fledge_engine_free(run->engine);
	surroundings_free(run->surroundings);
	arena_free(&run->arena);
	buf_free(&run->early);
	free(run);
}

/* Runs of include/perch/fledge.h: a frontend that passes everything on to the program. It stands
 * here and not in src/fledge because it knows what is installed and how that is confined. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/sized.h"
#include "fledge/exec.h"
#include "plugins/fledge_api_parts.h"
#include "proc/host.h"
#include "trace/trace.h"

_Static_assert((int)PERCH_ASKING_STRICT == (int)FLEDGE_DEMAND_DEFAULTS, "the same ways");

/* ---- what is told ---------------------------------------------------------------- */

/* Without memory for a copy the text is lost. */
static perch_text fledge_api_terminated(struct buf *buf, struct str text)
{
	buf_clear(buf);
	buf_append(buf, text.data, text.len);
	return buf_terminate(buf) < 0 ? (perch_text){ "", 0 } : (perch_text){ buf->data, buf->len };
}

static void fledge_api_show(struct frontend *frontend, const struct shown *shown)
{
	perch_fledge_run *run = FLEDGE_RUN_OF(frontend, frontend);
	if (!run->events.show)
		return;
	const perch_shown told = {
		.kind = shown->kind,
		.text = fledge_api_terminated(&run->texts[0], shown->text),
		.key = fledge_api_terminated(&run->texts[1], shown->key),
		.level = fledge_api_terminated(&run->texts[2], shown->level),
		.has_amount = shown->has_amount,
		.current = shown->current,
		.total = shown->total,
	};
	run->events.show(run, run->data, &told);
}

static void fledge_api_warn(perch_fledge_run *run, const char *text)
{
	fledge_api_show(
		&run->frontend, &(struct shown){ .kind = PERCH_SHOWN_WARNING, .text = str_from(text) });
}

static void fledge_api_warn_of_all(perch_fledge_run *run, const char *const *texts)
{
	for (; texts && *texts; texts++)
		fledge_api_warn(run, *texts);
}

static void fledge_api_heard_stderr(void *data, struct str line)
{
	perch_fledge_run *run = data;
	run->events.stderr_line(run, run->data, fledge_api_terminated(&run->texts[0], line));
}

static void fledge_api_do_nothing(struct frontend *frontend)
{
	(void)frontend;
}

/* The run may be gone when `end` returns. */
static void fledge_api_done(struct frontend *frontend, const perch_fledge_end *outcome)
{
	perch_fledge_run *run = FLEDGE_RUN_OF(frontend, frontend);
	perch_err err = { 0 };
	if (run->has_trace && trace_flush(run->trace, &err) < 0)
		fledge_api_warn(run, err.text);
	if (run->events.end)
		run->events.end(run, run->data, outcome);
}

static const struct frontend_table table = {
	.ask = asked_begin,
	.withdraw = asked_withdraw,
	.show = fledge_api_show,
	.flush = fledge_api_do_nothing,
	.suspend = fledge_api_do_nothing,
	.resume = fledge_api_do_nothing,
	.done = fledge_api_done,
	.free = fledge_api_do_nothing,
};

/* ---- what is run ------------------------------------------------------------------ */

static int fledge_api_find(perch_fledge_run *run, const perch_fledge_options *given, perch_err *err)
{
	struct plugin_target *target = &run->target;
	struct arena *arena = &run->arena;
	int r = registry_read(arena, &target->registry, err);
	if (r == 0)
		r = registry_resolve(
			&target->registry, given->command, getenv("PATH"), arena, &target->command, err);
	if (r == 0)
		r = plugin_target_inspect(target, arena, err);
	if (r == 0)
		fledge_api_warn_of_all(run, target->registry.warnings);
	return r;
}

/* No more than its manifest asks for. */
static int fledge_api_find_at(
	perch_fledge_run *run, const perch_fledge_options *given, perch_err *err)
{
	const char *directory = arena_dup(&run->arena, str_from(given->plugin_dir));
	if (!directory)
		return err_no_memory(err);
	struct capabilities granted = { 0 };
	for (const struct capability *one = capability_table; one->name; one++)
		capabilities_put(&granted, one, given->grants & one->grant);
	run->target.grant.widening.is_off = given->no_sandbox;
	return plugin_target_at(directory, given->command, &granted, &run->arena, &run->target, err);
}

static int fledge_api_identify(
	perch_fledge_run *run, const perch_fledge_options *given, perch_err *err)
{
	int r =
		given->plugin_dir ? fledge_api_find_at(run, given, err) : fledge_api_find(run, given, err);
	if (r == 0 && !run->target.is_protocol)
		r = err_set(
			err, -EPROTONOSUPPORT, "'%s' speaks no protocol: it wants a terminal", given->command);
	return r;
}

/* ---- how -------------------------------------------------------------------------- */

/* NULL without memory. */
static const struct fledge_answer *fledge_api_copy_answers(
	perch_fledge_run *run, const char *const *answers, perch_err *err)
{
	size_t count = list_count(answers);
	struct fledge_answer *copy = arena_alloc(&run->arena, (count + 1) * sizeof(*copy));
	const char *const *kept = arena_dup_list(&run->arena, answers);
	if (!copy || !kept) {
		err_no_memory(err);
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		struct str value = str_from(kept[i]);
		copy[i].message = str_cut(&value, '=');
		copy[i].value = value;
	}
	run->options.answer_count = count;
	return copy;
}

static int fledge_api_check(const perch_fledge_options *given, perch_err *err)
{
	if (!given->command || !given->events)
		return err_set(err, -EINVAL, "a run needs a command and events");
	if (given->plugin_dir && given->plugin_dir[0] != '/')
		return err_set(err, -EINVAL, "plugin_dir must be absolute, not '%s'", given->plugin_dir);
	if (given->project_dir && given->project_dir[0] != '/')
		return err_set(err, -EINVAL, "project_dir must be absolute, not '%s'", given->project_dir);
	for (const char *const *answer = given->answers; answer && *answer; answer++) {
		if (!strchr(*answer, '='))
			return err_set(err, -EINVAL, "an answer without '=': '%.100s'", *answer);
	}
	if ((unsigned)given->asking > PERCH_ASKING_STRICT)
		return err_set(err, -EINVAL, "there is no such way of asking: %u", (unsigned)given->asking);
	return 0;
}

static uint64_t fledge_api_either(uint64_t given, uint64_t otherwise)
{
	return given ? given : otherwise;
}

/* A user who cannot be asked counts as none. */
static enum fledge_asking fledge_api_asking_of(const perch_fledge_run *run, perch_asking given)
{
	if (given == PERCH_ASKING_USER && !run->events.ask)
		return FLEDGE_TAKE_DEFAULTS;
	return (enum fledge_asking)given;
}

static int fledge_api_copy_options(
	perch_fledge_run *run, const perch_fledge_options *given, perch_err *err)
{
	char here[PATH_MAX];
	const char *project = given->project_dir ? given->project_dir : getcwd(here, sizeof(here));
	uint64_t prompt_ns =
		fledge_api_either(given->prompt_timeout_ns, FLEDGE_PROMPT_TIMEOUT_DEFAULT_NS);
	uint64_t exec_ns =
		fledge_api_either(given->exec_timeout_max_ns, EXEC_TIMEOUT_MAX_DEFAULT * NSEC_PER_SEC);
	struct arena *arena = &run->arena;
	struct fledge_run_options *options = &run->options;
	*options = (struct fledge_run_options){
		.command = arena_dup(arena, str_from(given->command)),
		.args = arena_dup_list(arena, given->args),
		.directory = project ? arena_dup(arena, str_from(project)) : NULL,
		.own_env = (const char *const *)environ,
		.asking = fledge_api_asking_of(run, given->asking),
		.prompt_timeout_ns = prompt_ns == UINT64_MAX ? 0 : prompt_ns,
		.line_limit = given->line_limit ? given->line_limit : FLEDGE_LINE_LIMIT_DEFAULT,
		.waiting_limit = given->waiting_limit,
		.unread_timeout_ns = given->unread_timeout_ns,
		.exec_timeout_max = (double)exec_ns / 1e9,
		.shell = arena_dup(arena, str_from(given->shell ? given->shell : "sh")),
		.frontend = &run->frontend,
		.trace = run->trace,
		.reads_stderr = run->events.stderr_line,
		.stderr_line = run->events.stderr_line ? fledge_api_heard_stderr : NULL,
		.stderr_data = run,
	};
	options->cwd = given->project_dir ? options->directory : NULL;
	options->answers = fledge_api_copy_answers(run, given->answers, err);
	bool is_whole = options->command && options->args && options->shell && options->answers;
	return is_whole && (!project || options->directory) ? 0 : err_no_memory(err);
}

static void fledge_api_choose_sandbox(perch_fledge_run *run, const perch_fledge_options *given)
{
	struct policy_widening *widening = &run->target.grant.widening;
	run->is_strict = given->is_strict;
	if (given->sandbox == PERCH_SANDBOX_AS_GRANTED)
		return;
	widening->is_off = given->sandbox == PERCH_SANDBOX_OFF;
	widening->is_on = given->sandbox == PERCH_SANDBOX_ON;
}

static int fledge_api_confine(perch_fledge_run *run, perch_err *err)
{
	struct plugin_target *target = &run->target;
	char resolved[PATH_MAX];
	const char *project = run->options.directory ? run->options.directory : "";
	/* A path that the program has named may have links; the current directory has none. */
	if (run->options.cwd && realpath(project, resolved))
		project = arena_dup(&run->arena, str_from(resolved));
	if (!project)
		return err_no_memory(err);
	struct confinement confinement = plugin_target_confinement(target, project);
	confinement.is_strict = run->is_strict;
	int r = plugin_target_confine(target, run->host, &confinement, &run->arena, err);
	if (r < 0)
		return r;
	fledge_api_warn_of_all(run, target->sandbox ? sandbox_warnings(target->sandbox) : NULL);
	if (target->note)
		fledge_api_warn(run, target->note);
	plugin_target_describe(target, &run->options);
	if (plugin_calls_prepare(target, NULL, project, &run->arena, &run->calls) < 0)
		return err_no_memory(err);
	run->options.calls = run->calls.program ? &run->calls : NULL;
	run->options.env =
		plugin_target_environment(target, run->options.asking == FLEDGE_ASK, &run->arena);
	return run->options.env ? 0 : err_no_memory(err);
}

static void fledge_api_cancel_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	perch_fledge_run *run = FLEDGE_RUN_OF(timer, cancelling.timer);
	for (; run->cancelling.times; run->cancelling.times--)
		fledge_run_interrupt(run->run, run->cancelling.signal);
}

static int fledge_api_cancelling_init(perch_fledge_run *run)
{
	int r = timers_promise(&run->host->loop.timers);
	if (r == 0)
		run->cancelling.timer.due = fledge_api_cancel_due;
	return r;
}

static int fledge_api_start(
	perch_fledge_run *run, const perch_fledge_options *given, perch_err *err)
{
	if (asked_init(run) < 0 || fledge_api_cancelling_init(run) < 0)
		return err_no_memory(err);
	int r = fledge_api_identify(run, given, err);
	run->has_trace = given->trace && !run->trace;
	if (r == 0 && run->has_trace)
		r = trace_open(given->trace, given->trace_secrets, &run->trace, err);
	if (r == 0)
		r = fledge_api_copy_options(run, given, err);
	fledge_api_choose_sandbox(run, given);
	if (r == 0)
		r = fledge_api_confine(run, err);
	if (r < 0)
		return r;
	if (run->has_trace)
		trace_start(run->trace, run->options.command, run->options.args);
	return fledge_run_start(run->host, &run->options, &run->run, err);
}

/* ------------------------------------------------------------------------------------ */

DEFINE_POINTER_CLEANUP(free_run, perch_fledge_run, perch_fledge_run_free)

int fledge_api_run_start(perch_host *host, const perch_fledge_options *options, struct trace *trace,
	perch_fledge_run **ret_run, perch_err *err)
{
	perch_fledge_options given = PERCH_FLEDGE_OPTIONS_INIT;
	int r =
		sized_copy(&given, sizeof(given), options, SIZED_UP_TO(perch_fledge_options, data), err);
	if (r == 0)
		r = fledge_api_check(&given, err);
	if (r < 0)
		return r;
	_cleanup_(free_run) perch_fledge_run *run = calloc(1, sizeof(*run));
	if (!run)
		return err_no_memory(err);
	run->frontend.table = &table;
	run->host = host;
	run->data = given.data;
	run->trace = trace;
	/* A callback that a newer program sets and this library does not know is never called. */
	sized_copy(&run->events, sizeof(run->events), given.events,
		SIZED_UP_TO(perch_fledge_events, end), NULL);
	r = fledge_api_start(run, &given, err);
	if (r == 0)
		*ret_run = steal(&run);
	return r;
}

int perch_fledge_run_start(perch_host *host, const perch_fledge_options *options,
	perch_fledge_run **ret_run, perch_err *err)
{
	return fledge_api_run_start(host, options, NULL, ret_run, err);
}

void perch_fledge_run_cancel(perch_fledge_run *run, int signal)
{
	struct loop *loop = &run->host->loop;
	run->cancelling.signal = signal;
	run->cancelling.times++;
	timer_set(&loop->timers, &run->cancelling.timer, loop_now_ns(loop));
}

void perch_fledge_run_hold(perch_fledge_run *run, bool is_held)
{
	fledge_run_hold(run->run, is_held);
}

void perch_fledge_run_free(perch_fledge_run *run)
{
	if (!run)
		return;
	fledge_run_free(run->run);
	plugin_target_close(&run->target);
	if (run->has_trace)
		trace_close(run->trace, NULL);
	asked_free(run);
	if (run->cancelling.timer.due) {
		timer_cancel(&run->host->loop.timers, &run->cancelling.timer);
		timers_release(&run->host->loop.timers);
	}
	for (size_t i = 0; i < COUNT(run->texts); i++)
		buf_free(&run->texts[i]);
	arena_free(&run->arena);
	free(run);
}

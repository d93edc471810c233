/* Jobs that run a command of a plugin: include/perch/fledge.h does the work, questions get the
 * job's numbers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/exit_status.h"
#include "base/sized.h"
#include "data/json.h"
#include "plugins/fledge_api_parts.h"
#include "service/command_facts.h"
#include "service/event_members.h"
#include "service/service_parts.h"

/* ---- what the run tells --------------------------------------------------- */

static void job_run_show(perch_fledge_run *run, void *data, const perch_shown *shown)
{
	(void)run;
	const perch_event event = {
		.kind = PERCH_EVENT_SHOWN,
		.text = shown->text,
		.shown = shown,
	};
	job_tell(data, &event);
}

static void job_run_ask(perch_fledge_run *run, void *data, const perch_question *question)
{
	const perch_ask ask = {
		.kind = event_ask_kind(question),
		.message = question->message,
		.question = question,
	};
	if (job_ask(data, &ask, question->number) < 0)
		perch_fledge_decline(run, question->number);
}

static void job_run_withdraw(perch_fledge_run *run, void *data)
{
	(void)run;
	job_ask_withdraw_all(data);
}

static void job_run_stderr(perch_fledge_run *run, void *data, perch_text line)
{
	(void)run;
	job_tell(data, &(perch_event){ .kind = PERCH_EVENT_STDERR, .text = line });
}

static void job_run_ended(perch_fledge_run *run, void *data, const perch_fledge_end *end)
{
	(void)run;
	perch_job *job = data;
	const perch_job_end told = {
		.success = end->success,
		.was_cancelled = job->was_cancelled && !end->success,
		.exit_code = end->exit_code,
		.signal = end->signal,
		.duration_ns = end->duration_ns,
		.sandbox = end->sandbox,
		.reach = end->reach,
		.background = end->background,
		.run = end,
	};
	job_end(job, told);
}

static const perch_fledge_events job_run_events = {
	.size = sizeof(job_run_events),
	.show = job_run_show,
	.ask = job_run_ask,
	.withdraw = job_run_withdraw,
	.stderr_line = job_run_stderr,
	.end = job_run_ended,
};

/* ---- the job --------------------------------------------------------------- */

/* A frontend sees what is installed; the operator may run what is on PATH, too. */
static int job_run_check_shown(perch_job *job, perch_err *err)
{
	const struct exposure *exposure = &job->service->exposure;
	const char *name = job->request.name;
	if (exposure->is_all)
		return 0;
	struct arena arena = { 0 };
	struct command_facts facts;
	int r = -ENOENT;
	if (exposure_shows(exposure, PERCH_ENTRY_COMMAND, name))
		r = command_facts_find(name, &arena, &facts, err);
	job->run.asks = r == 0 && facts.is_dangerous && !job->request.approved_by &&
		!exposure_approves(exposure, name);
	arena_free(&arena);
	return r == -ENOENT ? err_set(err, r, "there is no command '%.200s'", name) : r;
}

/* Options that say how the command is run, not which. */
static int job_run_take_options(perch_job *job, const perch_job_request *request, perch_err *err)
{
	perch_fledge_options *own = &job->run.given;
	perch_fledge_options given = PERCH_FLEDGE_OPTIONS_INIT;
	int r = request->run ? sized_copy(&given, sizeof(given), request->run,
							   SIZED_UP_TO(perch_fledge_options, data), err)
						 : 0;
	if (r < 0)
		return r;
	*own = (perch_fledge_options){
		.size = sizeof(*own),
		.asking = given.asking,
		.prompt_timeout_ns = given.prompt_timeout_ns,
		.exec_timeout_max_ns = given.exec_timeout_max_ns,
		.unread_timeout_ns = given.unread_timeout_ns,
		.line_limit = given.line_limit,
		.waiting_limit = given.waiting_limit,
		.is_strict = given.is_strict,
		.explains = given.explains,
		.shell = given.shell ? arena_dup(&job->arena, str_from(given.shell)) : NULL,
		.sandbox = job->service->exposure.is_all ? request->sandbox : PERCH_SANDBOX_AS_GRANTED,
	};
	return given.shell && !own->shell ? err_no_memory(err) : 0;
}

static int job_run_take(perch_job *job, const perch_job_request *given, perch_err *err)
{
	const char *name = job->request.name;
	if (!name)
		return err_set(err, -EINVAL, "a run needs the name of a command");
	int r = job_run_check_shown(job, err);
	if (r < 0)
		return r;
	for (const char *const *answer = given->answers; answer && *answer; answer++) {
		if (!strchr(*answer, '='))
			return err_set(err, -EINVAL, "an answer without '=': '%.100s'", *answer);
	}
	r = job_run_take_options(job, given, err);
	if (r < 0)
		return r;
	job->request.args = arena_dup_list(&job->arena, given->args);
	job->request.answers = arena_dup_list(&job->arena, given->answers);
	job->request.cwd = given->cwd ? arena_dup(&job->arena, str_from(given->cwd)) : NULL;
	bool has_all = job->request.args && job->request.answers && !job->request.cwd == !given->cwd;
	return has_all ? 0 : err_no_memory(err);
}

/* It was not started: tells the reason, then the end. */
static void job_run_fail(perch_job *job, const char *code, const char *words, int exit_code)
{
	const perch_job_end end = {
		.was_cancelled = job->was_cancelled,
		.exit_code = exit_code,
		.reach = PERCH_REACH_GROUP,
	};
	job_is_over(job);
	job_tell_error(job, code, str_from(words));
	job_end(job, end);
}

static void job_run_leave(perch_job *job)
{
	if (job->timed_out)
		job_run_fail(job, "timeout", "its time was over before it began", EXIT_TIMED_OUT);
	else if (!job->was_cancelled)
		job_run_fail(job, "refused", job->run.refusal, EXIT_HOST);
	else
		job_run_fail(job, "cancelled", "cancelled", EXIT_SIGNAL + job->signal);
}

/* The exit code that `perch run` has: a missing file of perch's own must not look like a missing
 * command. */
static int job_run_exit_code(int r, const perch_err *err)
{
	if (err->stage && strcmp(err->stage, "prepare") == 0)
		return EXIT_HOST;
	if (r == -ENOENT || r == PERCH_EINTERPRETER)
		return EXIT_NOT_FOUND;
	return r == -EACCES || r == -ENOEXEC ? EXIT_NOT_EXECUTABLE : EXIT_HOST;
}

/* The manifest says that much depends on it. */
static void job_run_ask_approval(perch_job *job)
{
	char message[256];
	const char *name = job->request.name;
	snprintf(message, sizeof(message), "Run %.100s, which its author calls dangerous?", name);
	const perch_ask ask = {
		.kind = PERCH_ASK_APPROVAL,
		.message = { message, strlen(message) },
		.subject = { name, strlen(name) },
	};
	job_move(job, JOB_ASKING);
	service_step_soon(job->service);
	if (job_ask(job, &ask, 0) < 0)
		job_run_fail(job, "start", "out of memory", EXIT_HOST);
}

static int job_run_approve(
	perch_job *job, struct job_ask *ask, const perch_answer *answer, perch_err *err)
{
	bool is_yes = answer->yes && !answer->cancel;
	const char *by = answer->by ? answer->by : "user";
	const char *why_not = answer->message ? answer->message : "nobody said yes to it";
	const char *kept = arena_dup(&job->arena, str_from(is_yes ? by : why_not));
	if (!kept)
		return err_no_memory(err);
	job_ask_close(job, ask);
	job->run.asks = false;
	if (is_yes) {
		job->run.approval = kept;
		job_is_ready(job);
		return 0;
	}
	job->run.refusal = kept;
	job_leave(job);
	return 0;
}

static void job_run_begin(perch_job *job)
{
	perch_fledge_options options = job->run.given;
	options.command = job->request.name;
	options.args = job->request.args;
	options.answers = job->request.answers;
	options.project_dir = job->request.cwd ? job->request.cwd : job->service->options.project_dir;
	if (job->request.non_interactive && options.asking == PERCH_ASKING_USER)
		options.asking = PERCH_ASKING_DEFAULTS;
	options.events = &job_run_events;
	options.data = job;
	perch_err err = { 0 };
	job_tell_start(job);
	if (job->was_cancelled) { /* by its own sink, just now */
		job_run_leave(job);
		return;
	}
	int r = service_may_record(job->service, &err);
	if (r == 0)
		r = fledge_api_run_start(job->service->host, &options,
			service_trace_start(job, options.command, options.args), &job->run.run, &err);
	if (r < 0) {
		job_run_fail(job, "start", err.text, job_run_exit_code(r, &err));
		return;
	}
	/* While something was shown, there was no run yet. */
	if (job->was_cancelled)
		perch_fledge_run_cancel(job->run.run, job->signal);
	if (job->is_held)
		perch_fledge_run_hold(job->run.run, true);
}

static void job_run_start(perch_job *job)
{
	if (job->run.asks && !job->request.non_interactive) {
		job_run_ask_approval(job);
		return;
	}
	if (job->run.asks) {
		job_run_fail(job, "refused", "it is dangerous, and nobody can be asked", EXIT_HOST);
		return;
	}
	job_run_begin(job);
}

static void job_run_cancel(perch_job *job, int signal)
{
	if (job->run.run)
		perch_fledge_run_cancel(job->run.run, signal);
}

static void job_run_hold(perch_job *job, bool is_held)
{
	if (job->run.run)
		perch_fledge_run_hold(job->run.run, is_held);
}

/* A question stays open when its answer does not fit. */
static int job_run_answer(
	perch_job *job, struct job_ask *ask, const perch_answer *answer, perch_err *err)
{
	perch_fledge_run *run = job->run.run;
	uint64_t number = ask->inner;
	int r;
	if (ask->ask.kind == PERCH_ASK_APPROVAL)
		return job_run_approve(job, ask, answer, err);
	if (!run)
		return err_set(err, -ESTALE, "that question is not open");
	if (answer->cancel)
		r = perch_fledge_decline(run, number);
	else if (ask->ask.kind == PERCH_ASK_PROMPT)
		r = perch_fledge_answer_text(
			run, number, answer->text ? answer->text : "", answer->text_len, err);
	else if (ask->ask.kind == PERCH_ASK_CONFIRM)
		r = perch_fledge_answer_confirm(run, number, answer->yes, err);
	else
		r = perch_fledge_answer_choice(run, number, answer->chosen, answer->chosen_count, err);
	if (r == 0)
		job_ask_close(job, ask);
	return r;
}

static void job_run_record(perch_job *job, const perch_job_end *end)
{
	const char *given = job->request.approved_by;
	const struct audit_job line = {
		.kind = "run",
		.name = job->request.name,
		.success = end->success,
		.exit_code = end->exit_code,
		.duration_ns = end->duration_ns,
		.approval = job->run.approval ? job->run.approval : given,
	};
	service_record(job->service, line, &job->request.caller);
}

static void job_run_write_start(const perch_job *job, struct perch_json_writer *out)
{
	json_write_text(out, "command", str_from(job->request.name));
}

static void job_run_free(perch_job *job)
{
	perch_fledge_run_free(job->run.run);
}

const struct job_kind job_kind_run = {
	.plural = "runs",
	.take = job_run_take,
	.start = job_run_start,
	.cancel = job_run_cancel,
	.leave = job_run_leave,
	.hold = job_run_hold,
	.answer = job_run_answer,
	.record = job_run_record,
	.write_start = job_run_write_start,
	.free = job_run_free,
};

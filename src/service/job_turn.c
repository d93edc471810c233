/* Jobs that are a turn of an agent. Such a job waits for its session (agent/sessions.h), then for a
 * place, then it runs; its end is recorded before it is told. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/dialect.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exit_status.h"
#include "data/json.h"
#include "proc/host.h"
#include "service/job_turn.h"

/* ---- the end ------------------------------------------------------------- */

static void job_turn_conclude(perch_job *job)
{
	const perch_agent_end *turn = &job->turn.end;
	const perch_job_end end = {
		.success = turn->success,
		.was_cancelled = turn->cancelled,
		.timed_out = turn->timed_out,
		.exit_code = turn->exit_code,
		.signal = turn->signal,
		.duration_ns = turn->duration_ns,
		.sandbox = turn->sandbox,
		.reach = turn->reach,
		.background = turn->background,
		.turn = turn,
	};
	job_end(job, end);
}

void job_turn_warn(perch_job *job, const char *what, const perch_err *err)
{
	char text[PERCH_ERR_TEXT_MAX + 64];
	snprintf(text, sizeof(text), "%s: %s", what, err->text);
	job_tell_text(job, PERCH_EVENT_WARNING, str_from(text));
}

static void job_turn_recorded(void *data, const char *id, int r, const perch_err *err)
{
	(void)id;
	perch_job *job = data;
	job->turn.session = NULL;
	if (r < 0)
		job_turn_warn(job, "the end of the turn is not recorded", err);
	job_turn_conclude(job);
}

/* The texts of its end are the agent's, or live as long as the job. */
void job_turn_finish(perch_job *job, const perch_agent_end *end)
{
	job->turn.end = *end;
	job_is_over(job);
	job_turn_pass_on(job);
	const struct session_spending spending = {
		.usage = end->usage,
		.spent_ms = end->duration_ns / NSEC_PER_MSEC,
	};
	if (job->turn.session)
		session_turn_end(
			job->turn.session, job->turn.was_started ? &spending : NULL, job_turn_recorded, job);
	else
		job_turn_conclude(job);
}

/* A turn that never ran has not changed its session, also if it was to begin a new one. */
void job_turn_finish_unstarted(perch_job *job, perch_agent_end end)
{
	_cleanup_(session_left_free) struct session_left left = { 0 };
	if (job->turn.session && !job->turn.given_id)
		sessions_left(job->service->stored.sessions, &job->turn.key, &left, NULL);
	const char *kept = left.id ? arena_dup(&job->arena, str_from(left.id)) : job->turn.given_id;
	end.session_id = kept ? kept : "";
	job_turn_finish(job, &end);
}

static void job_turn_refuse(perch_job *job, const char *code, const char *text, int exit_code)
{
	const perch_agent_end end = {
		.exit_code = exit_code,
		.status = -1,
		.cancelled = job->was_cancelled,
		.timed_out = job->timed_out,
		.body = "",
		.stderr_tail = "",
		.reach = PERCH_REACH_GROUP,
		.hint = "",
	};
	job_tell_error(job, code, str_from(text));
	job_turn_finish_unstarted(job, end);
}

static void job_turn_leave(perch_job *job)
{
	if (job->timed_out)
		job_turn_refuse(job, "timeout", "its time was over before it began", EXIT_TIMED_OUT);
	else
		job_turn_refuse(job, "cancelled", "cancelled", EXIT_SIGNAL + job->signal);
}

/* ---- running ------------------------------------------------------------- */

/* The turns of its session have taken all the time that its profile has for them. */
static bool job_turn_is_broke(const perch_job *job)
{
	const struct agent_turn_options *options = &job->turn.options;
	return options->profile->budget_ns && options->spent_ns >= options->profile->budget_ns;
}

static void job_turn_refuse_budget(perch_job *job)
{
	char text[PERCH_ERR_TEXT_MAX];
	uint64_t budget_ns = job->turn.options.profile->budget_ns;
	snprintf(text, sizeof(text),
		"the session has used up its budget_secs (%g %s): begin a new one, or raise them",
		(double)budget_ns / (double)NSEC_PER_SEC, clock_unit(budget_ns));
	job_turn_refuse(job, "budget", text, EXIT_HOST);
}

void job_turn_ready(void *data, struct session_turn *session, const char *id)
{
	perch_job *job = data;
	if (job->stage != JOB_BEHIND) /* it was cancelled meanwhile, and will be ended */
		return;
	if (!id) {
		job_turn_refuse(job, "session", session_turn_error(session)->text, EXIT_HOST);
		return;
	}
	const char *given = job->turn.given_id;
	const char *kept = job->request.is_new ? ""
		: given                            ? given
										   : arena_dup(&job->arena, str_from(id));
	job->turn.options.session_id = kept;
	if (!job->request.is_new)
		job->turn.options.spent_ns = session_turn_found(session)->spent_ms * NSEC_PER_MSEC;
	if (!kept)
		job_turn_refuse(job, "start", "out of memory", EXIT_HOST);
	else if (job_turn_is_broke(job))
		job_turn_refuse_budget(job);
	else
		job_is_ready(job);
}

/* The turn has the clock from here on; the profile's limit holds where it is shorter. */
static void job_turn_set_clock(perch_job *job)
{
	struct agent_turn_options *options = &job->turn.options;
	uint64_t left_ns = job_time_left(job);
	uint64_t own_ns = options->has_timeout ? options->timeout_ns : options->profile->timeout_ns;
	if (job->has_timer)
		timer_cancel(&job->service->host->loop.timers, &job->deadline);
	if (left_ns == NEVER || (own_ns && own_ns <= left_ns))
		return;
	options->has_timeout = true;
	options->timeout_ns = left_ns;
}

static void job_turn_start(perch_job *job)
{
	struct agent_turn_options *options = &job->turn.options;
	perch_err err = { 0 };
	options->residents = job->service->residents;
	options->events = &job_turn_events;
	options->data = job;
	options->is_quiet = job->is_early;
	options->trace = service_trace_start(job, options->profile->command, options->profile->args);
	options->stderr_bytes = job->request.shows_stderr ? job_turn_stderr : NULL;
	job_turn_set_clock(job);
	if (service_may_record(job->service, &err) < 0 ||
		agent_turn_start(job->service->host, options, &job->turn.turn, &err) < 0)
		job_turn_refuse(job, "start", err.text, EXIT_HOST);
}

static void job_turn_cancel(perch_job *job, int signal)
{
	agent_turn_cancel(job->turn.turn, signal);
}

static void job_turn_hold(perch_job *job, bool is_held)
{
	agent_turn_hold(job->turn.turn, is_held);
}

/* Not one that shares its process with others: they are told of. */
static bool job_turn_may_be_early(const perch_job *job)
{
	return !dialect_of(job->turn.options.profile->dialect)->is_resident;
}

static void job_turn_show(perch_job *job)
{
	agent_turn_show(job->turn.turn);
}

/* ------------------------------------------------------------------------- */

static void job_turn_record(perch_job *job, const perch_job_end *end)
{
	const struct audit_job line = {
		.kind = "turn",
		.name = job->request.name,
		.session = job->turn.options.session_name,
		.success = end->success,
		.exit_code = end->exit_code,
		.duration_ns = end->duration_ns,
	};
	service_record(job->service, line, &job->request.caller);
}

static void job_turn_write_start(const perch_job *job, struct perch_json_writer *out)
{
	const struct agent_turn_options *options = &job->turn.options;
	json_write_text(out, "protocol", str_from(dialect_of(options->profile->dialect)->version));
	json_write_text(out, "session_id", str_from(options->session_id));
	json_write_text(out, "session_name", str_from(options->session_name));
}

static void job_turn_free(perch_job *job)
{
	const struct session_spending unknown = { 0 };
	struct turn_job *own = &job->turn;
	/* The agent is freed first: the next turn of its session must not meet it. */
	agent_turn_free(steal(&own->turn));
	if (own->session) {
		session_turn_silence(own->session);
		if (job->stage < JOB_ENDING)
			session_turn_end(own->session, own->was_started ? &unknown : NULL, NULL, NULL);
	} else if (job->stage < JOB_ENDING) {
		job_turn_pass_on(job);
	}
	buf_free(&own->permits);
	profiles_give(&job->service->profiles, own->profile);
}

static uint64_t job_turn_grace_ns(const perch_job *job)
{
	return job->turn.options.profile->kill_grace_ns;
}

const struct job_kind job_kind_turn = {
	.plural = "turns",
	.take = job_turn_take,
	.queue = job_turn_queue,
	.is_behind = job_turn_is_behind,
	.start = job_turn_start,
	.cancel = job_turn_cancel,
	.leave = job_turn_leave,
	.hold = job_turn_hold,
	.may_be_early = job_turn_may_be_early,
	.show = job_turn_show,
	.answer = job_turn_answer,
	.record = job_turn_record,
	.write_start = job_turn_write_start,
	.grace_ns = job_turn_grace_ns,
	.free = job_turn_free,
};

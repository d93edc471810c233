/* The events of a turn, told as those of its job. */
#include <errno.h>
#include <stdlib.h>

#include "agent/dialect.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "service/job_turn.h"

static void job_turn_forgotten(void *data, const char *id, int r, const perch_err *err)
{
	(void)id;
	if (r < 0)
		job_turn_warn(data, "the old session id is not forgotten", err);
}

/* Warnings come behind the start event, or before the error that tells why there is no start: a
 * wrong key may be the cause. */
static void job_turn_warn_of_profile(perch_job *job)
{
	const char *const *warning = job->turn.options.profile->warnings;
	if (!warning || !profiles_are_news(&job->service->profiles, job->turn.profile))
		return;
	for (; *warning; warning++)
		job_tell_text(job, PERCH_EVENT_WARNING, str_from(*warning));
}

static void job_turn_warn_of_context(perch_job *job)
{
	const struct agent_turn_options *options = &job->turn.options;
	if (options->context && options->profile->dialect == AGENT_0_1)
		job_tell_text(job, PERCH_EVENT_WARNING,
			STR("further directories and MCP servers of the client are not told to this agent: "
				"only agents of AgentProc 0.4 and of ACP can be told"));
}

static void job_turn_started(void *data, struct agent_turn *agent)
{
	(void)agent;
	perch_job *job = data;
	job->turn.was_started = true;
	job_tell_start(job);
	job_turn_warn_of_profile(job);
	job_turn_warn_of_context(job);
	if (job->request.is_new && job->turn.session)
		session_turn_forget(job->turn.session, job_turn_forgotten, job);
}

static void job_turn_piece(perch_job *job, perch_event_kind kind, struct str text, struct str raw)
{
	bool is_event = raw.len && job->turn.options.profile->dialect == AGENT_0_4;
	const perch_event event = {
		.kind = kind,
		.text = job_text(job, 0, text),
		.raw = is_event ? job_text(job, 1, raw) : (perch_text){ "", 0 },
	};
	job_tell(job, &event);
}

static void job_turn_partial(void *data, struct agent_turn *agent, struct str text, struct str raw)
{
	(void)agent;
	job_turn_piece(data, PERCH_EVENT_PARTIAL, text, raw);
}

static void job_turn_thinking(void *data, struct agent_turn *agent, struct str text, struct str raw)
{
	(void)agent;
	job_turn_piece(data, PERCH_EVENT_THINKING, text, raw);
}

void job_turn_stderr(void *data, const char *bytes, size_t len)
{
	job_tell_text(data, PERCH_EVENT_STDERR, (struct str){ bytes, len });
}

static void job_turn_usage(void *data, struct agent_turn *agent, struct str json)
{
	(void)agent;
	job_tell_text(data, PERCH_EVENT_USAGE, json);
}

static void job_turn_activity(
	void *data, struct agent_turn *agent, const char *what, struct str json)
{
	(void)agent;
	perch_job *job = data;
	const perch_event event = {
		.kind = PERCH_EVENT_ACTIVITY,
		.code = what,
		.text = job_text(job, 0, json),
	};
	job_tell(job, &event);
}

static void job_turn_withdrawn(void *data, struct agent_turn *agent, struct str request_id)
{
	(void)agent;
	perch_job *job = data;
	struct job_ask *ask = list_first(&job->asks);
	while (ask && !str_eq((struct str){ ask->ask.id.data, ask->ask.id.len }, request_id))
		ask = list_next(ask);
	if (ask)
		job_ask_withdraw(job, ask);
}

static void job_turn_stored(void *data, const char *id, int r, const perch_err *err)
{
	perch_job *job = data;
	if (r < 0)
		job_turn_warn(job, "the session id is not stored", err);
	job_tell_text(job, PERCH_EVENT_SESSION, str_from(id));
}

static void job_turn_session(void *data, struct agent_turn *agent, struct str id)
{
	(void)agent;
	perch_job *job = data;
	_cleanup_free_ char *text = str_dup(id);
	perch_err err = { 0 };
	if (!text)
		job_turn_warn(job, "the session id is not stored", (err_no_memory(&err), &err));
	else if (job->turn.session)
		session_turn_id(job->turn.session, text, job_turn_stored, job);
	else
		job_tell_text(job, PERCH_EVENT_SESSION, id);
}

static void job_turn_warning(void *data, struct agent_turn *agent, struct str text)
{
	(void)agent;
	job_tell_text(data, PERCH_EVENT_WARNING, text);
}

static void job_turn_error(void *data, struct agent_turn *agent, const char *code, struct str text)
{
	(void)agent;
	job_turn_warn_of_profile(data);
	job_tell_error(data, code, text);
}

static void job_turn_reply(void *data, struct agent_turn *agent, struct str text)
{
	(void)agent;
	job_tell_text(data, PERCH_EVENT_REPLY, text);
}

static void job_turn_ended(void *data, struct agent_turn *agent, const perch_agent_end *end)
{
	(void)agent;
	perch_job *job = data;
	if (job->turn.was_started)
		job_turn_finish(job, end);
	else
		job_turn_finish_unstarted(job, *end);
}

const struct agent_turn_events job_turn_events = {
	.started = job_turn_started,
	.partial = job_turn_partial,
	.thinking = job_turn_thinking,
	.usage = job_turn_usage,
	.activity = job_turn_activity,
	.session = job_turn_session,
	.warning = job_turn_warning,
	.error = job_turn_error,
	.reply = job_turn_reply,
	.permission = job_turn_permission,
	.question = job_turn_question,
	.withdrawn = job_turn_withdrawn,
	.end = job_turn_ended,
};

/* The parts of jobs that are turns: job_turn_take.c takes them, job_turn.c brings them to their
 * end, job_turn_events.c tells what happens meanwhile, job_turn_permit.c handles its permissions
 * and questions.
 */
#ifndef SERVICE_JOB_TURN_H
#define SERVICE_JOB_TURN_H

#include "service/service_parts.h"

/* ---- job_turn_take.c ------------------------------------------------------- */

int job_turn_take(perch_job *job, const perch_job_request *request, perch_err *err);
int job_turn_queue(perch_job *job, perch_err *err);
bool job_turn_is_behind(const perch_job *job, const perch_job *other);

/* For a turn without stored sessions: the next turn of its session may begin. */
void job_turn_pass_on(perch_job *job);

/* ---- job_turn.c ------------------------------------------------------------ */

/* Its session is free. */
void job_turn_ready(void *data, struct session_turn *session, const char *id);

/* A warning: "what: the words of err". */
void job_turn_warn(perch_job *job, const char *what, const perch_err *err);

/* Records the end of a turn, then tells it; the second is for an agent that was never started. */
void job_turn_finish(perch_job *job, const perch_agent_end *end);
void job_turn_finish_unstarted(perch_job *job, perch_agent_end end);

/* ---- job_turn_permit.c ----------------------------------------------------- */

/* The agent asks for a permission. It is answered at once if an earlier answer of the user still
 * counts. */
void job_turn_permission(
	void *data, struct agent_turn *agent, const struct agent_permission *permission);
/* It wants its user asked. */
void job_turn_question(
	void *data, struct agent_turn *agent, struct str request_id, const perch_question *question);
int job_turn_answer(
	perch_job *job, struct job_ask *ask, const perch_answer *answer, perch_err *err);

/* ---- job_turn_events.c ----------------------------------------------------- */

extern const struct agent_turn_events job_turn_events;

/* For agent_turn_options. */
void job_turn_stderr(void *data, const char *bytes, size_t len);

#endif

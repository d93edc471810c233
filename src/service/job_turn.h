/* The two halves of jobs that are turns: job_turn_take.c takes them, job_turn.c brings them to
 * their end. */
#ifndef SERVICE_JOB_TURN_H
#define SERVICE_JOB_TURN_H

#include "service/service_parts.h"

/* ---- job_turn_take.c ------------------------------------------------------- */

int job_turn_take(perch_job *job, const perch_job_request *request, perch_err *err);
int job_turn_queue(perch_job *job, perch_err *err);
bool job_turn_is_behind(const perch_job *job, const perch_job *other);

/* Where nothing is stored: the next one of its session may begin. */
void job_turn_pass_on(perch_job *job);

/* ---- job_turn.c ------------------------------------------------------------ */

/* Its session is free. */
void job_turn_ready(void *data, struct session_turn *session, const char *id);

#endif

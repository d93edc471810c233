/* What is written of a job, as the service takes it. */
#ifndef QUEUE_JOB_REQUEST_H
#define QUEUE_JOB_REQUEST_H

#include "queue/queue.h"
#include "queue/uploads.h"

/* Fills in a request of this kind: name, caller, clock, and what is in the job's JSON. Everything
 * new is in the arena of the uploads; name, owner, session and client are to end with NUL. Fails
 * with PERCH_ESYNTAX, -EINVAL, -ENOMEM, and as writing attachments does. */
int job_request_fill(const struct queue_job *job, perch_entry_kind kind, struct uploads *uploads,
	perch_job_request *request, perch_err *err);

#endif

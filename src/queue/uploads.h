/* Attachments of a turn: data: URLs become files in a private directory for as long as the job
 * runs; http(s): URLs are passed on, and never fetched. */
#ifndef QUEUE_UPLOADS_H
#define QUEUE_UPLOADS_H

#include "base/arena.h"
#include "perch/job.h"
#include "perch/json.h"

enum { UPLOADS_MAX = 16 };

#define UPLOADS_TOO_MANY "there are more than 16 attachments"

/* Whether a list, or the url of one, can be taken: NULL, or what is wrong with it. */
const char *uploads_refuse(const perch_json_value *list);
const char *uploads_refuse_url(struct str url);

/* The files of one job. */
struct uploads {
	struct arena *arena;
	const char *id; /* of the job */
	bool has_files; /* that are to be removed */
};

/* -EINVAL, -ENOSPC and other errnos, -ENOMEM. */
int uploads_write(struct uploads *uploads, const perch_json_value *list, perch_job_request *request,
	perch_err *err);
void uploads_remove(struct uploads *uploads);

#endif

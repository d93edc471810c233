/* Attachments of a turn: data: URLs become files in a private directory for as long as the job
 * runs; http(s): URLs are passed on, and never fetched. */
#ifndef SERVE_UPLOADS_H
#define SERVE_UPLOADS_H

#include "perch/job.h"
#include "perch/json.h"
#include "serve/record.h"

enum { UPLOADS_MAX = 16 };

/* Whether a list can be one: NULL, or what is wrong with it. */
const char *uploads_refuse(const perch_json_value *list);

/* -EINVAL, -ENOSPC and other errnos, -ENOMEM. */
int uploads_write(struct record *record, const perch_json_value *list, perch_job_request *request,
	perch_err *err);
void uploads_remove(struct record *record);

#endif

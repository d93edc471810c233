/* One `metadata` request: some of its answers need git, so it takes a while. */
#ifndef FLEDGE_METADATA_JOB_H
#define FLEDGE_METADATA_JOB_H

#include "fledge/run_services.h"

struct metadata_job;

/* Starts it and puts it into the list; it is answered through the options'
 * `done`, at once when nothing needs git. -ENOMEM. */
int metadata_job_start(struct metadata_job **list, const struct run_services_options *options,
	uint64_t ticket, const perch_text *keys, size_t count);

/* No answer is wanted any more. */
void metadata_jobs_drop(struct metadata_job *list);

void metadata_jobs_free(struct metadata_job **list);

#endif

/* Requests that a run answers later: stored values that another process may have locked, and
 * metadata that git must be asked for. */
#ifndef FLEDGE_RUN_SERVICES_H
#define FLEDGE_RUN_SERVICES_H

#include "base/meter.h"
#include "base/str.h"
#include "fledge/context.h"
#include "perch/host.h"

struct run_services;
struct surroundings;

struct run_services_options {
	perch_host *host;
	const char *plugin_dir;
	const char *directory; /* of the project; NULL = none */
	const char *const *own_env;
	const struct git_context *git;
	struct surroundings *surroundings; /* whose git is asked */
	struct meter *meter; /* counts requests that wait, and what git has printed for them; or NULL */
	/* The result of a request; valid during the call. */
	void (*done)(void *data, uint64_t ticket, struct str json);
	void (*warn)(void *data, const char *text);
	/* All that was stored is on disk, or was given up. May be NULL. */
	void (*settled)(void *data);
	void *data;
};

/* options and what it points to must outlive it. -ENOMEM. */
int run_services_new(
	const struct run_services_options *options, struct run_services **ret_services);
void run_services_free(struct run_services *run_services);

/* Each is answered through `done`, at once or later; 0 or -ENOMEM. A ticket of
 * 0 gets no answer. */
int run_services_store(
	struct run_services *run_services, uint64_t ticket, struct str key, struct str value);
int run_services_load(struct run_services *run_services, uint64_t ticket, struct str key);
int run_services_metadata(
	struct run_services *run_services, uint64_t ticket, const perch_text *keys, size_t count);

/* No result is wanted any more. Stores are written all the same. */
void run_services_drop(struct run_services *run_services);

/* Whether a stored value is not on disk yet. It will be, from the loop, or be given up with a
 * warning. */
bool run_services_is_busy(const struct run_services *run_services);

/* ---- metadata_job.c ------------------------------------------------------------------ */

/* One `metadata` request: some of its answers need git, so it takes a while. */

struct metadata_job;

/* Starts it and puts it into the list; it is answered through the options'
 * `done`, at once when nothing needs git. -ENOMEM. */
int metadata_job_start(struct metadata_job **list, const struct run_services_options *options,
	uint64_t ticket, const perch_text *keys, size_t count);

/* No answer is wanted any more. */
void metadata_jobs_drop(struct metadata_job *list);

void metadata_jobs_free(struct metadata_job **list);

#endif

/* Taking a job: a copy of what was asked for, a place among those that run or wait, a deadline. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/sized.h"
#include "proc/host.h"
#include "service/service_parts.h"
#include "trace/trace.h"

static const struct job_kind *const job_take_kinds[] = {
	[PERCH_ENTRY_TOOL] = &job_kind_tool,
	[PERCH_ENTRY_COMMAND] = &job_kind_run,
	[PERCH_ENTRY_AGENT] = &job_kind_turn,
};

/* ---- its place ------------------------------------------------------------- */

static bool job_take_has_before(const perch_job *job)
{
	for (int stage = 0; job->kind->is_behind && stage < JOB_ENDED; stage++) {
		const perch_job *other = list_first(&job->service->jobs[stage]);
		for (; other; other = list_next(other)) {
			if (other->kind == job->kind && job->kind->is_behind(job, other))
				return true;
		}
	}
	return false;
}

/* A job that can run at once counts among the running ones, any other among those that wait. */
static int job_take_find_room(perch_job *job, perch_err *err)
{
	const perch_service *service = job->service;
	const struct list *jobs = service->jobs;
	size_t waiting =
		jobs[JOB_BEHIND].count + jobs[JOB_READY].count + jobs[JOB_ASKING].count - service->expected;
	size_t places = jobs[JOB_RUNNING].count - service->early + service->ending + service->expected;
	size_t most = service->options.queue_bytes;
	job->is_expected = !job->keeper && places < service->options.max_jobs &&
		jobs[JOB_READY].count <= service->expected && !job_take_has_before(job);
	if (job->bytes > most - service->bytes)
		return err_set(
			err, -EBUSY, "too much text is waiting (at most %zu MiB)", most / 1024 / 1024);
	if (!job->keeper && !job->is_expected && waiting >= service->options.queue)
		return err_set(err, -EBUSY, "%zu %s run and %zu wait, as many as may", places,
			job->kind->plural, waiting);
	return 0;
}

/* ---- its copy -------------------------------------------------------------- */

static size_t job_take_text_size(const char *text)
{
	return text ? strlen(text) : 0;
}

static size_t job_take_list_size(const char *const *list)
{
	size_t size = 0;
	for (; list && *list; list++)
		size += strlen(*list);
	return size;
}

static size_t job_take_request_size(const perch_job_request *request)
{
	size_t size = request->input_len + request->message_len + job_take_list_size(request->args) +
		job_take_list_size(request->answers) + job_take_list_size(request->env);
	for (size_t i = 0; i < request->attachment_count; i++)
		size += job_take_text_size(request->attachments[i].url) +
			job_take_text_size(request->attachments[i].name);
	return size;
}

static int job_take_copy_text(perch_job *job, const char *text, const char **ret_copy)
{
	*ret_copy = text ? arena_dup(&job->arena, str_from(text)) : NULL;
	return text && !*ret_copy ? -ENOMEM : 0;
}

/* Copies what every kind has; the kind copies the rest. */
static int job_take_copy_common(perch_job *job, const perch_job_request *given, perch_err *err)
{
	perch_job_request *own = &job->request;
	*own = (perch_job_request){
		.size = sizeof(*own),
		.kind = given->kind,
		.sink = given->sink,
		.data = given->data,
		.timeout_ns = given->timeout_ns,
		.start_by_ns = given->start_by_ns,
		.non_interactive = given->non_interactive,
	};
	if (job_take_copy_text(job, given->name, &own->name) < 0 ||
		job_take_copy_text(job, given->caller.name, &own->caller.name) < 0 ||
		job_take_copy_text(job, given->caller.client, &own->caller.client) < 0 ||
		job_take_copy_text(job, given->approved_by, &own->approved_by) < 0)
		return err_no_memory(err);
	return 0;
}

/* ---- making it ------------------------------------------------------------- */

static int job_take_set_deadline(perch_job *job, perch_err *err)
{
	if (!job->request.timeout_ns)
		return 0;
	struct timers *timers = &job->service->host->loop.timers;
	if (timers_promise(timers) < 0)
		return err_no_memory(err);
	job->has_timer = true;
	job->deadline.due = job_deadline_due;
	timer_set(timers, &job->deadline, clock_after(job->submitted_ns, job->request.timeout_ns));
	return 0;
}

void job_discard(perch_job *job)
{
	if (!job)
		return;
	if (job->keeper)
		*job->keeper = NULL;
	job->kind->free(job);
	trace_close(job->trace, NULL);
	if (job->has_timer) {
		timer_cancel(&job->service->host->loop.timers, &job->deadline);
		timers_release(&job->service->host->loop.timers);
	}
	job_ask_free_all(job);
	buf_free(&job->json);
	arena_free(&job->arena);
	free(job);
}
DEFINE_POINTER_CLEANUP(cleanup_job, perch_job, job_discard)

static int job_take_make(perch_service *service, const struct job_kind *kind,
	const perch_job_request *given, perch_job **keeper, perch_job **ret_job, perch_err *err)
{
	_cleanup_(cleanup_job) perch_job *job = calloc(1, sizeof(*job));
	if (!job)
		return err_no_memory(err);
	job->service = service;
	job->kind = kind;
	job->keeper = keeper;
	job->arena = arena_in(job->room, sizeof(job->room));
	job->bytes = job_take_request_size(given);
	job->submitted_ns = clock_now_ns();
	job->stage = kind->queue ? JOB_BEHIND : JOB_READY;
	int r = job_take_copy_common(job, given, err);
	if (r == 0)
		r = kind->take(job, given, err);
	if (r == 0)
		r = job_take_find_room(job, err);
	if (r == 0)
		r = job_take_set_deadline(job, err);
	if (r == 0 && kind->queue)
		r = kind->queue(job, err);
	if (r == 0)
		*ret_job = steal(&job);
	return r;
}

static const struct job_kind *job_take_kind_of(perch_entry_kind kind)
{
	bool is_known = (unsigned)kind < COUNT(job_take_kinds);
	return is_known ? job_take_kinds[kind] : NULL;
}

static int job_take(perch_service *service, const perch_job_request *request, perch_job **keeper,
	perch_job **ret_job, perch_err *err)
{
	perch_job_request given = PERCH_JOB_REQUEST_INIT;
	int r = sized_copy(
		&given, sizeof(given), request, SIZED_UP_TO(perch_job_request, allow_shell_message), err);
	if (r < 0)
		return r;
	const struct job_kind *kind = job_take_kind_of(given.kind);
	if (!kind)
		return err_set(err, -EINVAL, "there are no jobs of that kind: %u", (unsigned)given.kind);
	if (!given.sink)
		return err_set(err, -EINVAL, "a job needs a sink");
	if (service->is_closed && !keeper)
		return err_set(err, -ESHUTDOWN, "no more jobs are taken");
	if (given.input && !given.input_len)
		given.input_len = strlen(given.input);
	if (given.message && !given.message_len)
		given.message_len = strlen(given.message);
	service_renew_exposure(service);
	perch_job *job = NULL;
	r = job_take_make(service, kind, &given, keeper, &job, err);
	if (r < 0)
		return r;
	service->expected += job->is_expected;
	service->inner += keeper != NULL;
	service->bytes += job->bytes;
	list_append(&service->jobs[job->stage], job);
	service_step_soon(service);
	*ret_job = job;
	return 0;
}

int perch_job_submit(
	perch_service *service, const perch_job_request *request, perch_job **ret_job, perch_err *err)
{
	return job_take(service, request, NULL, ret_job, err);
}

int job_submit_inner(
	perch_service *service, const perch_job_request *request, perch_job **ret_job, perch_err *err)
{
	return job_take(service, request, ret_job, ret_job, err);
}

/* Making and freeing a service; what is a job's is in job.c. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/resident.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/paths.h"
#include "base/sized.h"
#include "base/stamp.h"
#include "data/config.h"
#include "proc/host.h"
#include "service/service_parts.h"
#include "service/watch.h"
#include "tool/server.h"

void service_warn(perch_service *service, const char *format, ...)
{
	char text[PERCH_ERR_TEXT_MAX + 128];
	va_list args;
	if (!service->options.warn)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	service->options.warn(service, service->options.data, text);
}

static void service_changed(void *data)
{
	perch_service *service = data;
	service->options.changed(service, service->options.data);
}

int service_may_record(const perch_service *service, perch_err *err)
{
	if (!service->options.frontend)
		return 0;
	if (service->no_audit.code)
		return err_set(err, service->no_audit.code, "%s", service->no_audit.text);
	int r = audit_prepare(&service->audit, err);
	return r < 0 ? err_set(err, r, "the audit log is required: %s", err->text) : 0;
}

void service_record(perch_service *service, struct audit_job job, const perch_caller *caller)
{
	perch_err err = { 0 };
	if (!service->options.frontend || service->no_audit.code)
		return;
	job.frontend = service->options.frontend;
	job.caller = caller->name;
	job.client = caller->client;
	if (audit_append_job(&service->audit, &job, &err) < 0)
		service_warn(service, "the %s is not in the audit log: %s", job.kind, err.text);
}

int perch_service_record(perch_service *service, const perch_service_note *note, perch_err *err)
{
	perch_service_note given = { 0 };
	int r = sized_copy(&given, sizeof(given), note, SIZED_UP_TO(perch_service_note, caller), err);
	if (r < 0)
		return r;
	if (service->no_audit.code)
		return err_set(err, service->no_audit.code, "%s", service->no_audit.text);
	const struct audit_note line = {
		.kind = given.kind,
		.name = given.name,
		.job = given.job,
		.text = given.text,
		.caller = given.caller.name,
		.client = given.caller.client,
		.frontend = service->options.frontend,
	};
	return audit_append_note(&service->audit, &line, err);
}

bool perch_service_must_record(const perch_service *service)
{
	return service->no_audit.code || service->audit.is_required;
}

/* ---- MCP servers --------------------------------------------------------- */

static void service_told(
	void *data, const struct tool_binding *binding, const struct mcp_told *told)
{
	static const perch_service_told_kind lists[] = {
		[MCP_TOOLS] = PERCH_TOLD_TOOLS,
		[MCP_RESOURCES] = PERCH_TOLD_RESOURCES,
		[MCP_PROMPTS] = PERCH_TOLD_PROMPTS,
	};
	perch_service *service = data;
	bool is_list = told->kind == MCP_TOLD_CHANGED;
	const perch_service_told given = {
		.kind = is_list ? lists[told->list] : PERCH_TOLD_RESOURCE,
		.binding = binding->name,
		.uri = { is_list ? "" : told->text.data, is_list ? 0 : told->text.len },
	};
	service->options.told(service, service->options.data, &given);
}

const char *service_session(struct arena *arena, const char *caller, const char *session)
{
	return arena_join(arena, caller ? caller : "", "\n", session ? session : "", NULL);
}

void perch_service_end_session(perch_service *service, const char *caller, const char *session)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	const char *key = service_session(&arena, caller, session);
	if (key)
		servers_end_session(tool_pool_servers(service->tools.pool), key);
}

bool perch_service_shows(
	const perch_service *service, perch_entry_kind kind, const char *binding, const char *name)
{
	return exposure_shows_of(&service->exposure, kind, binding, name);
}

/* ---- making one ---------------------------------------------------------- */

static size_t service_either(size_t given, size_t otherwise)
{
	return given ? given : otherwise;
}

static int service_copy_options(
	perch_service *service, const perch_service_options *given, perch_err *err)
{
	perch_service_options *own = &service->options;
	struct arena *arena = &service->arena;
	*own = *given;
	own->max_jobs = service_either(given->max_jobs, SERVICE_JOBS);
	own->queue = given->queue == SIZE_MAX ? 0 : service_either(given->queue, SERVICE_QUEUE);
	own->queue_bytes = service_either(given->queue_bytes, SERVICE_QUEUE_BYTES);
	if (given->project_dir && given->project_dir[0] != '/')
		return err_set(err, -EINVAL, "project_dir must be absolute, not '%s'", given->project_dir);
	own->bindings = NULL;
	if (given->frontend)
		own->frontend = arena_dup(arena, str_from(given->frontend));
	if (given->project_dir)
		own->project_dir = arena_dup(arena, str_from(given->project_dir));
	if (given->trace)
		own->trace = arena_dup(arena, str_from(given->trace));
	if (given->profiles)
		own->profiles = arena_dup_list(arena, given->profiles);
	bool is_whole = (!given->frontend || own->frontend) &&
		(!given->project_dir || own->project_dir) && (!given->trace || own->trace) &&
		(!given->profiles || own->profiles);
	return is_whole ? 0 : err_no_memory(err);
}

/* When the file has become wrong, the settings stay as they were before. */
void service_renew_exposure(perch_service *service)
{
	perch_err err = { 0 };
	if (service->exposure.is_all)
		return;
	const struct stat now = config_own_stamp();
	if (stamp_is_unchanged(&now, &service->config_stamp))
		return;
	if (service_read_exposure(service, &err) < 0)
		service_warn(service, "%s", err.text);
	service->config_stamp = now;
}

int service_read_exposure(perch_service *service, perch_err *err)
{
	struct arena arena = { 0 };
	struct exposure exposure;
	const struct stat now = config_own_stamp();
	int r = exposure_read(service->options.frontend, &arena, &exposure, err);
	if (r < 0) {
		arena_free(&arena);
		return r;
	}
	arena_free(&service->exposure_arena);
	service->exposure_arena = arena;
	service->exposure = exposure;
	service->config_stamp = now;
	return 0;
}

static int service_open(perch_service *service, const perch_service_options *given, perch_err *err)
{
	int r = service_copy_options(service, given, err);
	if (r == 0)
		r = service_read_exposure(service, err);
	if (r < 0)
		return r;
	if (audit_settings(&service->audit, &service->no_audit) == 0)
		service->no_audit.code = 0; /* else calls are refused */
	else if (service->no_audit.code == -ENOMEM)
		return err_no_memory(err); /* and not for good */
	service->step.due = service_step;
	service->has_step = timers_promise(&service->host->loop.timers) == 0;
	if (!service->has_step || tool_pool_new(service->host, &service->tools.pool) < 0)
		return err_no_memory(err);
	service->tools.has_no_spares = given->no_spares;
	if (given->no_spares)
		servers_keep_none(tool_pool_servers(service->tools.pool));
	else if (residents_new(service->host, &service->residents) < 0)
		return err_no_memory(err);
	for (const char *const *path = given->bindings; r == 0 && path && *path; path++)
		r = bound_tools_add(&service->tools, *path, err);
	if (r == 0)
		r = service_trace_open(service, err);
	if (given->told)
		servers_listen(tool_pool_servers(service->tools.pool), service_told, service);
	if (r == 0 && given->changed)
		r = service_watch_new(service->host, service_changed, service, &service->watch);
	return r == -ENOMEM ? err_no_memory(err) : r;
}

DEFINE_POINTER_CLEANUP(cleanup_service, perch_service, perch_service_free)

int perch_service_new(perch_host *host, const perch_service_options *options,
	perch_service **ret_service, perch_err *err)
{
	perch_service_options given = PERCH_SERVICE_OPTIONS_INIT;
	int r =
		sized_copy(&given, sizeof(given), options, SIZED_UP_TO(perch_service_options, data), err);
	if (r < 0)
		return r;
	_cleanup_(cleanup_service) perch_service *service = calloc(1, sizeof(*service));
	if (!service)
		return err_no_memory(err);
	service->host = host;
	r = service_open(service, &given, err);
	if (r == 0)
		*ret_service = steal(&service);
	return r;
}

/* ---- the rest ------------------------------------------------------------ */

int service_open_sessions(perch_service *service, perch_err *err)
{
	if (service->stored.sessions || service->options.no_store)
		return 0;
	return sessions_open(service->host, &service->stored.sessions, err);
}

int perch_service_sessions(perch_service *service, perch_sessions **ret_sessions, perch_err *err)
{
	if (service->options.no_store)
		return err_set(err, -ENOENT, "no sessions are kept");
	int r = service_open_sessions(service, err);
	if (r == 0)
		*ret_sessions = &service->stored;
	return r;
}

void perch_service_close(perch_service *service)
{
	service->is_closed = true;
	servers_stop(tool_pool_servers(service->tools.pool));
	if (service->residents)
		residents_stop(service->residents);
}

size_t perch_service_servers(const perch_service *service)
{
	return servers_count(tool_pool_servers(service->tools.pool)) +
		(service->residents ? residents_count(service->residents) : 0);
}

size_t perch_service_jobs(const perch_service *service)
{
	size_t count = service->leaving;
	for (int stage = 0; stage < JOB_ENDED; stage++)
		count += service->jobs[stage].count;
	return count;
}

size_t perch_service_bad_exits(const perch_service *service)
{
	return service->bad_exits;
}

static void service_free_jobs(perch_service *service, enum job_stage from, enum job_stage to)
{
	for (enum job_stage stage = from; stage < to; stage++) {
		perch_job *job;
		while ((job = list_first(&service->jobs[stage])))
			job_remove(job);
	}
}

/* Jobs that are over get their end event, also when another process holds the sessions. */
static void service_end_jobs(perch_service *service)
{
	service->is_closed = true;
	service_free_jobs(service, 0, JOB_ENDING);
	if (service->jobs[JOB_ENDING].count && service->stored.sessions)
		sessions_finish(service->stored.sessions);
	service_free_jobs(service, JOB_ENDING, JOB_STAGES);
}

void perch_service_free(perch_service *service)
{
	if (!service)
		return;
	service_end_jobs(service);
	service_watch_free(service->watch);
	if (service->tools.pool)
		bound_tools_free(&service->tools);
	tool_pool_free(service->tools.pool);
	residents_free(service->residents);
	profiles_free(&service->profiles);
	sessions_api_close(&service->stored);
	service_trace_close(service);
	if (service->has_step) {
		timer_cancel(&service->host->loop.timers, &service->step);
		timers_release(&service->host->loop.timers);
	}
	for (size_t i = 0; i < COUNT(service->texts); i++)
		buf_free(&service->texts[i]);
	arena_free(&service->exposure_arena);
	arena_free(&service->arena);
	free(service);
}

/* The trace of a service: opened with it, begun with its first job, written before the loop waits.
 */
#include "base/err.h"
#include "base/macros.h"
#include "proc/host.h"
#include "service/service_parts.h"
#include "trace/trace.h"

static void service_trace_wants(void *data)
{
	perch_service *service = data;
	timer_set(&service->host->loop.timers, &service->trace_due, 0);
}

static void service_trace_flush(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	perch_service *service = container_of(timer, perch_service, trace_due);
	perch_err err = { 0 };
	if (trace_flush(service->trace, &err) < 0)
		service_warn(service, "%s", err.text);
}

int service_trace_open(perch_service *service, perch_err *err)
{
	const perch_service_options *options = &service->options;
	if (!options->trace)
		return 0;
	if (timers_promise(&service->host->loop.timers) < 0)
		return err_no_memory(err);
	service->has_trace_timer = true;
	service->trace_due.due = service_trace_flush;
	int r = trace_open(options->trace, options->trace_secrets, &service->trace, err);
	if (r == 0)
		trace_call_when_waiting(service->trace, service_trace_wants, service);
	return r;
}

struct trace *service_trace_start(perch_job *job, const char *command, const char *const *args)
{
	perch_service *service = job->service;
	if (service->trace && !service->has_trace_head)
		trace_start(service->trace, command, args);
	service->has_trace_head = true;
	struct trace **part =
		job->request.kind == PERCH_ENTRY_TOOL ? &service->tool_trace : &job->trace;
	if (!*part)
		*part = trace_part(service->trace);
	return *part;
}

void service_trace_close(perch_service *service)
{
	struct timers *timers = &service->host->loop.timers;
	perch_err err = { 0 };
	if (!service->has_trace_timer)
		return;
	trace_close(service->tool_trace, NULL);
	if (trace_close(service->trace, &err) < 0)
		service_warn(service, "%s", err.text);
	timer_cancel(timers, &service->trace_due);
	timers_release(timers);
}

/* The sandbox of what runs, whatever its kind. */
#include "plugins/fledge_api_parts.h"
#include "service/service_parts.h"
#include "tool/call_parts.h"
#include "tool/server.h"

static const char *const *job_sandbox_layers(const char *const *layers)
{
	static const char *const none[] = { NULL };
	return layers ? layers : none;
}

static const char *const *job_sandbox_of_call(const struct tool_call *call)
{
	const struct launch *launch = call->exchange ? &call->exchange->launch
		: call->served                           ? server_call_launch(call->served)
												 : NULL;
	return launch ? job_sandbox_layers(launch->layers) : NULL;
}

const char *const *perch_job_sandbox(const perch_job *job)
{
	if (job->stage != JOB_RUNNING)
		return NULL;
	if (job->kind == &job_kind_turn)
		return job->turn.turn ? job_sandbox_layers(agent_turn_layers(job->turn.turn)) : NULL;
	if (job->kind == &job_kind_run)
		return job->run.run ? job_sandbox_layers(job->run.run->options.layers) : NULL;
	return job->tool.call ? job_sandbox_of_call(job->tool.call) : NULL;
}

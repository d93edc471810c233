/* The sandbox of what runs, whatever its kind. */
#include "plugins/fledge_api_parts.h"
#include "service/service_parts.h"
#include "tool/call_parts.h"

const char *const *perch_job_sandbox(const perch_job *job)
{
	if (job->stage != JOB_RUNNING)
		return NULL;
	if (job->kind == &job_kind_turn)
		return job->turn.turn ? agent_turn_layers(job->turn.turn) : NULL;
	if (job->kind == &job_kind_run)
		return job->run.run ? job->run.run->options.layers : NULL;
	const struct tool_call *call = job->tool.call;
	return call && call->exchange ? call->exchange->launch.layers : NULL;
}

/* Jobs that call a tool: what is asked for is checked and copied. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/macros.h"
#include "service/service_parts.h"

static int job_tool_unknown(const char *name, perch_err *err)
{
	return err_set(err, -ENOENT, "there is no tool '%.200s'", name);
}

/* A tool that is not exposed is not looked at. */
static int job_tool_check_shown(perch_job *job, perch_err *err)
{
	perch_service *service = job->service;
	const char *name = job->request.name;
	struct bound_tool *bound;
	if (service->exposure.is_all || job->tool.passage.method)
		return 0;
	if (!exposure_shows(&service->exposure, PERCH_ENTRY_TOOL, name))
		return job_tool_unknown(name, err);
	int r = bound_tools_use(&service->tools, job->tool.binding, &bound, NULL);
	if (r == -ENOMEM)
		return err_no_memory(err);
	if (r == -ENOENT)
		return job_tool_unknown(name, err);
	bool is_known = r < 0 || tool_binding_tool(&bound->binding, job->tool.tool);
	if (r == 0)
		bound_tools_leave(&service->tools, bound);
	return is_known ? 0 : job_tool_unknown(name, err);
}

/* NULL stays NULL. False without memory. */
static bool job_tool_keep(perch_job *job, const char **text)
{
	if (*text)
		*text = arena_dup(&job->arena, str_from(*text));
	return *text;
}

static int job_tool_copy_context(perch_job *job, const perch_tool_request *given, perch_err *err)
{
	perch_tool_request *own = &job->tool.given;
	if (!given)
		return 0;
	*own = *given;
	own->tool = job->tool.tool;
	own->input = NULL;
	own->done = NULL;
	own->stderr_bytes = NULL;
	const char **texts[] = { &own->workspace_id, &own->widget_id, &own->repo_root, &own->role_id,
		&own->mode_id };
	for (size_t i = 0; i < COUNT(texts); i++) {
		if (*texts[i] && !job_tool_keep(job, texts[i]))
			return err_no_memory(err);
	}
	return 0;
}

/* BINDING/TOOL, or the two apart: the name of a binding that was given as a file may be anything.
 */
static int job_tool_name(perch_job *job, const perch_job_request *given, perch_err *err)
{
	if (given->binding && !job->service->exposure.is_all)
		return err_set(err, -EINVAL, "bindings are known by their names");
	job->tool.is_file = given->binding;
	const char *apart = given->method ? given->method
		: given->binding              ? job->request.name
		: given->tool                 ? given->tool->tool
									  : NULL;
	struct str tool = str_from(job->request.name);
	struct str binding = apart ? tool : str_cut(&tool, '/');
	tool = apart ? str_from(apart) : tool;
	if (!apart && (!binding.len || !tool.len))
		return err_set(err, -EINVAL, "the name of a tool is BINDING/TOOL");
	if (given->binding)
		binding = str_from(given->binding);
	job->tool.binding = arena_dup(&job->arena, binding);
	job->tool.tool = arena_dup(&job->arena, tool);
	if (!job->tool.binding || !job->tool.tool)
		return err_no_memory(err);
	job->request.name = arena_join(&job->arena, job->tool.binding, "/", job->tool.tool, NULL);
	return job->request.name ? 0 : err_no_memory(err);
}

int job_tool_take(perch_job *job, const perch_job_request *given, perch_err *err)
{
	const perch_err *no_audit = &job->service->no_audit;
	if (no_audit->code)
		return err_set(err, no_audit->code, "%s", no_audit->text);
	int r = job_tool_name(job, given, err);
	if (r < 0)
		return r;
	job->request.input = given->input
		? arena_dup(&job->arena, (struct str){ given->input, given->input_len })
		: NULL;
	job->request.input_len = given->input_len;
	job->request.shows_stderr = given->shows_stderr;
	job->tool.approval = job->request.approved_by;
	if (given->input && !job->request.input)
		return err_no_memory(err);
	job->tool.session = service_session(&job->arena, given->caller.name, given->session);
	if (!job->tool.session)
		return err_no_memory(err);
	r = job_tool_copy_context(job, given->tool, err);
	if (r == 0)
		r = job_passage_take(job, given, err);
	return r < 0 ? r : job_tool_check_shown(job, err);
}

/* The calls of include/perch/tool.h: the library's face over tool/call.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/sized.h"
#include "proc/host.h"
#include "tool/tool_api_parts.h"
#include "tool/audit_log.h"
#include "tool/call.h"

struct perch_tool_call {
	perch_tool_request request;
	perch_host *host;
	struct tool_call *call;
	char *tool;   /* a copy of the request's */
	char *caller; /* the same */
	struct buf json;
};

struct perch_tool_pool {
	perch_host *host;
	struct tool_pool *pool;
};

/* ---- starting ---------------------------------------------------------------- */

static void tool_api_call_done(void *data, struct tool_call *inner)
{
	(void)inner;
	perch_tool_call *call = data;
	if (call->request.done)
		call->request.done(call, call->request.data);
}

static void tool_api_call_left(void *data, struct tool_call *inner)
{
	(void)inner;
	perch_tool_call *call = data;
	if (call->request.left)
		call->request.left(call, call->request.data);
}

static void tool_api_call_stderr(void *data, const char *bytes, size_t len)
{
	perch_tool_call *call = data;
	call->request.stderr_bytes(call->request.data, bytes, len);
}

static int tool_api_copy_request(
	const perch_tool_request *request, perch_tool_request *ret_copy, perch_err *err)
{
	perch_tool_request copy = PERCH_TOOL_REQUEST_INIT;
	int r = sized_copy(&copy, sizeof(copy), request, SIZED_UP_TO(perch_tool_request, data), err);
	if (r < 0)
		return r;
	if (copy.input && !copy.input_length)
		copy.input_length = strlen(copy.input);
	*ret_copy = copy;
	return 0;
}

static void tool_api_unrecorded(void *data, const perch_err *err)
{
	const perch_tool_call *call = data;
	log_warn(&call->host->log, "the call is not in the audit log: %s", err->text);
}

static struct audit_origin tool_api_origin(perch_tool_call *call)
{
	return (struct audit_origin){
		.caller = call->caller,
		.unrecorded = tool_api_unrecorded,
		.data = call,
	};
}

static struct tool_call_options tool_api_options_of(
	perch_tool_call *call, const perch_tool_binding *binding)
{
	const perch_tool_request *request = &call->request;
	return (struct tool_call_options){
		.binding = &binding->bound,
		.tool = call->tool,
		.context = {
			.workspace_id = request->workspace_id,
			.widget_id = request->widget_id,
			.repo_root = request->repo_root,
			.role_id = request->role_id,
			.mode_id = request->mode_id,
		},
		.input = { request->input, request->input_length },
		.invocation_ns = request->invocation_ns,
		.handshake_ns = request->handshake_ns,
		.teardown_ns = request->teardown_ns,
		.strict = request->strict,
		.stderr_bytes = request->stderr_bytes ? tool_api_call_stderr : NULL,
		.done = tool_api_call_done,
		.left = tool_api_call_left,
		.data = call,
		.origin = tool_api_origin(call),
	};
}

static const char *tool_api_given_input(const perch_tool_request *request)
{
	return request->input ? request->input : "{}";
}

/* The user is asked at once, where the binding wants it. */
static bool tool_api_is_approved(const perch_tool_call *call, const perch_tool_binding *binding)
{
	const perch_tool_request *request = &call->request;
	return call->tool && request->approve && tool_binding_asks(&binding->bound, call->tool) &&
		request->approve(request->data, call->tool, tool_api_given_input(request));
}

/* Without a tool it is no call: a handshake is not recorded. */
static int tool_api_prepare(perch_tool_call *call, const perch_tool_binding *binding,
	struct audit_origin *origin, perch_err *err)
{
	if (!call->tool)
		return 0;
	int r = audit_of_host(call->host, &origin->audit, err);
	if (r == 0 && tool_api_is_approved(call, binding))
		origin->approval = "caller";
	return r;
}

/* With a pool or (NULL) without. */
static int tool_api_start(perch_host *host, struct tool_pool *pool,
	const perch_tool_binding *binding, const perch_tool_request *request,
	perch_tool_call **ret_call, perch_err *err)
{
	perch_tool_call *call = calloc(1, sizeof(*call));
	if (!call)
		return err_no_memory(err);
	call->host = host;
	int r = tool_api_copy_request(request, &call->request, err);
	call->tool = call->request.tool ? str_dup(str_from(call->request.tool)) : NULL;
	call->caller = call->request.caller ? str_dup(str_from(call->request.caller)) : NULL;
	if ((call->request.tool && !call->tool) || (call->request.caller && !call->caller))
		r = err_no_memory(err);
	struct tool_call_options options = tool_api_options_of(call, binding);
	if (r == 0)
		r = tool_api_prepare(call, binding, &options.origin, err);
	if (r == 0)
		r = pool ? tool_pool_call(pool, &options, &call->call, err)
				 : tool_call_start(host, &options, &call->call, err);
	if (r < 0) {
		perch_tool_call_free(call);
		return r;
	}
	*ret_call = call;
	return 0;
}

int perch_tool_call_start(perch_host *host, const perch_tool_binding *binding,
	const perch_tool_request *request, perch_tool_call **ret_call, perch_err *err)
{
	return tool_api_start(host, NULL, binding, request, ret_call, err);
}

int perch_tool_call_run(perch_host *host, const perch_tool_binding *binding,
	const perch_tool_request *request, perch_tool_call **ret_call, perch_err *err)
{
	if (host->loop.dispatching)
		return err_set(err, PERCH_EBUSY, "a call cannot be waited for in a callback");
	perch_tool_request copy;
	int r = tool_api_copy_request(request, &copy, err);
	if (r < 0)
		return r;
	copy.done = NULL;
	perch_tool_call *call;
	r = tool_api_start(host, NULL, binding, &copy, &call, err);
	if (r < 0)
		return r;
	while (r >= 0 && !tool_call_result(call->call))
		r = perch_host_wait(host, -1);
	if (r < 0) {
		perch_tool_call_free(call);
		return err_set(err, r, "cannot wait for the call: %s", perch_strerror(r));
	}
	*ret_call = call;
	return 0;
}

/* ---- the rest ----------------------------------------------------------------- */

void perch_tool_call_cancel(perch_tool_call *call)
{
	tool_call_cancel(call->call);
}

const perch_tool_result *perch_tool_call_result(const perch_tool_call *call)
{
	return tool_call_result(call->call);
}

int perch_tool_call_json(perch_tool_call *call, perch_text *ret_text)
{
	if (!tool_call_result(call->call))
		return -EAGAIN;
	buf_clear(&call->json);
	int r = tool_result_json(&call->json, (struct str){ 0 }, tool_call_result(call->call));
	if (r == 0)
		r = buf_terminate(&call->json);
	if (r == 0)
		*ret_text = (perch_text){ call->json.data, call->json.len };
	return r;
}

void perch_tool_call_free(perch_tool_call *call)
{
	if (!call)
		return;
	tool_call_free(call->call);
	buf_free(&call->json);
	free(call->tool);
	free(call->caller);
	free(call);
}

int perch_tool_pool_new(perch_host *host, perch_tool_pool **ret_pool, perch_err *err)
{
	perch_tool_pool *pool = calloc(1, sizeof(*pool));
	if (!pool || tool_pool_new(host, &pool->pool) < 0) {
		free(pool);
		return err_no_memory(err);
	}
	pool->host = host;
	*ret_pool = pool;
	return 0;
}

int perch_tool_pool_keep(perch_tool_pool *pool, const perch_tool_binding *binding)
{
	return tool_pool_keep(pool->pool, &binding->bound);
}

void perch_tool_pool_forget(perch_tool_pool *pool, const perch_tool_binding *binding)
{
	tool_pool_forget(pool->pool, &binding->bound);
}

int perch_tool_pool_call(perch_tool_pool *pool, const perch_tool_binding *binding,
	const perch_tool_request *request, perch_tool_call **ret_call, perch_err *err)
{
	return tool_api_start(pool->host, pool->pool, binding, request, ret_call, err);
}

void perch_tool_pool_free(perch_tool_pool *pool)
{
	if (!pool)
		return;
	tool_pool_free(pool->pool);
	free(pool);
}

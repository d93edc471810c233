/* One call of a tool: row 0 of the verdicts, an exchange, a result. */
#include "tool/call.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/macros.h"
#include "data/json.h"
#include "tool/call_parts.h"
#include "tool/schema.h"
#include "tool/server.h"
#include "wire/mcp_params.h"

/* ---- row 0 --------------------------------------------------------------- */

static struct str call_input_of(const struct tool_call *call)
{
	return call->options.input.len ? call->options.input : STR("{}");
}

/* The schema that `tool add` has stored for this tool, "" = none. */
static struct str call_schema_of(const struct tool_call *call)
{
	const struct tool_binding *binding = call->options.binding;
	for (size_t i = 0; i < binding->tool_count; i++) {
		if (str_is(str_from(binding->tools[i].name), call->options.tool))
			return str_from(binding->tools[i].input_schema);
	}
	return (struct str){ 0 };
}

/* A schema of an MCP server may have keywords that we do not know: then the server checks the input
 * itself; so it does where arguments are sent as headers too, because null stands for none there,
 * whatever the type says. */
static bool call_is_checked_by_server(const struct tool_call *call, struct str schema)
{
	return call->options.binding->server.is_server &&
		(tool_schema_check(schema, NULL) < 0 ||
			memmem(schema.data, schema.len, MCP_PARAM_MARK, strlen(MCP_PARAM_MARK)));
}

static int call_check_input(const struct tool_call *call, perch_err *err)
{
	struct str schema = call_schema_of(call);
	if (!schema.len || call_is_checked_by_server(call, schema))
		return 0;
	return tool_schema_validate(schema, call_input_of(call), err);
}

static int call_check_object(struct str input, perch_err *err)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	perch_err inner = { 0 };
	int r = perch_json_new(NULL, &json);
	if (r == 0)
		r = perch_json_parse(json, input.data, input.len, &root, &inner);
	if (r == -ENOMEM)
		return err_no_memory(err);
	if (r < 0)
		return err_set(err, -EINVAL, "the input is not JSON: %s", inner.text);
	if (perch_json_type_of(root) != PERCH_JSON_OBJECT)
		return err_set(err, -EINVAL, "the input of an MCP tool must be an object");
	return 0;
}

static int call_write_request(struct tool_call *call, perch_err *err)
{
	struct str tool = str_from(call->options.tool);
	if (!str_trim(tool).len)
		return err_set(err, -EINVAL, "the name of the tool is blank");
	int r = tool_request_id(call->request_id);
	if (r < 0)
		return err_set(err, r, "no random number for the request: %s", perch_strerror(r));
	const struct tool_request request = {
		.tool = tool,
		.request_id = str_from(call->request_id),
		.context = call->options.context,
		.input = call->options.input,
	};
	r = tool_request_write(&call->line, &request, err);
	if (r < 0)
		return r;
	call->request = (struct tool_engine_request){
		.tool = tool,
		.request_id = request.request_id,
		.line = { call->line.data, call->line.len },
		.strict = call->options.strict,
	};
	call->result.request_id = text_from(call->request_id);
	return call_check_input(call, err);
}

/* For an MCP server, the request is only the params. */
static int call_write_arguments(struct tool_call *call, perch_err *err)
{
	perch_json_writer out = json_writer_on(&call->line);
	const char *tool = call->options.tool;
	struct str input = call_input_of(call);
	if (call->options.passage.method) {
		buf_append(&call->line, input.data, input.len);
		return call->line.failed ? err_no_memory(err) : call_check_object(input, err);
	}
	if (!tool_binding_tool(call->options.binding, tool))
		return err_set(err, -ENOENT, "the binding lists no tool '%.100s'", tool);
	int r = call_check_object(input, err);
	if (r == 0)
		r = call_check_input(call, err);
	if (r < 0)
		return r;
	perch_json_begin_object(&out);
	json_write_text(&out, "name", str_from(tool));
	perch_json_write_name(&out, "arguments");
	perch_json_write_raw(&out, input.data, input.len);
	perch_json_end_object(&out);
	return call->line.failed ? err_no_memory(err) : 0;
}

/* Whether the tool asks before each call, and no user has approved this one. */
static int call_check_approval(struct tool_call *call, perch_err *err)
{
	struct audit_origin *origin = &call->options.origin;
	const char *tool = call->options.tool;
	if (origin->approval || !tool || call->options.passage.method ||
		!tool_binding_asks(call->options.binding, tool))
		return 0;
	origin->approval = "none";
	return err_set(
		err, -EINVAL, "the binding asks before each call of %.100s, and nobody said yes", tool);
}

/* A call that must be recorded and cannot be is not made. */
static int call_check_audit(struct tool_call *call, perch_err *err)
{
	const struct audit *audit = call->options.origin.audit;
	if (!audit)
		return 0;
	call->input = audit_input(call->options.input);
	int r = audit_prepare(audit, err);
	return r < 0 ? err_set(err, r, "the audit log is required: %s", err->text) : 0;
}

/* -ENOMEM, or 0: a request that cannot be sent is a result, not an error. */
static int call_check_request(struct tool_call *call, perch_err *err)
{
	perch_err fault = { 0 };
	const char *stage = "binding";
	int r = call_check_audit(call, &fault);
	if (r < 0) {
		call_fail_soon(call, PERCH_TOOL_LAUNCH_FAILED, "launch", &fault);
		return 0;
	}
	r = tool_binding_check(call->options.binding, &fault);
	if (r == 0)
		r = call_check_approval(call, &fault);
	if (r == 0 && call->options.tool) {
		stage = "request";
		r = call->options.binding->server.is_server ? call_write_arguments(call, &fault)
													: call_write_request(call, &fault);
	}
	if (r == -ENOMEM)
		return err_no_memory(err);
	if (r < 0)
		call_fail_soon(call, r == -ENOENT ? PERCH_TOOL_NOT_EXPOSED : PERCH_TOOL_INVALID_REQUEST,
			stage, &fault);
	return 0;
}

/* ---- the call ------------------------------------------------------------ */

int call_new(perch_host *host, const struct tool_call_options *options, struct tool_call **ret_call,
	perch_err *err)
{
	struct tool_call *call = calloc(1, sizeof(*call));
	if (!call)
		return err_no_memory(err);
	call->host = host;
	call->options = *options;
	call->started_ns = clock_now_ns();
	call->soon.due = call_soon_due;
	call->result = tool_result_empty();
	call->result.tool = text_from(options->tool);
	call->has_timer = timers_promise(&host->loop.timers) == 0;
	int r = call->has_timer ? call_check_request(call, err) : err_no_memory(err);
	if (r < 0) {
		tool_call_free(call);
		return r;
	}
	*ret_call = call;
	return 0;
}

static uint64_t call_either(uint64_t ours, uint64_t of_the_binding)
{
	return ours ? ours : of_the_binding;
}

struct exchange_options call_exchange_options(struct tool_call *call)
{
	const struct tool_call_options *options = &call->options;
	const struct tool_binding *binding = options->binding;
	return (struct exchange_options){
		.binding = binding,
		.request = options->tool ? &call->request : NULL,
		.handshake_only = !options->tool,
		.clocks = {
			.invocation_ns = call_either(options->invocation_ns, binding->invocation_ns),
			.handshake_ns = call_either(options->handshake_ns, binding->handshake_ns),
			.teardown_ns = call_either(options->teardown_ns, binding->teardown_ns),
		},
		.listener = call_listener(call),
		.trace = options->trace,
	};
}

void call_finish_served(struct tool_call *call)
{
	if (call->hint.len && buf_terminate(&call->hint) == 0)
		call->result.hint = (perch_text){ call->hint.data, call->hint.len };
	call_finish(call);
}

static void call_serve(struct tool_call *call, struct servers *servers)
{
	perch_err fault = { 0 };
	if (server_call_start(servers, call, &call->served, &fault) < 0)
		call_fail_soon(call, PERCH_TOOL_LAUNCH_FAILED, "launch", &fault);
}

void call_launch(struct tool_call *call, struct servers *servers)
{
	if (call->options.binding->server.is_server) {
		call_serve(call, servers);
		return;
	}
	const struct exchange_options options = call_exchange_options(call);
	perch_err fault = { 0 };
	int r = exchange_new(call->host, &options, &call->exchange);
	r = r < 0 ? err_no_memory(&fault) : exchange_start(call->exchange, &fault);
	if (r == 0)
		return;
	exchange_free(call->exchange);
	call->exchange = NULL;
	call_fail_soon(call, PERCH_TOOL_LAUNCH_FAILED, "launch", &fault);
}

int tool_call_start(perch_host *host, const struct tool_call_options *options,
	struct tool_call **ret_call, perch_err *err)
{
	struct tool_call *call;
	int r = call_new(host, options, &call, err);
	if (r < 0)
		return r;
	if (!call_has_failed(call))
		call_launch(call, NULL);
	*ret_call = call;
	return 0;
}

void tool_call_cancel(struct tool_call *call)
{
	bool has_process = call->is_early ? !call->has_left : !call->is_over;
	if (has_process && call->exchange)
		exchange_cancel(call->exchange);
	if (!call->is_over && call->served)
		server_call_cancel(call->served);
}

bool tool_call_is_leaving(const struct tool_call *call)
{
	return call->is_early;
}

const perch_tool_result *tool_call_result(const struct tool_call *call)
{
	return call->is_over ? &call->result : NULL;
}

void tool_call_free(struct tool_call *call)
{
	if (!call)
		return;
	struct timers *timers = &call->host->loop.timers;
	timer_cancel(timers, &call->soon);
	if (call->has_timer)
		timers_release(timers);
	exchange_free(call->exchange);
	server_call_free(call->served);
	buf_free(&call->line);
	buf_free(&call->hint);
	buf_free(&call->early_stderr);
	free(call);
}

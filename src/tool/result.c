/* The result of a call: an empty one, and the JSON object of section 4 of the contract. */
#include <errno.h>

#include "base/clock.h"
#include "data/json.h"
#include "tool/call.h"

typedef struct perch_json_writer writer;

perch_tool_result tool_result_empty(void)
{
	return (perch_tool_result){
		.message = NO_TEXT,
		.plugin_id = NO_TEXT,
		.plugin_version = NO_TEXT,
		.tool = NO_TEXT,
		.request_id = NO_TEXT,
		.output = NO_TEXT,
		.metadata = NO_TEXT,
		.error_code = NO_TEXT,
		.error_message = NO_TEXT,
		.manifest = NO_TEXT,
		.stderr_tail = NO_TEXT,
		.hint = NO_TEXT,
		.content = NO_TEXT,
		.structured = NO_TEXT,
		.exit_message = NO_TEXT,
		.reach = PERCH_REACH_GROUP,
	};
}

/* Unknown values are null. */
static void result_write_text(writer *out, const char *name, perch_text text)
{
	perch_json_write_name(out, name);
	if (text.len)
		perch_json_write_string_n(out, text.data, text.len);
	else
		perch_json_write_null(out);
}

static void result_write_raw(writer *out, const char *name, perch_text json)
{
	perch_json_write_name(out, name);
	if (json.len)
		perch_json_write_raw(out, json.data, json.len);
	else
		perch_json_write_null(out);
}

static void result_write_number(writer *out, const char *name, bool is_known, uint64_t number)
{
	perch_json_write_name(out, name);
	if (is_known)
		perch_json_write_uint64(out, number);
	else
		perch_json_write_null(out);
}

static void result_write_error(writer *out, const perch_tool_result *result)
{
	perch_json_write_name(out, "error");
	perch_json_begin_object(out);
	json_write_text(out, "code", str_of(result->error_code));
	json_write_text(out, "message", str_of(result->error_message));
	perch_json_end_object(out);
}

/* The answer, also that of a plugin that went wrong afterwards. */
static void result_write_answer(writer *out, const perch_tool_result *result)
{
	bool is_ok = result->code == PERCH_TOOL_OK;
	bool is_error = result->code == PERCH_TOOL_EXECUTION_ERROR;
	if (result->responded && !is_ok && !is_error)
		json_write_flag(out, "responded", true);
	if (result->responded && (!is_error || result->output.len))
		result_write_raw(out, "output", result->output);
	if (is_error)
		result_write_error(out, result);
	if (result->metadata.len)
		result_write_raw(out, "metadata", result->metadata);
	if (is_ok && !result->responded) /* a handshake was all that was wanted */
		result_write_raw(out, "manifest", result->manifest);
}

static void result_write_layers(writer *out, const char *const *layers)
{
	perch_json_write_name(out, "sandbox");
	perch_json_begin_array(out);
	for (; layers && *layers; layers++)
		perch_json_write_string(out, *layers);
	perch_json_end_array(out);
}

/* The response was the verdict. */
static void result_write_early(writer *out, const perch_tool_result *result)
{
	json_write_text(out, "verdict", STR("response"));
	if (result->exit_verdict == PERCH_TOOL_OK)
		return;
	json_write_text(out, "exit_verdict", str_from(perch_tool_code_name(result->exit_verdict)));
	json_write_text(out, "exit_message", str_of(result->exit_message));
}

int tool_result_json(struct buf *out, struct str id, const perch_tool_result *result)
{
	writer json = json_writer_on(out);
	perch_json_begin_object(&json);
	if (id.len)
		result_write_raw(&json, "id", text_of(id));
	json_write_flag(&json, "ok", result->code == PERCH_TOOL_OK);
	result_write_answer(&json, result);
	json_write_text(&json, "code", str_from(perch_tool_code_name(result->code)));
	json_write_text(&json, "message", str_of(result->message));
	json_write_text(&json, "stage", str_from(result->stage));
	result_write_text(&json, "plugin_id", result->plugin_id);
	result_write_text(&json, "plugin_version", result->plugin_version);
	result_write_text(&json, "tool", result->tool);
	result_write_text(&json, "request_id", result->request_id);
	result_write_number(
		&json, "exit_status", result->has_exit_status, (uint64_t)result->exit_status);
	result_write_number(&json, "signal", result->signal != 0, (uint64_t)result->signal);
	result_write_number(&json, "duration_ms", true, result->duration_ns / NSEC_PER_MSEC);
	json_write_text(&json, "stderr_tail", str_of(result->stderr_tail));
	if (result->hint.len)
		json_write_text(&json, "hint", str_of(result->hint));
	result_write_number(&json, "extra_bytes", true, result->extra_bytes);
	result_write_layers(&json, result->sandbox);
	json_write_text(&json, "reach", str_from(perch_reach_name(result->reach)));
	result_write_number(&json, "background_ended", true, result->background.ended);
	if (result->background.left)
		result_write_number(&json, "background_left", true, result->background.left);
	if (result->used_spare)
		json_write_flag(&json, "used_spare", true);
	if (result->by_response)
		result_write_early(&json, result);
	perch_json_end_object(&json);
	return out->failed ? -ENOMEM : 0;
}

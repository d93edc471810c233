/* Judging a response: rows 11 and 12 of the verdicts. */
#include "tool/tool_engine_parts.h"

#define STAGE "response"

/* A response as it was read; the texts point into the frame. */
struct response {
	struct str type;
	struct str request_id;
	struct str status;
	const perch_json_value *output; /* any type */
	const perch_json_value *error;  /* NULL = absent, as below */
	const perch_json_value *metadata;
	struct str error_code;
	struct str error_message;
};

static bool read_response(
	struct tool_engine *engine, const perch_json_value *frame, struct response *response)
{
	*response = (struct response){ .output = perch_json_get(frame, "output") };
	return frame_string(engine, STAGE, frame, "type", &response->type) &&
		frame_string(engine, STAGE, frame, "request_id", &response->request_id) &&
		frame_string(engine, STAGE, frame, "status", &response->status) &&
		frame_member(engine, STAGE, frame, "metadata", PERCH_JSON_OBJECT, &response->metadata) &&
		frame_member(engine, STAGE, frame, "error", PERCH_JSON_OBJECT, &response->error) &&
		frame_string(engine, STAGE, response->error, "code", &response->error_code) &&
		frame_string(engine, STAGE, response->error, "message", &response->error_message);
}

/* NULL when the fields fit together, else what is wrong. */
static const char *response_find_fault(
	const struct tool_engine *engine, const struct response *response)
{
	if (!str_is(response->type, "response"))
		return "is not of type \"response\"";
	if (!str_eq(response->request_id, engine->request->request_id))
		return "answers another request: its request_id is not the one that was sent";
	if (str_is(response->status, "ok"))
		return response->error ? "has status ok and an error" : NULL;
	if (!str_is(response->status, "error"))
		return "has a status that is neither \"ok\" nor \"error\"";
	if (!response->error)
		return "has status error and no error";
	return str_trim(response->error_message).len ? NULL : "has an error without a message";
}

/* Row 12, the plugin's own answer. */
static void response_take_error(struct tool_engine *engine, const struct response *response)
{
	perch_tool_result *verdict = &engine->verdict;
	verdict->error_code = engine_keep(engine, response->error_code);
	verdict->error_message = engine_keep(engine, response->error_message);
	struct str message = response->error_message;
	engine_decide(
		engine, PERCH_TOOL_EXECUTION_ERROR, STAGE, "%.*s", (int)message.len, message.data);
}

void response_judge(struct tool_engine *engine, const struct tool_line *line)
{
	const perch_json_value *frame = frame_read(engine, STAGE, line);
	struct response response;
	if (!frame || !read_response(engine, frame, &response))
		return;
	const char *fault = response_find_fault(engine, &response);
	if (fault) {
		engine_decide(
			engine, PERCH_TOOL_MALFORMED_RESPONSE, STAGE, "the response of the plugin %s", fault);
		return;
	}
	engine->verdict.responded = true;
	engine->verdict.output = engine_keep(engine, frame_raw(response.output));
	engine->verdict.metadata = engine_keep(engine, frame_raw(response.metadata));
	engine->stage = TOOL_TEARDOWN;
	if (response.error)
		response_take_error(engine, &response);
}

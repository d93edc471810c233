/* MCP client: a line of the server comes in. */
#include <errno.h>

#include "base/utf8.h"
#include "wire/mcp_upstream_parts.h"

/* ---- notifications --------------------------------------------------------- */

static double mcp_take_number(const perch_json_value *object, const char *name)
{
	double number;
	return perch_json_double(perch_json_get(object, name), &number) == 0 ? number : -1;
}

static void mcp_take_progress(struct mcp_upstream *upstream, const perch_json_value *params)
{
	struct jsonrpc_id token;
	const perch_json_value *text = perch_json_get(params, "message");
	struct jsonrpc_waiting *waiting = NULL;
	if (jsonrpc_id_read(perch_json_get(params, "progressToken"), &token))
		waiting = jsonrpc_ids_find(&upstream->ids, &token);
	struct mcp_call *call = waiting ? container_of(waiting, struct mcp_call, waiting) : NULL;
	if (!call || !call->options.wants_progress)
		return; /* it comes late */
	const struct mcp_news news = {
		.kind = MCP_NEWS_PROGRESS,
		.progress = mcp_take_number(params, "progress"),
		.total = mcp_take_number(params, "total"),
		.text = perch_json_type_of(text) == PERCH_JSON_STRING ? json_str(text) : STR(""),
	};
	upstream->table->news(upstream->data, call, &news);
}

static void mcp_take_log(struct mcp_upstream *upstream, const perch_json_value *params)
{
	const struct mcp_told told = {
		.kind = MCP_TOLD_LOG,
		.level = mcp_level_read(perch_json_get(params, "level")),
		.text = mcp_text_of(perch_json_get(params, "logger")),
		.value = perch_json_get(params, "data"),
	};
	if (told.level != MCP_LEVEL_NONE && told.value)
		mcp_upstream_tell(upstream, &told);
}

static void mcp_take_tools_changed(struct mcp_upstream *upstream, const perch_json_value *params)
{
	(void)params;
	mcp_upstream_tell(upstream, &(struct mcp_told){ .kind = MCP_TOLD_CHANGED, .list = MCP_TOOLS });
}

static void mcp_take_resources_changed(
	struct mcp_upstream *upstream, const perch_json_value *params)
{
	(void)params;
	mcp_upstream_tell(
		upstream, &(struct mcp_told){ .kind = MCP_TOLD_CHANGED, .list = MCP_RESOURCES });
}

static void mcp_take_prompts_changed(struct mcp_upstream *upstream, const perch_json_value *params)
{
	(void)params;
	mcp_upstream_tell(
		upstream, &(struct mcp_told){ .kind = MCP_TOLD_CHANGED, .list = MCP_PROMPTS });
}

static void mcp_take_updated(struct mcp_upstream *upstream, const perch_json_value *params)
{
	const perch_json_value *uri = perch_json_get(params, "uri");
	if (perch_json_type_of(uri) == PERCH_JSON_STRING)
		mcp_upstream_tell(
			upstream, &(struct mcp_told){ .kind = MCP_TOLD_UPDATED, .text = json_str(uri) });
}

static void mcp_upstream_take_cancelled(
	struct mcp_upstream *upstream, const perch_json_value *params)
{
	struct jsonrpc_id id;
	if (jsonrpc_id_read(perch_json_get(params, "requestId"), &id))
		mcp_quiz_withdraw(upstream, &id);
}

static void mcp_take_nothing(struct mcp_upstream *upstream, const perch_json_value *params)
{
	(void)upstream;
	(void)params;
}

static const struct {
	const char *method;
	void (*take)(struct mcp_upstream *upstream, const perch_json_value *params);
} mcp_notifications[] = {
	{ "notifications/progress", mcp_take_progress },
	{ "notifications/message", mcp_take_log },
	{ "notifications/tools/list_changed", mcp_take_tools_changed },
	{ "notifications/resources/list_changed", mcp_take_resources_changed },
	{ "notifications/prompts/list_changed", mcp_take_prompts_changed },
	{ "notifications/resources/updated", mcp_take_updated },
	{ "notifications/cancelled", mcp_upstream_take_cancelled },
	{ "notifications/subscriptions/acknowledged", mcp_take_nothing },
};

static void mcp_take_notification(
	struct mcp_upstream *upstream, const struct jsonrpc_message *message)
{
	for (size_t i = 0; i < COUNT(mcp_notifications); i++) {
		if (str_is(message->method, mcp_notifications[i].method)) {
			mcp_notifications[i].take(upstream, message->params);
			return;
		}
	}
	mcp_upstream_noise(upstream, "it sends %.*s, which perch does not know",
		utf8_quoted(message->method), message->method.data);
}

/* ---- responses ------------------------------------------------------------- */

static bool mcp_take_is_late(const struct mcp_upstream *upstream, const struct jsonrpc_id *id)
{
	for (size_t i = 0; i < MCP_UPSTREAM_FORGOTTEN; i++)
		if (id->kind == JSONRPC_ID_INTEGER && upstream->forgotten[i] == id->number)
			return true;
	return false;
}

static void mcp_take_response(struct mcp_upstream *upstream, const struct jsonrpc_message *message)
{
	struct jsonrpc_waiting *waiting = jsonrpc_ids_find(&upstream->ids, &message->id);
	if (waiting)
		mcp_call_take(container_of(waiting, struct mcp_call, waiting), message);
	else if (!mcp_take_is_late(upstream, &message->id))
		mcp_upstream_noise(upstream, "it answers what it was not asked");
}

/* ---- lines ----------------------------------------------------------------- */

static void mcp_upstream_take_message(
	struct mcp_upstream *upstream, const struct jsonrpc_message *message)
{
	switch (message->kind) {
	case JSONRPC_REQUEST:
		mcp_quiz_take(upstream, message);
		break;
	case JSONRPC_NOTIFICATION:
		mcp_take_notification(upstream, message);
		break;
	case JSONRPC_RESULT:
	case JSONRPC_ERROR:
		mcp_take_response(upstream, message);
		break;
	case JSONRPC_INVALID:
		mcp_upstream_noise(upstream, "it writes what is no message: %.*s",
			utf8_quoted(message->text), message->text.data);
		break;
	}
}

static void mcp_take_too_long(struct mcp_upstream *upstream)
{
	struct mcp_call *call;
	const struct str why = STR("the server wrote a line that was too long");
	mcp_upstream_noise(upstream, "it writes a line of more than %d bytes", (int)MCP_LINE_MAX);
	if (upstream->stage < MCP_STAGE_OPEN) {
		mcp_upstream_end(upstream, why); /* it may have been its hello */
		return;
	}
	size_t count = upstream->calls.count; /* those that are made meanwhile are not meant */
	while (count-- && upstream->stage == MCP_STAGE_OPEN && (call = list_first(&upstream->calls)))
		mcp_call_fail(call, MCP_UPSTREAM_FAILED, why);
}

void mcp_upstream_line(struct mcp_upstream *upstream, struct str line, bool is_too_long)
{
	struct jsonrpc_frame frame;
	struct jsonrpc_message message;
	if (upstream->stage == MCP_STAGE_OVER || upstream->stage == MCP_STAGE_NEW)
		return;
	if (is_too_long) {
		mcp_take_too_long(upstream);
		return;
	}
	if (!str_trim(line).len)
		return;
	if (jsonrpc_open(upstream->json, line, &frame) < 0) {
		upstream->is_broken = true;
		return;
	}
	while (upstream->stage != MCP_STAGE_OVER && jsonrpc_next(&frame, &message))
		mcp_upstream_take_message(upstream, &message);
}

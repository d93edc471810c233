/* MCP client: what the server is to tell by itself: that a list or a resource has changed, and its
 * log. Legacy servers tell of lists unasked; a modern one is asked for everything, by a request
 * that lasts. */
#include <errno.h>

#include "base/cleanup.h"
#include "perch/base.h"
#include "wire/mcp_upstream_parts.h"

void mcp_upstream_listen(struct mcp_upstream *upstream)
{
	const struct mcp_upstream_facts *facts = &upstream->facts;
	_cleanup_(buf_free) struct buf params = { 0 };
	perch_json_writer writer = json_writer_on(&params);
	if (!upstream->options.listens || !upstream->version->is_modern)
		return;
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, "notifications");
	perch_json_begin_object(&writer);
	json_write_flag(&writer, "toolsListChanged", facts->has_tools);
	json_write_flag(&writer, "resourcesListChanged", facts->has_resources);
	json_write_flag(&writer, "promptsListChanged", facts->has_prompts);
	perch_json_end_object(&writer);
	perch_json_end_object(&writer);
	if (params.failed)
		upstream->is_broken = true;
	else
		mcp_upstream_ask_own(upstream, MCP_CALL_LISTEN, "subscriptions/listen",
			(struct str){ params.data, params.len });
}

/* ---- resources ------------------------------------------------------------- */

static void mcp_watch_write(perch_json_writer *writer, struct str uri, bool is_modern)
{
	perch_json_begin_object(writer);
	if (!is_modern) {
		json_write_text(writer, "uri", uri);
	} else {
		perch_json_write_name(writer, "notifications");
		perch_json_begin_object(writer);
		perch_json_write_name(writer, "resourceSubscriptions");
		perch_json_begin_array(writer);
		perch_json_write_string_n(writer, uri.data, uri.len);
		perch_json_end_array(writer);
		perch_json_end_object(writer);
	}
	perch_json_end_object(writer);
}

static int mcp_watch_send(
	struct mcp_upstream *upstream, const char *method, struct str uri, struct mcp_call **ret_call)
{
	bool is_modern = upstream->version && upstream->version->is_modern;
	_cleanup_(buf_free) struct buf params = { 0 };
	perch_json_writer writer = json_writer_on(&params);
	if (upstream->stage != MCP_STAGE_OPEN)
		return -ENOTCONN;
	mcp_watch_write(&writer, uri, is_modern);
	if (params.failed)
		return -ENOMEM;
	const struct mcp_call_options options = {
		.method = method,
		.params = { params.data, params.len },
		.log_level = MCP_LEVEL_NONE,
	};
	return mcp_call_start(
		upstream, &options, is_modern ? MCP_CALL_LISTEN : MCP_CALL_REMARK, ret_call);
}

int mcp_upstream_watch(struct mcp_upstream *upstream, struct str uri, int64_t *watch)
{
	bool is_modern = upstream->version && upstream->version->is_modern;
	struct mcp_call *call;
	int r = mcp_watch_send(
		upstream, is_modern ? "subscriptions/listen" : "resources/subscribe", uri, &call);
	if (r == 0)
		*watch = call->waiting.id.number;
	return r;
}

/* The server may have ended the request of a modern one by itself. */
void mcp_upstream_unwatch(struct mcp_upstream *upstream, struct str uri, int64_t watch)
{
	const struct jsonrpc_id id = { .kind = JSONRPC_ID_INTEGER, .number = watch };
	struct mcp_call *call;
	if (upstream->stage != MCP_STAGE_OPEN)
		return;
	if (!upstream->version->is_modern) {
		mcp_watch_send(upstream, "resources/unsubscribe", uri, &call);
		return;
	}
	struct jsonrpc_waiting *waiting = jsonrpc_ids_find(&upstream->ids, &id);
	call = waiting ? container_of(waiting, struct mcp_call, waiting) : NULL;
	if (call && call->use == MCP_CALL_LISTEN)
		mcp_call_cancel(call, STR("nobody listens any more"));
}

/* ---- its log --------------------------------------------------------------- */

int mcp_upstream_set_level(struct mcp_upstream *upstream, enum mcp_level level)
{
	_cleanup_(buf_free) struct buf params = { 0 };
	perch_json_writer writer = json_writer_on(&params);
	if (upstream->stage != MCP_STAGE_OPEN)
		return -ENOTCONN;
	if (upstream->version->is_modern || !upstream->facts.has_logging)
		return 0;
	perch_json_begin_object(&writer);
	json_write_text(&writer, "level", str_from(mcp_level_name(level)));
	perch_json_end_object(&writer);
	if (params.failed)
		return -ENOMEM;
	mcp_upstream_ask_own(
		upstream, MCP_CALL_REMARK, "logging/setLevel", (struct str){ params.data, params.len });
	return 0;
}

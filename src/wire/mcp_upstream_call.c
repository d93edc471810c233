/* MCP client: a request of ours until its answer. A list may need several, one for each page; so
 * does what a modern server asks about first, one for each round. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "perch/base.h"
#include "wire/mcp_upstream_parts.h"

/* ---- writing --------------------------------------------------------------- */

/* Members that are ours to say. */
static bool mcp_call_is_own(struct str name)
{
	return str_is(name, "_meta") || str_is(name, "requestState") || str_is(name, "inputResponses");
}

static void mcp_call_write_members(struct mcp_call *call, perch_json_writer *writer)
{
	const perch_json_value *root = NULL;
	struct str params = call->options.params;
	if (!params.len)
		return;
	int r = perch_json_parse(call->upstream->scratch, params.data, params.len, &root, NULL);
	if (r < 0) /* they were read before */
		writer->out->failed = true;
	perch_json_iter iter = perch_json_iterate(root);
	for (const perch_json_value *value; (value = perch_json_next(&iter));) {
		struct str name = json_str(iter.name);
		if (mcp_call_is_own(name) || (call->cursor.len && str_is(name, "cursor")))
			continue;
		perch_json_write_name_n(writer, name.data, name.len);
		perch_json_write_value(writer, value);
	}
}

static void mcp_call_write_raw(perch_json_writer *writer, const char *name, const struct buf *value)
{
	perch_json_write_name(writer, name);
	perch_json_write_raw(writer, value->data, value->len);
}

static void mcp_call_write_rounds(const struct mcp_call *call, perch_json_writer *writer)
{
	if (call->cursor.len)
		mcp_call_write_raw(writer, "cursor", &call->cursor);
	if (call->state.len)
		mcp_call_write_raw(writer, "requestState", &call->state);
	if (call->responses.len)
		mcp_call_write_raw(writer, "inputResponses", &call->responses);
}

unsigned mcp_call_abilities(const struct mcp_call *call)
{
	unsigned own = call->upstream->options.abilities;
	return call->use == MCP_CALL_OF_CALLER ? own & call->options.abilities : own;
}

static void mcp_call_write_meta(const struct mcp_call *call, perch_json_writer *writer)
{
	const struct mcp_upstream *upstream = call->upstream;
	const struct mcp_call_options *options = &call->options;
	bool is_modern = upstream->version->is_modern;
	if (!is_modern && !options->wants_progress && !options->traceparent.len)
		return;
	perch_json_write_name(writer, "_meta");
	perch_json_begin_object(writer);
	if (is_modern) {
		json_write_text(writer, MCP_META("protocolVersion"), str_from(upstream->version->name));
		perch_json_write_name(writer, MCP_META("clientInfo"));
		mcp_upstream_write_self(writer, &upstream->options);
		perch_json_write_name(writer, MCP_META("clientCapabilities"));
		mcp_upstream_write_abilities(writer, mcp_call_abilities(call));
	}
	if (is_modern && options->log_level != MCP_LEVEL_NONE)
		json_write_text(writer, MCP_META("logLevel"), str_from(mcp_level_name(options->log_level)));
	if (options->wants_progress) {
		perch_json_write_name(writer, "progressToken");
		jsonrpc_id_write(writer, &call->waiting.id);
	}
	if (options->traceparent.len)
		json_write_text(writer, "traceparent", options->traceparent);
	perch_json_end_object(writer);
}

int mcp_call_send(struct mcp_call *call)
{
	struct mcp_upstream *upstream = call->upstream;
	int r = jsonrpc_ids_issue(&upstream->ids, &call->waiting);
	if (r < 0) {
		call->waiting.id.kind = JSONRPC_ID_NONE;
		return r;
	}
	perch_json_writer writer = mcp_upstream_write(upstream);
	jsonrpc_begin_request(&writer, &call->waiting.id, call->options.method);
	perch_json_write_name(&writer, "params");
	perch_json_begin_object(&writer);
	mcp_call_write_members(call, &writer);
	mcp_call_write_rounds(call, &writer);
	mcp_call_write_meta(call, &writer);
	perch_json_end_object(&writer);
	jsonrpc_end(&writer);
	mcp_upstream_send(upstream);
	return 0;
}

/* ---- beginning ------------------------------------------------------------- */

static int mcp_call_check(struct mcp_upstream *upstream, struct str params)
{
	const perch_json_value *root;
	if (!params.len)
		return 0;
	int r = perch_json_parse(upstream->scratch, params.data, params.len, &root, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : -EINVAL;
	return perch_json_type_of(root) == PERCH_JSON_OBJECT ? 0 : -EINVAL;
}

static struct mcp_call *mcp_call_new(
	struct mcp_upstream *upstream, const struct mcp_call_options *options)
{
	struct str params = options->params, trace = options->traceparent;
	struct mcp_call *call = calloc(1, sizeof(*call) + params.len + trace.len + 1);
	if (!call)
		return NULL;
	call->upstream = upstream;
	call->options = *options;
	call->options.params.data = call->bytes;
	call->options.traceparent.data = call->bytes + params.len;
	if (params.len)
		memcpy(call->bytes, params.data, params.len);
	if (trace.len)
		memcpy(call->bytes + params.len, trace.data, trace.len);
	list_append(&upstream->calls, call);
	return call;
}

int mcp_call_start(struct mcp_upstream *upstream, const struct mcp_call_options *options,
	enum mcp_call_use use, struct mcp_call **ret_call)
{
	int r = mcp_call_check(upstream, options->params);
	if (r < 0)
		return r;
	struct mcp_call *call = mcp_call_new(upstream, options);
	if (!call)
		return -ENOMEM;
	call->use = use;
	r = mcp_call_send(call);
	if (r < 0) {
		mcp_call_free(call);
		return r;
	}
	*ret_call = call;
	return 0;
}

int mcp_call_begin(struct mcp_upstream *upstream, const struct mcp_call_options *options,
	struct mcp_call **ret_call)
{
	if (upstream->stage != MCP_STAGE_OPEN)
		return -ENOTCONN;
	return mcp_call_start(upstream, options, MCP_CALL_OF_CALLER, ret_call);
}

void *mcp_call_data(const struct mcp_call *call)
{
	return call->options.data;
}

/* ---- ending ---------------------------------------------------------------- */

static void mcp_call_leave_flight(struct mcp_call *call)
{
	if (call->waiting.id.kind != JSONRPC_ID_NONE)
		jsonrpc_ids_remove(&call->upstream->ids, &call->waiting);
	call->waiting.id.kind = JSONRPC_ID_NONE;
}

void mcp_call_free(struct mcp_call *call)
{
	mcp_quizzes_drop(&call->quizzes);
	mcp_call_leave_flight(call);
	list_remove(&call->upstream->calls, call);
	buf_free(&call->cursor);
	buf_free(&call->state);
	buf_free(&call->responses);
	free(call);
}

/* Tells its last news. What the engine has asked for itself is not told. */
static void mcp_call_finish(struct mcp_call *call, const struct mcp_news *news)
{
	struct mcp_upstream *upstream = call->upstream;
	mcp_call_leave_flight(call);
	mcp_quizzes_withdraw(upstream, &call->quizzes);
	if (call->use == MCP_CALL_OF_CALLER)
		upstream->table->news(upstream->data, call, news);
	mcp_call_free(call);
}

void mcp_call_fail(struct mcp_call *call, int64_t code, struct str text)
{
	const struct mcp_news news = {
		.kind = MCP_NEWS_ERROR,
		.code = code,
		.text = text,
		.is_ours = true,
	};
	mcp_call_finish(call, &news);
}

void mcp_call_cancel(struct mcp_call *call, struct str reason)
{
	struct mcp_upstream *upstream = call->upstream;
	bool is_in_flight = call->waiting.id.kind != JSONRPC_ID_NONE;
	if (is_in_flight && call->use != MCP_CALL_HELLO) { /* which may not be cancelled */
		perch_json_writer writer = mcp_upstream_write(upstream);
		jsonrpc_begin_notification(&writer, "notifications/cancelled");
		perch_json_write_name(&writer, "params");
		perch_json_begin_object(&writer);
		perch_json_write_name(&writer, "requestId");
		jsonrpc_id_write(&writer, &call->waiting.id);
		if (reason.len)
			json_write_text(&writer, "reason", reason);
		perch_json_end_object(&writer);
		jsonrpc_end(&writer);
		mcp_upstream_send(upstream);
	}
	if (is_in_flight)
		upstream->forgotten[upstream->forgotten_at++ % MCP_UPSTREAM_FORGOTTEN] =
			call->waiting.id.number;
	mcp_quizzes_withdraw(upstream, &call->quizzes);
	call->is_cancelled = true;
	if (!call->is_gathering)
		mcp_call_free(call);
}

/* ---- answers --------------------------------------------------------------- */

/* Asks for the next page; false: this is the last. */
static bool mcp_call_turn_page(struct mcp_call *call, const perch_json_value *result)
{
	const perch_json_value *cursor = perch_json_get(result, "nextCursor");
	struct mcp_upstream *upstream = call->upstream;
	struct str raw = { 0 };
	if (!call->options.wants_all_pages || perch_json_type_of(cursor) != PERCH_JSON_STRING)
		return false;
	raw.data = perch_json_raw(cursor, &raw.len);
	bool is_same = raw.len == call->cursor.len && memcmp(raw.data, call->cursor.data, raw.len) == 0;
	if (is_same || ++call->pages > MCP_UPSTREAM_PAGES_MAX) {
		mcp_call_fail(call, MCP_UPSTREAM_FAILED, STR("its list has no end"));
		return true;
	}
	buf_clear(&call->cursor);
	buf_append(&call->cursor, raw.data, raw.len);
	const struct mcp_news news = { .kind = MCP_NEWS_PAGE, .value = result };
	mcp_call_leave_flight(call);
	int r = call->cursor.failed ? -ENOMEM : mcp_call_send(call);
	if (r < 0)
		mcp_call_fail(call, MCP_UPSTREAM_FAILED, str_from(perch_strerror(r)));
	else
		upstream->table->news(upstream->data, call, &news);
	return true;
}

static void mcp_call_take_result(struct mcp_call *call, const perch_json_value *result)
{
	const perch_json_value *type = perch_json_get(result, "resultType");
	bool is_modern = call->upstream->version->is_modern;
	if (perch_json_type_of(result) != PERCH_JSON_OBJECT) {
		mcp_call_fail(call, MCP_UPSTREAM_FAILED, STR("the result of the server is no object"));
	} else if (is_modern && perch_json_is(type, "input_required")) {
		mcp_quiz_round(call, result);
	} else if (is_modern && type && !perch_json_is(type, "complete")) {
		mcp_call_fail(
			call, MCP_UPSTREAM_FAILED, STR("the result of the server is of an unknown type"));
	} else if (!mcp_call_turn_page(call, result)) {
		const struct mcp_news news = { .kind = MCP_NEWS_RESULT, .value = result };
		mcp_call_finish(call, &news);
	}
}

void mcp_call_take(struct mcp_call *call, const struct jsonrpc_message *message)
{
	struct mcp_upstream *upstream = call->upstream;
	if (call->use != MCP_CALL_OF_CALLER) {
		enum mcp_call_use use = call->use;
		mcp_call_free(call);
		mcp_upstream_opened(upstream, use, message);
	} else if (message->kind == JSONRPC_RESULT) {
		mcp_call_take_result(call, message->result);
	} else {
		const struct mcp_news news = {
			.kind = MCP_NEWS_ERROR,
			.code = message->code,
			.text = message->text,
			.value = message->data,
		};
		mcp_call_finish(call, &news);
	}
}

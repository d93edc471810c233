/* MCP server: a line comes in. Which era each request is of, and what it asks for. */
#include "wire/mcp_server_parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/utf8.h"

#define MCP_META(name) "io.modelcontextprotocol/" name

/* ---- levels ---------------------------------------------------------------- */

static const char *const mcp_level_names[MCP_LEVEL_NONE] = {
	[MCP_LEVEL_DEBUG] = "debug",
	[MCP_LEVEL_INFO] = "info",
	[MCP_LEVEL_NOTICE] = "notice",
	[MCP_LEVEL_WARNING] = "warning",
	[MCP_LEVEL_ERROR] = "error",
	[MCP_LEVEL_CRITICAL] = "critical",
	[MCP_LEVEL_ALERT] = "alert",
	[MCP_LEVEL_EMERGENCY] = "emergency",
};

const char *mcp_level_name(enum mcp_level level)
{
	return mcp_level_names[level];
}

enum mcp_level mcp_level_read(const perch_json_value *value)
{
	unsigned level = 0;
	while (level < MCP_LEVEL_NONE && !perch_json_is(value, mcp_level_names[level]))
		level++;
	return (enum mcp_level)level;
}

/* ---- refusing -------------------------------------------------------------- */

void mcp_refuse(struct mcp_taking *taking, int64_t code, const char *format, ...)
{
	char text[PERCH_ERR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	int len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	size_t kept = len < 0 ? 0 : (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1;
	struct str words = { text, utf8_whole_prefix(text, kept) };
	mcp_reply_error(&taking->reply, code, words, (struct str){ 0 });
}

/* The text of data is written behind the error in the same buffer, so it is made apart. */
static void mcp_refuse_version(struct mcp_taking *taking, struct str asked)
{
	_cleanup_(buf_free) struct buf data = { 0 };
	perch_json_writer writer = json_writer_on(&data);
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, "supported");
	mcp_versions_write(&writer, false);
	struct str shown = { asked.data, (size_t)utf8_quoted(asked) };
	json_write_text(&writer, "requested", shown);
	perch_json_end_object(&writer);
	if (data.failed)
		taking->connection->is_broken = true;
	mcp_reply_error(&taking->reply, MCP_UNSUPPORTED_VERSION, STR("Unsupported protocol version"),
		data.failed ? (struct str){ 0 } : (struct str){ data.data, data.len });
}

void mcp_taking_fail(struct mcp_taking *taking)
{
	taking->connection->is_broken = true;
	mcp_reply_drop(&taking->reply);
}

/* ---- requests in flight ---------------------------------------------------- */

static void mcp_id_keep(struct jsonrpc_id *id, char **room)
{
	if (id->text.len)
		memcpy(*room, id->text.data, id->text.len);
	id->text.data = *room;
	*room += id->text.len;
}

struct mcp_request *mcp_request_new(struct mcp_taking *taking, struct list *home)
{
	struct mcp_connection *connection = taking->connection;
	size_t texts = taking->reply.id.text.len + taking->progress_token.text.len;
	struct mcp_request *request = malloc(sizeof(*request) + texts);
	if (!request) {
		mcp_taking_fail(taking);
		return NULL;
	}
	*request = (struct mcp_request){
		.home = home,
		.waiting = { .id = taking->reply.id },
		.reply = taking->reply,
		.progress_token = taking->progress_token,
		.log_level = taking->log_level,
	};
	char *room = request->bytes;
	mcp_id_keep(&request->waiting.id, &room);
	mcp_id_keep(&request->progress_token, &room);
	request->reply.id = request->waiting.id;
	int r = jsonrpc_ids_add(&connection->requests, &request->waiting);
	if (r < 0) {
		free(request);
		if (r == -ENOMEM)
			mcp_taking_fail(taking);
		else
			mcp_refuse(taking, JSONRPC_INTERNAL_ERROR,
				"too many requests at once: %zu are in flight", connection->requests.count);
		return NULL;
	}
	list_append(home, request);
	return request;
}

void mcp_request_free(struct mcp_request *request)
{
	struct mcp_connection *connection = request->reply.connection;
	jsonrpc_ids_remove(&connection->requests, &request->waiting);
	list_remove(request->home, request);
	mcp_subscriptions_free(&request->resources);
	free(request);
}

/* ---- what a request says of itself ----------------------------------------- */

/* NULL is a client that can do nothing. */
static bool mcp_can_ask(const perch_json_value *capabilities)
{
	const perch_json_value *elicitation = perch_json_get(capabilities, "elicitation");
	if (perch_json_type_of(elicitation) != PERCH_JSON_OBJECT)
		return false;
	return perch_json_get(elicitation, "form") || !perch_json_get(elicitation, "url");
}

static struct str mcp_text_of(const perch_json_value *value)
{
	struct str text = { 0 };
	if (perch_json_type_of(value) == PERCH_JSON_STRING)
		text = json_str(value);
	text.len = text.len ? (size_t)utf8_quoted(text) : 0;
	return text;
}

static void mcp_read_client(struct mcp_client *client, const perch_json_value *info)
{
	client->name = mcp_text_of(perch_json_get(info, "name"));
	client->version = mcp_text_of(perch_json_get(info, "version"));
}

static bool mcp_take_modern_meta(struct mcp_taking *taking, const perch_json_value *version)
{
	const perch_json_value *abilities =
		perch_json_get(taking->meta, MCP_META("clientCapabilities"));
	const perch_json_value *level = perch_json_get(taking->meta, MCP_META("logLevel"));
	if (taking->reply.batch) {
		mcp_refuse(taking, JSONRPC_INVALID_REQUEST, "this version has no batches");
		return false;
	}
	if (perch_json_type_of(version) != PERCH_JSON_STRING) {
		mcp_refuse(taking, JSONRPC_INVALID_PARAMS, "_meta: the protocolVersion must be a string");
		return false;
	}
	taking->reply.version = mcp_version_find(json_str(version), true);
	if (!taking->reply.version) {
		mcp_refuse_version(taking, json_str(version));
		return false;
	}
	if (perch_json_type_of(abilities) != PERCH_JSON_OBJECT) {
		mcp_refuse(
			taking, JSONRPC_INVALID_PARAMS, "_meta: the clientCapabilities must be an object");
		return false;
	}
	taking->log_level = mcp_level_read(level);
	if (level && taking->log_level == MCP_LEVEL_NONE) {
		mcp_refuse(taking, JSONRPC_INVALID_PARAMS, "_meta: there is no such logLevel");
		return false;
	}
	taking->can_ask = mcp_can_ask(abilities);
	mcp_read_client(&taking->client, perch_json_get(taking->meta, MCP_META("clientInfo")));
	return true;
}

/* A connection that has initialized speaks for its requests. */
static bool mcp_take_legacy_meta(struct mcp_taking *taking, struct str method)
{
	const struct mcp_connection *connection = taking->connection;
	taking->reply.version = connection->version;
	taking->log_level = connection->log_level;
	taking->can_ask = connection->can_ask;
	taking->client.name = str_from(connection->client_name);
	taking->client.version = str_from(connection->client_version);
	if (connection->version)
		return true;
	if (str_is(method, "initialize") || str_is(method, "ping")) {
		taking->reply.version = mcp_version_fallback;
		return true;
	}
	mcp_refuse(taking, JSONRPC_INVALID_PARAMS,
		"neither _meta with a protocolVersion nor an earlier initialize says which version this "
		"is");
	return false;
}

static bool mcp_take_meta(struct mcp_taking *taking, struct str method)
{
	taking->meta = perch_json_get(taking->params, "_meta");
	if (taking->meta && perch_json_type_of(taking->meta) != PERCH_JSON_OBJECT) {
		mcp_refuse(taking, JSONRPC_INVALID_PARAMS, "_meta must be an object");
		return false;
	}
	const perch_json_value *token = perch_json_get(taking->meta, "progressToken");
	if (token && !jsonrpc_id_read(token, &taking->progress_token)) {
		mcp_refuse(taking, JSONRPC_INVALID_PARAMS, "the progressToken " JSONRPC_ID_WANTED);
		return false;
	}
	const perch_json_value *version = perch_json_get(taking->meta, MCP_META("protocolVersion"));
	bool is_taken =
		version ? mcp_take_modern_meta(taking, version) : mcp_take_legacy_meta(taking, method);
	taking->client.traceparent = mcp_text_of(perch_json_get(taking->meta, "traceparent"));
	return is_taken;
}

/* ---- headers --------------------------------------------------------------- */

static bool mcp_header_fits(
	struct mcp_taking *taking, const char *header, struct str given, struct str body)
{
	if (!given.data || str_eq(given, body))
		return true;
	mcp_refuse(
		taking, MCP_HEADER_MISMATCH, "the header %s says something else than the body", header);
	return false;
}

static bool mcp_headers_fit(struct mcp_taking *taking, struct str method)
{
	const struct mcp_line *line = taking->line;
	const perch_json_value *name =
		taking->method->subject ? perch_json_get(taking->params, taking->method->subject) : NULL;
	if (!taking->reply.version->is_modern)
		return true;
	return mcp_header_fits(taking, "MCP-Protocol-Version", line->header_version,
			   str_from(taking->reply.version->name)) &&
		mcp_header_fits(taking, "Mcp-Method", line->header_method, method) &&
		(!name ||
			mcp_header_fits(taking, "Mcp-Name", line->header_name,
				perch_json_type_of(name) == PERCH_JSON_STRING ? json_str(name) : STR("")));
}

/* ---- initialize ------------------------------------------------------------ */

static int mcp_keep_client(struct mcp_connection *connection, const perch_json_value *info)
{
	struct mcp_client client = { 0 };
	mcp_read_client(&client, info);
	free(connection->client_name);
	free(connection->client_version);
	connection->client_name = str_dup(client.name.data ? client.name : STR(""));
	connection->client_version = str_dup(client.version.data ? client.version : STR(""));
	return connection->client_name && connection->client_version ? 0 : -ENOMEM;
}

void mcp_take_initialize(struct mcp_taking *taking)
{
	struct mcp_connection *connection = taking->connection;
	const perch_json_value *version = perch_json_get(taking->params, "protocolVersion");
	if (taking->reply.batch || perch_json_type_of(version) != PERCH_JSON_STRING) {
		bool is_batch = taking->reply.batch;
		mcp_refuse(taking, is_batch ? JSONRPC_INVALID_REQUEST : JSONRPC_INVALID_PARAMS,
			is_batch ? "initialize must not be part of a batch"
					 : "initialize needs a protocolVersion, which is a string");
		return;
	}
	const struct mcp_version *known = mcp_version_find(json_str(version), false);
	connection->version = known ? known : mcp_version_fallback;
	connection->can_ask = mcp_can_ask(perch_json_get(taking->params, "capabilities"));
	if (mcp_keep_client(connection, perch_json_get(taking->params, "clientInfo")) < 0) {
		mcp_taking_fail(taking);
		return;
	}
	taking->reply.version = connection->version;
	struct mcp_server *server = connection->server;
	perch_json_writer writer = mcp_reply_begin(&taking->reply, NULL);
	json_write_text(&writer, "protocolVersion", str_from(connection->version->name));
	mcp_capabilities_write(&writer, server, connection->version);
	perch_json_write_name(&writer, "serverInfo");
	mcp_server_info_write(&writer, server, connection->version);
	if (server->options.instructions.len)
		json_write_text(&writer, "instructions", server->options.instructions);
	mcp_reply_end(&taking->reply, &writer, MCP_NOT_CACHED);
}

/* ---- messages -------------------------------------------------------------- */

static void mcp_take_request(struct mcp_taking *taking, const struct jsonrpc_message *message)
{
	struct mcp_connection *connection = taking->connection;
	if (jsonrpc_ids_find(&connection->requests, &message->id)) {
		mcp_refuse(taking, JSONRPC_INVALID_REQUEST, "a request of this id is in flight");
		return;
	}
	if (!mcp_take_meta(taking, message->method))
		return;
	const struct mcp_method *method =
		mcp_method_find(connection->server, message->method, taking->reply.version);
	if (!method) {
		mcp_refuse(taking, JSONRPC_METHOD_NOT_FOUND, "there is no method %.*s",
			utf8_quoted(message->method), message->method.data);
		return;
	}
	taking->method = method;
	if (mcp_headers_fit(taking, message->method))
		method->take(taking);
}

/* Unknown and malformed ones, and those that were answered, are no matter. */
static void mcp_take_cancelled(
	struct mcp_connection *connection, const struct jsonrpc_message *message)
{
	struct jsonrpc_id id;
	if (!jsonrpc_id_read(perch_json_get(message->params, "requestId"), &id))
		return;
	struct jsonrpc_waiting *waiting = jsonrpc_ids_find(&connection->requests, &id);
	if (!waiting)
		return;
	struct mcp_request *request = mcp_request_of(waiting);
	if (request->job)
		mcp_job_cancel(request->job);
	else
		mcp_listen_end(request);
}

static void mcp_take_message(struct mcp_connection *connection, const struct mcp_line *line,
	const struct jsonrpc_message *message, struct mcp_batch *batch)
{
	struct mcp_taking taking = {
		.connection = connection,
		.line = line,
		.reply = { .connection = connection,
			.stream = line->stream,
			.id = message->id,
			.batch = batch },
		.params = message->params,
		.log_level = MCP_LEVEL_NONE,
	};
	bool is_answered = message->kind == JSONRPC_INVALID && message->is_answered;
	if (batch && (is_answered || message->kind == JSONRPC_REQUEST))
		batch->open++;
	if (message->kind == JSONRPC_REQUEST)
		mcp_take_request(&taking, message);
	else if (is_answered)
		mcp_reply_error(&taking.reply, message->code, message->text, (struct str){ 0 });
	else if (message->kind == JSONRPC_RESULT || message->kind == JSONRPC_ERROR)
		mcp_ask_take(connection, message);
	else if (str_is(message->method, "notifications/cancelled"))
		mcp_take_cancelled(connection, message);
	else if (str_is(message->method, "notifications/initialized"))
		connection->is_initialized = connection->version != NULL;
}

static struct mcp_batch *mcp_batch_new(struct mcp_connection *connection, void *stream)
{
	struct mcp_batch *batch = malloc(sizeof(*batch));
	if (batch)
		*batch = (struct mcp_batch){ .connection = connection, .stream = stream, .open = 1 };
	return batch;
}

static void mcp_take_frame(
	struct mcp_connection *connection, const struct mcp_line *line, struct jsonrpc_frame *frame)
{
	struct mcp_batch *batch = NULL;
	struct mcp_reply nobody = { .connection = connection, .stream = line->stream };
	if (frame->is_batch && (!connection->version || !connection->version->has_batches)) {
		mcp_reply_error(&nobody, JSONRPC_INVALID_REQUEST,
			STR("only version 2025-03-26 has batches"), (struct str){ 0 });
		return;
	}
	if (frame->is_batch && !(batch = mcp_batch_new(connection, line->stream))) {
		connection->is_broken = true;
		return;
	}
	struct jsonrpc_message message;
	while (jsonrpc_next(frame, &message))
		mcp_take_message(connection, line, &message, batch);
	if (batch)
		mcp_batch_close(batch);
}

void mcp_connection_line(struct mcp_connection *connection, const struct mcp_line *line)
{
	struct jsonrpc_frame frame;
	if (line->is_too_long && !connection->is_broken) {
		struct mcp_reply nobody = { .connection = connection, .stream = line->stream };
		mcp_reply_error(
			&nobody, JSONRPC_PARSE_ERROR, STR("the message is too long"), (struct str){ 0 });
		return;
	}
	if (connection->is_broken || !str_trim(line->text).len)
		return;
	if (jsonrpc_open(connection->json, line->text, &frame) < 0)
		connection->is_broken = true;
	else
		mcp_take_frame(connection, line, &frame);
}

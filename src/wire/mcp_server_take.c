/* MCP server: a line comes in. */
#include "wire/mcp_server_parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

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

/* Cancels that are malformed, or of unknown or answered requests, are ignored. */
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
		mcp_job_cancel(request->job, mcp_text_of(perch_json_get(message->params, "reason")));
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
	perch_json_clear(connection->json);
}

/* MCP server: how messages are written and where they go. */
#include "wire/mcp_server_parts.h"

#include <stdlib.h>

/* A buffer that became larger than that is given back. */
enum { MCP_OUT_KEPT = 1024 * 1024 };

/* ---- sending --------------------------------------------------------------- */

perch_json_writer mcp_write_begin(struct mcp_server *server)
{
	buf_clear(&server->out);
	return json_writer_on(&server->out);
}

/* JSON from other programs may have line breaks between its parts; inside of strings there
 * are none. A message is one line. */
static void mcp_join_lines(struct buf *out)
{
	static const char breaks[] = { '\n', '\r' };
	for (size_t i = 0; i < sizeof(breaks); i++) {
		char *end = out->data + out->len;
		for (char *at = out->data; (at = memchr(at, breaks[i], (size_t)(end - at)));)
			*at = ' ';
	}
}

static void mcp_hand_out(
	struct mcp_connection *connection, struct buf *out, const struct mcp_outgoing *outgoing)
{
	if (!out->failed && out->len)
		mcp_join_lines(out);
	if (buf_append_char(out, '\n') < 0 || out->failed)
		connection->is_broken = true;
	if (connection->is_closing || connection->is_broken)
		return;
	struct mcp_outgoing whole = *outgoing;
	whole.line = (struct str){ out->data, out->len - 1 };
	connection->server->table->send(connection->data, &whole);
	if (out->cap > MCP_OUT_KEPT)
		buf_free(out);
}

void mcp_send(struct mcp_connection *connection, void *stream, enum jsonrpc_kind kind)
{
	mcp_hand_out(connection, &connection->server->out,
		&(struct mcp_outgoing){ .stream = stream, .kind = kind });
}

/* ---- batches --------------------------------------------------------------- */

void mcp_batch_close(struct mcp_batch *batch)
{
	if (--batch->open)
		return;
	bool is_said = batch->out.len || batch->out.failed;
	buf_append_char(&batch->out, ']');
	if (is_said)
		mcp_hand_out(batch->connection, &batch->out,
			&(struct mcp_outgoing){ .stream = batch->stream, .kind = JSONRPC_RESULT });
	buf_free(&batch->out);
	free(batch);
}

void mcp_reply_drop(const struct mcp_reply *reply)
{
	if (reply->batch)
		mcp_batch_close(reply->batch);
}

static void mcp_batch_add(struct mcp_batch *batch, const struct buf *out)
{
	buf_append_char(&batch->out, batch->out.len ? ',' : '[');
	if (out->failed)
		batch->out.failed = true;
	else
		buf_append(&batch->out, out->data, out->len);
	mcp_batch_close(batch);
}

/* ---- responses ------------------------------------------------------------- */

static void mcp_keep_response(
	struct mcp_job *job, const struct buf *out, enum jsonrpc_kind kind, int64_t code)
{
	buf_append(&job->response, out->data, out->len);
	job->response.failed |= out->failed;
	job->response_kind = kind;
	job->response_code = code;
}

void mcp_reply_send(const struct mcp_reply *reply, enum jsonrpc_kind kind, int64_t code)
{
	if (reply->keeper) {
		mcp_keep_response(reply->keeper, &reply->keeper->server->out, kind, code);
		return;
	}
	struct mcp_connection *connection = reply->connection;
	if (reply->batch)
		mcp_batch_add(reply->batch, &connection->server->out);
	else
		mcp_hand_out(connection, &connection->server->out,
			&(struct mcp_outgoing){ .stream = reply->stream, .kind = kind, .code = code });
}

static struct mcp_server *mcp_reply_server(const struct mcp_reply *reply)
{
	return reply->keeper ? reply->keeper->server : reply->connection->server;
}

perch_json_writer mcp_reply_begin(const struct mcp_reply *reply, const char *result_type)
{
	perch_json_writer writer = mcp_write_begin(mcp_reply_server(reply));
	jsonrpc_begin_result(&writer, &reply->id);
	perch_json_begin_object(&writer);
	if (reply->version && reply->version->is_modern)
		json_write_text(&writer, "resultType", str_from(result_type));
	return writer;
}

void mcp_meta_begin(perch_json_writer *writer, const struct mcp_server *server)
{
	perch_json_write_name(writer, "_meta");
	perch_json_begin_object(writer);
	perch_json_write_name(writer, MCP_META("serverInfo"));
	mcp_server_info_write(writer, server, NULL);
}

void mcp_cache_write(
	perch_json_writer *writer, const struct mcp_server *server, enum mcp_cache cache)
{
	bool is_list = cache == MCP_CACHED_LIST;
	perch_json_write_name(writer, "ttlMs");
	perch_json_write_uint64(writer, is_list ? server->options.list_ttl_ms : 0);
	perch_json_write_name(writer, "cacheScope");
	perch_json_write_string(writer, is_list && server->options.is_public ? "public" : "private");
}

void mcp_reply_end(const struct mcp_reply *reply, perch_json_writer *writer, enum mcp_cache cache)
{
	const struct mcp_server *server = mcp_reply_server(reply);
	if (reply->version && reply->version->is_modern) {
		if (cache != MCP_NOT_CACHED)
			mcp_cache_write(writer, server, cache);
		mcp_meta_begin(writer, server);
		perch_json_end_object(writer);
	}
	perch_json_end_object(writer);
	jsonrpc_end(writer);
	mcp_reply_send(reply, JSONRPC_RESULT, 0);
}

void mcp_reply_error(const struct mcp_reply *reply, int64_t code, struct str text, struct str data)
{
	perch_json_writer writer = mcp_write_begin(mcp_reply_server(reply));
	jsonrpc_write_error(&writer, &reply->id, code, text, data);
	mcp_reply_send(reply, JSONRPC_ERROR, code);
}

/* ---- the server's own name ------------------------------------------------- */

/* version NULL = any that is modern. */
void mcp_server_info_write(
	perch_json_writer *writer, const struct mcp_server *server, const struct mcp_version *version)
{
	perch_json_begin_object(writer);
	json_write_text(writer, "name", server->options.name);
	if (server->options.title.len && (!version || version->has_titles))
		json_write_text(writer, "title", server->options.title);
	json_write_text(writer, "version", server->options.version);
	perch_json_end_object(writer);
}

static void mcp_capability_write(
	perch_json_writer *writer, const char *name, bool has_changes, bool has_subscriptions)
{
	perch_json_write_name(writer, name);
	perch_json_begin_object(writer);
	if (has_changes)
		json_write_flag(writer, "listChanged", true);
	if (has_subscriptions)
		json_write_flag(writer, "subscribe", true);
	perch_json_end_object(writer);
}

/* There are always resources: results that were cut are resources. */
void mcp_capabilities_write(
	perch_json_writer *writer, const struct mcp_server *server, const struct mcp_version *version)
{
	const struct mcp_server_options *options = &server->options;
	perch_json_write_name(writer, "capabilities");
	perch_json_begin_object(writer);
	mcp_capability_write(writer, "tools", true, false);
	mcp_capability_write(writer, "resources", options->has_resources, options->has_subscriptions);
	if (options->has_prompts)
		mcp_capability_write(writer, "prompts", true, false);
	if (options->has_completions && version->has_annotations)
		mcp_capability_write(writer, "completions", false, false);
	mcp_capability_write(writer, "logging", false, false);
	perch_json_end_object(writer);
}

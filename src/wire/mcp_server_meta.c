/* MCP server: what a request says of itself: its era and version, the client, and whether the
 * headers of HTTP say the same; initialize, which says it for all that follow. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "wire/mcp_server_parts.h"

/* data is made apart: the error is written into the server's buffer. */
static void mcp_refuse_version(struct mcp_taking *taking, struct str asked)
{
	_cleanup_(buf_free) struct buf data = { 0 };
	perch_json_writer writer = json_writer_on(&data);
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, "supported");
	mcp_versions_write(&writer);
	struct str shown = { asked.data, (size_t)utf8_quoted(asked) };
	json_write_text(&writer, "requested", shown);
	perch_json_end_object(&writer);
	if (data.failed)
		taking->connection->is_broken = true;
	mcp_reply_error(&taking->reply, MCP_UNSUPPORTED_VERSION, STR("Unsupported protocol version"),
		data.failed ? (struct str){ 0 } : (struct str){ data.data, data.len });
}

/* ---- what a request says of itself ----------------------------------------- */

/* NULL is a client that can do nothing. */
static unsigned mcp_read_abilities(const perch_json_value *capabilities)
{
	const perch_json_value *elicitation = perch_json_get(capabilities, "elicitation");
	unsigned abilities = 0;
	if (perch_json_type_of(elicitation) == PERCH_JSON_OBJECT &&
		(perch_json_get(elicitation, "form") || !perch_json_get(elicitation, "url")))
		abilities |= MCP_CAN_ELICIT;
	if (perch_json_type_of(perch_json_get(capabilities, "sampling")) == PERCH_JSON_OBJECT)
		abilities |= MCP_CAN_SAMPLE;
	if (perch_json_type_of(perch_json_get(capabilities, "roots")) == PERCH_JSON_OBJECT)
		abilities |= MCP_HAS_ROOTS;
	return abilities;
}

static void mcp_read_client(struct mcp_client *client, const perch_json_value *info)
{
	client->name = mcp_text_of(perch_json_get(info, "name"));
	client->version = mcp_text_of(perch_json_get(info, "version"));
}

static bool mcp_header_fits(
	struct mcp_taking *taking, const char *header, struct str given, struct str body)
{
	if (!given.data || str_eq(given, body))
		return true;
	mcp_refuse(taking, MCP_HEADER_MISMATCH,
		given.len ? "the header %s says something else than the body" : "the header %s is missing",
		header);
	return false;
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
	if (!mcp_header_fits(
			taking, "MCP-Protocol-Version", taking->line->header_version, json_str(version)))
		return false;
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
	taking->abilities = mcp_read_abilities(abilities);
	mcp_read_client(&taking->client, perch_json_get(taking->meta, MCP_META("clientInfo")));
	return true;
}

/* A connection that has initialized speaks for its requests. */
static bool mcp_take_legacy_meta(struct mcp_taking *taking, struct str method)
{
	const struct mcp_connection *connection = taking->connection;
	taking->reply.version = connection->version;
	taking->log_level = connection->log_level;
	taking->abilities = connection->abilities;
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

bool mcp_take_meta(struct mcp_taking *taking, struct str method)
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

bool mcp_headers_fit(struct mcp_taking *taking, struct str method)
{
	const struct mcp_line *line = taking->line;
	const perch_json_value *name =
		taking->method->subject ? perch_json_get(taking->params, taking->method->subject) : NULL;
	if (!taking->reply.version->is_modern)
		return true;
	return mcp_header_fits(taking, "Mcp-Method", line->header_method, method) &&
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
	connection->abilities = mcp_read_abilities(perch_json_get(taking->params, "capabilities"));
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

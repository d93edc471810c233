/* MCP server: the methods, as a table. What can be answered from here is; everything else
 * becomes a job and a wish. */
#include <errno.h>

#include "base/macros.h"
#include "base/utf8.h"
#include "wire/mcp_server_parts.h"

/* ---- jobs ------------------------------------------------------------------ */

/* From here on the job belongs to the frontend, and may be gone already. */
static void mcp_wish_for(struct mcp_taking *taking, struct mcp_job *job, struct str name,
	const perch_json_value *arguments)
{
	struct mcp_server *server = taking->connection->server;
	server->table->wish(server->data,
		&(struct mcp_wish){
			.kind = taking->method->wish,
			.connection = taking->connection,
			.job = job,
			.name = name,
			.arguments = arguments,
			.params = taking->params,
			.headers = taking->reply.version->is_modern ? taking->line->header_params : NULL,
			.level = taking->log_level,
			.abilities = taking->abilities,
			.client = taking->client,
			.version = taking->reply.version,
		});
}

bool mcp_take_subject(struct mcp_taking *taking, struct str *ret_name)
{
	const perch_json_value *name = perch_json_get(taking->params, taking->method->subject);
	if (perch_json_type_of(name) != PERCH_JSON_STRING) {
		mcp_refuse(taking, JSONRPC_INVALID_PARAMS, "%s must be a string", taking->method->subject);
		return false;
	}
	if (json_str(name).len > MCP_NAME_BYTES_MAX) {
		mcp_refuse(taking, JSONRPC_INVALID_PARAMS, "%s is too long", taking->method->subject);
		return false;
	}
	*ret_name = json_str(name);
	return true;
}

/* A call of a tool, a prompt, a resource: all that a question may interrupt. */
static void mcp_take_call(struct mcp_taking *taking)
{
	struct str name;
	const perch_json_value *arguments = perch_json_get(taking->params, "arguments");
	const perch_json_value *state = perch_json_get(taking->params, "requestState");
	if (!mcp_take_subject(taking, &name))
		return;
	if (arguments && perch_json_type_of(arguments) != PERCH_JSON_OBJECT) {
		mcp_refuse(taking, JSONRPC_INVALID_PARAMS, "arguments must be an object");
	} else if (state && taking->reply.version->is_modern) {
		mcp_ask_resume(taking, name, state);
	} else {
		struct mcp_job *job = mcp_job_new(taking, name);
		if (job)
			mcp_wish_for(taking, job, name, arguments);
	}
}

/* ---- resources ------------------------------------------------------------- */

static void mcp_give_result(
	struct mcp_taking *taking, const struct mcp_kept_result *kept, struct str uri)
{
	perch_json_writer writer = mcp_reply_begin(&taking->reply, "complete");
	perch_json_write_name(&writer, "contents");
	perch_json_begin_array(&writer);
	perch_json_begin_object(&writer);
	json_write_text(&writer, "uri", uri);
	json_write_text(
		&writer, "mimeType", kept->is_json ? STR("application/json") : STR("text/plain"));
	json_write_text(&writer, "text", kept->text);
	perch_json_end_object(&writer);
	perch_json_end_array(&writer);
	mcp_reply_end(&taking->reply, &writer, MCP_CACHED_PRIVATE);
}

static void mcp_take_read(struct mcp_taking *taking)
{
	struct mcp_connection *connection = taking->connection;
	struct mcp_server *server = connection->server;
	struct str uri;
	if (!mcp_take_subject(taking, &uri))
		return;
	const struct mcp_kept_result *kept =
		mcp_results_find(&server->results, connection->principal, uri, server->now_ns);
	if (kept)
		mcp_give_result(taking, kept, uri);
	else if (server->options.has_resources && !str_has_prefix(uri, STR(MCP_RESULTS_URI)))
		mcp_take_call(taking);
	else
		mcp_refuse(taking, taking->reply.version->unknown_resource, "there is no resource %.*s",
			utf8_quoted(uri), uri.data);
}

/* ---- lists ----------------------------------------------------------------- */

static void mcp_give_empty_list(struct mcp_taking *taking)
{
	perch_json_writer writer = mcp_reply_begin(&taking->reply, "complete");
	perch_json_write_name(&writer, taking->method->items);
	perch_json_begin_array(&writer);
	perch_json_end_array(&writer);
	mcp_reply_end(&taking->reply, &writer, MCP_CACHED_LIST);
}

static bool mcp_take_cursor(struct mcp_taking *taking, size_t *ret_from)
{
	const perch_json_value *cursor = perch_json_get(taking->params, "cursor");
	*ret_from = 0;
	if (!cursor)
		return true;
	const struct mcp_server_options *options = &taking->connection->server->options;
	if (perch_json_type_of(cursor) == PERCH_JSON_STRING &&
		mcp_cursor_read(taking->method->items, options->key, json_str(cursor), ret_from))
		return true;
	mcp_refuse(taking, JSONRPC_INVALID_PARAMS, "the cursor is none of ours");
	return false;
}

static void mcp_take_list(struct mcp_taking *taking)
{
	size_t from;
	if (!mcp_take_cursor(taking, &from))
		return;
	bool is_resources =
		taking->method->wish == MCP_LIST_RESOURCES || taking->method->wish == MCP_LIST_TEMPLATES;
	if (is_resources && !taking->connection->server->options.has_resources) {
		mcp_give_empty_list(taking);
		return;
	}
	struct mcp_job *job = mcp_job_new(taking, (struct str){ 0 });
	if (!job)
		return;
	job->from = from;
	mcp_wish_for(taking, job, (struct str){ 0 }, NULL);
}

/* ---- the rest -------------------------------------------------------------- */

static void mcp_take_complete(struct mcp_taking *taking)
{
	const perch_json_value *argument = perch_json_get(taking->params, "argument");
	bool is_right =
		perch_json_type_of(perch_json_get(taking->params, "ref")) == PERCH_JSON_OBJECT &&
		perch_json_type_of(perch_json_get(argument, "name")) == PERCH_JSON_STRING &&
		perch_json_type_of(perch_json_get(argument, "value")) == PERCH_JSON_STRING;
	if (!is_right) {
		mcp_refuse(taking, JSONRPC_INVALID_PARAMS,
			"ref must be an object, argument an object with a name and a value");
		return;
	}
	struct mcp_job *job = mcp_job_new(taking, (struct str){ 0 });
	if (job)
		mcp_wish_for(taking, job, (struct str){ 0 }, NULL);
}

static void mcp_take_ping(struct mcp_taking *taking)
{
	perch_json_writer writer = mcp_reply_begin(&taking->reply, NULL);
	mcp_reply_end(&taking->reply, &writer, MCP_NOT_CACHED);
}

static void mcp_take_level(struct mcp_taking *taking)
{
	enum mcp_level level = mcp_level_read(perch_json_get(taking->params, "level"));
	if (level == MCP_LEVEL_NONE) {
		mcp_refuse(taking, JSONRPC_INVALID_PARAMS, "there is no such level");
		return;
	}
	taking->connection->log_level = taking->log_level = level;
	mcp_take_ping(taking);
	mcp_wish_for(taking, NULL, (struct str){ 0 }, NULL);
}

static void mcp_take_discover(struct mcp_taking *taking)
{
	const struct mcp_server *server = taking->connection->server;
	perch_json_writer writer = mcp_reply_begin(&taking->reply, "complete");
	perch_json_write_name(&writer, "supportedVersions");
	mcp_versions_write(&writer);
	mcp_capabilities_write(&writer, server, taking->reply.version);
	if (server->options.instructions.len)
		json_write_text(&writer, "instructions", server->options.instructions);
	mcp_reply_end(&taking->reply, &writer, MCP_CACHED_LIST);
}

/* ---- the table ------------------------------------------------------------- */

#define MCP_NEEDS(option) offsetof(struct mcp_server_options, option)

static const struct mcp_method mcp_methods[] = {
	{ .name = "initialize", .eras = MCP_LEGACY, .take = mcp_take_initialize },
	{ .name = "ping", .eras = MCP_LEGACY, .take = mcp_take_ping },
	{ .name = "server/discover", .eras = MCP_MODERN, .take = mcp_take_discover },
	{ .name = "tools/list",
		.eras = MCP_BOTH,
		.take = mcp_take_list,
		.wish = MCP_LIST_TOOLS,
		.items = "tools" },
	{ .name = "tools/call",
		.eras = MCP_BOTH,
		.take = mcp_take_call,
		.wish = MCP_CALL_TOOL,
		.subject = "name" },
	{ .name = "resources/list",
		.eras = MCP_BOTH,
		.take = mcp_take_list,
		.wish = MCP_LIST_RESOURCES,
		.items = "resources" },
	{ .name = "resources/templates/list",
		.eras = MCP_BOTH,
		.take = mcp_take_list,
		.wish = MCP_LIST_TEMPLATES,
		.items = "resourceTemplates" },
	{ .name = "resources/read",
		.eras = MCP_BOTH,
		.take = mcp_take_read,
		.wish = MCP_READ_RESOURCE,
		.subject = "uri",
		.is_cacheable = true },
	{ .name = "resources/subscribe",
		.eras = MCP_LEGACY,
		.take = mcp_take_subscribe,
		.wish = MCP_SUBSCRIBE,
		.subject = "uri",
		.needs = MCP_NEEDS(has_subscriptions) },
	{ .name = "resources/unsubscribe",
		.eras = MCP_LEGACY,
		.take = mcp_take_unsubscribe,
		.wish = MCP_UNSUBSCRIBE,
		.subject = "uri",
		.needs = MCP_NEEDS(has_subscriptions) },
	{ .name = "prompts/list",
		.eras = MCP_BOTH,
		.take = mcp_take_list,
		.wish = MCP_LIST_PROMPTS,
		.items = "prompts",
		.needs = MCP_NEEDS(has_prompts) },
	{ .name = "prompts/get",
		.eras = MCP_BOTH,
		.take = mcp_take_call,
		.wish = MCP_GET_PROMPT,
		.subject = "name",
		.needs = MCP_NEEDS(has_prompts) },
	{ .name = "completion/complete",
		.eras = MCP_BOTH,
		.take = mcp_take_complete,
		.wish = MCP_COMPLETE,
		.needs = MCP_NEEDS(has_completions) },
	{ .name = "logging/setLevel",
		.eras = MCP_LEGACY,
		.take = mcp_take_level,
		.wish = MCP_LOG_LEVEL },
	{ .name = "subscriptions/listen", .eras = MCP_MODERN, .take = mcp_take_listen },
};

const struct mcp_method *mcp_method_find(
	const struct mcp_server *server, struct str name, const struct mcp_version *version)
{
	enum mcp_era era = version->is_modern ? MCP_MODERN : MCP_LEGACY;
	for (size_t i = 0; i < COUNT(mcp_methods); i++) {
		const struct mcp_method *method = &mcp_methods[i];
		if (!(method->eras & era) || !str_is(name, method->name))
			continue;
		const char *options = (const char *)&server->options;
		return !method->needs || *(const bool *)(options + method->needs) ? method : NULL;
	}
	return NULL;
}

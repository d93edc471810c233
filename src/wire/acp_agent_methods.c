/* ACP's agent side: the methods of the client. */
#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/utf8.h"
#include "data/json_member.h"
#include "wire/acp_agent_parts.h"
#include "wire/acp_server.h"

enum { ACP_VERSION = 1, ACP_LIST_MAX = 256, ACP_VERSION_MAX = 65535 };

/* ---- reading params -------------------------------------------------------- */

/* A text: 1, 0 = it is absent, or refused with -1. */
static int acp_params_text(struct acp_taking *taking, const char *name, struct str *ret_text)
{
	const perch_json_value *value = NULL;
	perch_err err = { 0 };
	int r = json_member_of(taking->message->params, name, PERCH_JSON_STRING, &value, &err);
	if (r < 0)
		acp_refuse(taking, JSONRPC_INVALID_PARAMS, "%s", err.text);
	else if (r > 0)
		*ret_text = json_str(value);
	return r < 0 ? -1 : r;
}

/* One that must be there. */
static bool acp_params_need(struct acp_taking *taking, const char *name, struct str *ret_text)
{
	int r = acp_params_text(taking, name, ret_text);
	if (r == 0)
		acp_refuse(taking, JSONRPC_INVALID_PARAMS, "\"%s\" is missing", name);
	return r > 0;
}

/* An absolute path is a text of any program: it has no NUL. */
static bool acp_params_is_path(struct str text)
{
	return str_has_prefix(text, STR("/")) && !memchr(text.data, '\0', text.len);
}

static bool acp_params_item_fits(const perch_json_value *item, bool are_paths)
{
	if (!are_paths)
		return acp_server_fits(item);
	return perch_json_type_of(item) == PERCH_JSON_STRING && acp_params_is_path(json_str(item));
}

static bool acp_params_items_fit(const perch_json_value *list, bool are_paths)
{
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		if (!acp_params_item_fits(item, are_paths))
			return false;
	}
	return perch_json_count(list) <= ACP_LIST_MAX;
}

/* A list, as it was written; empty where it is absent, or has nothing in it. */
static bool acp_params_list(
	struct acp_taking *taking, const char *name, bool are_paths, struct str *ret_list)
{
	const perch_json_value *list = NULL;
	perch_err err = { 0 };
	int r = json_member_of(taking->message->params, name, PERCH_JSON_ARRAY, &list, &err);
	if (r < 0) {
		acp_refuse(taking, JSONRPC_INVALID_PARAMS, "%s", err.text);
		return false;
	}
	if (r > 0 && !acp_params_items_fit(list, are_paths)) {
		acp_refuse(taking, JSONRPC_INVALID_PARAMS, "\"%s\" must be a list of at most %d %s", name,
			(int)ACP_LIST_MAX, are_paths ? "absolute paths" : "MCP servers");
		return false;
	}
	if (r > 0 && perch_json_count(list))
		ret_list->data = perch_json_raw(list, &ret_list->len);
	return true;
}

static bool acp_params_place(struct acp_taking *taking, struct acp_place *place)
{
	if (!acp_params_need(taking, "cwd", &place->cwd))
		return false;
	if (!acp_params_is_path(place->cwd)) {
		acp_refuse(taking, JSONRPC_INVALID_PARAMS, "\"cwd\" must be an absolute path");
		return false;
	}
	return acp_params_list(taking, "additionalDirectories", true, &place->directories) &&
		acp_params_list(taking, "mcpServers", false, &place->servers);
}

/* The session that the request names, which must be open. */
static struct acp_session *acp_params_session(struct acp_taking *taking)
{
	struct str id = { 0 };
	if (!acp_params_need(taking, "sessionId", &id))
		return NULL;
	struct acp_session *session = acp_session_find(taking->agent, id);
	if (!session)
		acp_refuse(taking, ACP_NOT_FOUND, "there is no open session of that id");
	return session;
}

/* ---- initialize ------------------------------------------------------------ */

static void acp_initialize_write_ability(perch_json_writer *out, const char *name)
{
	perch_json_write_name(out, name);
	perch_json_begin_object(out);
	perch_json_end_object(out);
}

static void acp_initialize_write_sessions(const struct acp_agent *agent, perch_json_writer *out)
{
	perch_json_write_name(out, "sessionCapabilities");
	perch_json_begin_object(out);
	if (agent->options.has_store) {
		acp_initialize_write_ability(out, "list");
		acp_initialize_write_ability(out, "resume");
		acp_initialize_write_ability(out, "delete");
	}
	if (agent->options.has_directories)
		acp_initialize_write_ability(out, "additionalDirectories");
	acp_initialize_write_ability(out, "close");
	perch_json_end_object(out);
}

static void acp_initialize_write_abilities(const struct acp_agent *agent, perch_json_writer *out)
{
	perch_json_write_name(out, "agentCapabilities");
	perch_json_begin_object(out);
	json_write_flag(out, "loadSession", agent->options.has_store);
	perch_json_write_name(out, "promptCapabilities");
	perch_json_begin_object(out);
	json_write_flag(out, "image", agent->options.has_attachments);
	json_write_flag(out, "audio", agent->options.has_attachments);
	json_write_flag(out, "embeddedContext", true);
	perch_json_end_object(out);
	perch_json_write_name(out, "mcpCapabilities");
	perch_json_begin_object(out);
	json_write_flag(out, "http", agent->options.has_directories);
	json_write_flag(out, "sse", false);
	perch_json_end_object(out);
	acp_initialize_write_sessions(agent, out);
	perch_json_end_object(out);
}

static void acp_initialize_answer(struct acp_taking *taking)
{
	struct acp_agent *agent = taking->agent;
	perch_json_writer out = acp_write_begin(agent);
	jsonrpc_begin_result(&out, &taking->message->id);
	perch_json_begin_object(&out);
	perch_json_write_name(&out, "protocolVersion");
	perch_json_write_int64(&out, ACP_VERSION);
	acp_initialize_write_abilities(agent, &out);
	perch_json_write_name(&out, "agentInfo");
	perch_json_begin_object(&out);
	json_write_text(&out, "name", agent->options.name);
	if (agent->options.title.len)
		json_write_text(&out, "title", agent->options.title);
	json_write_text(&out, "version", agent->options.version);
	perch_json_end_object(&out);
	perch_json_write_name(&out, "authMethods");
	perch_json_begin_array(&out);
	perch_json_end_array(&out);
	perch_json_end_object(&out);
	jsonrpc_end(&out);
	acp_write_send(agent, true);
}

static struct str acp_initialize_text(const perch_json_value *info, const char *name)
{
	const perch_json_value *value = perch_json_get(info, name);
	return perch_json_type_of(value) == PERCH_JSON_STRING ? json_str(value) : STR("");
}

/* So many bytes of it, and no half of a character. */
static int acp_initialize_shown(struct str text, size_t most)
{
	return (int)utf8_whole_prefix(text.data, text.len < most ? text.len : most);
}

static void acp_initialize_take(struct acp_taking *taking)
{
	struct acp_agent *agent = taking->agent;
	const perch_json_value *params = taking->message->params;
	const perch_json_value *info = perch_json_get(params, "clientInfo");
	const perch_json_value *forms = perch_json_get(params, "clientCapabilities");
	struct str name = acp_initialize_text(info, "name");
	struct str version = acp_initialize_text(info, "version");
	int64_t number = 0;
	forms = perch_json_get(perch_json_get(forms, "elicitation"), "form");
	if (agent->is_greeted) {
		acp_refuse(taking, JSONRPC_INVALID_REQUEST, "initialize was said already");
	} else if (perch_json_whole_int64(perch_json_get(params, "protocolVersion"), &number) < 0 ||
		number < 0 || number > ACP_VERSION_MAX) {
		acp_refuse(taking, JSONRPC_INVALID_PARAMS, "\"protocolVersion\" must be a small integer");
	} else {
		agent->is_greeted = true;
		agent->has_forms = perch_json_type_of(forms) == PERCH_JSON_OBJECT;
		snprintf(agent->client, sizeof(agent->client), "%.*s%s%.*s",
			acp_initialize_shown(name, 100), name.data, version.len ? " " : "",
			acp_initialize_shown(version, 60), version.data);
		acp_initialize_answer(taking);
	}
}

/* ---- sessions -------------------------------------------------------------- */

static void acp_method_wish(struct acp_taking *taking, struct acp_wish wish)
{
	wish.request = acp_request_new(taking, &taking->agent->requests);
	if (wish.request)
		taking->agent->table->wish(taking->agent->data, &wish);
}

static void acp_method_new(struct acp_taking *taking)
{
	struct acp_wish wish = { .kind = ACP_WISH_NEW };
	if (acp_params_place(taking, &wish.place))
		acp_method_wish(taking, wish);
}

static void acp_method_reopen(struct acp_taking *taking, enum acp_wish_kind kind)
{
	struct acp_wish wish = { .kind = kind };
	if (!acp_params_need(taking, "sessionId", &wish.id) || !acp_params_place(taking, &wish.place))
		return;
	wish.session = acp_session_find(taking->agent, wish.id);
	if (wish.session && (wish.session->turn || wish.session->ending))
		acp_refuse(taking, JSONRPC_INVALID_REQUEST, "a prompt of this session is under way");
	else
		acp_method_wish(taking, wish);
}

static void acp_method_load(struct acp_taking *taking)
{
	acp_method_reopen(taking, ACP_WISH_LOAD);
}

static void acp_method_resume(struct acp_taking *taking)
{
	acp_method_reopen(taking, ACP_WISH_RESUME);
}

static void acp_method_list(struct acp_taking *taking)
{
	struct acp_wish wish = { .kind = ACP_WISH_LIST };
	if (acp_params_text(taking, "cwd", &wish.place.cwd) < 0 ||
		acp_params_text(taking, "cursor", &wish.cursor) < 0)
		return;
	if (wish.place.cwd.len && !acp_params_is_path(wish.place.cwd))
		acp_refuse(taking, JSONRPC_INVALID_PARAMS, "\"cwd\" must be an absolute path");
	else
		acp_method_wish(taking, wish);
}

static void acp_method_end(struct acp_taking *taking, struct acp_session *session, bool is_deletion)
{
	if (session->ending) {
		acp_refuse(taking, JSONRPC_INVALID_REQUEST, "the session is being closed");
		return;
	}
	struct acp_request *request = acp_request_new(taking, &taking->agent->requests);
	if (request)
		acp_session_end(session, request, is_deletion);
}

static void acp_method_delete(struct acp_taking *taking)
{
	struct acp_wish wish = { .kind = ACP_WISH_DELETE };
	if (!acp_params_need(taking, "sessionId", &wish.id))
		return;
	struct acp_session *session = acp_session_find(taking->agent, wish.id);
	if (session)
		acp_method_end(taking, session, true);
	else
		acp_method_wish(taking, wish);
}

static void acp_method_close(struct acp_taking *taking)
{
	struct acp_session *session = acp_params_session(taking);
	if (session)
		acp_method_end(taking, session, false);
}

static void acp_method_configure(struct acp_taking *taking)
{
	struct acp_wish wish = { .kind = ACP_WISH_CONFIGURE };
	wish.session = acp_params_session(taking);
	if (wish.session && acp_params_need(taking, "configId", &wish.option) &&
		acp_params_need(taking, "value", &wish.value))
		acp_method_wish(taking, wish);
}

/* ---- prompts --------------------------------------------------------------- */

static void acp_method_prompt(struct acp_taking *taking)
{
	struct acp_agent *agent = taking->agent;
	struct acp_session *session = acp_params_session(taking);
	struct acp_block *blocks = NULL;
	size_t count = 0;
	perch_err err = { 0 };
	if (!session)
		return;
	arena_reset(&agent->scratch);
	int r = acp_prompt_read(
		perch_json_get(taking->message->params, "prompt"), &agent->scratch, &blocks, &count, &err);
	for (size_t i = 0; r == 0 && i < count && !agent->options.has_attachments; i++) {
		if (blocks[i].kind >= ACP_IMAGE)
			r = err_set(&err, -EINVAL, "prompt[%zu]: this agent takes no attachments", i);
	}
	if (r == -ENOMEM)
		agent->is_broken = true;
	else if (r < 0)
		acp_refuse(taking, JSONRPC_INVALID_PARAMS, "%s", err.text);
	else
		acp_session_prompt(taking, session);
}

static void acp_notice_cancel(struct acp_taking *taking)
{
	const perch_json_value *id = perch_json_get(taking->message->params, "sessionId");
	struct acp_session *session = perch_json_type_of(id) == PERCH_JSON_STRING
		? acp_session_find(taking->agent, json_str(id))
		: NULL;
	if (session)
		acp_session_cancel(session);
}

/* Of other requests the answer comes soon anyway. */
static void acp_notice_cancel_request(struct acp_taking *taking)
{
	struct jsonrpc_id id = { 0 };
	if (!jsonrpc_id_read(perch_json_get(taking->message->params, "requestId"), &id))
		return;
	struct acp_request *turn = acp_request_find(taking->agent, &id);
	if (turn)
		acp_turn_cancel(turn);
}

/* ---------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*take)(struct acp_taking *taking);
	bool is_notice;
	bool needs_store;
} acp_methods[] = {
	{ "session/prompt", acp_method_prompt, false, false },
	{ "session/cancel", acp_notice_cancel, true, false },
	{ "$/cancel_request", acp_notice_cancel_request, true, false },
	{ "session/new", acp_method_new, false, false },
	{ "session/load", acp_method_load, false, true },
	{ "session/resume", acp_method_resume, false, true },
	{ "session/list", acp_method_list, false, true },
	{ "session/delete", acp_method_delete, false, true },
	{ "session/close", acp_method_close, false, false },
	{ "session/set_config_option", acp_method_configure, false, false },
	{ "initialize", acp_initialize_take, false, false },
};

void acp_method_take(struct acp_taking *taking)
{
	const struct jsonrpc_message *message = taking->message;
	bool is_notice = message->kind == JSONRPC_NOTIFICATION;
	bool is_hello = str_is(message->method, "initialize");
	for (size_t i = 0; i < COUNT(acp_methods); i++) {
		if (acp_methods[i].is_notice != is_notice ||
			!str_is(message->method, acp_methods[i].name) ||
			(acp_methods[i].needs_store && !taking->agent->options.has_store))
			continue;
		if (taking->agent->is_greeted || is_hello)
			acp_methods[i].take(taking);
		else if (!is_notice)
			acp_refuse(taking, JSONRPC_INVALID_REQUEST, "initialize must be said first");
		return;
	}
	if (!is_notice)
		acp_refuse(taking, JSONRPC_METHOD_NOT_FOUND, "there is no method %.*s",
			(int)(message->method.len < 100 ? message->method.len : 100), message->method.data);
}

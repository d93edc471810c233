/* ACP's client side: its life, the greeting, and a line that comes in. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "wire/acp_client_parts.h"

enum { ACP_CLIENT_VERSION = 1, ACP_CALLS_MAX = 1024 };

/* ---- sending --------------------------------------------------------------- */

perch_json_writer acp_client_begin(struct acp_client *client)
{
	buf_clear(&client->out);
	return json_writer_on(&client->out);
}

void acp_client_send(struct acp_client *client)
{
	struct buf *out = &client->out;
	for (size_t i = 0; !out->failed && i < out->len; i++) {
		if (out->data[i] == '\n' || out->data[i] == '\r')
			out->data[i] = ' ';
	}
	if (buf_append_char(out, '\n') < 0 || out->failed)
		client->is_broken = true;
	else
		client->table->send(client->data, (struct str){ out->data, out->len - 1 });
}

struct acp_call *acp_client_call(struct acp_client *client, enum acp_awaited awaited,
	struct acp_talk *talk, const char *method, perch_json_writer *ret_out)
{
	struct acp_call *call = calloc(1, sizeof(*call));
	if (!call || jsonrpc_ids_issue(&client->asked, &call->waiting) < 0) {
		free(call);
		return NULL;
	}
	call->awaited = awaited;
	call->talk = talk;
	list_append(&client->calls, call);
	*ret_out = acp_client_begin(client);
	jsonrpc_begin_request(ret_out, &call->waiting.id, method);
	perch_json_write_name(ret_out, "params");
	perch_json_begin_object(ret_out);
	return call;
}

void acp_call_free(struct acp_client *client, struct acp_call *call)
{
	list_remove(&client->calls, call);
	jsonrpc_ids_remove(&client->asked, &call->waiting);
	free(call);
}

/* ---- telling --------------------------------------------------------------- */

void acp_client_noise(struct acp_client *client, const char *format, ...)
{
	char text[PERCH_ERR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	int len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	size_t kept = len < 0 ? 0 : (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1;
	const struct acp_said said = { .kind = ACP_SAID_NOISE,
		.text = { text, utf8_whole_prefix(text, kept) } };
	client->table->said(client->data, &said);
}

void acp_client_fail(struct acp_client *client, const char *text)
{
	const struct acp_said said = { .kind = ACP_SAID_FAILED, .text = str_from(text) };
	if (client->has_failed)
		return;
	client->has_failed = true;
	client->is_ready = false;
	client->table->said(client->data, &said);
}

/* ---- the greeting ---------------------------------------------------------- */

static void acp_client_write_offers(const struct acp_client *client, perch_json_writer *out)
{
	perch_json_write_name(out, "clientCapabilities");
	perch_json_begin_object(out);
	perch_json_write_name(out, "fs");
	perch_json_begin_object(out);
	json_write_flag(out, "readTextFile", client->offers_files);
	json_write_flag(out, "writeTextFile", client->offers_files);
	perch_json_end_object(out);
	json_write_flag(out, "terminal", client->offers_terminals);
	if (client->offers_forms) {
		static const char modes[] = "{\"form\":{},\"url\":{}}";
		perch_json_write_name(out, "elicitation");
		perch_json_write_raw(out, modes, strlen(modes));
	}
	perch_json_end_object(out);
}

static int acp_client_greet(struct acp_client *client, struct str name, struct str version)
{
	perch_json_writer out;
	if (!acp_client_call(client, ACP_AWAITS_HELLO, NULL, "initialize", &out))
		return -ENOMEM;
	perch_json_write_name(&out, "protocolVersion");
	perch_json_write_int64(&out, ACP_CLIENT_VERSION);
	acp_client_write_offers(client, &out);
	perch_json_write_name(&out, "clientInfo");
	perch_json_begin_object(&out);
	json_write_text(&out, "name", name);
	json_write_text(&out, "version", version);
	perch_json_end_object(&out);
	perch_json_end_object(&out);
	jsonrpc_end(&out);
	acp_client_send(client);
	return client->is_broken ? -ENOMEM : 0;
}

static bool acp_client_can(const perch_json_value *abilities, const char *name)
{
	return perch_json_type_of(perch_json_get(abilities, name)) == PERCH_JSON_OBJECT;
}

static void acp_client_greeted(struct acp_client *client, const struct jsonrpc_message *message)
{
	const perch_json_value *can = perch_json_get(message->result, "agentCapabilities");
	const perch_json_value *prompts = perch_json_get(can, "promptCapabilities");
	const perch_json_value *servers = perch_json_get(can, "mcpCapabilities");
	const perch_json_value *sessions = perch_json_get(can, "sessionCapabilities");
	int64_t version = 0;
	if (message->kind == JSONRPC_ERROR) {
		acp_client_fail(client, "the agent refuses to be initialized");
	} else if (perch_json_whole_int64(
				   perch_json_get(message->result, "protocolVersion"), &version) < 0 ||
		version != ACP_CLIENT_VERSION) {
		acp_client_fail(client, "the agent does not speak version 1 of ACP");
	} else {
		const struct acp_said said = { .kind = ACP_SAID_READY };
		client->abilities = (struct acp_abilities){
			.can_load = json_flag(can, "loadSession"),
			.can_resume = acp_client_can(sessions, "resume"),
			.can_close = acp_client_can(sessions, "close"),
			.takes_images = json_flag(prompts, "image"),
			.takes_sounds = json_flag(prompts, "audio"),
			.takes_resources = json_flag(prompts, "embeddedContext"),
			.takes_http = json_flag(servers, "http"),
			.takes_sse = json_flag(servers, "sse"),
			.takes_directories = acp_client_can(sessions, "additionalDirectories"),
		};
		client->is_ready = true;
		client->table->said(client->data, &said);
	}
}

/* ---- lines ----------------------------------------------------------------- */

static void acp_client_answered(struct acp_client *client, const struct jsonrpc_message *message)
{
	struct jsonrpc_waiting *found = jsonrpc_ids_find(&client->asked, &message->id);
	if (!found) {
		acp_client_noise(client, "the agent answers a request that nobody made");
		return;
	}
	char *begin = (char *)found - offsetof(struct acp_call, waiting);
	struct acp_call call = *(struct acp_call *)(void *)begin;
	acp_call_free(client, (struct acp_call *)(void *)begin);
	if (call.awaited == ACP_AWAITS_HELLO)
		acp_client_greeted(client, message);
	else if (call.talk)
		acp_talk_answered(&call, message);
}

static void acp_client_take(struct acp_client *client, const struct jsonrpc_message *message)
{
	if (message->kind == JSONRPC_RESULT || message->kind == JSONRPC_ERROR)
		acp_client_answered(client, message);
	else if (message->kind == JSONRPC_REQUEST)
		acp_take_request(client, message);
	else if (message->kind == JSONRPC_INVALID)
		acp_client_noise(client, "the agent says what is no message: %.*s",
			(int)(message->text.len < 200 ? message->text.len : 200), message->text.data);
	else if (str_is(message->method, "session/update"))
		acp_take_update(client, message->params);
	else if (str_is(message->method, "$/cancel_request"))
		acp_take_cancel(client, message->params);
	/* Other notifications are of a later protocol, or the agent's own. */
}

void acp_client_line(struct acp_client *client, struct str line, bool is_too_long)
{
	struct jsonrpc_frame frame;
	struct jsonrpc_message message;
	if (client->is_broken || client->has_failed)
		return;
	if (is_too_long)
		acp_client_fail(client, "the agent writes a line that is too long");
	else if (jsonrpc_open(client->json, line, &frame) < 0)
		client->is_broken = true;
	else if (frame.is_batch)
		acp_client_noise(client, "the agent says what is no message: a batch");
	else
		while (jsonrpc_next(&frame, &message)) {
			if (!client->held || !acp_client_keeps(client, &message, line))
				acp_client_take(client, &message);
		}
}

/* ---- life ------------------------------------------------------------------ */

DEFINE_POINTER_CLEANUP(acp_cleanup_client, struct acp_client, acp_client_free)

int acp_client_new(const struct acp_client_options *options, const struct acp_client_table *table,
	void *data, struct acp_client **ret_client)
{
	const perch_json_options limits = { .size = sizeof(limits),
		.text_max = PERCH_JSON_TEXT_CEILING };
	_cleanup_(acp_cleanup_client) struct acp_client *client = calloc(1, sizeof(*client));
	if (!client)
		return -ENOMEM;
	client->table = table;
	client->data = data;
	client->asked.limit = ACP_CALLS_MAX;
	client->offers_files = options->offers_files;
	client->offers_terminals = options->offers_terminals;
	client->offers_forms = options->offers_forms;
	if (perch_json_new(&limits, &client->json) < 0 ||
		acp_client_greet(client, options->name, options->version) < 0)
		return -ENOMEM;
	*ret_client = steal(&client);
	return 0;
}

static void acp_client_mute(void *data, struct str line)
{
	(void)data;
	(void)line;
}

/* What is given up now is told to nobody. */
void acp_client_free(struct acp_client *client)
{
	static const struct acp_client_table deaf = { .send = acp_client_mute };
	struct acp_call *call;
	struct acp_talk *talk;
	if (!client)
		return;
	client->table = &deaf;
	client->is_ready = false;
	while ((talk = list_first(&client->talks)))
		acp_talk_close(talk);
	while ((call = list_first(&client->calls)))
		acp_call_free(client, call);
	jsonrpc_ids_free(&client->asked);
	perch_json_free(client->json);
	buf_free(&client->out);
	free(client);
}

bool acp_client_is_ready(const struct acp_client *client)
{
	return client->is_ready;
}

const struct acp_abilities *acp_client_abilities(const struct acp_client *client)
{
	return &client->abilities;
}

bool acp_client_is_broken(const struct acp_client *client)
{
	return client->is_broken;
}

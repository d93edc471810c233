/* ACP's client side: sessions of the agent, and prompts. */
#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "wire/acp_client_parts.h"

/* ---- finding --------------------------------------------------------------- */

struct acp_talk *acp_talk_find(struct acp_client *client, const perch_json_value *params)
{
	const perch_json_value *id = perch_json_get(params, "sessionId");
	struct acp_talk *talk = list_first(&client->talks);
	if (perch_json_type_of(id) != PERCH_JSON_STRING)
		return NULL;
	while (talk && !str_eq((struct str){ talk->id, talk->id_len }, json_str(id)))
		talk = list_next(talk);
	return talk;
}

static void acp_talk_tell(struct acp_talk *talk, struct acp_said said)
{
	said.talk = talk;
	talk->client->table->said(talk->client->data, &said);
}

/* ---- opening --------------------------------------------------------------- */

static int acp_talk_ask(struct acp_talk *talk, bool is_old)
{
	struct acp_client *client = talk->client;
	const char *method = !is_old       ? "session/new"
		: client->abilities.can_resume ? "session/resume"
									   : "session/load";
	struct str servers = str_from(talk->servers[0] ? talk->servers : "[]");
	perch_json_writer out;
	if (!acp_client_call(
			client, is_old ? ACP_AWAITS_OLD_SESSION : ACP_AWAITS_SESSION, talk, method, &out))
		return -ENOMEM;
	if (is_old)
		json_write_text(&out, "sessionId", (struct str){ talk->id, talk->id_len });
	json_write_text(&out, "cwd", str_from(talk->cwd));
	perch_json_write_name(&out, "mcpServers");
	perch_json_write_raw(&out, servers.data, servers.len);
	if (talk->directories[0]) {
		perch_json_write_name(&out, "additionalDirectories");
		perch_json_write_raw(&out, talk->directories, strlen(talk->directories));
	}
	perch_json_end_object(&out);
	jsonrpc_end(&out);
	acp_client_send(client);
	return 0;
}

int acp_talk_open(
	struct acp_client *client, const struct acp_talk_options *options, struct acp_talk **ret_talk)
{
	const struct acp_abilities *can = &client->abilities;
	bool is_old =
		options->id.len && options->id.len <= ACP_TALK_ID_MAX && (can->can_resume || can->can_load);
	if (!client->is_ready)
		return -EAGAIN;
	if (client->talks.count >= ACP_TALKS_MAX)
		return PERCH_ELIMIT;
	struct acp_talk *talk = calloc(1, sizeof(*talk));
	if (!talk)
		return -ENOMEM;
	talk->client = client;
	talk->data = options->data;
	talk->cwd = str_dup(options->cwd);
	talk->servers = str_dup(options->servers.data ? options->servers : STR(""));
	talk->directories = str_dup(options->directories.data ? options->directories : STR(""));
	list_append(&client->talks, talk);
	if (is_old) {
		memcpy(talk->id, options->id.data, options->id.len);
		talk->id_len = options->id.len;
	}
	if (!talk->cwd || !talk->servers || !talk->directories || acp_talk_ask(talk, is_old) < 0) {
		acp_talk_close(talk);
		return -ENOMEM;
	}
	*ret_talk = talk;
	return 0;
}

void *acp_talk_data(const struct acp_talk *talk)
{
	return talk->data;
}

static void acp_talk_opened(struct acp_talk *talk)
{
	talk->is_open = true;
	acp_talk_tell(
		talk, (struct acp_said){ .kind = ACP_SAID_OPEN, .text = { talk->id, talk->id_len } });
}

static void acp_talk_refused(struct acp_talk *talk, int64_t code, struct str text)
{
	acp_talk_tell(talk,
		(struct acp_said){ .kind = ACP_SAID_ERROR,
			.code = code,
			.text = text.len ? text : STR("the agent gives no reason") });
}

/* An error and its data, where most agents say what has happened. */
static void acp_talk_spell_error(const struct jsonrpc_message *message, struct buf *out)
{
	const perch_json_value *details = perch_json_get(message->data, "details");
	if (!details)
		details = message->data;
	struct str more =
		perch_json_type_of(details) == PERCH_JSON_STRING ? json_str(details) : (struct str){ 0 };
	buf_append(out, message->text.data, message->text.len);
	if (!more.len || str_eq(more, message->text))
		return;
	buf_append_text(out, message->text.len ? ": " : "");
	buf_append(out, more.data, more.len);
}

static void acp_talk_failed(struct acp_talk *talk, const struct jsonrpc_message *message)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	acp_talk_spell_error(message, &text);
	acp_talk_refused(
		talk, message->code, text.failed ? message->text : (struct str){ text.data, text.len });
}

/* An id that another talk has would mix up both. */
static void acp_talk_named(struct acp_talk *talk, const perch_json_value *result)
{
	const perch_json_value *value = perch_json_get(result, "sessionId");
	bool is_text = perch_json_type_of(value) == PERCH_JSON_STRING;
	struct str id = is_text ? json_str(value) : STR("");
	if (!id.len || id.len > ACP_TALK_ID_MAX || acp_talk_find(talk->client, result)) {
		acp_talk_refused(talk, 0, STR("the agent gives the session no id that can be used"));
		return;
	}
	memcpy(talk->id, id.data, id.len);
	talk->id_len = id.len;
	acp_talk_opened(talk);
}

/* The old one is not there: a new one takes its place. */
static void acp_talk_anew(struct acp_talk *talk, const struct jsonrpc_message *why)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	talk->id_len = 0;
	acp_talk_spell_error(why, &text);
	acp_talk_tell(talk,
		(struct acp_said){ .kind = ACP_SAID_ANEW,
			.text = text.failed ? why->text : (struct str){ text.data, text.len } });
	if (acp_talk_ask(talk, false) < 0)
		talk->client->is_broken = true;
}

/* ---- prompts --------------------------------------------------------------- */

int acp_talk_prompt(struct acp_talk *talk, struct str blocks)
{
	perch_json_writer out;
	if (!talk->is_open || talk->is_busy)
		return -EBUSY;
	if (!acp_client_call(talk->client, ACP_AWAITS_END, talk, "session/prompt", &out))
		return -ENOMEM;
	talk->is_busy = true;
	talk->is_cancelled = false;
	json_write_text(&out, "sessionId", (struct str){ talk->id, talk->id_len });
	perch_json_write_name(&out, "prompt");
	perch_json_write_raw(&out, blocks.data, blocks.len);
	perch_json_end_object(&out);
	jsonrpc_end(&out);
	acp_client_send(talk->client);
	return 0;
}

/* What the user is asked alone, or all that is open. */
static void acp_talk_drop_quizzes(struct acp_talk *talk, bool is_over)
{
	struct acp_quiz *quiz = list_first(&talk->client->quizzes), *next;
	for (; quiz; quiz = next) {
		next = list_next(quiz);
		if (quiz->talk == talk && (is_over || quiz->kind != ACP_QUIZ_ERRAND))
			acp_quiz_drop(talk->client, quiz);
	}
}

static void acp_talk_stopped(struct acp_talk *talk, const struct jsonrpc_message *message)
{
	const perch_json_value *reason = perch_json_get(message->result, "stopReason");
	acp_talk_drop_quizzes(talk, true);
	talk->is_busy = false;
	if (message->kind == JSONRPC_ERROR)
		acp_talk_failed(talk, message);
	else if (perch_json_type_of(reason) != PERCH_JSON_STRING)
		acp_talk_refused(talk, 0, STR("the agent ends its turn without a stopReason"));
	else
		acp_talk_tell(
			talk, (struct acp_said){ .kind = ACP_SAID_STOPPED, .text = json_str(reason) });
}

void acp_talk_answered(struct acp_call *call, const struct jsonrpc_message *message)
{
	struct acp_talk *talk = call->talk;
	if (call->awaited != ACP_AWAITS_END)
		acp_talk_drop_quizzes(talk, true); /* what was asked while it was opened */
	if (call->awaited == ACP_AWAITS_END)
		acp_talk_stopped(talk, message);
	else if (message->kind == JSONRPC_ERROR && call->awaited == ACP_AWAITS_OLD_SESSION)
		acp_talk_anew(talk, message);
	else if (message->kind == JSONRPC_ERROR)
		acp_talk_failed(talk, message);
	else if (call->awaited == ACP_AWAITS_OLD_SESSION)
		acp_talk_opened(talk);
	else
		acp_talk_named(talk, message->result);
}

static void acp_talk_notify(struct acp_talk *talk, const char *method)
{
	perch_json_writer out = acp_client_begin(talk->client);
	jsonrpc_begin_notification(&out, method);
	perch_json_write_name(&out, "params");
	perch_json_begin_object(&out);
	json_write_text(&out, "sessionId", (struct str){ talk->id, talk->id_len });
	perch_json_end_object(&out);
	jsonrpc_end(&out);
	acp_client_send(talk->client);
}

void acp_talk_cancel(struct acp_talk *talk)
{
	if (!talk->is_busy || talk->is_cancelled)
		return;
	talk->is_cancelled = true;
	acp_talk_notify(talk, "session/cancel");
	acp_talk_drop_quizzes(talk, false);
}

/* ---- the end --------------------------------------------------------------- */

/* An agent that can is told; one that answers is not listened to. */
static void acp_talk_say_goodbye(struct acp_talk *talk)
{
	perch_json_writer out;
	acp_talk_cancel(talk);
	if (!talk->is_open || !talk->client->is_ready || !talk->client->abilities.can_close)
		return;
	if (!acp_client_call(talk->client, ACP_AWAITS_END, NULL, "session/close", &out))
		return;
	json_write_text(&out, "sessionId", (struct str){ talk->id, talk->id_len });
	perch_json_end_object(&out);
	jsonrpc_end(&out);
	acp_client_send(talk->client);
}

void acp_talk_close(struct acp_talk *talk)
{
	if (!talk)
		return;
	acp_talk_hold(talk, false);
	acp_talk_say_goodbye(talk);
	acp_talk_drop_quizzes(talk, true);
	for (struct acp_call *call = list_first(&talk->client->calls); call; call = list_next(call)) {
		if (call->talk == talk)
			call->talk = NULL;
	}
	list_remove(&talk->client->talks, talk);
	free(talk->cwd);
	free(talk->servers);
	free(talk->directories);
	free(talk);
}

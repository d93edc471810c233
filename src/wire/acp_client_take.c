/* ACP's client side: what an agent says by itself: updates, and requests. */
#include <stdlib.h>

#include "base/macros.h"
#include "wire/acp_client_parts.h"

/* ---- updates --------------------------------------------------------------- */

static struct str acp_take_text(const perch_json_value *object, const char *name)
{
	const perch_json_value *value = perch_json_get(object, name);
	return perch_json_type_of(value) == PERCH_JSON_STRING ? json_str(value) : STR("");
}

static const struct {
	const char *name;
	enum acp_said_kind kind;
} acp_updates[] = {
	{ "agent_message_chunk", ACP_SAID_TEXT },
	{ "agent_thought_chunk", ACP_SAID_THOUGHT },
	{ "tool_call", ACP_SAID_TOOL },
	{ "tool_call_update", ACP_SAID_TOOL },
	{ "plan", ACP_SAID_PLAN },
	{ "usage_update", ACP_SAID_USAGE },
};

static void acp_take_known(
	struct acp_talk *talk, enum acp_said_kind kind, const perch_json_value *update)
{
	struct acp_said said = { .kind = kind, .talk = talk, .value = update };
	if (kind == ACP_SAID_TEXT || kind == ACP_SAID_THOUGHT)
		said.text = acp_take_text(perch_json_get(update, "content"), "text");
	if (kind == ACP_SAID_TOOL && !acp_take_text(update, "toolCallId").len)
		acp_client_noise(talk->client, "the agent speaks of a tool call without its id");
	else if (said.text.len || kind > ACP_SAID_THOUGHT)
		talk->client->table->said(talk->client->data, &said);
}

/* Before a session is open, what was said in it may be replayed: nobody asked for it. */
void acp_take_update(struct acp_client *client, const perch_json_value *params)
{
	const perch_json_value *update = perch_json_get(params, "update");
	const perch_json_value *kind = perch_json_get(update, "sessionUpdate");
	struct acp_talk *talk = acp_talk_find(client, params);
	if (!talk) {
		acp_client_noise(client, "the agent speaks of a session that is not open");
		return;
	}
	if (perch_json_type_of(kind) != PERCH_JSON_STRING) {
		acp_client_noise(client, "the agent sends an update without a sessionUpdate");
		return;
	}
	for (size_t i = 0; i < COUNT(acp_updates); i++) {
		if (!perch_json_is(kind, acp_updates[i].name))
			continue;
		if (talk->is_busy)
			acp_take_known(talk, acp_updates[i].kind, update);
		else if (talk->is_open)
			acp_client_noise(client, "the agent goes on behind the end of its turn");
		return;
	}
}

/* ---- questions ------------------------------------------------------------- */

static void acp_take_refuse(
	struct acp_client *client, const struct jsonrpc_id *id, int64_t code, const char *text)
{
	perch_json_writer out = acp_client_begin(client);
	jsonrpc_write_error(&out, id, code, str_from(text), (struct str){ 0 });
	acp_client_send(client);
}

static void acp_quiz_write(
	struct acp_client *client, const struct jsonrpc_id *id, struct str option)
{
	perch_json_writer out = acp_client_begin(client);
	jsonrpc_begin_result(&out, id);
	perch_json_begin_object(&out);
	perch_json_write_name(&out, "outcome");
	perch_json_begin_object(&out);
	json_write_text(&out, "outcome", option.len ? STR("selected") : STR("cancelled"));
	if (option.len)
		json_write_text(&out, "optionId", option);
	perch_json_end_object(&out);
	perch_json_end_object(&out);
	jsonrpc_end(&out);
	acp_client_send(client);
}

void acp_quiz_answer(struct acp_client *client, struct acp_quiz *quiz, struct str option)
{
	acp_quiz_write(client, &quiz->id, option);
	list_remove(&client->quizzes, quiz);
	free(quiz);
}

static struct acp_quiz *acp_quiz_find(
	const struct acp_talk *talk, uint64_t number, bool is_permission)
{
	struct acp_quiz *quiz = list_first(&talk->client->quizzes);
	while (quiz &&
		(quiz->talk != talk || quiz->number != number ||
			(quiz->kind == ACP_QUIZ_PERMISSION) != is_permission))
		quiz = list_next(quiz);
	return quiz;
}

void acp_talk_permit(struct acp_talk *talk, uint64_t number, struct str option)
{
	struct acp_quiz *quiz = acp_quiz_find(talk, number, true);
	if (quiz)
		acp_quiz_answer(talk->client, quiz, option);
}

void acp_talk_answer(struct acp_talk *talk, uint64_t number, struct str result)
{
	struct acp_client *client = talk->client;
	struct acp_quiz *quiz = acp_quiz_find(talk, number, false);
	if (!quiz)
		return;
	perch_json_writer out = acp_client_begin(client);
	jsonrpc_begin_result(&out, &quiz->id);
	perch_json_write_raw(&out, result.data, result.len);
	jsonrpc_end(&out);
	acp_client_send(client);
	list_remove(&client->quizzes, quiz);
	free(quiz);
}

static void acp_quiz_refuse(
	struct acp_client *client, struct acp_quiz *quiz, int64_t code, struct str text)
{
	perch_json_writer out = acp_client_begin(client);
	jsonrpc_write_error(&out, &quiz->id, code, text, (struct str){ 0 });
	acp_client_send(client);
	list_remove(&client->quizzes, quiz);
	free(quiz);
}

void acp_talk_refuse(struct acp_talk *talk, uint64_t number, int64_t code, struct str text)
{
	struct acp_quiz *quiz = acp_quiz_find(talk, number, false);
	if (quiz)
		acp_quiz_refuse(talk->client, quiz, code, text);
}

void acp_quiz_drop(struct acp_client *client, struct acp_quiz *quiz)
{
	if (quiz->kind == ACP_QUIZ_PERMISSION)
		acp_quiz_answer(client, quiz, (struct str){ 0 });
	else if (quiz->kind == ACP_QUIZ_FORM)
		acp_talk_answer(quiz->talk, quiz->number, STR("{\"action\":\"cancel\"}"));
	else
		acp_quiz_refuse(
			client, quiz, JSONRPC_CANCELLED, STR("the request or its prompt was cancelled"));
}

static struct acp_quiz *acp_quiz_new(struct acp_talk *talk, const struct jsonrpc_id *id)
{
	struct acp_quiz *quiz = calloc(1, sizeof(*quiz) + id->text.len);
	if (!quiz) {
		talk->client->is_broken = true;
		return NULL;
	}
	quiz->talk = talk;
	quiz->number = ++talk->client->numbers;
	quiz->id = *id;
	quiz->id.text.data = quiz->bytes;
	if (id->text.len)
		memcpy(quiz->bytes, id->text.data, id->text.len);
	list_append(&talk->client->quizzes, quiz);
	return quiz;
}

/* One more that is open, or why not. talk: NULL = there is none that it could be of. */
static struct acp_quiz *acp_quiz_open(
	struct acp_client *client, struct acp_talk *talk, const struct jsonrpc_message *message)
{
	if (talk && client->quizzes.count < ACP_QUIZZES_MAX)
		return acp_quiz_new(talk, &message->id);
	acp_take_refuse(client, &message->id, talk ? JSONRPC_INTERNAL_ERROR : JSONRPC_INVALID_PARAMS,
		talk ? "too many questions are open" : "there is no such session, or no prompt of it");
	return NULL;
}

/* An option without an id cannot be chosen. */
static void acp_quiz_read_options(const perch_json_value *list, struct acp_wanted *wanted)
{
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *item;
		 wanted->option_count < ACP_OPTIONS_MAX && (item = perch_json_next(&iter));) {
		struct str id = acp_take_text(item, "optionId");
		if (!id.len)
			continue;
		wanted->options[wanted->option_count].id = id;
		wanted->options[wanted->option_count].name = acp_take_text(item, "name");
		wanted->options[wanted->option_count++].kind = acp_take_text(item, "kind");
	}
}

static void acp_quiz_take(struct acp_client *client, const struct jsonrpc_message *message)
{
	const perch_json_value *call = perch_json_get(message->params, "toolCall");
	const perch_json_value *options = perch_json_get(message->params, "options");
	const perch_json_value *input = perch_json_get(call, "rawInput");
	struct acp_talk *talk = acp_talk_find(client, message->params);
	struct acp_wanted wanted = {
		.call = acp_take_text(call, "toolCallId"),
		.title = acp_take_text(call, "title"),
		.kind = acp_take_text(call, "kind"),
	};
	if (input)
		wanted.input.data = perch_json_raw(input, &wanted.input.len);
	if (perch_json_type_of(options) == PERCH_JSON_ARRAY)
		acp_quiz_read_options(options, &wanted);
	if (!talk || !talk->is_busy)
		acp_take_refuse(client, &message->id, JSONRPC_INVALID_PARAMS,
			"there is no such session, or no prompt of it");
	else if (!wanted.call.len || !wanted.option_count)
		acp_take_refuse(client, &message->id, JSONRPC_INVALID_PARAMS,
			"it needs a toolCall with its id, and options");
	else if (talk->is_cancelled)
		acp_quiz_write(client, &message->id, (struct str){ 0 });
	else if (client->quizzes.count >= ACP_QUIZZES_MAX)
		acp_take_refuse(
			client, &message->id, JSONRPC_INTERNAL_ERROR, "too many questions are open");
	else {
		struct acp_quiz *quiz = acp_quiz_new(talk, &message->id);
		const struct acp_said said = {
			.kind = ACP_SAID_PERMISSION, .talk = talk, .wanted = &wanted
		};
		if (!quiz)
			return;
		wanted.number = quiz->number;
		quiz->kind = ACP_QUIZ_PERMISSION;
		client->table->said(client->data, &said);
	}
}

/* ---- forms ----------------------------------------------------------------- */

/* Of a session with a prompt, or of a request of ours that opens one. */
static struct acp_talk *acp_form_talk(struct acp_client *client, const perch_json_value *params)
{
	struct jsonrpc_id id = { 0 };
	struct acp_talk *talk = acp_talk_find(client, params);
	if (talk || !jsonrpc_id_read(perch_json_get(params, "requestId"), &id))
		return talk && talk->is_busy ? talk : NULL;
	struct jsonrpc_waiting *found = jsonrpc_ids_find(&client->asked, &id);
	return found ? container_of(found, struct acp_call, waiting)->talk : NULL;
}

static void acp_form_take_request(struct acp_client *client, const struct jsonrpc_message *message)
{
	struct acp_talk *talk = acp_form_talk(client, message->params);
	struct acp_quiz *quiz = acp_quiz_open(client, talk, message);
	if (!quiz)
		return;
	quiz->kind = ACP_QUIZ_FORM;
	if (talk->is_cancelled) {
		acp_quiz_drop(client, quiz);
		return;
	}
	const struct acp_said said = {
		.kind = ACP_SAID_FORM, .talk = talk, .number = quiz->number, .value = message->params
	};
	client->table->said(client->data, &said);
}

/* ---- what we do for it ----------------------------------------------------- */

static const struct {
	const char *method;
	bool is_terminal;
} acp_offered[] = {
	{ "fs/read_text_file", false },
	{ "fs/write_text_file", false },
	{ "terminal/create", true },
	{ "terminal/output", true },
	{ "terminal/wait_for_exit", true },
	{ "terminal/kill", true },
	{ "terminal/release", true },
};

static bool acp_take_is_offered(const struct acp_client *client, struct str method)
{
	for (size_t i = 0; i < COUNT(acp_offered); i++) {
		if (str_is(method, acp_offered[i].method))
			return acp_offered[i].is_terminal ? client->offers_terminals : client->offers_files;
	}
	return false;
}

static void acp_take_asked(struct acp_client *client, const struct jsonrpc_message *message)
{
	struct acp_talk *talk = acp_talk_find(client, message->params);
	struct acp_quiz *quiz = acp_quiz_open(client, talk && talk->is_busy ? talk : NULL, message);
	if (!quiz)
		return;
	const struct acp_said said = {
		.kind = ACP_SAID_ASKED,
		.talk = talk,
		.number = quiz->number,
		.text = message->method,
		.value = message->params,
	};
	client->table->said(client->data, &said);
}

/* What we have not offered is refused. */
void acp_take_request(struct acp_client *client, const struct jsonrpc_message *message)
{
	if (str_is(message->method, "session/request_permission")) {
		acp_quiz_take(client, message);
		return;
	}
	if (client->offers_forms && str_is(message->method, "elicitation/create")) {
		acp_form_take_request(client, message);
		return;
	}
	if (acp_take_is_offered(client, message->method)) {
		acp_take_asked(client, message);
		return;
	}
	acp_take_refuse(client, &message->id, JSONRPC_METHOD_NOT_FOUND, "it was not offered");
	acp_client_noise(client, "the agent asks for %.*s, which it was not offered",
		(int)(message->method.len < 60 ? message->method.len : 60), message->method.data);
}

void acp_take_cancel(struct acp_client *client, const perch_json_value *params)
{
	struct jsonrpc_id id = { 0 };
	struct acp_quiz *quiz = list_first(&client->quizzes);
	if (!jsonrpc_id_read(perch_json_get(params, "requestId"), &id))
		return;
	while (quiz && !jsonrpc_id_eq(&quiz->id, &id))
		quiz = list_next(quiz);
	if (!quiz)
		return;
	const struct acp_said said = {
		.kind = ACP_SAID_WITHDRAWN, .talk = quiz->talk, .number = quiz->number
	};
	acp_quiz_drop(client, quiz);
	client->table->said(client->data, &said);
}

/* ACP's agent side: questions at the client. */
#include <errno.h>
#include <stdlib.h>

#include "wire/acp_agent_parts.h"
#include "wire/mcp_version.h"

/* ---- asking ---------------------------------------------------------------- */

static void acp_ask_free(struct acp_agent *agent, struct acp_ask *ask)
{
	list_remove(&agent->asks, ask);
	jsonrpc_ids_remove(&agent->asked, &ask->waiting);
	arena_free(&ask->arena);
	free(ask);
}

static int acp_ask_new(struct acp_request *request, uint64_t number, struct acp_ask **ret_ask)
{
	struct acp_ask *ask = calloc(1, sizeof(*ask));
	int r = ask ? jsonrpc_ids_issue(&request->agent->asked, &ask->waiting) : -ENOMEM;
	if (r < 0) {
		free(ask);
		return r;
	}
	ask->request = request;
	ask->number = number;
	list_append(&request->agent->asks, ask);
	*ret_ask = ask;
	return 0;
}

static perch_json_writer acp_ask_begin(const struct acp_ask *ask, const char *method)
{
	perch_json_writer out = acp_write_begin(ask->request->agent);
	jsonrpc_begin_request(&out, &ask->waiting.id, method);
	perch_json_write_name(&out, "params");
	perch_json_begin_object(&out);
	json_write_text(&out, "sessionId", acp_session_id(ask->request->session));
	return out;
}

static void acp_ask_send(const struct acp_ask *ask, perch_json_writer *out)
{
	perch_json_end_object(out);
	jsonrpc_end(out);
	acp_write_send(ask->request->agent, false);
}

static void acp_ask_write_call(perch_json_writer *out, const struct acp_permission *permission)
{
	perch_json_write_name(out, "toolCall");
	perch_json_begin_object(out);
	json_write_text(out, "toolCallId", permission->call);
	json_write_text(out, "title", permission->title);
	if (permission->name.len)
		json_write_text(out, "name", permission->name);
	if (permission->input.len) {
		perch_json_write_name(out, "rawInput");
		perch_json_write_raw(out, permission->input.data, permission->input.len);
	}
	perch_json_end_object(out);
}

int acp_request_permission(
	struct acp_request *request, uint64_t number, const struct acp_permission *permission)
{
	struct acp_ask *ask = NULL;
	int r = acp_ask_new(request, number, &ask);
	if (r < 0)
		return r;
	perch_json_writer out = acp_ask_begin(ask, "session/request_permission");
	acp_ask_write_call(&out, permission);
	perch_json_write_name(&out, "options");
	perch_json_begin_array(&out);
	for (size_t i = 0; i < permission->option_count; i++) {
		perch_json_begin_object(&out);
		json_write_text(&out, "optionId", permission->options[i].id);
		json_write_text(&out, "name", permission->options[i].name);
		json_write_text(&out, "kind", permission->options[i].kind);
		perch_json_end_object(&out);
	}
	perch_json_end_array(&out);
	acp_ask_send(ask, &out);
	return 0;
}

int acp_request_form(
	struct acp_request *request, uint64_t number, const struct mcp_question *question)
{
	struct acp_ask *ask = NULL;
	if (mcp_form_is_secret(question))
		return -EACCES;
	if (!request->agent->has_forms || !mcp_form_fits(question, mcp_version_fallback))
		return -ENOTSUP;
	int r = acp_ask_new(request, number, &ask);
	if (r < 0)
		return r;
	ask->is_form = true;
	r = mcp_question_keep(question, &ask->arena, &ask->question);
	if (r < 0) {
		acp_ask_free(request->agent, ask);
		return r;
	}
	perch_json_writer out = acp_ask_begin(ask, "elicitation/create");
	mcp_form_write_members(&out, question, mcp_version_fallback);
	acp_ask_send(ask, &out);
	return 0;
}

/* ---- withdrawing ----------------------------------------------------------- */

static void acp_ask_withdraw(struct acp_ask *ask)
{
	struct acp_agent *agent = ask->request->agent;
	perch_json_writer out = acp_write_begin(agent);
	jsonrpc_begin_notification(&out, "$/cancel_request");
	perch_json_write_name(&out, "params");
	perch_json_begin_object(&out);
	perch_json_write_name(&out, "requestId");
	jsonrpc_id_write(&out, &ask->waiting.id);
	perch_json_end_object(&out);
	jsonrpc_end(&out);
	acp_write_send(agent, false);
	acp_ask_free(agent, ask);
}

void acp_ask_withdraw_all(struct acp_request *request)
{
	struct acp_ask *ask = list_first(&request->agent->asks), *next;
	for (; ask; ask = next) {
		next = list_next(ask);
		if (ask->request == request)
			acp_ask_withdraw(ask);
	}
}

void acp_request_withdraw(struct acp_request *request, uint64_t number)
{
	struct acp_ask *ask = list_first(&request->agent->asks);
	while (ask && (ask->request != request || ask->number != number))
		ask = list_next(ask);
	if (ask)
		acp_ask_withdraw(ask);
}

/* ---- answers --------------------------------------------------------------- */

/* A value that is not an answer counts as no answer. */
static void acp_answer_read_choice(const perch_json_value *result, struct acp_answer *answer)
{
	const perch_json_value *outcome = perch_json_get(result, "outcome");
	const perch_json_value *option = perch_json_get(outcome, "optionId");
	if (!perch_json_is(perch_json_get(outcome, "outcome"), "selected") ||
		perch_json_type_of(option) != PERCH_JSON_STRING)
		return;
	answer->outcome = ACP_CHOSEN;
	answer->option = json_str(option);
}

static void acp_answer_read_form(
	struct acp_ask *ask, const perch_json_value *result, struct acp_answer *answer)
{
	static const enum acp_outcome outcomes[] = {
		[MCP_ANSWERED] = ACP_ANSWERED,
		[MCP_DECLINED] = ACP_DECLINED,
		[MCP_INTERRUPTED] = ACP_NO_ANSWER,
		[MCP_UNANSWERED] = ACP_NO_ANSWER,
	};
	if (mcp_form_read(&ask->question, result, &ask->arena, &answer->form, NULL) == 0)
		answer->outcome = outcomes[answer->form.action];
}

/* A response to no open question is ignored. */
void acp_ask_take(struct acp_agent *agent, const struct jsonrpc_message *message)
{
	struct jsonrpc_waiting *found = jsonrpc_ids_find(&agent->asked, &message->id);
	struct acp_answer answer = { .outcome = ACP_NO_ANSWER };
	if (!found)
		return;
	char *begin = (char *)found - offsetof(struct acp_ask, waiting);
	struct acp_ask *ask = (struct acp_ask *)(void *)begin;
	if (message->kind == JSONRPC_RESULT && ask->is_form)
		acp_answer_read_form(ask, message->result, &answer);
	else if (message->kind == JSONRPC_RESULT)
		acp_answer_read_choice(message->result, &answer);
	const struct acp_wish wish = {
		.kind = ACP_WISH_ANSWER,
		.request = ask->request,
		.session = ask->request->session,
		.number = ask->number,
		.answer = &answer,
	};
	/* The turn may be over afterwards, so the question is taken out of it first. */
	struct arena arena = ask->arena;
	ask->arena = (struct arena){ 0 };
	acp_ask_free(agent, ask);
	agent->table->wish(agent->data, &wish);
	arena_free(&arena);
}

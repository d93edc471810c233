/* POST /api/jobs/ID/answers/N */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "data/json.h"
#include "data/json_member.h"
#include "serve/api.h"
#include "serve/api_find.h"
#include "serve/body.h"
#include "serve/peer.h"
#include "serve/serve_parts.h"
#include "wire/http_text.h"

/* An answer, and the memory that it points to. */
struct api_reply {
	perch_answer answer;
	struct arena arena;
	size_t *chosen;
};

static void api_reply_free(struct api_reply *reply)
{
	arena_free(&reply->arena);
}

static struct record_ask *api_find_ask(const struct record *record, const char *text)
{
	uint64_t number = 0;
	if (!http_read_number(str_from(text), &number))
		return NULL;
	struct record_ask *ask = list_first(&record->asks);
	while (ask && ask->number != number)
		ask = list_next(ask);
	return ask;
}

/* ---- values ----------------------------------------------------------------------- */

static bool api_choose(struct api_reply *reply, const perch_json_value *value)
{
	int64_t index;
	if (perch_json_int64(value, &index) < 0 || index < 0)
		return false;
	reply->chosen[reply->answer.chosen_count++] = (size_t)index;
	return true;
}

static bool api_read_choice(struct api_reply *reply, const perch_json_value *value, bool is_list)
{
	size_t count = is_list ? perch_json_count(value) : 1;
	reply->chosen = arena_alloc(&reply->arena, (count + 1) * sizeof(*reply->chosen));
	if (!reply->chosen || (is_list && perch_json_type_of(value) != PERCH_JSON_ARRAY))
		return false;
	reply->answer.chosen = reply->chosen;
	if (!is_list)
		return api_choose(reply, value);
	perch_json_iter iter = perch_json_iterate(value);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		if (!api_choose(reply, item))
			return false;
	}
	return true;
}

static bool api_read_text(struct api_reply *reply, const perch_json_value *value)
{
	if (perch_json_type_of(value) != PERCH_JSON_STRING)
		return false;
	reply->answer.text = arena_dup(&reply->arena, json_str(value));
	reply->answer.text_len = json_str(value).len;
	return reply->answer.text;
}

static const char *api_read_value(
	struct api_reply *reply, perch_ask_kind kind, const perch_json_value *value)
{
	switch (kind) {
	case PERCH_ASK_PROMPT:
		return api_read_text(reply, value) ? NULL : "\"value\" must be a string";
	case PERCH_ASK_CONFIRM:
		return perch_json_bool(value, &reply->answer.yes) == 0 ? NULL
															   : "\"value\" must be true or false";
	case PERCH_ASK_SELECT:
		return api_read_choice(reply, value, false) ? NULL : "\"value\" must be an option's number";
	case PERCH_ASK_MULTI_SELECT:
		return api_read_choice(reply, value, true) ? NULL
												   : "\"value\" must be a list of options' numbers";
	default:
		return "this question takes \"allow\" or \"content\"";
	}
}

/* ---- the body ----------------------------------------------------------------------- */

static void api_read_reply(struct body *body, const struct record_ask *ask, struct api_reply *reply)
{
	const perch_json_value *value = body_get(body, "value", PERCH_JSON_NONE);
	const perch_json_value *allow = body_get(body, "allow", PERCH_JSON_BOOL);
	const perch_json_value *option = body_get(body, "option", PERCH_JSON_STRING);
	const perch_json_value *message = body_get(body, "message", PERCH_JSON_STRING);
	const perch_json_value *content = body_get(body, "content", PERCH_JSON_OBJECT);
	size_t len = 0;
	const char *wrong = NULL;
	reply->answer.cancel = json_flag(body->root, "cancel");
	if (value)
		wrong = api_read_value(reply, ask->kind, value);
	else if (!allow && !content && !reply->answer.cancel)
		wrong = "an answer has \"value\", \"allow\", \"content\" or \"cancel\"";
	if (wrong)
		body_refuse(body, "%s", wrong);
	if (allow)
		perch_json_bool(allow, &reply->answer.yes);
	if (option)
		reply->answer.option = arena_dup(&reply->arena, json_str(option));
	if (message)
		reply->answer.message = arena_dup(&reply->arena, json_str(message));
	const char *raw = perch_json_raw(content, &len);
	if (raw)
		reply->answer.content = arena_dup(&reply->arena, (struct str){ raw, len });
}

/* The user that made a call does not approve it: another one with all rights does. A cookie alone
 * proves nothing, because any program gets one for its token; only a cookie from the link that
 * perch serve prints shows that a person asks. */
static bool api_may_answer(
	struct exchange *exchange, const struct record *record, const struct record_ask *ask)
{
	const struct token *token = &exchange->who->token;
	bool is_own = !exchange->by_link && str_is(record->owner, token->name);
	if (ask->kind != PERCH_ASK_APPROVAL || (token->is_admin && !is_own))
		return true;
	serve_note_refusal(exchange, record->name, "an approval of its own call");
	exchange_error(exchange, 403, "approval",
		"answer it in the page by the link that `perch serve` prints, or with another token of the "
		"role admin; `approve` under [expose.http] waives it",
		"an approval is not for the token that made the call");
	return false;
}

/* The answer to a prompt may be a secret, so it is not written to the log. */
static const char *api_note_text(const struct record_ask *ask, const perch_answer *answer)
{
	if (answer->cancel)
		return "cancelled";
	if (ask->kind != PERCH_ASK_APPROVAL && ask->kind != PERCH_ASK_PERMISSION)
		return "answered";
	return answer->yes ? "allowed" : "refused";
}

/* With audit = "required", an answer that cannot be logged is not passed on. */
static bool api_note(struct exchange *exchange, const struct record *record,
	const struct record_ask *ask, const perch_answer *answer)
{
	struct serve *serve = exchange->peer->serve;
	_cleanup_free_ char *client = str_dup(exchange_field(exchange, "User-Agent"));
	const perch_service_note note = {
		.size = sizeof(note),
		.kind = "answer",
		.name = record->name.data,
		.job = record->id,
		.text = api_note_text(ask, answer),
		.caller = { exchange->who->token.name, client },
	};
	perch_err err = { 0 };
	if (perch_service_record(serve->service, &note, &err) == 0)
		return true;
	serve_warn(serve, "an answer is not in the audit log: %s", err.text);
	if (!perch_service_must_record(serve->service))
		return true;
	exchange_error(exchange, 503, "audit", NULL, "the audit log is required: %s", err.text);
	return false;
}

/* Whether it was taken. */
static bool api_give(
	struct exchange *exchange, struct record *record, uint64_t number, const perch_answer *answer)
{
	perch_err err = { 0 };
	int r = record->job ? perch_job_answer(record->job, number, answer, &err) : -ESTALE;
	if (r == -ESTALE)
		exchange_error(exchange, 409, "answered", NULL, "that question is not open any more");
	else if (r == -ENOMEM)
		exchange_no_memory(exchange);
	else if (r < 0)
		exchange_error(exchange, 400, "bad_answer", NULL, "%s", err.text);
	else
		exchange_answer(exchange, 200, "application/json", STR("{\"ok\":true}"), NULL, 0);
	return r == 0;
}

void api_answer(struct exchange *exchange)
{
	_cleanup_(body_close) struct body body = { 0 };
	_cleanup_(api_reply_free) struct api_reply reply = { .answer = PERCH_ANSWER_INIT };
	struct record *record = api_find(exchange);
	if (!record)
		return;
	struct record_ask *ask = api_find_ask(record, exchange->parameters[1]);
	if (!ask) {
		exchange_error(exchange, 409, "answered", NULL, "that question is not open");
		return;
	}
	if (!api_may_answer(exchange, record, ask) || !body_open(&body, exchange))
		return;
	uint64_t number = ask->number;
	reply.answer.by = exchange->by_cookie ? "page" : exchange->who->token.name;
	api_read_reply(&body, ask, &reply);
	if (!body_is_good(&body) || !api_note(exchange, record, ask, &reply.answer))
		return;
	if (api_give(exchange, record, number, &reply.answer))
		record_close_ask(record, number);
}

/* MCP client: what a server wants to know before it goes on. A legacy server sends a request; a
 * modern one gives its questions back instead of a result, and wants its request again with the
 * answers. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "wire/mcp_upstream_parts.h"

static const struct {
	const char *method;
	enum mcp_ability ability;
} mcp_quizzes[] = {
	[MCP_QUIZ_ELICITATION] = { "elicitation/create", MCP_CAN_ELICIT },
	[MCP_QUIZ_SAMPLING] = { "sampling/createMessage", MCP_CAN_SAMPLE },
	[MCP_QUIZ_ROOTS] = { "roots/list", MCP_HAS_ROOTS },
};

/* Whether it is a question that we have said we answer. */
static bool mcp_quiz_is_granted(unsigned abilities, struct str method, enum mcp_quiz_kind *ret_kind)
{
	for (size_t i = 0; i < COUNT(mcp_quizzes); i++) {
		if (!str_is(method, mcp_quizzes[i].method))
			continue;
		*ret_kind = (enum mcp_quiz_kind)i;
		return abilities & mcp_quizzes[i].ability;
	}
	return false;
}

static struct mcp_quiz *mcp_quiz_new(struct mcp_upstream *upstream, struct str bytes)
{
	struct mcp_quiz *quiz = calloc(1, sizeof(*quiz) + bytes.len + 1);
	if (!quiz) {
		upstream->is_broken = true;
		return NULL;
	}
	quiz->upstream = upstream;
	if (bytes.len)
		memcpy(quiz->bytes, bytes.data, bytes.len);
	quiz->key = (struct str){ quiz->bytes, bytes.len };
	return quiz;
}

static void mcp_quiz_drop(struct mcp_quiz *quiz)
{
	if (!quiz->call)
		jsonrpc_ids_remove(&quiz->upstream->asked, &quiz->waiting);
	list_remove(quiz->call ? &quiz->call->quizzes : &quiz->upstream->quizzes, quiz);
	quiz->upstream->quiz_count--;
	free(quiz);
}

void mcp_quizzes_drop(struct list *quizzes)
{
	while (quizzes->count)
		mcp_quiz_drop(list_first(quizzes));
}

void mcp_quizzes_withdraw(struct mcp_upstream *upstream, struct list *quizzes)
{
	while (quizzes->count) {
		struct mcp_quiz *quiz = list_first(quizzes);
		upstream->table->withdrawn(upstream->data, quiz);
		mcp_quiz_drop(quiz);
	}
}

void mcp_quiz_set_data(struct mcp_quiz *quiz, void *data)
{
	quiz->data = data;
}

void *mcp_quiz_data(const struct mcp_quiz *quiz)
{
	return quiz->data;
}

bool mcp_quiz_is_alone(const struct mcp_quiz *quiz)
{
	return !quiz->call;
}

static void mcp_quiz_tell(struct mcp_quiz *quiz, const perch_json_value *params)
{
	const struct mcp_quizzed quizzed = {
		.quiz = quiz,
		.kind = quiz->kind,
		.params = perch_json_type_of(params) == PERCH_JSON_OBJECT ? params : NULL,
		.call = quiz->call,
		.key = quiz->call ? quiz->key : STR(""),
	};
	quiz->upstream->table->quizzed(quiz->upstream->data, &quizzed);
}

/* ---- legacy ---------------------------------------------------------------- */

static void mcp_quiz_send_error(
	struct mcp_upstream *upstream, const struct jsonrpc_id *id, int64_t code, struct str text)
{
	perch_json_writer writer = mcp_upstream_write(upstream);
	jsonrpc_write_error(&writer, id, code, text, (struct str){ 0 });
	mcp_upstream_send(upstream);
}

static void mcp_quiz_send_result(
	struct mcp_upstream *upstream, const struct jsonrpc_id *id, struct str result)
{
	perch_json_writer writer = mcp_upstream_write(upstream);
	jsonrpc_begin_result(&writer, id);
	perch_json_write_raw(&writer, result.data, result.len);
	jsonrpc_end(&writer);
	mcp_upstream_send(upstream);
}

void mcp_quiz_take(struct mcp_upstream *upstream, const struct jsonrpc_message *message)
{
	enum mcp_quiz_kind kind = MCP_QUIZ_ELICITATION;
	bool is_modern = upstream->version && upstream->version->is_modern;
	if (!is_modern && str_is(message->method, "ping")) {
		mcp_quiz_send_result(upstream, &message->id, STR("{}"));
		return;
	}
	if (is_modern ||
		!mcp_quiz_is_granted(upstream->options.hello_abilities, message->method, &kind)) {
		mcp_quiz_send_error(
			upstream, &message->id, JSONRPC_METHOD_NOT_FOUND, STR("this client does not do that"));
		mcp_upstream_noise(upstream, "it asks for %.*s, which is not granted",
			utf8_quoted(message->method), message->method.data);
		return;
	}
	struct mcp_quiz *quiz = mcp_quiz_new(upstream, message->id.text);
	if (!quiz)
		return;
	quiz->kind = kind;
	quiz->waiting.id = message->id;
	quiz->waiting.id.text = quiz->key;
	int r = jsonrpc_ids_add(&upstream->asked, &quiz->waiting);
	if (r < 0) {
		free(quiz);
		mcp_quiz_send_error(upstream, &message->id, JSONRPC_INTERNAL_ERROR,
			r == -EEXIST ? STR("this id is in use") : STR("too many questions are open"));
		return;
	}
	list_append(&upstream->quizzes, quiz);
	upstream->quiz_count++;
	mcp_quiz_tell(quiz, message->params);
}

void mcp_quiz_withdraw(struct mcp_upstream *upstream, const struct jsonrpc_id *id)
{
	struct jsonrpc_waiting *waiting = jsonrpc_ids_find(&upstream->asked, id);
	if (!waiting)
		return;
	struct mcp_quiz *quiz = container_of(waiting, struct mcp_quiz, waiting);
	upstream->table->withdrawn(upstream->data, quiz);
	mcp_quiz_drop(quiz);
}

/* ---- modern ---------------------------------------------------------------- */

/* The last answer of a round sends the request again. */
static void mcp_quiz_end_round(struct mcp_call *call)
{
	if (call->is_gathering || call->is_cancelled || call->quizzes.count)
		return;
	if (call->responses.len)
		buf_append_char(&call->responses, '}');
	int r = call->responses.failed || call->state.failed ? -ENOMEM : mcp_call_send(call);
	if (r < 0)
		mcp_call_fail(call, MCP_UPSTREAM_FAILED, str_from(perch_strerror(r)));
}

static bool mcp_quiz_ask_one(struct mcp_call *call, struct str key, const perch_json_value *request)
{
	struct mcp_upstream *upstream = call->upstream;
	const perch_json_value *method = perch_json_get(request, "method");
	enum mcp_quiz_kind kind;
	if (perch_json_type_of(method) != PERCH_JSON_STRING ||
		!mcp_quiz_is_granted(mcp_call_abilities(call), json_str(method), &kind) ||
		upstream->quiz_count >= MCP_UPSTREAM_QUIZZES_MAX)
		return false;
	struct mcp_quiz *quiz = mcp_quiz_new(upstream, key);
	if (!quiz)
		return false;
	quiz->kind = kind;
	quiz->call = call;
	list_append(&call->quizzes, quiz);
	upstream->quiz_count++;
	mcp_quiz_tell(quiz, perch_json_get(request, "params"));
	return true;
}

/* What a round begins with; false: the server may not. */
static bool mcp_quiz_open_round(struct mcp_call *call, const perch_json_value *result)
{
	const perch_json_value *state = perch_json_get(result, "requestState");
	if (++call->rounds > MCP_UPSTREAM_ROUNDS_MAX)
		return false;
	jsonrpc_ids_remove(&call->upstream->ids, &call->waiting);
	call->waiting.id.kind = JSONRPC_ID_NONE;
	buf_clear(&call->responses);
	buf_clear(&call->state);
	if (perch_json_type_of(state) == PERCH_JSON_STRING) {
		struct str raw;
		raw.data = perch_json_raw(state, &raw.len);
		buf_append(&call->state, raw.data, raw.len);
	}
	return call->state.len || perch_json_count(perch_json_get(result, "inputRequests"));
}

void mcp_quiz_round(struct mcp_call *call, const perch_json_value *result)
{
	bool is_fine = mcp_quiz_open_round(call, result);
	perch_json_iter iter = perch_json_iterate(perch_json_get(result, "inputRequests"));
	call->is_gathering = true;
	for (const perch_json_value *item;
		 is_fine && !call->is_cancelled && (item = perch_json_next(&iter));)
		is_fine = mcp_quiz_ask_one(call, json_str(iter.name), item) && !call->is_refused;
	call->is_gathering = false;
	if (call->is_cancelled)
		mcp_call_free(call);
	else if (is_fine)
		mcp_quiz_end_round(call);
	else
		mcp_call_fail(call, MCP_UPSTREAM_FAILED,
			STR("the server asks for something that it was not granted, or without end"));
}

/* ---- answers --------------------------------------------------------------- */

static void mcp_quiz_answer_modern(struct mcp_quiz *quiz, struct str result)
{
	struct mcp_call *call = quiz->call;
	struct buf *responses = &call->responses;
	_cleanup_(buf_free) struct buf name = { 0 };
	perch_json_writer writer = json_writer_on(&name);
	perch_json_write_string_n(&writer, quiz->key.data, quiz->key.len);
	buf_append_char(responses, responses->len ? ',' : '{');
	buf_append(responses, name.data, name.len);
	buf_append_char(responses, ':');
	buf_append(responses, result.data, result.len);
	responses->failed = responses->failed || name.failed;
	mcp_quiz_drop(quiz);
	mcp_quiz_end_round(call);
}

void mcp_quiz_answer(struct mcp_quiz *quiz, struct str result)
{
	if (quiz->call) {
		mcp_quiz_answer_modern(quiz, result);
		return;
	}
	mcp_quiz_send_result(quiz->upstream, &quiz->waiting.id, result);
	mcp_quiz_drop(quiz);
}

void mcp_quiz_refuse(struct mcp_quiz *quiz, struct str why)
{
	if (quiz->kind == MCP_QUIZ_ELICITATION) {
		mcp_quiz_answer(quiz, STR("{\"action\":\"cancel\"}"));
	} else if (!quiz->call) {
		mcp_quiz_send_error(quiz->upstream, &quiz->waiting.id, JSONRPC_INTERNAL_ERROR, why);
		mcp_quiz_drop(quiz);
	} else {
		struct mcp_call *call = quiz->call;
		mcp_quiz_drop(quiz);
		call->is_refused = true;
		if (!call->is_gathering)
			mcp_call_fail(call, MCP_UPSTREAM_FAILED, why);
	}
}

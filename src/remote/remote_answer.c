/* Messages of a remote server on their way to perch. */
#include <errno.h>

#include "base/utf8.h"
#include "remote/remote_parts.h"

/* What a text of the server is, all its messages together. */
struct remote_verdict {
	bool is_wrong;   /* nothing of it is handed on */
	bool is_answer;  /* to the exchange's own request */
	bool lacks_id;   /* the same: an error that does not say of what */
	bool is_refusal; /* an error */
};

/* ---- judging ----------------------------------------------------------------------- */

static void remote_answer_wrong(
	struct remote_exchange *exchange, struct remote_verdict *verdict, const char *words)
{
	remote_note(exchange->remote, "%s", words);
	verdict->is_wrong = true;
}

static void remote_answer_judge_response(struct remote_exchange *exchange,
	const struct jsonrpc_message *message, struct remote_verdict *verdict)
{
	bool is_awaited = exchange->use == REMOTE_CALL || exchange->use == REMOTE_HELLO;
	verdict->is_refusal = message->kind == JSONRPC_ERROR;
	verdict->lacks_id = verdict->is_refusal &&
		(message->id.kind == JSONRPC_ID_NONE || message->id.kind == JSONRPC_ID_NULL);
	bool is_own = exchange->use == REMOTE_HELLO || verdict->lacks_id ||
		jsonrpc_id_eq(&message->id, &exchange->id);
	if (is_awaited && is_own && !exchange->is_answered)
		verdict->is_answer = true;
	else
		remote_answer_wrong(exchange, verdict, "the server answers what it was not asked");
}

static void remote_answer_judge(struct remote_exchange *exchange,
	const struct jsonrpc_message *message, struct remote_verdict *verdict)
{
	if (message->kind == JSONRPC_INVALID)
		remote_answer_wrong(exchange, verdict, "the server sends what is no message");
	else if (message->kind == JSONRPC_REQUEST && exchange->is_modern)
		remote_answer_wrong(exchange, verdict, "a modern server sends a request of its own");
	else if (message->kind == JSONRPC_RESULT || message->kind == JSONRPC_ERROR)
		remote_answer_judge_response(exchange, message, verdict);
}

/* ---- handing on -------------------------------------------------------------------- */

/* As it came: line ends can only stand between the parts of a JSON text. */
static void remote_answer_pass(struct remote *remote, struct str text)
{
	buf_clear(&remote->out);
	if (buf_append(&remote->out, text.data, text.len) == 0)
		for (size_t i = 0; i < text.len; i++)
			if (text.data[i] == '\n' || text.data[i] == '\r')
				remote->out.data[i] = ' ';
	remote_write(remote);
}

static void remote_answer_pass_error(
	struct remote_exchange *exchange, const struct jsonrpc_message *message)
{
	struct remote *remote = exchange->remote;
	struct str data = { 0 };
	if (message->data)
		data.data = perch_json_raw(message->data, &data.len);
	buf_clear(&remote->out);
	perch_json_writer writer = json_writer_on(&remote->out);
	jsonrpc_write_error(&writer, &exchange->id, message->code, message->text, data);
	remote_write(remote);
}

/* ---- answers ------------------------------------------------------------------------- */

/* What the engine itself learns of an answer. */
static void remote_answer_learn(
	struct remote_exchange *exchange, const struct jsonrpc_message *message)
{
	struct remote *remote = exchange->remote;
	exchange->is_answered = true;
	if (exchange->use == REMOTE_HELLO && message->kind == JSONRPC_ERROR) {
		remote_session_failed(
			remote, (struct str){ message->text.data, (size_t)utf8_quoted(message->text) });
		return;
	}
	bool is_hello = exchange->is_initialize || exchange->use == REMOTE_HELLO;
	if (is_hello && message->kind == JSONRPC_RESULT)
		remote_session_agreed(remote, message->result);
	if (exchange->use == REMOTE_HELLO)
		remote_session_greeted(remote);
}

void remote_answer_take(struct remote_exchange *exchange, struct str text)
{
	struct remote *remote = exchange->remote;
	struct jsonrpc_frame frame;
	struct jsonrpc_message message, answer = { 0 };
	struct remote_verdict verdict = { 0 };
	if (jsonrpc_open(remote->json, text, &frame) < 0) {
		remote->is_broken = true;
		return;
	}
	while (jsonrpc_next(&frame, &message)) {
		remote_answer_judge(exchange, &message, &verdict);
		if (verdict.is_answer && (message.result || message.kind == JSONRPC_ERROR))
			answer = message;
	}
	if (verdict.is_wrong)
		return;
	if (verdict.is_answer && verdict.lacks_id && exchange->use == REMOTE_CALL)
		remote_answer_pass_error(exchange, &answer);
	else if (exchange->lists_tools && answer.result && remote_params_learn(exchange, answer.result))
		remote_write(remote);
	else if (exchange->use != REMOTE_HELLO)
		remote_answer_pass(remote, text);
	if (verdict.is_answer)
		remote_answer_learn(exchange, &answer);
}

bool remote_answer_refusal(struct remote_exchange *exchange, struct str text)
{
	struct remote *remote = exchange->remote;
	struct jsonrpc_frame frame;
	struct jsonrpc_message message;
	if (jsonrpc_open(remote->json, text, &frame) < 0) {
		remote->is_broken = true;
		return false;
	}
	if (frame.is_batch || !jsonrpc_next(&frame, &message) || message.kind != JSONRPC_ERROR)
		return false;
	exchange->is_answered = true;
	remote_answer_pass_error(exchange, &message);
	return true;
}

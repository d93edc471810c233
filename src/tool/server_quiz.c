/* What an MCP server asks while it works: a form for the user, the answer of a model, the roots of
 * the client. The binding says from where an answer may come; else it is refused. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/uri.h"
#include "data/json.h"
#include "tool/server_parts.h"
#include "trace/trace.h"

struct server_quiz {
	struct link link; /* of the call's */
	struct server_call *served;
	struct mcp_quiz *wire;
};

/* ---- life ------------------------------------------------------------------------- */

static struct server_quiz *server_quiz_new(struct server_call *served, struct mcp_quiz *wire)
{
	struct server_quiz *quiz = calloc(1, sizeof(*quiz));
	if (!quiz)
		return NULL;
	quiz->served = served;
	quiz->wire = wire;
	mcp_quiz_set_data(wire, quiz);
	list_append(&served->quizzes, quiz);
	perch_timer_set(served->deadline, SERVER_ANSWER_MS * NSEC_PER_MSEC);
	return quiz;
}

/* The call's own clock goes on when nothing is open. */
static void server_quiz_free(struct server_quiz *quiz)
{
	struct server_call *served = quiz->served;
	list_remove(&served->quizzes, quiz);
	mcp_quiz_set_data(quiz->wire, NULL);
	free(quiz);
	if (!served->quizzes.count && !served->is_decided)
		server_call_wind(served);
}

void server_quiz_answer(struct server_quiz *quiz, struct str result)
{
	struct mcp_quiz *wire = quiz->wire;
	server_quiz_free(quiz);
	mcp_quiz_answer(wire, result);
}

void server_quiz_refuse(struct server_quiz *quiz, struct str why)
{
	struct mcp_quiz *wire = quiz->wire;
	server_quiz_free(quiz);
	mcp_quiz_refuse(wire, why);
}

void server_quiz_withdraw(struct mcp_quiz *wire)
{
	struct server_quiz *quiz = mcp_quiz_data(wire);
	if (!quiz)
		return;
	const struct tool_call_options *options = &quiz->served->call->options;
	if (options->passage.withdrawn)
		options->passage.withdrawn(options->data, quiz);
	server_quiz_free(quiz);
}

/* Those of a modern server go with the call; a legacy one still waits for an answer. */
void server_quizzes_drop(struct server_call *served)
{
	struct server_quiz *quiz;
	while ((quiz = list_first(&served->quizzes))) {
		struct mcp_quiz *wire = quiz->wire;
		server_quiz_withdraw(wire);
		if (mcp_quiz_is_alone(wire))
			mcp_quiz_refuse(wire, STR("nobody waits for it any more"));
	}
}

/* ---- roots -------------------------------------------------------------------------- */

static void server_quiz_write_roots(perch_json_writer *out, const char *const *paths)
{
	for (; paths && *paths; paths++) {
		struct buf uri = { 0 };
		buf_append_text(&uri, "file://");
		uri_append_path(&uri, str_from(*paths));
		perch_json_begin_object(out);
		json_write_text(out, "uri", (struct str){ uri.data, uri.len });
		perch_json_end_object(out);
		out->out->failed |= uri.failed;
		buf_free(&uri);
	}
}

/* What was granted to it. */
static void server_quiz_tell_roots(const struct server *server, struct mcp_quiz *quiz)
{
	const struct policy_widening *widening = &server->binding->widening;
	struct buf result = { 0 };
	perch_json_writer out = json_writer_on(&result);
	perch_json_begin_object(&out);
	perch_json_write_name(&out, "roots");
	perch_json_begin_array(&out);
	server_quiz_write_roots(&out, widening->read);
	server_quiz_write_roots(&out, widening->write);
	perch_json_end_array(&out);
	perch_json_end_object(&out);
	if (result.failed)
		mcp_quiz_refuse(quiz, STR("out of memory"));
	else
		mcp_quiz_answer(quiz, (struct str){ result.data, result.len });
	buf_free(&result);
}

/* ---- asking -------------------------------------------------------------------------- */

/* A legacy server does not say which call it asks for: the last one whose client can answer. */
static struct server_call *server_quiz_asker(
	const struct server *server, const struct mcp_quizzed *quizzed)
{
	struct server_call *asker = quizzed->call ? mcp_call_data(quizzed->call) : NULL;
	struct server_call *served = quizzed->call ? NULL : list_first(&server->running);
	for (; served; served = list_next(served)) {
		if (served->call->options.passage.quizzed || !asker)
			asker = served;
	}
	return asker;
}

/* A page of the server's own is no form, and was not what we said we show. */
static bool server_quiz_is_foreign(const struct mcp_quizzed *quizzed)
{
	const perch_json_value *mode = perch_json_get(quizzed->params, "mode");
	return quizzed->kind == MCP_QUIZ_ELICITATION && mode && !perch_json_is(mode, "form");
}

static int server_quiz_hand_on(struct server_call *served, const struct mcp_quizzed *quizzed)
{
	const struct tool_passage *passage = &served->call->options.passage;
	if (!passage->quizzed || server_quiz_is_foreign(quizzed))
		return -ENOTSUP;
	struct server_quiz *quiz = server_quiz_new(served, quizzed->quiz);
	if (!quiz)
		return -ENOMEM;
	int r = passage->quizzed(served->call->options.data, quiz, quizzed);
	if (r < 0)
		server_quiz_free(quiz);
	return r;
}

void server_quiz_ask(struct server *server, const struct mcp_quizzed *quizzed)
{
	struct server_call *served = server_quiz_asker(server, quizzed);
	const struct tool_server *own = &server->binding->server;
	if (served && ++served->asked > own->asks_max) {
		trace_note(server->trace, "refused: it asks more than %llu times in one call",
			(unsigned long long)own->asks_max);
		mcp_quiz_refuse(quizzed->quiz, STR("the server asks too often in one call"));
	} else if (quizzed->kind == MCP_QUIZ_ROOTS && own->roots == TOOL_ANSWER_BINDING) {
		server_quiz_tell_roots(server, quizzed->quiz);
	} else if (!served || server_quiz_hand_on(served, quizzed) < 0) {
		mcp_quiz_refuse(quizzed->quiz, STR("the binding does not grant that, or nobody answers"));
	}
}

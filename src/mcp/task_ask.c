/* The questions of a job, for the user of the client. One is open at a time: the others of an agent
 * wait. If the client cannot ask its user, the defaults count, or the call fails with the question
 * in words. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/macros.h"
#include "mcp/front_parts.h"
#include "mcp/question_form.h"

static void mcp_ask_open(struct mcp_task *task);

static bool mcp_ask_is_plugins(const perch_ask *ask)
{
	return ask->question;
}

static void mcp_ask_note(
	struct mcp_task *task, const char *before, struct str message, const char *behind)
{
	struct buf *notes = &task->notes;
	const struct str parts[] = { STR("it asks \""), str_trim(message), STR("\""), str_from(before),
		str_from(behind) };
	if (notes->len)
		mcp_task_add(notes, MCP_NOTES_MAX, STR("\n"));
	for (size_t i = 0; i < COUNT(parts); i++)
		mcp_task_add(notes, MCP_NOTES_MAX, parts[i]);
}

/* It is open no more. */
static void mcp_ask_drop(struct mcp_task *task, uint64_t number)
{
	for (size_t i = 0; i < task->ask_count; i++) {
		if (task->asks[i].number != number)
			continue;
		task->ask_count--;
		memmove(&task->asks[i], &task->asks[i + 1], (task->ask_count - i) * sizeof(task->asks[0]));
		task->tries = i ? task->tries : 0;
		return;
	}
}

/* ---- without a user -------------------------------------------------------- */

/* What the service is told then, for an approval or a permission. */
static const char *mcp_ask_refusal(
	const struct mcp_task *task, const perch_ask *ask, int why, struct buf *text)
{
	if (why == PERCH_ELIMIT)
		return "too many runs wait for an answer already";
	if (ask->kind != PERCH_ASK_APPROVAL)
		return "this client cannot ask its user";
	buf_printf(text, "somebody must approve it, and this client cannot ask: %s", task->advice);
	return buf_terminate(text) < 0 ? "somebody must approve it" : text->data;
}

static bool mcp_ask_default(const perch_question *question, perch_answer *answer)
{
	answer->text = question->default_text.len ? question->default_text.data : "";
	answer->text_len = question->default_text.len;
	answer->yes = question->default_yes;
	answer->chosen = question->defaults;
	answer->chosen_count = question->default_count;
	return question->has_default;
}

static void mcp_ask_explain(struct mcp_task *task, const perch_ask *ask, int why)
{
	struct str message = str_of(ask->message);
	if (why == -EACCES)
		mcp_ask_note(task, ": a secret, which never goes through a client.", message,
			" Keep it in the plugin's store, by `perch run` in a terminal, or in a variable that "
			"the plugin reads");
	else if (why == PERCH_ELIMIT)
		mcp_ask_note(task, ", but too many runs wait for an answer already", message, "");
	else
		mcp_ask_note(task, ", it has no default, and this client cannot ask.", message,
			" Call it again with `answers`, an object with that question and its answer");
}

/* The first question, which the client's user will not answer. */
static void mcp_ask_do_without(struct mcp_task *task, int why)
{
	const perch_ask *ask = task->asks[0].ask;
	_cleanup_(buf_free) struct buf text = { 0 };
	perch_answer answer = PERCH_ANSWER_INIT;
	mcp_ask_drop(task, ask->number);
	if (!mcp_ask_is_plugins(ask)) {
		answer.message = mcp_ask_refusal(task, ask, why, &text);
	} else if (why == -EACCES || !mcp_ask_default(ask->question, &answer)) {
		mcp_ask_explain(task, ask, why);
		answer = (perch_answer)PERCH_ANSWER_INIT;
		answer.cancel = true;
	}
	perch_err err = { 0 };
	if (perch_job_answer(task->job, ask->number, &answer, &err) == -EINVAL) {
		mcp_task_add(&task->notes, MCP_NOTES_MAX, str_from(err.text));
		perch_job_cancel(task->job, SIGINT);
	}
}

/* ---- asking ---------------------------------------------------------------- */

/* What was wrong with the last answer, what is asked, and what it is about. */
static int mcp_ask_message(
	const struct mcp_task *task, const perch_ask *ask, const char *fault, struct buf *text)
{
	enum { DETAIL_MAX = 2000 };
	if (fault && fault[0])
		buf_printf(text, "%s\n", fault);
	if (ask->kind == PERCH_ASK_PERMISSION)
		buf_printf(text, "May %s use %.200s?", task->name, ask->subject.data);
	else
		buf_append(text, ask->message.data, ask->message.len);
	size_t most = ask->detail.len < DETAIL_MAX ? ask->detail.len : DETAIL_MAX;
	if (most)
		buf_append_char(text, '\n');
	buf_append(text, ask->detail.data, most);
	return text->failed ? -ENOMEM : 0;
}

static int mcp_ask_try(struct mcp_task *task, const char *fault)
{
	const perch_ask *ask = task->asks[0].ask;
	_cleanup_(arena_free) struct arena arena = { 0 };
	_cleanup_(buf_free) struct buf text = { 0 };
	struct mcp_question question = { .kind = MCP_CONFIRM };
	uint64_t expires_ns = clock_after(clock_now_ns(), MCP_PROMPT_MS * NSEC_PER_MSEC);
	if (ask->kind > PERCH_ASK_APPROVAL || (ask->kind == PERCH_ASK_APPROVAL && !task->approves))
		return -ENOTSUP;
	int r = mcp_ask_is_plugins(ask) ? mcp_question_of(ask->question, &arena, &question) : 0;
	if (r == 0)
		r = mcp_ask_message(task, ask, fault, &text);
	if (r < 0)
		return r;
	question.message = (struct str){ text.data, text.len };
	return mcp_job_ask(task->wire, &question, expires_ns);
}

/* Asks the first that can be asked. */
static void mcp_ask_open(struct mcp_task *task)
{
	while (task->wire && task->ask_count) {
		int r = mcp_ask_try(task, NULL);
		if (r == 0 || r == -EBUSY)
			return;
		mcp_ask_do_without(task, r);
	}
}

/* ---- what a server asks ---------------------------------------------------- */

static const char *mcp_ask_method(perch_ask_kind kind)
{
	return kind == PERCH_ASK_FORM    ? "elicitation/create"
		: kind == PERCH_ASK_SAMPLING ? "sampling/createMessage"
		: kind == PERCH_ASK_ROOTS    ? "roots/list"
									 : NULL;
}

/* The client answers it as it is. */
static void mcp_ask_relay(struct mcp_task *task, const perch_ask *ask)
{
	const struct mcp_relay relay = {
		.number = ask->number,
		.method = mcp_ask_method(ask->kind),
		.key = str_of(ask->id),
		.params = str_of(ask->detail),
	};
	perch_answer no = PERCH_ANSWER_INIT;
	no.cancel = true;
	no.message = "this client does not answer that";
	uint64_t expires_ns = clock_after(clock_now_ns(), MCP_PROMPT_MS * NSEC_PER_MSEC);
	if (!task->wire || mcp_job_relay(task->wire, &relay, expires_ns) < 0)
		perch_job_answer(task->job, ask->number, &no, NULL);
}

void mcp_task_relayed(struct mcp_task *task, const struct mcp_wish *wish)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	_cleanup_(buf_free) struct buf why = { 0 };
	perch_answer answer = PERCH_ANSWER_INIT;
	size_t len = 0;
	const char *raw = wish->result ? perch_json_raw(wish->result, &len) : NULL;
	buf_append(&text, raw, len);
	buf_append(&why, wish->reason.data, wish->reason.len);
	if (raw && buf_terminate(&text) == 0)
		answer.content = text.data;
	answer.cancel = !answer.content;
	answer.message = wish->reason.len && buf_terminate(&why) == 0 ? why.data : NULL;
	perch_job_answer(task->job, wish->number, &answer, NULL);
}

void mcp_task_ask(struct mcp_task *task, const perch_ask *ask)
{
	if (mcp_ask_method(ask->kind)) {
		mcp_ask_relay(task, ask);
		return;
	}
	if (ask->kind == PERCH_ASK_APPROVAL && task->kept)
		return;
	perch_answer no = PERCH_ANSWER_INIT;
	no.cancel = true;
	if (task->wire && task->ask_count < MCP_ASKS_MAX) {
		task->asks[task->ask_count++] = (struct mcp_open_ask){ ask->number, ask };
		mcp_ask_open(task);
	} else {
		perch_job_answer(task->job, ask->number, &no, NULL);
	}
}

void mcp_task_withdraw(struct mcp_task *task, uint64_t number)
{
	bool was_asked = task->ask_count && task->asks[0].number == number;
	if (task->wire)
		mcp_job_unrelay(task->wire, number);
	mcp_ask_drop(task, number);
	if (!task->wire || !was_asked)
		return;
	mcp_job_withdraw(task->wire);
	mcp_ask_open(task);
}

/* ---- answers --------------------------------------------------------------- */

static void mcp_ask_fill(const struct mcp_answer *from, perch_answer *to)
{
	to->cancel = from->action != MCP_ANSWERED;
	to->text = from->text.len ? from->text.data : "";
	to->text_len = from->text.len;
	to->yes = from->action == MCP_ANSWERED && from->yes;
	to->chosen = from->chosen;
	to->chosen_count = from->chosen_count;
	to->by = "client";
}

void mcp_task_answer(struct mcp_task *task, const struct mcp_answer *answer)
{
	const perch_ask *ask = task->ask_count ? task->asks[0].ask : NULL;
	perch_answer given = PERCH_ANSWER_INIT;
	perch_err err = { 0 };
	if (!ask)
		return;
	if (answer->action == MCP_UNANSWERED) {
		mcp_ask_do_without(task, -ENOTSUP);
		mcp_ask_open(task);
		return;
	}
	uint64_t number = ask->number;
	bool is_permission = ask->kind == PERCH_ASK_PERMISSION;
	mcp_ask_fill(answer, &given);
	if (given.cancel && mcp_ask_is_plugins(ask))
		mcp_ask_note(task, ", and the user did not want to answer", str_of(ask->message), "");
	int r = perch_job_answer(task->job, number, &given, &err);
	if (r == -EINVAL && ++task->tries < MCP_ANSWER_TRIES && mcp_ask_try(task, err.text) == 0)
		return;
	if (r == -EINVAL) {
		mcp_ask_do_without(task, -ENOTSUP);
	} else {
		mcp_ask_drop(task, number);
		if (is_permission && answer->action == MCP_INTERRUPTED)
			perch_job_cancel(task->job, SIGINT);
	}
	mcp_ask_open(task);
}

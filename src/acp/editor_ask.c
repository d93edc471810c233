/* The questions of a job, for the user of the editor: permissions are the editor's own, those of a
 * plugin become forms, or texts with numbers that the next prompt answers. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "acp/editor_parts.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "mcp/question_form.h"

#define ACP_ALLOW "allow"
#define ACP_REJECT "reject"

static const perch_ask *acp_asks_find(const struct acp_task *task, uint64_t number)
{
	for (size_t i = 0; i < task->ask_count; i++) {
		if (task->asks[i].number == number)
			return task->asks[i].ask;
	}
	return NULL;
}

static void acp_asks_drop(struct acp_task *task, uint64_t number)
{
	for (size_t i = 0; i < task->ask_count; i++) {
		if (task->asks[i].number != number)
			continue;
		task->ask_count--;
		memmove(&task->asks[i], &task->asks[i + 1], (task->ask_count - i) * sizeof(task->asks[0]));
		return;
	}
}

/* The question is closed. Where there is no memory even for that, whoever asked would wait for
 * ever: the job ends. */
static void acp_asks_close(struct acp_task *task, uint64_t number, const perch_answer *answer)
{
	acp_asks_drop(task, number);
	if (perch_job_answer(task->job, number, answer, NULL) == -ENOMEM)
		acp_task_cancel(task);
}

/* ---- permissions ----------------------------------------------------------- */

static void acp_asks_permit(struct acp_task *task, uint64_t number, bool yes)
{
	perch_answer answer = PERCH_ANSWER_INIT;
	answer.yes = yes;
	answer.by = "editor";
	answer.message = yes ? NULL : "the user said no";
	acp_asks_close(task, number, &answer);
}

static void acp_asks_title(const perch_ask *ask, struct buf *text)
{
	const perch_text about = ask->description.len ? ask->description : ask->message;
	buf_append(text, ask->subject.data, ask->subject.len);
	if (about.len && ask->subject.len)
		buf_append_text(text, ": ");
	buf_append(text, about.data, about.len);
	if (!text->len)
		buf_append_text(text, "a tool");
}

/* The options that the question has; an approval has none. */
static size_t acp_asks_options(const perch_ask *ask, struct acp_option *options, size_t most)
{
	static const struct acp_option own[] = {
		{ STR(ACP_ALLOW), STR("Allow"), STR("allow_once") },
		{ STR(ACP_REJECT), STR("Reject"), STR("reject_once") },
	};
	size_t count = 0;
	for (; count < ask->option_count && count < most; count++)
		options[count] = (struct acp_option){ str_of(ask->options[count].id),
			str_of(ask->options[count].name), str_of(ask->options[count].kind) };
	if (count)
		return count;
	memcpy(options, own, sizeof(own));
	return COUNT(own);
}

static int acp_asks_permission(struct acp_task *task, const perch_ask *ask)
{
	enum { OPTIONS_MAX = 16 };
	_cleanup_(buf_free) struct buf title = { 0 };
	struct acp_option options[OPTIONS_MAX];
	char call[64];
	snprintf(call, sizeof(call), "perch-%llu", (unsigned long long)ask->number);
	acp_asks_title(ask, &title);
	if (title.failed)
		return -ENOMEM;
	const struct acp_permission permission = {
		.call = ask->call.len ? str_of(ask->call)
			: ask->id.len     ? str_of(ask->id)
							  : str_from(call),
		.title = { title.data, title.len },
		.name = str_of(ask->subject),
		.input = str_of(ask->detail),
		.options = options,
		.option_count = acp_asks_options(ask, options, OPTIONS_MAX),
	};
	return acp_request_permission(task->request, ask->number, &permission);
}

static void acp_asks_chosen(struct acp_task *task, const perch_ask *ask, struct str option)
{
	_cleanup_free_ char *name = str_dup(option);
	perch_answer answer = PERCH_ANSWER_INIT;
	uint64_t number = ask->number; /* the question is gone when it is answered */
	if (!ask->option_count) {
		acp_asks_permit(task, number, str_is(option, ACP_ALLOW));
		return;
	}
	answer.option = name;
	if (!name || perch_job_answer(task->job, number, &answer, NULL) < 0)
		acp_asks_permit(task, number, false);
	else
		acp_asks_drop(task, number);
}

/* ---- questions of plugins -------------------------------------------------- */

static int acp_asks_form(struct acp_task *task, const perch_ask *ask)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct mcp_question question;
	int r = mcp_question_of(ask->question, &arena, &question);
	return r < 0 ? r : acp_request_form(task->request, ask->number, &question);
}

static void acp_asks_refuse(struct acp_task *task, uint64_t number)
{
	perch_answer answer = PERCH_ANSWER_INIT;
	answer.cancel = true;
	acp_asks_close(task, number, &answer);
}

static void acp_asks_refuse_secret(struct acp_task *task, const perch_ask *ask)
{
	acp_task_say(task, STR("It asks for a secret, which never goes through an editor: `"));
	acp_task_say(task, str_of(ask->message));
	acp_task_say(task,
		STR("`. Run it by `perch run` in a terminal once, or give it in a variable that it "
			"reads.\n"));
	acp_asks_refuse(task, ask->number);
}

/* The prompt ends with the question; the next one of the chat is the answer. */
static void acp_asks_park(struct acp_task *task, const perch_ask *ask)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	acp_text_ask(ask->question, &text);
	if (text.failed || !task->chat || !task->request) {
		acp_asks_refuse(task, ask->number);
		return;
	}
	acp_task_say(task, (struct str){ text.data, text.len });
	task->chat->parked = task;
	struct acp_request *request = task->request;
	task->request = NULL;
	acp_request_set_data(request, NULL);
	acp_request_stop(request, ACP_END_TURN, (struct str){ 0 });
}

static void acp_asks_plugin(struct acp_task *task, const perch_ask *ask)
{
	int r = acp_asks_form(task, ask);
	if (r == -EACCES)
		acp_asks_refuse_secret(task, ask);
	else if (r == -ENOTSUP)
		acp_asks_park(task, ask);
	else if (r < 0)
		acp_asks_refuse(task, ask->number);
}

/* ---- the job's side -------------------------------------------------------- */

void acp_task_ask(struct acp_task *task, const perch_ask *ask)
{
	bool is_ours = ask->kind == PERCH_ASK_PERMISSION || ask->kind == PERCH_ASK_APPROVAL;
	if (!task->request || !task->chat || task->ask_count >= ACP_OPEN_ASKS_MAX ||
		(!is_ours && !ask->question)) {
		acp_asks_refuse(task, ask->number);
		return;
	}
	task->asks[task->ask_count++] = (struct acp_open_ask){ ask->number, ask };
	if (!is_ours)
		acp_asks_plugin(task, ask);
	else if (acp_asks_permission(task, ask) < 0)
		acp_asks_permit(task, ask->number, false);
}

void acp_task_withdraw(struct acp_task *task, uint64_t number)
{
	acp_asks_drop(task, number);
	if (task->request)
		acp_request_withdraw(task->request, number);
}

/* ---- the editor's side ----------------------------------------------------- */

static void acp_asks_give(struct acp_task *task, const perch_ask *ask, const perch_answer *answer)
{
	perch_err err = { 0 };
	uint64_t number = ask->number;
	int r = perch_job_answer(task->job, number, answer, &err);
	if (r != -EINVAL && r != -ENOMEM) {
		acp_asks_drop(task, number);
		return;
	}
	acp_task_say(task, r == -ENOMEM ? STR("out of memory") : str_from(err.text));
	acp_task_say(task, STR("\n"));
	if (r == -ENOMEM)
		acp_asks_refuse(task, number);
	else
		acp_asks_plugin(task, ask);
}

static void acp_asks_filled(
	struct acp_task *task, const perch_ask *ask, const struct acp_answer *given)
{
	perch_answer answer = PERCH_ANSWER_INIT;
	answer.cancel = given->outcome != ACP_ANSWERED;
	task->is_declined = answer.cancel;
	answer.text = given->form.text.len ? given->form.text.data : "";
	answer.text_len = given->form.text.len;
	answer.yes = given->form.yes;
	answer.chosen = given->form.chosen;
	answer.chosen_count = given->form.chosen_count;
	acp_asks_give(task, ask, &answer);
}

void acp_task_answer(struct acp_task *task, uint64_t number, const struct acp_answer *answer)
{
	const perch_ask *ask = acp_asks_find(task, number);
	if (!ask)
		return;
	if (ask->question)
		acp_asks_filled(task, ask, answer);
	else if (answer->outcome == ACP_CHOSEN)
		acp_asks_chosen(task, ask, answer->option);
	else
		acp_asks_permit(task, number, false);
}

void acp_task_read_answer(struct acp_task *task, struct str text)
{
	const perch_ask *ask = task->ask_count ? task->asks[0].ask : NULL;
	perch_answer answer = PERCH_ANSWER_INIT;
	perch_err err = { 0 };
	if (!ask || str_is(str_trim(text), "/cancel")) {
		acp_task_cancel(task);
		return;
	}
	_cleanup_(arena_free) struct arena arena = { 0 };
	size_t *chosen = arena_alloc(&arena, (ask->question->option_count + 1) * sizeof(*chosen));
	_cleanup_free_ char *copy = str_dup(text);
	if (!chosen || !copy) {
		acp_asks_refuse(task, ask->number);
		return;
	}
	int r = acp_text_answer(ask->question, (struct str){ copy, text.len }, &answer, chosen, &err);
	if (r == 0) {
		acp_asks_give(task, ask, &answer);
		return;
	}
	acp_task_say(task, str_from(err.text));
	acp_task_say(task, STR("\n"));
	acp_asks_park(task, ask);
}

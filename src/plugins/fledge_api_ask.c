/* The questions of include/perch/fledge.h, and their answers, which come from the loop. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "plugins/fledge_api_parts.h"
#include "proc/host.h"
#include "validate.h"

/* ---- asking --------------------------------------------------------------------- */

static void fledge_api_ask_answer_later(perch_fledge_run *run, struct answer answer)
{
	answer.number = run->asked.open->number;
	run->asked.answer = answer;
	run->asked.is_answered = true;
	timer_set(&run->host->loop.timers, &run->asked.delivery, loop_now_ns(&run->host->loop));
}

void asked_begin(
	struct frontend *frontend, const perch_question *question, const struct question_manner *manner)
{
	(void)manner;
	perch_fledge_run *run = FLEDGE_RUN_OF(frontend, frontend);
	run->asked.open = question;
	run->asked.is_answered = false;
	run->events.ask(run, run->data, question);
}

void asked_withdraw(struct frontend *frontend)
{
	perch_fledge_run *run = FLEDGE_RUN_OF(frontend, frontend);
	run->asked.open = NULL;
	timer_cancel(&run->host->loop.timers, &run->asked.delivery);
	if (run->events.withdraw)
		run->events.withdraw(run, run->data);
}

/* The next question may come before the plugin has this answer: the answer owns all its texts. */
void asked_deliver(perch_fledge_run *run)
{
	if (!run->asked.open || !run->asked.is_answered)
		return;
	timer_cancel(&run->host->loop.timers, &run->asked.delivery);
	_cleanup_(buf_free) struct buf text = run->asked.text;
	_cleanup_free_ size_t *chosen = steal(&run->asked.chosen);
	struct answer answer = run->asked.answer;
	run->asked.text = (struct buf){ 0 };
	run->asked.open = NULL;
	answer.text = (struct str){ text.data, text.len };
	answer.chosen = chosen;
	run->frontend.answered(run->frontend.answered_data, &answer);
}

static void fledge_api_ask_delivery_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	asked_deliver(FLEDGE_RUN_OF(timer, asked.delivery));
}

/* ---- answering ------------------------------------------------------------------- */

static bool fledge_api_ask_is_open(const perch_fledge_run *run, uint64_t number)
{
	const struct asked *asked = &run->asked;
	return asked->open && !asked->is_answered && asked->open->number == number;
}

static int fledge_api_ask_stale(perch_err *err)
{
	return err_set(err, -ESTALE, "that question is not open");
}

int perch_fledge_answer_text(
	perch_fledge_run *run, uint64_t number, const char *text, size_t len, perch_err *err)
{
	if (!fledge_api_ask_is_open(run, number))
		return fledge_api_ask_stale(err);
	const perch_question *question = run->asked.open;
	if (question->kind != PERCH_QUESTION_PROMPT)
		return err_set(err, -EINVAL, "that question is not answered by a text");
	const char *wrong = validate(question->validator, (struct str){ text, len });
	if (wrong)
		return err_set(err, -EINVAL, "%s", wrong);
	buf_clear(&run->asked.text);
	if (buf_append(&run->asked.text, text, len) < 0)
		return err_no_memory(err);
	fledge_api_ask_answer_later(run, (struct answer){ 0 });
	return 0;
}

int perch_fledge_answer_confirm(perch_fledge_run *run, uint64_t number, bool yes, perch_err *err)
{
	if (!fledge_api_ask_is_open(run, number))
		return fledge_api_ask_stale(err);
	if (run->asked.open->kind != PERCH_QUESTION_CONFIRM)
		return err_set(err, -EINVAL, "that question is not answered by yes or no");
	fledge_api_ask_answer_later(run, (struct answer){ .yes = yes });
	return 0;
}

static int fledge_api_ask_check_choice(
	const perch_question *question, const size_t *chosen, size_t count, perch_err *err)
{
	if (question->kind != PERCH_QUESTION_SELECT && question->kind != PERCH_QUESTION_MULTI_SELECT)
		return err_set(err, -EINVAL, "that question is not answered by a choice");
	if (question->kind == PERCH_QUESTION_SELECT && count != 1)
		return err_set(err, -EINVAL, "choose one of the options");
	for (size_t i = 0; i < count; i++) {
		if (chosen[i] >= question->option_count || (i && chosen[i] <= chosen[i - 1]))
			return err_set(err, -EINVAL, "indexes of options, ascending and each once");
	}
	return 0;
}

int perch_fledge_answer_choice(
	perch_fledge_run *run, uint64_t number, const size_t *chosen, size_t count, perch_err *err)
{
	if (!fledge_api_ask_is_open(run, number))
		return fledge_api_ask_stale(err);
	int r = fledge_api_ask_check_choice(run->asked.open, chosen, count, err);
	if (r < 0)
		return r;
	size_t *copy = calloc(count + 1, sizeof(*copy));
	if (!copy)
		return err_no_memory(err);
	if (count)
		memcpy(copy, chosen, count * sizeof(*copy));
	free(run->asked.chosen);
	run->asked.chosen = copy;
	fledge_api_ask_answer_later(run, (struct answer){ .chosen_count = count });
	return 0;
}

int perch_fledge_decline(perch_fledge_run *run, uint64_t number)
{
	if (!fledge_api_ask_is_open(run, number))
		return -ESTALE;
	fledge_api_ask_answer_later(run, (struct answer){ .cancelled = true });
	return 0;
}

/* ---------------------------------------------------------------------------------- */

int asked_init(perch_fledge_run *run)
{
	int r = timers_promise(&run->host->loop.timers);
	if (r == 0)
		run->asked.delivery.due = fledge_api_ask_delivery_due;
	return r;
}

void asked_free(perch_fledge_run *run)
{
	if (run->asked.delivery.due) {
		timer_cancel(&run->host->loop.timers, &run->asked.delivery);
		timers_release(&run->host->loop.timers);
	}
	buf_free(&run->asked.text);
	free(run->asked.chosen);
}

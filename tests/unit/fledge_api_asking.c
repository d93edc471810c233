/* A plugin's questions as another program answers them: through include/perch/fledge.h
 * alone. */
#include "harness/suite.h"

#include <errno.h>
#include <string.h>

#include "harness/told.h"

static void answer_properly(perch_fledge_run *run, const perch_question *question)
{
	static const size_t one[] = { 2 };
	static const size_t two[] = { 0, 1 };
	uint64_t number = question->number;
	perch_err err = { 0 };
	switch (question->kind) {
	case PERCH_QUESTION_PROMPT:
		ck_assert_str_eq(question->message.data, "Name?");
		ck_assert_int_eq(question->validator, PERCH_VALIDATE_NON_EMPTY);
		ck_assert_int_eq(perch_fledge_answer_text(run, number, " ", 1, &err), -EINVAL);
		ck_assert_uint_gt(strlen(err.text), 0);
		ck_assert_int_eq(perch_fledge_answer_confirm(run, number, true, NULL), -EINVAL);
		ck_assert_int_eq(perch_fledge_answer_text(run, number + 1, "x", 1, NULL), -ESTALE);
		ck_assert_int_eq(perch_fledge_answer_text(run, number, "Ada!", 3, NULL), 0);
		ck_assert_int_eq(perch_fledge_answer_text(run, number, "Eve", 3, NULL), -ESTALE);
		break;
	case PERCH_QUESTION_CONFIRM:
		ck_assert(question->has_default && question->default_yes);
		ck_assert_int_eq(perch_fledge_answer_choice(run, number, one, 1, NULL), -EINVAL);
		ck_assert_int_eq(perch_fledge_answer_confirm(run, number, false, NULL), 0);
		break;
	case PERCH_QUESTION_SELECT:
		ck_assert_uint_eq(question->option_count, 3);
		ck_assert_str_eq(question->options[2].data, "c");
		ck_assert_uint_eq(question->default_count, 1);
		ck_assert_uint_eq(question->defaults[0], 1);
		ck_assert_int_eq(perch_fledge_answer_choice(run, number, two, 2, NULL), -EINVAL);
		ck_assert_int_eq(perch_fledge_answer_choice(run, number, one, 1, NULL), 0);
		break;
	case PERCH_QUESTION_MULTI_SELECT:
		ck_assert_uint_eq(question->default_count, 2);
		ck_assert_uint_eq(question->defaults[1], 2);
		ck_assert_int_eq(
			perch_fledge_answer_choice(run, number, (size_t[]){ 1, 0 }, 2, NULL), -EINVAL);
		ck_assert_int_eq(
			perch_fledge_answer_choice(run, number, (size_t[]){ 3 }, 1, NULL), -EINVAL);
		ck_assert_int_eq(perch_fledge_answer_choice(run, number, two, 2, NULL), 0);
		break;
	}
}

START_TEST(questions_are_asked_and_answered)
{
	told_begin();
	struct told told = { .answer = answer_properly };
	perch_fledge_options options = embedder_options(ARGS("ask"));
	ck_assert_str_eq(
		told_run(&options, &told), "out:\"Ada\"\n out:false\n out:\"c\"\n out:[\"x\",\"y\"]\n ");
	ck_assert(told.end.success);
	ck_assert_int_eq(told.end.exit_code, 0);
	ck_assert_uint_gt(told.end.duration_ns, 0);
	told_end(&told);
}
END_TEST

static const perch_question *waiting_question;

static void answer_later(perch_fledge_run *run, const perch_question *question)
{
	(void)run;
	waiting_question = question;
}

/* As a program with a window does it: when the user is ready, outside of any callback. */
START_TEST(an_answer_may_come_later)
{
	told_begin();
	struct told told = { .answer = answer_later };
	perch_fledge_options options = embedder_options(ARGS("ask"));
	perch_fledge_run *run = told_start(&options, &told);
	while (!told.has_ended) {
		if (waiting_question) {
			const perch_question *question = waiting_question;
			waiting_question = NULL;
			answer_properly(run, question);
		}
		ck_assert_int_ge(perch_host_wait(told_host(), -1), 0);
	}
	buf_terminate(&told.log);
	ck_assert_str_eq(told.log.data, "out:\"Ada\"\n out:false\n out:\"c\"\n out:[\"x\",\"y\"]\n ");
	ck_assert_int_eq(perch_fledge_decline(run, 1), -ESTALE);
	perch_fledge_run_free(run);
	told_end(&told);
}
END_TEST

START_TEST(a_question_that_waits_too_long_is_withdrawn)
{
	told_begin();
	struct told told = { .answer = answer_later };
	perch_fledge_options options = embedder_options(ARGS("ask"));
	options.prompt_timeout_ns = 1000000;
	told_run(&options, &told);
	ck_assert_uint_eq(told.withdrawn, 1);
	ck_assert(!told.end.success);
	told_end(&told);
}
END_TEST

static void refuse(perch_fledge_run *run, const perch_question *question)
{
	ck_assert_int_eq(perch_fledge_decline(run, question->number + 1), -ESTALE);
	ck_assert_int_eq(perch_fledge_decline(run, question->number), 0);
}

START_TEST(declining_is_an_interrupt)
{
	told_begin();
	struct told told = { .answer = refuse };
	perch_fledge_options options = embedder_options(ARGS("ask"));
	told_run(&options, &told);
	ck_assert_int_eq(told.end.exit_code, 130);
	told_end(&told);
}
END_TEST

START_TEST(answers_may_be_given_in_advance)
{
	told_begin();
	struct told told = { 0 };
	const perch_fledge_events without_ask = {
		.size = sizeof(without_ask),
		.show = told_events.show,
		.end = told_events.end,
	};
	perch_fledge_options options = embedder_options(ARGS("ask"));
	options.events = &without_ask;
	options.answers = ARGS("Name?=Bob", "Any?=z");
	ck_assert_str_eq(
		told_run(&options, &told), "out:\"Bob\"\n out:true\n out:\"b\"\n out:[\"z\"]\n ");
	buf_clear(&told.log);
	told.has_ended = false;
	options.answers = NULL;
	options.asking = PERCH_ASKING_STRICT;
	told_run(&options, &told);
	ck_assert_int_ne(told.end.exit_code, 0);
	told_end(&told);
}
END_TEST

SUITE_MAIN("fledge-api-asking", questions_are_asked_and_answered, an_answer_may_come_later,
	a_question_that_waits_too_long_is_withdrawn, declining_is_an_interrupt,
	answers_may_be_given_in_advance)

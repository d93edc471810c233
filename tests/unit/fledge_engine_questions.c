/* fledge-v1 from strings: questions, who answers them, and how they are cancelled;
 * and memory that runs out. */
#include "harness/oom.h"
#include "harness/suite.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "harness/transcript.h"

/* ---- questions ----------------------------------------------------------- */

static const struct {
	const char *name;
	enum fledge_asking asking;
	const char *line;
	const char *expected;
} undecided[] = {
#define ASKS(type, rest) "{\"type\":\"" type "\",\"id\":\"1\",\"message\":" rest "}"
#define ANSWER(value) "> {\"type\":\"response\",\"id\":\"1\",\"value\":" value "}\n"
	{ "prompt takes its default", FLEDGE_TAKE_DEFAULTS, ASKS("prompt", "\"m\",\"default\":\"d\""),
		ANSWER("\"d\"") },
	{ "prompt without a default fails", FLEDGE_TAKE_DEFAULTS, ASKS("prompt", "\"m\""),
		"show error the plugin asks 'm' and nobody is there to answer: give --answer 'm=VALUE', or "
		"--answers FILE\ndrop\n"
		"> {\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"non_interactive\"}\nstop\n" },
	{ "confirm takes its default", FLEDGE_TAKE_DEFAULTS, ASKS("confirm", "\"m\",\"default\":true"),
		ANSWER("true") },
	{ "confirm without a default is no", FLEDGE_TAKE_DEFAULTS, ASKS("confirm", "\"m\""),
		ANSWER("false") },
	{ "select takes its default", FLEDGE_TAKE_DEFAULTS,
		ASKS("select", "\"m\",\"options\":[\"a\",\"b\"],\"default\":1.0"), ANSWER("\"b\"") },
	{ "select without a default takes the first", FLEDGE_TAKE_DEFAULTS,
		ASKS("select", "\"m\",\"options\":[\"a\",\"b\"]"), ANSWER("\"a\"") },
	{ "an index out of range is absent", FLEDGE_TAKE_DEFAULTS,
		ASKS("select", "\"m\",\"options\":[\"a\",\"b\"],\"default\":2"),
		"show warning line 1 of the plugin: `select`: `default` is not the index of an option; "
		"ignored\n" ANSWER("\"a\"") },
	{ "a negative index is absent", FLEDGE_TAKE_DEFAULTS,
		ASKS("select", "\"m\",\"options\":[\"a\",\"b\"],\"default\":-1"),
		"show warning line 1 of the plugin: `select`: `default` is not the index of an option; "
		"ignored\n" ANSWER("\"a\"") },
	{ "multi_select keeps the given order", FLEDGE_TAKE_DEFAULTS,
		ASKS("multi_select", "\"m\",\"options\":[\"a\",\"b\",\"c\"],\"defaults\":[2,0]"),
		ANSWER("[\"c\",\"a\"]") },
	{ "multi_select without defaults is empty", FLEDGE_TAKE_DEFAULTS,
		ASKS("multi_select", "\"m\",\"options\":[\"a\"]"), ANSWER("[]") },
	{ "strict: confirm needs a default", FLEDGE_DEMAND_DEFAULTS, ASKS("confirm", "\"m\""),
		"show error the plugin asks 'm' and nobody is there to answer: give --answer 'm=VALUE', or "
		"--answers FILE\ndrop\n"
		"> {\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"non_interactive\"}\nstop\n" },
	{ "strict: an explicit default will do", FLEDGE_DEMAND_DEFAULTS,
		ASKS("confirm", "\"m\",\"default\":false"), ANSWER("false") },
	{ "given text", FLEDGE_ASK, ASKS("prompt", "\"Given text\""), ANSWER("\"from outside\"") },
	{ "given text, without a user", FLEDGE_DEMAND_DEFAULTS, ASKS("prompt", "\" Given text \""),
		ANSWER("\"from outside\"") },
	{ "given text that does not fit", FLEDGE_TAKE_DEFAULTS,
		ASKS("prompt", "\"Given number\",\"validate\":\"integer\",\"default\":\"1\""),
		"show warning the answer given for 'Given number' does not fit: 'twelve'\n" ANSWER(
			"\"1\"") },
	{ "given yes", FLEDGE_ASK, ASKS("confirm", "\"Given yes\""), ANSWER("true") },
	{ "given option", FLEDGE_ASK, ASKS("select", "\"Given option\",\"options\":[\"a\",\"b\"]"),
		ANSWER("\"b\"") },
	{ "given option that is none", FLEDGE_TAKE_DEFAULTS,
		ASKS("select", "\"Given option\",\"options\":[\"x\"]"),
		"show warning the answer given for 'Given option' does not fit: 'b'\n" ANSWER("\"x\"") },
	{ "given list", FLEDGE_ASK,
		ASKS("multi_select", "\"Given list\",\"options\":[\"a\",\"b\",\"c\"]"),
		ANSWER("[\"a\",\"c\"]") },
	{ "an unknown validator accepts", FLEDGE_TAKE_DEFAULTS,
		ASKS("prompt", "\"m\",\"default\":\"d\",\"validate\":\"magic\""),
		"show warning unknown validator 'magic': any answer will do\n" ANSWER("\"d\"") },
};

START_TEST(questions_that_need_no_user)
{
	for (size_t i = 0; i < COUNT(undecided); i++) {
		struct transcript t;
		transcript_begin(&t, undecided[i].asking);
		transcript_line(&t, undecided[i].line);
		transcript_expect_case(&t, undecided[i].name, undecided[i].expected);
		bool is_failure = strstr(undecided[i].expected, "show error") != NULL;
		ck_assert_int_eq(fledge_engine_failed(t.engine), is_failure);
		transcript_end(&t);
	}
}
END_TEST

static void answer(struct transcript *t, struct answer given_answer)
{
	given_answer.number = t->question.number;
	fledge_engine_answer(t->engine, &given_answer, 0);
}

START_TEST(questions_are_asked_one_after_the_other)
{
	struct transcript t;
	transcript_begin(&t, FLEDGE_ASK);
	transcript_line(&t, ASKS("prompt", "\"first\""));
	transcript_line(&t, ASKS("confirm", "\"second\""));
	transcript_line(&t, ASKS("select", "\"third\",\"options\":[\"a\",\"b\"]"));
	transcript_line(&t, ASKS("multi_select", "\"fourth\",\"options\":[\"a\",\"b\"]"));
	transcript_expect(&t, "ask prompt first\n");
	answer(&t, (struct answer){ .text = STR("quo\"te") });
	transcript_expect(&t, ANSWER("\"quo\\\"te\"") "ask confirm second\n");
	answer(&t, (struct answer){ .yes = true });
	transcript_expect(&t, ANSWER("true") "ask select third\n");
	answer(&t, (struct answer){ .chosen = (size_t[]){ 1 }, .chosen_count = 1 });
	transcript_expect(&t, ANSWER("\"b\"") "ask multi_select fourth\n");
	answer(&t, (struct answer){ .chosen = (size_t[]){ 0, 1 }, .chosen_count = 2 });
	transcript_expect(&t, ANSWER("[\"a\",\"b\"]"));
	/* An answer to a question that is no longer open. */
	answer(&t, (struct answer){ .yes = true });
	transcript_expect(&t, "");
	transcript_end(&t);
}
END_TEST

START_TEST(an_unanswered_question_times_out)
{
	struct transcript t;
	transcript_begin(&t, FLEDGE_ASK);
	ck_assert_uint_eq(fledge_engine_deadline(t.engine), NEVER);
	transcript_line(&t, ASKS("prompt", "\"first\""));
	ck_assert_uint_eq(fledge_engine_deadline(t.engine), 100);
	fledge_engine_delay(t.engine, 50);
	fledge_engine_tick(t.engine, 149);
	transcript_expect(&t, "ask prompt first\n");
	fledge_engine_tick(t.engine, 150);
	transcript_expect(&t,
		"show error no answer to 'first' for 0 seconds: cancelled\nwithdraw\ndrop\n"
		"> {\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"timeout\"}\nstop\n");
	ck_assert(fledge_engine_failed(t.engine));
	ck_assert_uint_eq(fledge_engine_deadline(t.engine), NEVER);
	transcript_end(&t);
}
END_TEST

START_TEST(when_the_user_goes_away_defaults_decide)
{
	struct transcript t;
	transcript_begin(&t, FLEDGE_ASK);
	transcript_line(&t, ASKS("confirm", "\"first\""));
	transcript_line(&t, ASKS("prompt", "\"second\",\"default\":\"d\""));
	fledge_engine_stop_asking(t.engine, 0);
	transcript_expect(&t, "ask confirm first\nwithdraw\n" ANSWER("false") ANSWER("\"d\""));
	transcript_line(&t, ASKS("confirm", "\"third\""));
	transcript_expect(&t, ANSWER("false"));
	transcript_end(&t);
}
END_TEST

/* ---- cancel -------------------------------------------------------------- */

START_TEST(cancel_reaches_every_pending_request_once)
{
	struct transcript t;
	transcript_begin(&t, FLEDGE_ASK);
	uint64_t slow = transcript_hold_up(&t);
	transcript_line(&t, "{\"type\":\"load\",\"id\":\"1\",\"key\":\"k\"}");
	fledge_engine_result(t.engine, t.last_ticket, STR("2"), 0);
	transcript_line(&t, ASKS("confirm", "\"sure\""));
	buf_clear(&t.text);
	fledge_engine_cancel(t.engine, "user_interrupt", 0);
#define CANCEL "> {\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"user_interrupt\"}\n"
	transcript_expect(&t, "withdraw\ndrop\n" CANCEL CANCEL CANCEL "stop\n");
	fledge_engine_cancel(t.engine, "user_interrupt", 0);
	fledge_engine_result(t.engine, slow, STR("1"), 0);
	transcript_expect(&t, "");
	/* What comes later is cancelled with the same reason; what only tells goes on. */
	transcript_line(&t, "{\"type\":\"load\",\"id\":\"2\",\"key\":\"k\"}");
	transcript_line(&t, "{\"type\":\"output\",\"text\":\"bye\"}");
	transcript_line(&t, "{\"type\":\"store\",\"key\":\"k\",\"value\":\"v\"}");
	transcript_expect(&t,
		"> {\"type\":\"cancel\",\"id\":\"2\",\"reason\":\"user_interrupt\"}\n"
		"show output bye\n"
		"show warning store rejected: the run was cancelled ('k')\n");
	/* With an id it gets its one answer. */
	transcript_line(&t, "{\"type\":\"store\",\"id\":\"3\",\"key\":\"k\",\"value\":\"v\"}");
	transcript_expect(&t,
		"show warning store rejected: the run was cancelled ('k')\n"
		"> {\"type\":\"cancel\",\"id\":\"3\",\"reason\":\"user_interrupt\"}\n");
	transcript_end(&t);
}
END_TEST

START_TEST(cancel_without_requests_has_no_id)
{
	struct transcript t;
	transcript_begin(&t, FLEDGE_ASK);
	fledge_engine_cancel(t.engine, "user_interrupt", 0);
	transcript_expect(&t, "> {\"type\":\"cancel\",\"reason\":\"user_interrupt\"}\nstop\n");
	transcript_end(&t);
}
END_TEST

/* What a plugin wants to keep once it was cancelled is not kept, whoever cancelled it; a request
 * that was refused for its own sake changes nothing. */
START_TEST(nothing_is_stored_from_the_first_cancel_on)
{
	static const char store[] = "{\"type\":\"store\",\"key\":\"k\",\"value\":\"\"}";
	struct transcript t;
	transcript_begin(&t, FLEDGE_TAKE_DEFAULTS);
	transcript_line(&t, "{\"type\":\"nonsense\",\"id\":\"1\"}");
	transcript_line(&t, "{\"type\":\"prompt\",\"id\":\"2\"}");
	buf_clear(&t.text);
	transcript_line(&t, store);
	transcript_expect(&t, "store 0 k=\n");
	transcript_line(&t, ASKS("prompt", "\"path\""));
	buf_clear(&t.text);
	transcript_line(&t, store);
	transcript_expect(&t, "show warning store rejected: the run was cancelled ('k')\n");
	transcript_end(&t);

	struct fledge_engine_options options = transcript_options(FLEDGE_ASK);
	options.prompt_timeout_ns = 10;
	transcript_begin_with(&t, options);
	transcript_line(&t, ASKS("prompt", "\"path\""));
	fledge_engine_tick(t.engine, 100);
	buf_clear(&t.text);
	transcript_line(&t, store);
	transcript_expect(&t, "show warning store rejected: the run was cancelled ('k')\n");
	transcript_end(&t);
}
END_TEST

/* So many that a walk over all of them for each would not come to its end in time. */
START_TEST(a_long_queue_costs_no_walk_for_each)
{
	enum { MANY = 60000 };
	struct transcript t;
	transcript_begin(&t, FLEDGE_ASK);
	uint64_t slow = transcript_hold_up(&t);
	for (int i = 0; i < MANY; i++)
		transcript_line(&t, "{\"type\":\"load\",\"id\":\"1\",\"key\":\"k\"}");
	for (int i = 0; i < MANY; i++)
		transcript_line(&t, ASKS("confirm", "\"sure\""));
	buf_clear(&t.text);
	for (uint64_t i = MANY; i > 0; i--)
		fledge_engine_result(t.engine, slow + i, STR("2"), 0);
	fledge_engine_stop_asking(t.engine, 0);
	transcript_expect(&t, "withdraw\n");
	ck_assert_uint_eq(fledge_engine_pending(t.engine), 2 * MANY + 1);
	ck_assert_uint_gt(fledge_engine_held(t.engine), 2 * MANY * sizeof(void *));
	fledge_engine_result(t.engine, slow, STR("1"), 0);
	ck_assert_uint_eq(fledge_engine_pending(t.engine), 0);
	ck_assert_uint_eq(fledge_engine_held(t.engine), 0);
	transcript_end(&t);
}
END_TEST

START_TEST(a_user_who_declines_interrupts)
{
	struct transcript t;
	transcript_begin(&t, FLEDGE_ASK);
	transcript_line(&t, ASKS("confirm", "\"sure\""));
	answer(&t, (struct answer){ .cancelled = true });
	transcript_expect(&t, "ask confirm sure\ndrop\n" CANCEL "stop\n");
	ck_assert(fledge_engine_failed(t.engine));
	transcript_end(&t);
}
END_TEST

/* ---- memory -------------------------------------------------------------- */

static int converse(void *data)
{
	(void)data;
	const struct fledge_engine_options options = transcript_options(FLEDGE_ASK);
	struct transcript t = { 0 };
	if (fledge_engine_new(&options, &transcript_effects, &t, &t.engine) < 0)
		return -1;
	transcript_line(&t, ASKS("multi_select", "\"m\",\"options\":[\"a\",\"b\"],\"defaults\":[0]"));
	transcript_line(&t, "{\"type\":\"exec\",\"id\":\"1\",\"command\":\"slow\"}");
	transcript_line(&t, "{\"type\":\"metadata\",\"id\":\"1\",\"keys\":[\"env\"]}");
	transcript_line(&t, ASKS("prompt", "\"Given text\""));
	transcript_line(&t, ASKS("multi_select", "\"Given list\",\"options\":[\"a\",\"b\",\"c\"]"));
	if (t.question.message.len)
		answer(&t, (struct answer){ .chosen = (size_t[]){ 0 }, .chosen_count = 1 });
	fledge_engine_cancel(t.engine, "user_interrupt", 0);
	bool is_broken = fledge_engine_is_broken(t.engine) || t.text.failed;
	transcript_end(&t);
	return is_broken ? -1 : 0;
}

START_TEST(every_failed_allocation_is_noticed)
{
	ck_assert_uint_gt(oom_every(converse, NULL), 10);
}
END_TEST

SUITE_MAIN("fledge-engine-questions", questions_that_need_no_user,
	questions_are_asked_one_after_the_other, an_unanswered_question_times_out,
	when_the_user_goes_away_defaults_decide, cancel_reaches_every_pending_request_once,
	cancel_without_requests_has_no_id, nothing_is_stored_from_the_first_cancel_on,
	a_long_queue_costs_no_walk_for_each, a_user_who_declines_interrupts,
	every_failed_allocation_is_noticed)

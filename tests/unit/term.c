/* The frontend as a whole, on a terminal made by the test and without one. */
#include "harness/oom.h"
#include "harness/suite.h"
#include "harness/vt.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/fd.h"
#include "harness/stage.h"

static const perch_question prompt = { .number = 1, .message = { "Name:", 5 } };
static const perch_question second = { .number = 2, .message = { "Again:", 6 } };
static const perch_text options[] = { { "a", 1 }, { "b", 1 } };
static const perch_question choose = { .kind = PERCH_QUESTION_SELECT,
	.number = 3,
	.message = { "Pick:", 5 },
	.options = options,
	.option_count = 2 };

START_TEST(a_question_is_answered_and_the_terminal_restored)
{
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	ck_assert(stage.frontend->is_interactive);
	stage_ask(&stage, &prompt);
	stage_expect_raw(&stage);
	stage_type(&stage, "me\r");
	stage_run_until(&stage, 1);
	ck_assert_str_eq(stage_answers(&stage), "me;");
	stage_expect_restored(&stage);
	buf_terminate(&stage.written);
	ck_assert_ptr_nonnull(strstr(stage.written.data, "\x1B[?2004h"));
	ck_assert_ptr_nonnull(strstr(stage.written.data, "\x1B[?2004l"));
	stage_close(&stage);
}
END_TEST

START_TEST(bytes_beyond_an_answer_are_for_the_next)
{
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	stage_ask(&stage, &prompt);
	stage_type(&stage, "one\rtwo\rth");
	stage_run_until(&stage, 1);
	stage_ask(&stage, &second);
	ck_assert_uint_eq(stage.answer_count, 1); /* never from inside ask */
	stage_expect_raw(&stage);
	stage_run_until(&stage, 2);
	stage_ask(&stage, &prompt);
	stage_type(&stage, "ree\r");
	stage_run_until(&stage, 3);
	ck_assert_str_eq(stage_answers(&stage), "one;two;three;");
	stage_close(&stage);
}
END_TEST

START_TEST(the_next_question_may_be_asked_from_inside_the_answer)
{
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	stage.asks_next = &second;
	stage_ask(&stage, &prompt);
	stage_type(&stage, "one\rtwo\r");
	stage_run_until(&stage, 2);
	ck_assert_str_eq(stage_answers(&stage), "one;two;");
	stage_close(&stage);
}
END_TEST

START_TEST(enter_behind_a_letter_is_not_for_the_next_question)
{
	static const perch_question confirm = { .kind = PERCH_QUESTION_CONFIRM };
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	stage.asks_next = &second;
	stage_ask(&stage, &confirm);
	stage_type(&stage, "y\rtwo\r");
	stage_run_until(&stage, 2);
	ck_assert_str_eq(stage_answers(&stage), ";two;");
	stage_close(&stage);
}
END_TEST

START_TEST(the_frontend_may_be_freed_from_inside_the_answer)
{
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	stage.frees_frontend = true;
	stage_ask(&stage, &prompt);
	stage_type(&stage, "one\rtwo\r");
	stage_run_until(&stage, 1);
	ck_assert_ptr_null(stage.frontend);
	stage_close(&stage);
}
END_TEST

START_TEST(a_lone_escape_counts_after_a_moment)
{
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	stage_ask(&stage, &choose);
	stage_type(&stage, "\x1B");
	stage_run_until(&stage, 1);
	ck_assert(stage.was_cancelled);
	stage_close(&stage);
}
END_TEST

START_TEST(a_terminal_that_hangs_up_cancels)
{
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	stage_ask(&stage, &prompt);
	stage_collect(&stage);
	stage.master = fd_close(stage.master);
	while (!stage.answer_count)
		ck_assert_int_ge(loop_run(&stage.loop, -1), 0);
	ck_assert(stage.was_cancelled);
	stage_ask(&stage, &second);
	while (stage.answer_count < 2)
		ck_assert_int_ge(loop_run(&stage.loop, -1), 0);
	stage.frontend->table->free(stage.frontend);
	loop_close(&stage.loop);
	fd_close(stage.slave);
	buf_free(&stage.written);
	buf_free(&stage.text_answer);
}
END_TEST

START_TEST(withdraw_and_suspend_leave_the_terminal)
{
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	stage_ask(&stage, &choose);
	stage.frontend->table->suspend(stage.frontend);
	stage.frontend->table->suspend(stage.frontend);
	stage_expect_restored(&stage);
	stage.frontend->table->resume(stage.frontend);
	stage.frontend->table->resume(stage.frontend);
	stage.frontend->table->withdraw(stage.frontend);
	stage.frontend->table->withdraw(stage.frontend);
	stage_expect_restored(&stage);
	stage_collect(&stage);
	static struct vt vt;
	vt_init(&vt, 60, 10);
	buf_terminate(&stage.written);
	vt_write(&vt, stage.written.data, stage.written.len);
	ck_assert(!vt.cursor_is_hidden);
	ck_assert_uint_eq(stage.answer_count, 0);
	stage_close(&stage);
}
END_TEST

START_TEST(a_question_asked_while_suspended_waits)
{
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	stage.frontend->table->suspend(stage.frontend);
	stage_ask(&stage, &prompt);
	stage_expect_restored(&stage);
	stage.frontend->table->resume(stage.frontend);
	stage_type(&stage, "x\r");
	stage_run_until(&stage, 1);
	ck_assert_str_eq(stage_answers(&stage), "x;");
	stage_close(&stage);
}
END_TEST

static const perch_question deliberate = { .kind = PERCH_QUESTION_CONFIRM,
	.message = { "May it?", 7 } };
static const struct question_manner with_a_word = { .is_deliberate = true };
static const struct question_manner in_conversation = { .is_conversation = true };

/* Lines that were typed ahead, in the terminal's queue and in ours. */
static void answers_what_it_was_asked(const char *term, const char *enter)
{
	static const char *const lines[] = { "yes", "no", "yes" };
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, term), 0);
	for (size_t i = 0; i < COUNT(lines); i++) {
		bool is_yes = strcmp(lines[i], "yes") == 0;
		stage_type(&stage, is_yes ? "no" : "yes");
		stage_type(&stage, enter);
		stage_type(&stage, "ye");
		stage.manner = &with_a_word;
		stage_ask(&stage, &deliberate);
		ck_assert_int_ge(loop_run(&stage.loop, 0), 0);
		ck_assert_uint_eq(stage.answer_count, (unsigned)i);
		stage_type(&stage, lines[i]);
		stage_type(&stage, enter);
		stage_type(&stage, lines[(i + 1) % COUNT(lines)]);
		stage_type(&stage, enter);
		stage_run_until(&stage, (unsigned)i + 1);
		ck_assert(stage.was_yes == is_yes);
	}
	stage_close(&stage);
}

START_TEST(what_was_typed_before_is_no_deliberate_answer)
{
	answers_what_it_was_asked("xterm", "\r");
	answers_what_it_was_asked("dumb", "\n");
}
END_TEST

START_TEST(a_paste_around_a_deliberate_question_does_not_answer_it)
{
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	stage_ask(&stage, &prompt);
	stage_type(&stage, "\x1B[200~one\r");
	stage_run_until(&stage, 1);
	stage_type(&stage, "two\ryes\x1B");
	stage.manner = &with_a_word;
	stage_ask(&stage, &deliberate);
	stage_type(&stage, "[201~\x1B[200~yes\r\ryes\r\x1B[201~");
	for (int i = 0; i < 3; i++)
		ck_assert_int_ge(loop_run(&stage.loop, 20), 0);
	ck_assert_uint_eq(stage.answer_count, 1);
	stage_type(&stage, "\x15y\r");
	stage_run_until(&stage, 2);
	ck_assert(stage.was_yes);
	stage_close(&stage);
}
END_TEST

START_TEST(a_draft_is_taken_with_what_was_typed_last)
{
	static const perch_question line = { .number = 4 };
	struct buf draft = { 0 };
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	stage.manner = &in_conversation;
	stage_ask(&stage, &line);
	stage_type(&stage, "hal");
	ck_assert_int_ge(loop_run(&stage.loop, 1000), 0);
	stage_type(&stage, "f a\rline\x1B[Ds");
	term_withdraw_draft(stage.frontend, &draft);
	buf_terminate(&draft);
	ck_assert_str_eq(draft.data, "half a linse");
	stage_expect_restored(&stage);
	term_withdraw_draft(stage.frontend, &draft);
	ck_assert_uint_eq(draft.len, strlen("half a linse"));
	ck_assert_uint_eq(stage.answer_count, 0);
	buf_free(&draft);
	stage_close(&stage);
}
END_TEST

START_TEST(a_conversation_goes_on_behind_a_cancellation)
{
	static const perch_question line = { .number = 4 };
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	stage.manner = &in_conversation;
	stage.asks_next = &line;
	stage_ask(&stage, &line);
	stage_type(&stage,
		"ab\x03"
		"cd\r");
	stage_run_until(&stage, 2);
	ck_assert_str_eq(stage_answers(&stage), "ab;cd;");
	stage.manner = NULL;
	stage.asks_next = &second;
	stage_ask(&stage, &prompt);
	stage_type(&stage, "x\x03lost\r");
	stage_run_until(&stage, 3);
	stage_type(&stage, "kept\r");
	stage_run_until(&stage, 4);
	ck_assert_str_eq(stage_answers(&stage), "ab;cd;;kept;");
	stage_close(&stage);
}
END_TEST

static atomic_bool is_flooded;

/* A terminal takes a few thousand bytes, then it has to be read. */
static void *drain(void *data)
{
	struct stage *stage = data;
	while (!atomic_load(&is_flooded)) {
		struct pollfd waiting = { .fd = stage->master, .events = POLLIN };
		poll(&waiting, 1, 10);
		stage_collect(stage);
	}
	return NULL;
}

START_TEST(a_flood_of_output_brings_the_region_back)
{
	struct stage stage;
	static char flood[3000];
	memset(flood, 'x', sizeof(flood));
	flood[sizeof(flood) - 1] = '\n';
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	pthread_t reader;
	ck_assert_int_eq(pthread_create(&reader, NULL, drain, &stage), 0);
	stage_show(&stage, (struct shown){ .kind = PERCH_SHOWN_PROGRESS, .text = STR("busy") });
	for (int i = 0; i < 100; i++)
		stage_show(
			&stage, (struct shown){ .kind = PERCH_SHOWN_OUTPUT, .text = { flood, sizeof(flood) } });
	stage.frontend->table->flush(stage.frontend);
	atomic_store(&is_flooded, true);
	pthread_join(reader, NULL);
	stage_collect(&stage);
	buf_terminate(&stage.written);
	ck_assert_uint_gt(stage.written.len, 100 * sizeof(flood));
	ck_assert_ptr_nonnull(strstr(stage.written.data + stage.written.len - 60, "busy"));
	stage_close(&stage);
}
END_TEST

START_TEST(plain_lines_answer_on_a_dumb_terminal)
{
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "dumb"), 0);
	stage_ask(&stage, &prompt);
	stage_expect_restored(&stage);
	stage_type(&stage, "one\ntwo\n");
	stage_run_until(&stage, 1);
	stage_ask(&stage, &second);
	stage_run_until(&stage, 2);
	ck_assert_str_eq(stage_answers(&stage), "one;two;");
	buf_terminate(&stage.written);
	ck_assert_ptr_null(strchr(stage.written.data, '\x1B'));
	stage_close(&stage);
}
END_TEST

/* Everything once; the answer must come, or be a cancellation. */
static int whole_run(void *data)
{
	const bool *is_dumb = data;
	struct stage stage;
	int r = stage_open(&stage, *is_dumb ? "dumb" : "xterm");
	if (r < 0) {
		stage_close(&stage);
		return r;
	}
	stage_show(&stage, (struct shown){ .kind = PERCH_SHOWN_OUTPUT, .text = STR("output") });
	stage_show(&stage,
		(struct shown){ .kind = PERCH_SHOWN_LOG, .level = STR("info"), .text = STR("log") });
	stage_show(&stage, (struct shown){ .kind = PERCH_SHOWN_PROGRESS, .text = STR("busy") });
	stage.frontend->table->flush(stage.frontend);
	stage_type(&stage, "b\r\n");
	stage_ask(&stage, &choose);
	/* Keys that found no memory are lost: the user presses again. */
	while (!stage.answer_count) {
		loop_run(&stage.loop, 20);
		stage_collect(&stage);
		if (!stage.answer_count)
			stage_type(&stage,
				"\x7F\x7F"
				"b\r\n");
	}
	stage_show(&stage, (struct shown){ .kind = PERCH_SHOWN_WARNING, .text = STR("warning") });
	stage.frontend->table->done(stage.frontend, &(perch_fledge_end){ .success = true });
	stage_collect(&stage);
	r = stage.written.failed ? -ENOMEM : 0;
	stage_close(&stage);
	return r;
}

START_TEST(memory_may_run_out)
{
	bool is_dumb = false;
	ck_assert_uint_ge(oom_every(whole_run, &is_dumb), 8);
	is_dumb = true;
	ck_assert_uint_ge(oom_every(whole_run, &is_dumb), 5);
}
END_TEST

SUITE_MAIN("term", a_question_is_answered_and_the_terminal_restored,
	bytes_beyond_an_answer_are_for_the_next, the_next_question_may_be_asked_from_inside_the_answer,
	enter_behind_a_letter_is_not_for_the_next_question,
	the_frontend_may_be_freed_from_inside_the_answer, a_lone_escape_counts_after_a_moment,
	a_terminal_that_hangs_up_cancels, withdraw_and_suspend_leave_the_terminal,
	a_question_asked_while_suspended_waits, a_flood_of_output_brings_the_region_back,
	plain_lines_answer_on_a_dumb_terminal, what_was_typed_before_is_no_deliberate_answer,
	a_paste_around_a_deliberate_question_does_not_answer_it,
	a_draft_is_taken_with_what_was_typed_last, a_conversation_goes_on_behind_a_cancellation,
	memory_may_run_out)

/* The frontend as a whole, on a terminal made by the test and without one. */
#include "harness/oom.h"
#include "harness/suite.h"
#include "harness/vt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "term/term.h"

/* A frontend, the terminal it is on, and what it reported. */
struct stage {
	struct loop loop;
	struct frontend *frontend;
	int master; /* our side of the terminal */
	int slave;
	struct termios before;
	struct buf written;
	unsigned answer_count;
	bool was_cancelled;
	struct buf text_answer;
	bool frees_frontend;
	const struct question *asks_next;
};

static void answered(void *data, const struct answer *answer)
{
	struct stage *stage = data;
	stage->answer_count++;
	stage->was_cancelled = answer->cancelled;
	buf_append(&stage->text_answer, answer->text.data, answer->text.len);
	buf_append_char(&stage->text_answer, ';');
	if (stage->frees_frontend) {
		stage->frontend->table->free(stage->frontend);
		stage->frontend = NULL;
	} else if (stage->asks_next) {
		const struct question *next = stage->asks_next;
		stage->asks_next = NULL;
		stage->frontend->table->ask(stage->frontend, next);
	}
}

/* ck_assert allocates, so it must not be used while allocations fail. */
static void must(bool holds)
{
	if (!holds)
		abort();
}

static void open_terminal(struct stage *stage)
{
	stage->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	must(stage->master >= 0);
	must(grantpt(stage->master) == 0 && unlockpt(stage->master) == 0);
	stage->slave = open(ptsname(stage->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	must(stage->slave >= 0);
	struct winsize size = { .ws_col = 60, .ws_row = 10 };
	must(ioctl(stage->slave, TIOCSWINSZ, &size) == 0);
	must(tcgetattr(stage->slave, &stage->before) == 0);
}

static int stage_open(struct stage *stage, const char *term)
{
	*stage = (struct stage){ .master = -1 };
	setenv("TERM", term, 1);
	open_terminal(stage);
	must(loop_init(&stage->loop) == 0);
	struct term_options options = {
		.in_fd = stage->slave,
		.out_fd = stage->slave,
		.text_fd = stage->slave,
		.utf8 = true,
	};
	int r = term_new(&stage->loop, &options, &stage->frontend, NULL);
	if (r < 0)
		return r;
	stage->frontend->answered = answered;
	stage->frontend->answered_data = stage;
	return 0;
}

/* Reads what the frontend has written so far. */
static void collect(struct stage *stage)
{
	char bytes[4096];
	ssize_t n;
	while ((n = read(stage->master, bytes, sizeof(bytes))) > 0)
		buf_append(&stage->written, bytes, (size_t)n);
}

static void expect_restored(const struct stage *stage)
{
	struct termios now;
	must(tcgetattr(stage->slave, &now) == 0);
	must(now.c_lflag == stage->before.c_lflag);
	must(now.c_iflag == stage->before.c_iflag);
	must(now.c_oflag == stage->before.c_oflag);
}

static void stage_close(struct stage *stage)
{
	if (stage->frontend)
		stage->frontend->table->free(stage->frontend);
	expect_restored(stage);
	loop_close(&stage->loop);
	fd_close(stage->master);
	fd_close(stage->slave);
	buf_free(&stage->written);
	buf_free(&stage->text_answer);
}

static void type(struct stage *stage, const char *bytes)
{
	must(write(stage->master, bytes, strlen(bytes)) == (ssize_t)strlen(bytes));
}

/* Runs the loop until there are so many answers; the test's own limit ends it. */
static void run_until_answers(struct stage *stage, unsigned count)
{
	while (stage->answer_count < count) {
		must(loop_run(&stage->loop, -1) >= 0);
		collect(stage);
	}
}

static const char *all_answers(struct stage *stage)
{
	buf_terminate(&stage->text_answer);
	return stage->text_answer.data;
}

static void ask(struct stage *stage, const struct question *question)
{
	stage->frontend->table->ask(stage->frontend, question);
}

static void show(struct stage *stage, struct shown shown)
{
	stage->frontend->table->show(stage->frontend, &shown);
}

static const struct question prompt = { .number = 1, .message = { "Name:", 5 } };
static const struct question second = { .number = 2, .message = { "Again:", 6 } };
static const struct str options[] = { { "a", 1 }, { "b", 1 } };
static const struct question choose = { .kind = QUESTION_SELECT,
	.number = 3,
	.message = { "Pick:", 5 },
	.options = options,
	.option_count = 2 };

static void expect_raw(const struct stage *stage)
{
	struct termios now;
	ck_assert_int_eq(tcgetattr(stage->slave, &now), 0);
	ck_assert(!(now.c_lflag & (ICANON | ECHO | ISIG)));
}

START_TEST(a_question_is_answered_and_the_terminal_restored)
{
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	ck_assert(stage.frontend->is_interactive);
	ask(&stage, &prompt);
	expect_raw(&stage);
	type(&stage, "me\r");
	run_until_answers(&stage, 1);
	ck_assert_str_eq(all_answers(&stage), "me;");
	expect_restored(&stage);
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
	ask(&stage, &prompt);
	type(&stage, "one\rtwo\rth");
	run_until_answers(&stage, 1);
	ask(&stage, &second);
	ck_assert_uint_eq(stage.answer_count, 1); /* never from inside ask */
	expect_raw(&stage);
	run_until_answers(&stage, 2);
	ask(&stage, &prompt);
	type(&stage, "ree\r");
	run_until_answers(&stage, 3);
	ck_assert_str_eq(all_answers(&stage), "one;two;three;");
	stage_close(&stage);
}
END_TEST

START_TEST(the_next_question_may_be_asked_from_inside_the_answer)
{
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	stage.asks_next = &second;
	ask(&stage, &prompt);
	type(&stage, "one\rtwo\r");
	run_until_answers(&stage, 2);
	ck_assert_str_eq(all_answers(&stage), "one;two;");
	stage_close(&stage);
}
END_TEST

START_TEST(enter_behind_a_letter_is_not_for_the_next_question)
{
	static const struct question confirm = { .kind = QUESTION_CONFIRM };
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	stage.asks_next = &second;
	ask(&stage, &confirm);
	type(&stage, "y\rtwo\r");
	run_until_answers(&stage, 2);
	ck_assert_str_eq(all_answers(&stage), ";two;");
	stage_close(&stage);
}
END_TEST

START_TEST(the_frontend_may_be_freed_from_inside_the_answer)
{
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	stage.frees_frontend = true;
	ask(&stage, &prompt);
	type(&stage, "one\rtwo\r");
	run_until_answers(&stage, 1);
	ck_assert_ptr_null(stage.frontend);
	stage_close(&stage);
}
END_TEST

START_TEST(a_lone_escape_counts_after_a_moment)
{
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	ask(&stage, &choose);
	type(&stage, "\x1B");
	run_until_answers(&stage, 1);
	ck_assert(stage.was_cancelled);
	stage_close(&stage);
}
END_TEST

START_TEST(a_terminal_that_hangs_up_cancels)
{
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	ask(&stage, &prompt);
	collect(&stage);
	stage.master = fd_close(stage.master);
	while (!stage.answer_count)
		ck_assert_int_ge(loop_run(&stage.loop, -1), 0);
	ck_assert(stage.was_cancelled);
	ask(&stage, &second);
	while (stage.answer_count < 2)
		ck_assert_int_ge(loop_run(&stage.loop, -1), 0);
	stage.frontend->table->free(stage.frontend);
	loop_close(&stage.loop);
	fd_close(stage.slave);
	buf_free(&stage.written);
	buf_free(&stage.text_answer);
}
END_TEST

START_TEST(withdraw_suspend_and_restore_leave_the_terminal)
{
	struct stage stage;
	ck_assert_int_eq(stage_open(&stage, "xterm"), 0);
	ask(&stage, &choose);
	stage.frontend->table->suspend(stage.frontend);
	stage.frontend->table->suspend(stage.frontend);
	expect_restored(&stage);
	stage.frontend->table->resume(stage.frontend);
	stage.frontend->table->resume(stage.frontend);
	stage.frontend->table->withdraw(stage.frontend);
	stage.frontend->table->withdraw(stage.frontend);
	expect_restored(&stage);
	ask(&stage, &choose);
	term_restore_now(stage.frontend);
	expect_restored(&stage);
	collect(&stage);
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
	ask(&stage, &prompt);
	expect_restored(&stage);
	stage.frontend->table->resume(stage.frontend);
	type(&stage, "x\r");
	run_until_answers(&stage, 1);
	ck_assert_str_eq(all_answers(&stage), "x;");
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
		collect(stage);
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
	show(&stage, (struct shown){ .kind = SHOWN_PROGRESS, .text = STR("busy") });
	for (int i = 0; i < 100; i++)
		show(&stage, (struct shown){ .kind = SHOWN_OUTPUT, .text = { flood, sizeof(flood) } });
	stage.frontend->table->flush(stage.frontend);
	atomic_store(&is_flooded, true);
	pthread_join(reader, NULL);
	collect(&stage);
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
	ask(&stage, &prompt);
	expect_restored(&stage);
	type(&stage, "one\ntwo\n");
	run_until_answers(&stage, 1);
	ask(&stage, &second);
	run_until_answers(&stage, 2);
	ck_assert_str_eq(all_answers(&stage), "one;two;");
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
	show(&stage, (struct shown){ .kind = SHOWN_OUTPUT, .text = STR("output") });
	show(&stage, (struct shown){ .kind = SHOWN_LOG, .level = STR("info"), .text = STR("log") });
	show(&stage, (struct shown){ .kind = SHOWN_PROGRESS, .text = STR("busy") });
	stage.frontend->table->flush(stage.frontend);
	type(&stage, "b\r\n");
	ask(&stage, &choose);
	/* Keys that found no memory are lost: the user presses again. */
	while (!stage.answer_count) {
		loop_run(&stage.loop, 20);
		collect(&stage);
		if (!stage.answer_count)
			type(&stage,
				"\x7F\x7F"
				"b\r\n");
	}
	show(&stage, (struct shown){ .kind = SHOWN_WARNING, .text = STR("warning") });
	stage.frontend->table->done(stage.frontend, &(struct outcome){ .success = true });
	collect(&stage);
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
	a_terminal_that_hangs_up_cancels, withdraw_suspend_and_restore_leave_the_terminal,
	a_question_asked_while_suspended_waits, a_flood_of_output_brings_the_region_back,
	plain_lines_answer_on_a_dumb_terminal, memory_may_run_out)

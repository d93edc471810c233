/* A frontend on a terminal. */
#include "harness/stage.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fd.h"
#include "harness/suite.h"

static void answered(void *data, const struct answer *answer)
{
	struct stage *stage = data;
	stage->answer_count++;
	stage->was_cancelled = answer->cancelled;
	stage->was_yes = answer->yes;
	buf_append(&stage->text_answer, answer->text.data, answer->text.len);
	buf_append_char(&stage->text_answer, ';');
	if (stage->frees_frontend) {
		stage->frontend->table->free(stage->frontend);
		stage->frontend = NULL;
	} else if (stage->asks_next) {
		const perch_question *next = stage->asks_next;
		stage->asks_next = NULL;
		stage->frontend->table->ask(stage->frontend, next, stage->manner);
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

int stage_open(struct stage *stage, const char *term)
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

void stage_collect(struct stage *stage)
{
	char bytes[4096];
	ssize_t n;
	while ((n = read(stage->master, bytes, sizeof(bytes))) > 0)
		buf_append(&stage->written, bytes, (size_t)n);
}

void stage_expect_restored(const struct stage *stage)
{
	struct termios now;
	must(tcgetattr(stage->slave, &now) == 0);
	must(now.c_lflag == stage->before.c_lflag);
	must(now.c_iflag == stage->before.c_iflag);
	must(now.c_oflag == stage->before.c_oflag);
}

void stage_close(struct stage *stage)
{
	if (stage->frontend)
		stage->frontend->table->free(stage->frontend);
	stage_expect_restored(stage);
	loop_close(&stage->loop);
	fd_close(stage->master);
	fd_close(stage->slave);
	buf_free(&stage->written);
	buf_free(&stage->text_answer);
}

void stage_type(struct stage *stage, const char *bytes)
{
	must(write(stage->master, bytes, strlen(bytes)) == (ssize_t)strlen(bytes));
}

void stage_run_until(struct stage *stage, unsigned count)
{
	while (stage->answer_count < count) {
		must(loop_run(&stage->loop, -1) >= 0);
		stage_collect(stage);
	}
}

const char *stage_answers(struct stage *stage)
{
	buf_terminate(&stage->text_answer);
	return stage->text_answer.data;
}

void stage_ask(struct stage *stage, const perch_question *question)
{
	stage->frontend->table->ask(stage->frontend, question, stage->manner);
}

void stage_show(struct stage *stage, struct shown shown)
{
	stage->frontend->table->show(stage->frontend, &shown);
}

void stage_expect_raw(const struct stage *stage)
{
	struct termios now;
	ck_assert_int_eq(tcgetattr(stage->slave, &now), 0);
	ck_assert(!(now.c_lflag & (ICANON | ECHO | ISIG)));
}

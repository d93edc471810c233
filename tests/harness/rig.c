/* The events frontend between two pipes. */
#include "harness/rig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "events/events.h"
#include "harness/suite.h"

const perch_text rig_colors[4] = { { "red", 3 }, { "blue", 4 }, { "", 0 }, { "red", 3 } };
static const size_t last_and_first[] = { 3, 0 };

const perch_question rig_prompt = {
	.number = 3, .kind = PERCH_QUESTION_PROMPT, .message = { "Name?", 5 }
};
const perch_question rig_count = { .number = 4,
	.kind = PERCH_QUESTION_PROMPT,
	.message = { "How many?", 9 },
	.has_default = true,
	.default_text = { "1", 1 },
	.validator = PERCH_VALIDATE_INTEGER };
const perch_question rig_confirm = {
	.number = 5, .kind = PERCH_QUESTION_CONFIRM, .message = { "Sure?", 5 }
};
const perch_question rig_pick = { .number = 6,
	.kind = PERCH_QUESTION_SELECT,
	.message = { "Colour?", 7 },
	.options = rig_colors,
	.option_count = 4 };
const perch_question rig_pick_some = { .number = 7,
	.kind = PERCH_QUESTION_MULTI_SELECT,
	.message = { "Colours?", 8 },
	.options = rig_colors,
	.option_count = 4,
	.has_default = true,
	.defaults = last_and_first,
	.default_count = 2 };

static void note(struct rig *rig, const char *text)
{
	size_t len = strlen(rig->heard);
	snprintf(rig->heard + len, sizeof(rig->heard) - len, "%s", text);
}

static void host_answered(void *data, const struct answer *answer)
{
	struct rig *rig = data;
	char text[256];
	snprintf(text, sizeof(text), "[%d%s:%.*s%s", (int)answer->number,
		answer->cancelled ? " cancelled" : "", (int)answer->text.len,
		answer->text.data ? answer->text.data : "", answer->yes ? " yes" : "");
	note(rig, text);
	for (size_t i = 0; i < answer->chosen_count; i++) {
		snprintf(text, sizeof(text), " %zu", answer->chosen[i]);
		note(rig, text);
	}
	note(rig, "]");
	const perch_question *next = rig->next;
	rig->next = NULL;
	if (next)
		rig->frontend->table->ask(rig->frontend, next, NULL);
}

static void host_left_alone(void *data)
{
	struct rig *rig = data;
	note(rig, "(alone)");
	rig->frontend->table->withdraw(rig->frontend);
}

int rig_connect(struct rig *rig, int in, int out)
{
	int r = events_new(&rig->loop, in, out, &rig->frontend, NULL);
	if (r < 0)
		return r;
	rig->frontend->answered = host_answered;
	rig->frontend->went_away = host_left_alone;
	rig->frontend->answered_data = rig;
	return 0;
}

void rig_begin_with(struct rig *rig, const char *input)
{
	*rig = (struct rig){ 0 };
	ck_assert_int_eq(loop_init(&rig->loop), 0);
	ck_assert_int_eq(fd_pipe(&rig->in, &rig->write_end), 0);
	ck_assert_int_eq(fd_pipe(&rig->read_end, &rig->out), 0);
	ck_assert_int_eq(fd_set_nonblocking(rig->read_end), 0);
	if (input)
		ck_assert_int_eq(fd_write_all(rig->write_end, input, strlen(input)), 0);
}

void rig_begin(struct rig *rig)
{
	rig_begin_with(rig, NULL);
	ck_assert_int_eq(rig_connect(rig, rig->in, rig->out), 0);
	ck_assert(rig->frontend->is_interactive);
}

void rig_end(struct rig *rig)
{
	rig->frontend->table->free(rig->frontend);
	ck_assert_uint_eq(rig->loop.timers.promised, 0);
	ck_assert_uint_eq(rig->loop.timers.count, 0);
	loop_close(&rig->loop);
	fd_close(rig->in);
	fd_close(rig->out);
	fd_close(rig->write_end);
	fd_close(rig->read_end);
}

void rig_answer(struct rig *rig, const char *text)
{
	ck_assert_int_eq(fd_write_all(rig->write_end, text, strlen(text)), 0);
}

void rig_hang_up(struct rig *rig)
{
	rig->write_end = fd_close(rig->write_end);
}

void rig_settle(struct rig *rig)
{
	int done;
	do {
		done = loop_run(&rig->loop, 0);
		ck_assert_int_ge(done, 0);
	} while (done > 0);
}

const char *rig_said(struct rig *rig)
{
	rig->frontend->table->flush(rig->frontend);
	ssize_t n = read(rig->read_end, rig->said, sizeof(rig->said) - 1);
	ck_assert(n > 0 || (n < 0 && errno == EAGAIN));
	rig->said[n > 0 ? n : 0] = '\0';
	return rig->said;
}

void rig_ask(struct rig *rig, const perch_question *question)
{
	rig->frontend->table->ask(rig->frontend, question, NULL);
	rig_settle(rig);
}

void *rig_drain(void *data)
{
	struct rig *rig = data;
	struct buf *all = calloc(1, sizeof(*all));
	fcntl(rig->read_end, F_SETFL, 0);
	char chunk[1000];
	for (ssize_t n; (n = read(rig->read_end, chunk, sizeof(chunk))) > 0;)
		buf_append(all, chunk, (size_t)n);
	return all;
}

/* The frontend for programs: events go out, answers come in. Answers are
 * delivered from the loop only, also those that were there before the
 * question. */
#include "events/events.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "events/events_parts.h"
#include "events/run_report.h"
#include "perch/json.h"
#include "proc/lines.h"

enum {
	CHUNK = 16 * 1024,
	CHUNKS_AT_START = 64, /* what is looked at before the run begins */
};

struct events {
	struct frontend frontend;
	struct loop *loop;
	struct source source; /* stdin */
	struct timer step;    /* what is to be done from the loop */
	struct lines lines;
	perch_json *json;
	struct reply reply;
	struct early_answers early_answers;
	struct report report;
	const perch_question *open;
	uint64_t to_come; /* the lowest number that a question may still have */
	bool is_steady;   /* always readable, epoll cannot watch it: a file, /dev/null */
	bool has_ended;   /* nothing more will be read */
	bool is_over;     /* the run */
	char chunk[CHUNK + 1];
};

#define EVENTS_OF(pointer, member) container_of(pointer, struct events, member)

static struct events *events_of_frontend(struct frontend *frontend)
{
	return (struct events *)frontend;
}

static void events_do_step_soon(struct events *events)
{
	timer_set(&events->loop->timers, &events->step, 0);
}

/* ---- answers ---------------------------------------------------------------- */

static void events_deliver(struct events *events, const struct answer *answer)
{
	events->open = NULL;
	if (events->frontend.answered)
		events->frontend.answered(events->frontend.answered_data, answer);
}

/* An answer to the open question. One that does not fit leaves it open. */
static void events_try_answer(struct events *events, const perch_json_value *message)
{
	const perch_question *question = events->open;
	bool is_cancelled = false;
	perch_json_bool(perch_json_get(message, "cancel"), &is_cancelled);
	if (is_cancelled) {
		events_deliver(events, &(struct answer){ .number = question->number, .cancelled = true });
		return;
	}
	struct answer answer;
	char problem[REPLY_PROBLEM_MAX];
	int r =
		reply_read(&events->reply, question, perch_json_get(message, "value"), &answer, problem);
	if (r > 0)
		events_deliver(events, &answer);
	else
		report_warning(&events->report, "question %" PRIu64 " is still open: %s", question->number,
			r == 0 ? problem : perch_strerror(r));
}

static void events_keep(struct events *events, uint64_t number, struct str line)
{
	int r = early_answers_keep(&events->early_answers, number, line);
	if (r < 0)
		report_warning(&events->report,
			"the answer to question %" PRIu64 " came too early and is dropped: %s", number,
			r == -ENOBUFS ? "too many are kept already" : perch_strerror(r));
}

/* Reads a line as {"ask":…}. Returns whether it is one. */
static bool events_read_message(struct events *events, struct str line, uint64_t *ret_number,
	const perch_json_value **ret_message, perch_err *err)
{
	const perch_json_value *message;
	int64_t number = -1;
	if (perch_json_parse(events->json, line.data, line.len, &message, err) < 0)
		return false;
	perch_json_whole_int64(perch_json_get(message, "ask"), &number);
	if (number < 0) {
		err_set(err, -EINVAL, "expected {\"ask\":NUMBER,\"value\":…}");
		return false;
	}
	*ret_number = (uint64_t)number;
	*ret_message = message;
	return true;
}

static void events_take_message(
	struct events *events, struct str line, uint64_t number, const perch_json_value *message)
{
	if (events->open && number == events->open->number)
		events_try_answer(events, message);
	else if (number >= events->to_come)
		events_keep(events, number, line);
	else
		report_warning(&events->report,
			"the answer to question %" PRIu64 " is ignored: it is not open", number);
}

static bool events_take_line(void *data, const perch_line *line)
{
	struct events *events = data;
	struct str text = str_trim((struct str){ line->data, line->len });
	if (events->is_over || text.len == 0)
		return true;
	uint64_t number;
	const perch_json_value *message;
	perch_err err = { 0 };
	if (line->flags & PERCH_LINE_TOO_LONG)
		report_warning(
			&events->report, "line %" PRIu64 " of the answers is ignored: too long", line->number);
	else if (events_read_message(events, text, &number, &message, &err))
		events_take_message(events, text, number, message);
	else
		report_warning(&events->report, "line %" PRIu64 " of the answers is ignored: %s",
			line->number, err.text);
	return true;
}

/* Tries the answers that came before their question, in the order they came. */
static void events_use_early_answers(struct events *events)
{
	struct early_answer answer;
	while (
		events->open && early_answers_take(&events->early_answers, events->open->number, &answer)) {
		uint64_t number;
		const perch_json_value *message;
		struct str line = { answer.line, answer.len };
		perch_err err = { 0 };
		if (events_read_message(events, line, &number, &message, &err))
			events_take_message(events, line, number, message);
		else
			report_warning(&events->report, "the answer to question %" PRIu64 " is lost: %s",
				answer.number, err.text);
		free(answer.line);
	}
}

/* ---- stdin -------------------------------------------------------------------- */

static void events_end_input(struct events *events)
{
	loop_watch(events->loop, &events->source, 0);
	events->has_ended = true;
	if (lines_finish(&events->lines) < 0)
		report_warning(&events->report, "the last answer is lost: out of memory");
	if (!events->is_over)
		events_do_step_soon(events);
}

static void events_read_chunk(struct events *events)
{
	ssize_t n = read(events->source.fd, events->chunk, CHUNK);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0)
		events_end_input(events);
	else if (lines_feed(&events->lines, events->chunk, (size_t)n) < 0)
		report_warning(&events->report, "answers are lost: out of memory");
}

static void events_input_ready(struct source *source, uint32_t ready)
{
	(void)ready;
	events_read_chunk(EVENTS_OF(source, source));
}

/* When the input is at its end and no early answer fits, no user can be asked any more. Then the
 * host decides; if it has set no `went_away`, the answer is no. */
static void events_leave_if_alone(struct events *events)
{
	struct frontend *frontend = &events->frontend;
	if (events->is_over || !events->has_ended || (!events->open && events->early_answers.count))
		return;
	bool was_here = frontend->is_interactive;
	frontend->is_interactive = false;
	if (was_here && frontend->went_away)
		frontend->went_away(frontend->answered_data);
	else if (events->open)
		events_deliver(
			events, &(struct answer){ .number = events->open->number, .cancelled = true });
}

static void events_do_step(struct timer *timer, uint64_t now_ns)
{
	struct events *events = EVENTS_OF(timer, step);
	events_use_early_answers(events);
	if (events->is_steady && !events->has_ended && !events->is_over) {
		/* Not due again in this round: other events must have their turn. */
		timer_set(&events->loop->timers, &events->step, now_ns + 1);
		events_read_chunk(events);
	}
	events_leave_if_alone(events);
}

/* Input that is there already is read now, so that the end of an input without a user behind it is
 * noticed before the run begins. */
static int events_begin_input(struct events *events)
{
	struct pollfd input = { .fd = events->source.fd, .events = POLLIN };
	for (int i = 0; i < CHUNKS_AT_START && !events->has_ended; i++) {
		if (input.fd >= 0 && poll(&input, 1, 0) <= 0)
			break;
		events_read_chunk(events);
	}
	events->frontend.is_interactive = !events->has_ended || events->early_answers.count;
	if (events->has_ended)
		return 0;
	int r = loop_watch(events->loop, &events->source, EPOLLIN);
	if (r != -EPERM)
		return r;
	events->is_steady = true;
	events_do_step_soon(events);
	return 0;
}

/* ---- the table ------------------------------------------------------------------ */

static void events_ask(
	struct frontend *frontend, const perch_question *question, const struct question_manner *manner)
{
	(void)manner;
	struct events *events = events_of_frontend(frontend);
	events->open = question;
	events->to_come = question->number + 1;
	report_question(&events->report, question);
	events_do_step_soon(events);
}

static void events_withdraw(struct frontend *frontend)
{
	struct events *events = events_of_frontend(frontend);
	if (events->open)
		report_withdrawn(&events->report, events->open->number);
	events->open = NULL;
}

static void events_show(struct frontend *frontend, const struct shown *shown)
{
	report_shown(&events_of_frontend(frontend)->report, shown);
}

static void events_flush(struct frontend *frontend)
{
	report_flush(&events_of_frontend(frontend)->report);
}

static void events_resume(struct frontend *frontend)
{
	(void)frontend;
}

static void events_done(struct frontend *frontend, const perch_fledge_end *outcome)
{
	struct events *events = events_of_frontend(frontend);
	events->is_over = true;
	events->open = NULL;
	loop_watch(events->loop, &events->source, 0);
	timer_cancel(&events->loop->timers, &events->step);
	report_flush(&events->report);
	report_outcome(&events->report, outcome);
	report_flush(&events->report);
}

static void events_free(struct frontend *frontend)
{
	struct events *events = events_of_frontend(frontend);
	if (!events)
		return;
	report_flush(&events->report);
	loop_watch(events->loop, &events->source, 0);
	timer_cancel(&events->loop->timers, &events->step);
	timers_release(&events->loop->timers);
	lines_free(&events->lines);
	perch_json_free(events->json);
	reply_free(&events->reply);
	early_answers_free(&events->early_answers);
	report_free(&events->report);
	free(events);
}

static const struct frontend_table events_table = {
	.ask = events_ask,
	.withdraw = events_withdraw,
	.show = events_show,
	.flush = events_flush,
	.suspend = events_flush,
	.resume = events_resume,
	.done = events_done,
	.free = events_free,
};

int events_new(
	struct loop *loop, int in_fd, int out_fd, struct frontend **ret_frontend, perch_err *err)
{
	struct events *events = calloc(1, sizeof(*events));
	if (!events || timers_promise(&loop->timers) < 0) {
		free(events);
		return err_no_memory(err);
	}
	events->frontend.table = &events_table;
	events->loop = loop;
	events->source = (struct source){ .fd = in_fd, .ready = events_input_ready };
	events->step.due = events_do_step;
	events->report.fd = out_fd;
	lines_init(&events->lines, EVENTS_LINE_MAX, events_take_line, events);
	const perch_json_options options = {
		.size = sizeof(options),
		.replace_invalid_utf8 = true,
	};
	int r = perch_json_new(&options, &events->json);
	if (r == 0)
		r = events_begin_input(events);
	if (r < 0) {
		events_free(&events->frontend);
		return err_set(err, r, "cannot read answers: %s", perch_strerror(r));
	}
	*ret_frontend = &events->frontend;
	return 0;
}

void events_show_debug(struct frontend *frontend)
{
	events_of_frontend(frontend)->report.shows_debug = true;
}

int events_error(const struct frontend *frontend)
{
	return ((const struct events *)frontend)->report.error;
}

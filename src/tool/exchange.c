/* An exchange: connects the process, the engine and the clocks. The engine decides what the
 * protocol says, the table in exchange_life.c what becomes of the process. */
#include "tool/exchange.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/macros.h"
#include "proc/child.h"
#include "tool/tool_notes.h"

enum { STDERR_TAIL = 4 * 1024 };

#define EXCHANGE_OF(pointer, member) container_of(pointer, struct exchange, member)

/* ---- between engine and process ------------------------------------------ */

static void exchange_hear_hang_up(struct exchange *exchange)
{
	trace_event(exchange->options.trace, "hang_up", NO_FACTS, "the plugin does not read any more");
	tool_engine_stdin_closed(exchange->engine);
}

static void exchange_send(struct exchange *exchange)
{
	struct str line = tool_engine_take(exchange->engine);
	if (!line.len)
		return;
	trace_line(exchange->options.trace, TRACE_TO_PLUGIN, line.data, line.len);
	exchange->sent_ns = loop_now_ns(&exchange->host->loop);
	int r = perch_child_write(exchange->child, line.data, line.len);
	if (r == -EPIPE)
		exchange_hear_hang_up(exchange);
	else if (r < 0)
		exchange_happen(exchange, ON_KILL); /* there is no memory for what must be said */
}

/* Whoever does not wait for the exit has the answer now. */
static void exchange_answer(struct exchange *exchange)
{
	const struct exchange_listener *listener = &exchange->options.listener;
	const perch_tool_result *verdict = tool_engine_verdict(exchange->engine);
	bool is_valid = verdict->code == PERCH_TOOL_OK || verdict->code == PERCH_TOOL_EXECUTION_ERROR;
	if (exchange->has_answered || !listener->answered || !verdict->responded || !is_valid)
		return;
	exchange->has_answered = true;
	listener->answered(listener->data);
}

/* Called after each input to the engine: tells the table the engine's stage, and sends
 * the lines that the engine wants to send. A stage that the table knows already has no effect. */
static void exchange_attend(struct exchange *exchange)
{
	static const enum exchange_event events[] = {
		[TOOL_READY] = ON_READY,
		[TOOL_RESPONSE] = ON_ASKED,
		[TOOL_TEARDOWN] = ON_RESPONDED,
		[TOOL_OVER] = ON_DECIDED,
	};
	enum tool_stage stage = tool_engine_stage(exchange->engine);
	bool is_flooded = tool_engine_is_flooded(exchange->engine);
	if (stage != TOOL_HANDSHAKE && exchange_happen(exchange, is_flooded ? ON_KILL : events[stage]))
		tool_note_stage(exchange->options.trace, stage);
	exchange_send(exchange);
	exchange_answer(exchange);
}

/* ---- what the clocks report ---------------------------------------------- */

static uint64_t exchange_length_of(const struct exchange *exchange, enum tool_clock clock)
{
	const struct exchange_clocks *clocks = &exchange->options.clocks;
	switch (clock) {
	case TOOL_CLOCK_HANDSHAKE:
		return clocks->handshake_ns;
	case TOOL_CLOCK_TEARDOWN:
		return clocks->teardown_ns;
	default:
		return clocks->invocation_ns;
	}
}

static void exchange_run_out(struct exchange *exchange, enum tool_clock clock)
{
	uint64_t after_ns = exchange_length_of(exchange, clock);
	tool_note_clock(exchange->options.trace, clock, after_ns);
	tool_engine_deadline(exchange->engine, clock, after_ns);
}

static void exchange_clock_due(struct timer *timer, uint64_t now_ns)
{
	struct exchange *exchange = EXCHANGE_OF(timer, clock);
	if (exchange->state == EXCHANGE_CLEANING) {
		exchange_clean(exchange);
		return;
	}
	exchange_happen(exchange, ON_STIR);
	struct deadline next = exchange_next_deadline(exchange);
	if (next.when_ns <= now_ns)
		exchange_run_out(exchange, next.clock);
	else
		exchange_set_clock(exchange);
	exchange_attend(exchange);
}

/* ---- what the process reports -------------------------------------------- */

static void exchange_on_line(
	perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	(void)child;
	(void)stream;
	struct exchange *exchange = data;
	trace_child_line(exchange->options.trace, TRACE_FROM_PLUGIN, line);
	const struct tool_line given = {
		.text = { line->data, line->len },
		.is_too_long = line->flags & PERCH_LINE_TOO_LONG,
		.is_unterminated = line->flags & PERCH_LINE_UNTERMINATED,
	};
	tool_engine_line(exchange->engine, &given);
	exchange_attend(exchange);
}

static void exchange_on_closed(perch_child *child, void *data, perch_stream stream)
{
	(void)child;
	struct exchange *exchange = data;
	if (stream != PERCH_STDOUT)
		return;
	trace_event(exchange->options.trace, "eof", NO_FACTS, "the plugin has closed its output");
	tool_engine_eof(exchange->engine);
	exchange_attend(exchange);
}

static void exchange_on_exited(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	(void)result;
	exchange_happen(data, ON_STIR);
}

static void exchange_on_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct exchange *exchange = data;
	bool was_signalled = result->stop_asked && result->last_step >= PERCH_STEP_TERM;
	exchange->result = *result;
	exchange->left_by_itself = !was_signalled && exchange->state != EXCHANGE_KILLED;
	exchange_happen(exchange, ON_ENDED);
}

static void exchange_on_bytes(
	perch_child *child, void *data, perch_stream stream, const char *bytes, size_t len)
{
	(void)child;
	(void)stream;
	struct exchange *exchange = data;
	trace_child_bytes(exchange->options.trace, bytes, len);
	tail_append(&exchange->stderr_tail, bytes, len);
	const struct exchange_listener *listener = &exchange->options.listener;
	if (listener->stderr_bytes)
		listener->stderr_bytes(listener->data, bytes, len);
}

static void exchange_on_drained(perch_child *child, void *data)
{
	if (perch_child_write(child, "", 0) == -EPIPE)
		exchange_hear_hang_up(data);
}

static const perch_child_events child_events = {
	.size = sizeof(child_events),
	.line = exchange_on_line,
	.bytes = exchange_on_bytes,
	.closed = exchange_on_closed,
	.drained = exchange_on_drained,
	.exited = exchange_on_exited,
	.ended = exchange_on_ended,
};

/* ---- the object ---------------------------------------------------------- */

int exchange_new(
	perch_host *host, const struct exchange_options *options, struct exchange **ret_exchange)
{
	struct exchange *exchange = calloc(1, sizeof(*exchange));
	if (!exchange)
		return -ENOMEM;
	const struct tool_binding *binding = options->binding;
	exchange->host = host;
	exchange->options = *options;
	exchange->stderr_tail.limit = STDERR_TAIL;
	exchange->clock.due = exchange_clock_due;
	exchange->engine_options = (struct tool_engine_options){
		.protocol = str_from(binding->protocol),
		.name = str_from(binding->name),
		.capabilities = binding->capabilities,
		.handshake_only = options->handshake_only,
	};
	exchange->has_timer = timers_promise(&host->loop.timers) == 0;
	if (!exchange->has_timer || tool_engine_new(&exchange->engine_options, &exchange->engine) < 0) {
		exchange_free(exchange);
		return -ENOMEM;
	}
	if (options->request)
		tool_engine_request(exchange->engine, options->request);
	*ret_exchange = exchange;
	return 0;
}

int exchange_start(struct exchange *exchange, perch_err *err)
{
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.stdin_mode = PERCH_STDIN_PIPE;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	spec.stderr_mode = PERCH_OUTPUT_BYTES;
	spec.line_limit = TOOL_FRAME_MAX;
	ending_apply(ENDING_TOOL, &spec);
	spec.events = &child_events;
	spec.data = exchange;
	exchange->started_ns = clock_now_ns();
	struct trace *trace = exchange->options.trace;
	tool_note_start(trace, &exchange->engine_options, exchange->options.request);
	int r = launch_start(
		&exchange->launch, exchange->host, exchange->options.binding, &spec, &exchange->child, err);
	if (r < 0) {
		trace_failure(trace, perch_strerror(r));
		return r;
	}
	exchange_set_clock(exchange);
	exchange_attend(exchange);
	return 0;
}

bool exchange_is_ready(const struct exchange *exchange)
{
	return exchange->state == EXCHANGE_READY && !tool_engine_has_hung_up(exchange->engine) &&
		!child_has_output(exchange->child, PERCH_STDOUT);
}

int exchange_take_over(struct exchange *exchange, const struct exchange_options *options)
{
	exchange->options = *options;
	exchange->started_ns = clock_now_ns();
	tool_engine_request(exchange->engine, options->request);
	exchange_attend(exchange);
	bool was_heard =
		exchange->state != EXCHANGE_RESPONSE || !tool_engine_has_hung_up(exchange->engine);
	return was_heard ? 0 : -EPIPE;
}

void exchange_cancel(struct exchange *exchange)
{
	trace_event(
		exchange->options.trace, "cancel", NO_FACTS, "the caller does not want it any more");
	tool_engine_cancel(exchange->engine);
	exchange_attend(exchange);
}

void exchange_free(struct exchange *exchange)
{
	if (!exchange)
		return;
	struct timers *timers = &exchange->host->loop.timers;
	timer_cancel(timers, &exchange->clock);
	if (exchange->has_timer)
		timers_release(timers);
	perch_child_free(exchange->child);
	launch_close(&exchange->launch);
	tool_engine_free(exchange->engine);
	buf_free(&exchange->stderr_tail.kept);
	free(exchange);
}

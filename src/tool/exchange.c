/* An exchange: connects the process, the engine and the clocks. The engine decides what the
 * protocol says; the table here says what becomes of the process in the meantime. */
#include "tool/exchange.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/macros.h"
#include "proc/child.h"
#include "tool/tool_notes.h"

enum { STDERR_TAIL = 4 * 1024 };

/* How long a plugin that has responded may take to leave before its output is
 * looked at again. */
#define NAP_NS (2 * NSEC_PER_MSEC)

#define EXCHANGE_OF(pointer, member) container_of(pointer, struct exchange, member)

/* What can happen to an exchange: the engine's stages, and what becomes of the process. */
enum exchange_event {
	ON_READY,     /* the engine has accepted the handshake */
	ON_ASKED,     /* the engine has a request to send */
	ON_RESPONDED, /* the engine has accepted the response */
	ON_DECIDED,   /* the engine has a verdict */
	ON_KILL,      /* the process must go at once: it floods us, or memory ran out */
	ON_STIR,      /* the nap is over, or the process has exited */
	ON_ENDED,     /* the process is gone, everything that it wrote was read */
	ON_CLEANED,   /* nothing is left of it */
	EXCHANGE_EVENTS,
};

static bool exchange_happen(struct exchange *exchange, enum exchange_event event);

/* ---- clocks -------------------------------------------------------------- */

/* A clock with its deadline. */
struct deadline {
	enum tool_clock clock;
	uint64_t when_ns;
};

/* The clock that runs out next in this state; at the same moment the invocation
 * counts. */
static struct deadline exchange_next_deadline(const struct exchange *exchange)
{
	const struct exchange_clocks *clocks = &exchange->options.clocks;
	struct deadline next = {
		TOOL_CLOCK_INVOCATION,
		clock_after(exchange->started_ns, clocks->invocation_ns),
	};
	struct deadline other = { TOOL_CLOCK_INVOCATION, NEVER };
	if (exchange->state == EXCHANGE_HANDSHAKE)
		other = (struct deadline){ TOOL_CLOCK_HANDSHAKE,
			clock_after(exchange->started_ns, clocks->handshake_ns) };
	else if (exchange->state == EXCHANGE_NAPPING || exchange->state == EXCHANGE_LEAVING)
		other = (struct deadline){ TOOL_CLOCK_TEARDOWN,
			clock_after(exchange->responded_ns, clocks->teardown_ns) };
	else if (exchange->state > EXCHANGE_LEAVING)
		return other;
	return other.when_ns < next.when_ns ? other : next;
}

static void exchange_set_clock(struct exchange *exchange)
{
	uint64_t when_ns = exchange_next_deadline(exchange).when_ns;
	uint64_t woken_ns = clock_after(exchange->responded_ns, NAP_NS);
	if (exchange->state == EXCHANGE_NAPPING && woken_ns < when_ns)
		when_ns = woken_ns;
	timer_set(&exchange->host->loop.timers, &exchange->clock, when_ns);
}

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

/* ---- the actions of the table -------------------------------------------- */

/* The plugin has responded. For a moment nothing but its exit is waited for: the ends of
 * its streams would each wake us on the way there. */
static void exchange_see_off(struct exchange *exchange)
{
	exchange->responded_ns = loop_now_ns(&exchange->host->loop);
	perch_child_close_stdin(exchange->child);
	perch_child_pause(exchange->child, PERCH_STDOUT);
	perch_child_pause(exchange->child, PERCH_STDERR);
	exchange_set_clock(exchange);
}

static void exchange_wake_up(struct exchange *exchange)
{
	perch_child_resume(exchange->child, PERCH_STDOUT);
	perch_child_resume(exchange->child, PERCH_STDERR);
}

static void exchange_stop(struct exchange *exchange)
{
	exchange_set_clock(exchange);
	perch_child_stop(exchange->child);
}

static void exchange_wake_and_stop(struct exchange *exchange)
{
	exchange_wake_up(exchange);
	exchange_stop(exchange);
}

static void exchange_kill(struct exchange *exchange)
{
	perch_child_signal(exchange->child, SIGKILL);
	exchange_stop(exchange);
}

/* Removes a part of what the process left; the rest in the next turns of the loop. */
static void exchange_clean(struct exchange *exchange)
{
	if (launch_clean_some(&exchange->launch))
		exchange_happen(exchange, ON_CLEANED);
	else
		timer_set(&exchange->host->loop.timers, &exchange->clock, 0);
}

/* Tells the engine of the exit, unless the verdict is known and the exit was our doing. */
static void exchange_bury(struct exchange *exchange)
{
	const struct tool_exit exit = {
		.is_known = exchange->result.status_known,
		.status = exchange->result.exit_code,
		.signal = exchange->result.signal,
	};
	struct trace *trace = exchange->options.trace;
	bool was_decided = tool_engine_stage(exchange->engine) == TOOL_OVER;
	if (exchange->left_by_itself || !was_decided) {
		tool_note_exit(trace, &exit);
		tool_engine_exit(exchange->engine, &exit);
	} else {
		trace_note(trace, "the plugin was made to end");
	}
	if (!was_decided)
		tool_note_stage(trace, TOOL_OVER);
	exchange_clean(exchange);
}

/* The listener may free the exchange. */
static void exchange_report(struct exchange *exchange)
{
	tool_note_verdict(exchange->options.trace, tool_engine_verdict(exchange->engine));
	exchange->options.listener.over(exchange->options.listener.data);
}

/* ---- the table ----------------------------------------------------------- */

/* A cell without an action is an event that does not count in that state. A process that has begun
 * to end never becomes ready again, so that a dying spare is handed to no call. */
static const struct {
	void (*act)(struct exchange *exchange);
	enum exchange_state next;
} exchange_life[EXCHANGE_STATES][EXCHANGE_EVENTS] = {
	[EXCHANGE_HANDSHAKE] = {
		[ON_READY] = { exchange_set_clock, EXCHANGE_READY },
		[ON_ASKED] = { exchange_set_clock, EXCHANGE_RESPONSE },
		[ON_DECIDED] = { exchange_stop, EXCHANGE_STOPPING },
		[ON_KILL] = { exchange_kill, EXCHANGE_KILLED },
		[ON_ENDED] = { exchange_bury, EXCHANGE_CLEANING },
	},
	[EXCHANGE_READY] = {
		[ON_ASKED] = { exchange_set_clock, EXCHANGE_RESPONSE },
		[ON_DECIDED] = { exchange_stop, EXCHANGE_STOPPING },
		[ON_ENDED] = { exchange_bury, EXCHANGE_CLEANING },
	},
	[EXCHANGE_RESPONSE] = {
		[ON_RESPONDED] = { exchange_see_off, EXCHANGE_NAPPING },
		[ON_DECIDED] = { exchange_stop, EXCHANGE_STOPPING },
		[ON_KILL] = { exchange_kill, EXCHANGE_KILLED },
		[ON_ENDED] = { exchange_bury, EXCHANGE_CLEANING },
	},
	[EXCHANGE_NAPPING] = {
		[ON_DECIDED] = { exchange_wake_and_stop, EXCHANGE_STOPPING },
		[ON_STIR] = { exchange_wake_up, EXCHANGE_LEAVING },
		[ON_ENDED] = { exchange_bury, EXCHANGE_CLEANING },
	},
	[EXCHANGE_LEAVING] = {
		[ON_DECIDED] = { exchange_stop, EXCHANGE_STOPPING },
		[ON_ENDED] = { exchange_bury, EXCHANGE_CLEANING },
	},
	[EXCHANGE_STOPPING] = { [ON_ENDED] = { exchange_bury, EXCHANGE_CLEANING } },
	[EXCHANGE_KILLED] = { [ON_ENDED] = { exchange_bury, EXCHANGE_CLEANING } },
	[EXCHANGE_CLEANING] = { [ON_CLEANED] = { exchange_report, EXCHANGE_OVER } },
};

/* Whether it counted. Nothing of the exchange may be used after ON_ENDED and ON_CLEANED. */
static bool exchange_happen(struct exchange *exchange, enum exchange_event event)
{
	enum exchange_state state = exchange->state;
	if (!exchange_life[state][event].act)
		return false;
	exchange->state = exchange_life[state][event].next;
	exchange_life[state][event].act(exchange);
	return true;
}

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

/* After every word with the engine: tells the table where the engine is, and sends what it wants
 * to be sent. A stage that the table has heard of before does not count there. */
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
}

/* ---- what the clocks report ---------------------------------------------- */

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

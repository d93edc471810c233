/* The life of an exchange: what happens to its process, as a table of state × event. */
#include <signal.h>

#include "base/clock.h"
#include "proc/child.h"
#include "tool/exchange.h"
#include "tool/tool_notes.h"

/* How long a plugin that has responded may take to leave before its output is
 * looked at again. */
#define NAP_NS (2 * NSEC_PER_MSEC)

/* ---- clocks -------------------------------------------------------------- */

struct deadline exchange_next_deadline(const struct exchange *exchange)
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

void exchange_set_clock(struct exchange *exchange)
{
	uint64_t when_ns = exchange_next_deadline(exchange).when_ns;
	uint64_t woken_ns = clock_after(exchange->responded_ns, NAP_NS);
	if (exchange->state == EXCHANGE_NAPPING && woken_ns < when_ns)
		when_ns = woken_ns;
	timer_set(&exchange->host->loop.timers, &exchange->clock, when_ns);
}

/* ---- the actions of the table -------------------------------------------- */

/* The plugin has responded. For a moment only its exit is waited for: the end of each of its
 * streams would wake us once more before that. */
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

void exchange_clean(struct exchange *exchange)
{
	if (launch_clean_some(&exchange->launch))
		exchange_happen(exchange, ON_CLEANED);
	else
		timer_set(&exchange->host->loop.timers, &exchange->clock, 0);
}

/* Tells the engine of the exit, unless the verdict is known and we have caused the exit. */
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

bool exchange_happen(struct exchange *exchange, enum exchange_event event)
{
	enum exchange_state state = exchange->state;
	if (!exchange_life[state][event].act)
		return false;
	exchange->state = exchange_life[state][event].next;
	exchange_life[state][event].act(exchange);
	return true;
}

/* The clocks of a turn: its beginning, all of its time, and how long it may be silent. */
#include "agent/turn_parts.h"
#include "proc/child.h"

enum { TIMERS = 3 };

void turn_clocks_stop(struct agent_turn *turn)
{
	struct timers *timers = &turn->host->loop.timers;
	timer_cancel(timers, &turn->begun);
	timer_cancel(timers, &turn->wall);
	timer_cancel(timers, &turn->idle);
}

/* How long the turn may take; 0 = there is no limit. */
static uint64_t turn_clocks_wall_of(const struct agent_turn *turn)
{
	return turn->options.has_timeout ? turn->options.timeout_ns : turn->options.profile->timeout_ns;
}

/* What is left of the session's budget, NEVER where it has none. */
static uint64_t turn_clocks_budget_left(const struct agent_turn *turn)
{
	uint64_t budget_ns = turn->options.profile->budget_ns;
	if (!budget_ns)
		return NEVER;
	return budget_ns > turn->options.spent_ns ? budget_ns - turn->options.spent_ns : 0;
}

static void turn_clocks_time_out(
	struct agent_turn *turn, uint64_t timeout_ns, enum agent_clock clock)
{
	turn_clocks_stop(turn);
	turn_tell_start(turn);
	if (turn->is_over)
		return;
	turn->timeout_ns = timeout_ns;
	turn->clock = clock;
	agent_note_timeout(turn->options.trace, timeout_ns, clock);
	agent_engine_deny_all(turn->engine, STR(AGENT_TIMED_OUT));
	turn_stop(turn);
}

static void turn_clocks_wall_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct agent_turn *turn = turn_enter(TURN_OF(timer, wall));
	uint64_t wall_ns = turn_clocks_wall_of(turn);
	if (wall_ns && wall_ns <= turn_clocks_budget_left(turn))
		turn_clocks_time_out(turn, wall_ns, AGENT_CLOCK_TURN);
	else
		turn_clocks_time_out(turn, turn->options.profile->budget_ns, AGENT_CLOCK_BUDGET);
	turn_leave(turn);
}

/* Set once and moved when it is due, instead of with every line. Bytes of a line
 * that has no end yet are seen here. An agent that waits for our answer is not idle. */
static void turn_clocks_idle_due(struct timer *timer, uint64_t now_ns)
{
	struct agent_turn *turn = turn_enter(TURN_OF(timer, idle));
	uint64_t limit = turn->options.profile->idle_timeout_ns;
	size_t unfinished = turn->child ? child_stream(turn->child, PERCH_STDOUT)->lines.partial.len
									: seat_unfinished(turn->seat);
	bool waits_for_us = turn->is_held || turn_is_asking(turn);
	if (unfinished != turn->heard_bytes || waits_for_us)
		turn->heard_ns = now_ns;
	turn->heard_bytes = unfinished;
	uint64_t due_ns = clock_after(turn->heard_ns, limit);
	if (due_ns > now_ns)
		timer_set(&turn->host->loop.timers, &turn->idle, due_ns);
	else
		turn_clocks_time_out(turn, limit, AGENT_CLOCK_SILENCE);
	turn_leave(turn);
}

int turn_clocks_promise(struct agent_turn *turn)
{
	struct timers *timers = &turn->host->loop.timers;
	for (int i = 0; i < TIMERS; i++) {
		int r = timers_promise(timers);
		if (r == 0)
			continue;
		while (i-- > 0)
			timers_release(timers);
		return r;
	}
	turn->wall.due = turn_clocks_wall_due;
	turn->idle.due = turn_clocks_idle_due;
	return 0;
}

void turn_clocks_start(struct agent_turn *turn)
{
	struct timers *timers = &turn->host->loop.timers;
	uint64_t now_ns = clock_now_ns();
	turn->heard_ns = now_ns;
	timer_set(timers, &turn->begun, TIMER_LAST);
	if (turn->failure)
		return;
	uint64_t wall_ns = turn_clocks_wall_of(turn);
	uint64_t budget_ns = turn_clocks_budget_left(turn);
	if (wall_ns || budget_ns != NEVER)
		timer_set(timers, &turn->wall,
			clock_after(now_ns, wall_ns && wall_ns < budget_ns ? wall_ns : budget_ns));
	if (turn->options.profile->idle_timeout_ns)
		timer_set(timers, &turn->idle, clock_after(now_ns, turn->options.profile->idle_timeout_ns));
}

void turn_clocks_release(struct agent_turn *turn)
{
	if (!turn->wall.due)
		return;
	turn_clocks_stop(turn);
	for (int i = 0; i < TIMERS; i++)
		timers_release(&turn->host->loop.timers);
}

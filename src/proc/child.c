/* One child, one life: what happens to a child after its birth, as a table. */
#include "proc/child.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "base/fd.h"
#include "base/macros.h"
#include "proc/pidfd.h"
#include "proc/room.h"

#define CHILD_OF(pointer, member) container_of(pointer, perch_child, member)

static void child_happen(perch_child *child, enum child_event event);

static bool child_has_open_stream(const perch_child *child)
{
	return stream_is_open(&child->streams[0]) || stream_is_open(&child->streams[1]);
}

static void child_start_clock(perch_child *child, uint64_t delay_ns)
{
	timer_set(&child->host->loop.timers, &child->clock, clock_after(clock_now_ns(), delay_ns));
}

int child_signal(perch_child *child, int signal)
{
	if (child->exit.fd < 0)
		return -ESRCH;
	if (child->owns_session)
		return pidfd_signal_group(child->exit.fd, child->pid, child->is_stolen, signal);
	return pidfd_signal(child->exit.fd, child->pid, signal);
}

/* Kills the processes that are left of its tree. Returns how many of them are not dead yet. A
 * killed process is counted once: none is born to a tree that was killed. */
static unsigned child_end_tree(perch_child *child, bool is_last_try)
{
	if (!child->mark)
		return 0;
	struct tree_state state =
		trees_end(&child->host->trees, child->mark, child->pid, child->born_ns, is_last_try);
	if (!child->result.background.ended)
		child->result.background.ended = state.ended;
	child->result.background.left = state.refused;
	return state.alive;
}

/* The tree first: it is counted. */
int child_kill(perch_child *child)
{
	child_end_tree(child, false);
	return child_signal(child, SIGKILL);
}

/* What it left in the background is not ours to end, or not yet. */
static bool child_leaves_background(const perch_child *child)
{
	return child->keep_group || (child->keeps_background && !child->result.stop_asked);
}

/* ---- the actions of the table ------------------------------------------ */

/* The process has exited. It stays a zombie for now, which keeps its number and its group from
 * being given to another process. */
static void child_begin_linger(perch_child *child)
{
	timer_cancel(&child->host->loop.timers, &child->climb);
	if (child->events.exited)
		child->events.exited(child, child->data, &child->result);
	if (!child_has_open_stream(child))
		child_happen(child, EVENT_CLOSED);
	else if (child->linger_ns == 0)
		child_happen(child, EVENT_TIME_UP);
	else
		child_start_clock(child, child->linger_ns);
}

/* Time is up for the processes that hold the pipes. */
static void child_kill_group(perch_child *child)
{
	if (child_leaves_background(child)) {
		child_happen(child, EVENT_TIME_UP);
		return;
	}
	child_kill(child);
	child_start_clock(child, CHILD_SETTLE_NS);
}

/* One last look into the pipes, after the kill: in this order nothing that was written before is
 * lost, and no writer can make us read for ever. */
static void child_read_last(perch_child *child)
{
	for (int i = 0; i < STREAMS; i++)
		stream_read_last(&child->streams[i]);
}

/* Everything was read: kills what is left of its tree and its group, and looks again until they are
 * dead. */
static void child_clear(perch_child *child)
{
	timer_cancel(&child->host->loop.timers, &child->clock);
	bool is_last_try = child->looks >= CHILD_LOOKS_MAX;
	unsigned alive = child_leaves_background(child) ? 0 : child_end_tree(child, is_last_try);
	if (!child_leaves_background(child))
		child_signal(child, SIGKILL);
	if (!alive || is_last_try) {
		child_happen(child, EVENT_CLEARED);
		return;
	}
	unsigned doublings = child->looks < CHILD_LOOK_DOUBLINGS ? child->looks : CHILD_LOOK_DOUBLINGS;
	child->looks++;
	child_start_clock(child, CHILD_LOOK_NS << doublings);
}

/* Lets the zombie go, and with it the hold on its group. */
static void child_reap(perch_child *child)
{
	if (child->exit.fd < 0)
		return;
	guard_release(&child->host->guard, &child->guard_slot);
	pidfd_reap(child->exit.fd);
	room_leave(child->room);
	child->room = NULL;
	loop_watch(&child->host->loop, &child->exit, 0);
	child->exit.fd = fd_close(child->exit.fd);
	child->mark = 0;
	perch_host *host = child->host;
	host->child_count--;
	if (host->runs_once && !host->child_count && !host->trees.may_have_strays)
		guard_dismiss(&host->guard);
}

static void child_move_to_buried(perch_child *child)
{
	*child->link = child->next;
	if (child->next)
		child->next->link = child->link;
	child->next = child->host->unreaped;
	child->host->unreaped = child;
}

static void child_bury(perch_child *child)
{
	outbox_free(&child->outbox);
	if (!child->keep_group)
		child_reap(child);
	if (child->is_given_back)
		child_move_to_buried(child);
	else if (child->events.ended)
		child->events.ended(child, child->data, &child->result);
}

/* ---- the table --------------------------------------------------------- */

#define STAY(state) \
	{               \
		NULL, state \
	}

static const struct transition {
	void (*act)(perch_child *child);
	enum child_state next;
} life[CHILD_STATES][CHILD_EVENTS] = {
	/* clang-format off */
	/*                   EVENT_EXIT                              EVENT_CLOSED                     EVENT_TIME_UP                          EVENT_CLEARED */
	[CHILD_ALIVE]     = {{ child_begin_linger, CHILD_LINGERING }, STAY(CHILD_ALIVE),               STAY(CHILD_ALIVE),                     STAY(CHILD_ALIVE) },
	[CHILD_LINGERING] = { STAY(CHILD_LINGERING),                  { child_clear, CHILD_CLEARING }, { child_kill_group, CHILD_SETTLING },  STAY(CHILD_LINGERING) },
	[CHILD_SETTLING]  = { STAY(CHILD_SETTLING),                   { child_clear, CHILD_CLEARING }, { child_read_last, CHILD_DRAINING },   STAY(CHILD_SETTLING) },
	[CHILD_DRAINING]  = { STAY(CHILD_DRAINING),                   { child_clear, CHILD_CLEARING }, STAY(CHILD_DRAINING),                  STAY(CHILD_DRAINING) },
	[CHILD_CLEARING]  = { STAY(CHILD_CLEARING),                   STAY(CHILD_CLEARING),            { child_clear, CHILD_CLEARING },       { child_bury, CHILD_ENDED } },
	[CHILD_ENDED]     = { STAY(CHILD_ENDED),                      STAY(CHILD_ENDED),               STAY(CHILD_ENDED),                     STAY(CHILD_ENDED) },
	/* clang-format on */
};

static void child_happen(perch_child *child, enum child_event event)
{
	const struct transition *transition = &life[child->state][event];
	child->state = transition->next;
	if (transition->act)
		transition->act(child);
}

/* ---- what feeds the table ---------------------------------------------- */

static void child_exit_ready(struct source *source, uint32_t events)
{
	(void)events;
	perch_child *child = CHILD_OF(source, exit);
	struct exit_status status;
	if (pidfd_peek(source->fd, &status) != 1)
		return;
	loop_watch(&child->host->loop, source, 0);
	child->is_stolen = status.stolen;
	child->result.status_known = status.known;
	child->result.exit_code = status.exit_code;
	child->result.signal = status.signal;
	child->result.dumped_core = status.dumped_core;
	child->result.duration_ns = clock_now_ns() - child->born_ns;
	/* A guard that could not be executed is noticed after the birth. */
	child->result.guarded &= child->room || child->host->guard.pid;
	child_happen(child, EVENT_EXIT);
}

static void child_clock_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	child_happen(CHILD_OF(timer, clock), EVENT_TIME_UP);
}

void child_stream_ended(perch_child *child, struct stream *stream)
{
	bool *held =
		stream->which == PERCH_STDOUT ? &child->result.stdout_held : &child->result.stderr_held;
	*held = stream->held;
	child->result.output_lost |= stream->lost_output;
	child->result.bytes_skipped += stream->lines.skipped;
	if (child->events.closed)
		child->events.closed(child, child->data, stream->which);
	if (!child_has_open_stream(child))
		child_happen(child, EVENT_CLOSED);
}

void child_take_line(perch_child *child, struct stream *stream, const perch_line *line)
{
	if (child->events.line)
		child->events.line(child, child->data, stream->which, line);
}

void child_take_bytes(perch_child *child, struct stream *stream, const char *bytes, size_t len)
{
	if (child->events.bytes)
		child->events.bytes(child, child->data, stream->which, bytes, len);
}

/* ---- climbing the ladder ----------------------------------------------- */

static void child_take_step(perch_child *child, perch_step_action action)
{
	child->result.last_step = action;
	switch (action) {
	case PERCH_STEP_ASK:
		if (child->events.asked)
			child->events.asked(child, child->data);
		break;
	case PERCH_STEP_CLOSE_STDIN:
		outbox_close(&child->outbox);
		break;
	case PERCH_STEP_TERM:
		child_signal(child, SIGTERM);
		child_signal(child, SIGCONT);
		break;
	case PERCH_STEP_KILL:
		child_kill(child);
		break;
	}
}

static void child_climb_due(struct timer *timer, uint64_t now_ns)
{
	perch_child *child = CHILD_OF(timer, climb);
	const perch_step *step;
	while (child->state == CHILD_ALIVE && (step = ladder_take(&child->ladder, now_ns)))
		child_take_step(child, step->action);
	if (child->state == CHILD_ALIVE)
		timer_set(&child->host->loop.timers, timer, ladder_next(&child->ladder));
}

void perch_child_stop(perch_child *child)
{
	if (child->state != CHILD_ALIVE)
		return;
	child->result.stop_asked = true;
	ladder_push(&child->ladder, clock_now_ns());
	timer_set(&child->host->loop.timers, &child->climb, ladder_next(&child->ladder));
}

/* ---- the end of the object --------------------------------------------- */

static void child_outbox_drained(struct outbox *outbox)
{
	perch_child *child = CHILD_OF(outbox, outbox);
	if (child->events.drained)
		child->events.drained(child, child->data);
}

void child_attach(perch_child *child)
{
	child->exit = (struct source){ .fd = -1, .ready = child_exit_ready };
	child->clock = (struct timer){ .due = child_clock_due };
	child->climb = (struct timer){ .due = child_climb_due };
	child->outbox.drained = child_outbox_drained;
}

/* The caller has given the child back: no callback, no reading, only the burial. */
static void child_give_back(perch_child *child)
{
	child->events = (perch_child_events){ 0 };
	child->is_given_back = true;
	child->keep_group = false;
	child->host->trees.may_have_strays |= child_end_tree(child, false) > 0;
	child_signal(child, SIGKILL);
	timer_cancel(&child->host->loop.timers, &child->climb);
	outbox_free(&child->outbox);
	for (int i = 0; i < STREAMS; i++)
		stream_close(&child->streams[i]);
}

void perch_child_free(perch_child *child)
{
	if (!child || child->is_given_back)
		return;
	perch_host *host = child->host;
	child_give_back(child);
	if (child->state == CHILD_ENDED) {
		child_reap(child);
		child_move_to_buried(child);
	} else {
		child_happen(child, EVENT_CLOSED);
	}
	if (!host->loop.dispatching)
		child_free_buried(host);
}

/* For the end of the host, and for a child that cannot be watched: waits. A
 * process that the kernel does not let die (it hangs in a device) is left. */
void child_destroy(perch_child *child)
{
	child_give_back(child);
	struct timers *timers = &child->host->loop.timers;
	timer_cancel(timers, &child->climb);
	timer_cancel(timers, &child->clock);
	if (child->exit.fd >= 0 && pidfd_wait(child->exit.fd, DEATH_WAIT_MS) == 1)
		child_reap(child);
	child_move_to_buried(child);
}

void child_free_buried(perch_host *host)
{
	while (host->unreaped) {
		perch_child *child = host->unreaped;
		host->unreaped = child->next;
		child_free_memory(child);
	}
}

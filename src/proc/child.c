/* One child, one life: what happens to a child after its birth, as a table. */
#include "proc/child.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "base/fd.h"
#include "proc/pidfd.h"
#include "proc/room.h"

#define CHILD_OF(pointer, member) \
	((perch_child *)((char *)(pointer)-offsetof(struct perch_child, member)))

static void happen(perch_child *child, enum child_event event);

static bool has_open_stream(const perch_child *child)
{
	return stream_is_open(&child->streams[0]) || stream_is_open(&child->streams[1]);
}

static void start_clock(perch_child *child, uint64_t delay_ns)
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

/* ---- the actions of the table ------------------------------------------ */

/* The process has exited. It stays a zombie for now, which keeps its number
 * and its group from being given to somebody else. */
static void begin_linger(perch_child *child)
{
	timer_cancel(&child->host->loop.timers, &child->climb);
	if (child->events.exited)
		child->events.exited(child, child->data, &child->result);
	if (!has_open_stream(child))
		happen(child, EVENT_CLOSED);
	else if (child->linger_ns == 0)
		happen(child, EVENT_TIME_UP);
	else
		start_clock(child, child->linger_ns);
}

/* Time is up for whoever holds the pipes. */
static void kill_group(perch_child *child)
{
	if (child->keep_group) {
		happen(child, EVENT_TIME_UP);
		return;
	}
	child_signal(child, SIGKILL);
	start_clock(child, CHILD_SETTLE_NS);
}

/* One last look into the pipes, after the kill: in this order nothing that was
 * written before is lost, and nobody can keep us reading. */
static void read_last(perch_child *child)
{
	for (int i = 0; i < STREAMS; i++)
		stream_read_last(&child->streams[i]);
}

/* Kills what is left of the group, then lets the zombie go. */
static void reap(perch_child *child)
{
	if (child->exit.fd < 0)
		return;
	child_signal(child, SIGKILL);
	guard_release(&child->host->guard, &child->guard_slot);
	pidfd_reap(child->exit.fd);
	room_leave(child->room);
	child->room = NULL;
	loop_watch(&child->host->loop, &child->exit, 0);
	child->exit.fd = fd_close(child->exit.fd);
	child->host->child_count--;
}

static void move_to_corpses(perch_child *child)
{
	*child->link = child->next;
	if (child->next)
		child->next->link = child->link;
	child->next = child->host->corpses;
	child->host->corpses = child;
}

/* Everything was read. */
static void bury(perch_child *child)
{
	timer_cancel(&child->host->loop.timers, &child->clock);
	outbox_free(&child->outbox);
	if (!child->keep_group)
		reap(child);
	if (child->is_given_back)
		move_to_corpses(child);
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
	/*                   EVENT_EXIT                        EVENT_CLOSED            EVENT_TIME_UP */
	[CHILD_ALIVE]     = {{ begin_linger, CHILD_LINGERING }, STAY(CHILD_ALIVE),      STAY(CHILD_ALIVE) },
	[CHILD_LINGERING] = { STAY(CHILD_LINGERING),            { bury, CHILD_ENDED },  { kill_group, CHILD_SETTLING } },
	[CHILD_SETTLING]  = { STAY(CHILD_SETTLING),             { bury, CHILD_ENDED },  { read_last, CHILD_DRAINING } },
	[CHILD_DRAINING]  = { STAY(CHILD_DRAINING),             { bury, CHILD_ENDED },  STAY(CHILD_DRAINING) },
	[CHILD_ENDED]     = { STAY(CHILD_ENDED),                STAY(CHILD_ENDED),      STAY(CHILD_ENDED) },
	/* clang-format on */
};

static void happen(perch_child *child, enum child_event event)
{
	const struct transition *transition = &life[child->state][event];
	child->state = transition->next;
	if (transition->act)
		transition->act(child);
}

/* ---- what feeds the table ---------------------------------------------- */

static void exit_ready(struct source *source, uint32_t events)
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
	/* That the guard could not be executed shows behind the birth. */
	child->result.guarded &= child->room || child->host->guard.pid;
	happen(child, EVENT_EXIT);
}

static void clock_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	happen(CHILD_OF(timer, clock), EVENT_TIME_UP);
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
	if (!has_open_stream(child))
		happen(child, EVENT_CLOSED);
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

static void take_step(perch_child *child, perch_step_action action)
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
		child_signal(child, SIGKILL);
		break;
	}
}

static void climb_due(struct timer *timer, uint64_t now_ns)
{
	perch_child *child = CHILD_OF(timer, climb);
	const perch_step *step;
	while (child->state == CHILD_ALIVE && (step = ladder_take(&child->ladder, now_ns)))
		take_step(child, step->action);
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

static void outbox_drained(struct outbox *outbox)
{
	perch_child *child = CHILD_OF(outbox, outbox);
	if (child->events.drained)
		child->events.drained(child, child->data);
}

void child_attach(perch_child *child)
{
	child->exit = (struct source){ .fd = -1, .ready = exit_ready };
	child->clock = (struct timer){ .due = clock_due };
	child->climb = (struct timer){ .due = climb_due };
	child->outbox.drained = outbox_drained;
}

/* Nobody listens any more: no callback, no reading, only the burial. */
static void give_back(perch_child *child)
{
	child->events = (perch_child_events){ 0 };
	child->is_given_back = true;
	child->keep_group = false;
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
	give_back(child);
	if (child->state == CHILD_ENDED) {
		reap(child);
		move_to_corpses(child);
	} else {
		happen(child, EVENT_CLOSED);
	}
	if (!host->loop.dispatching)
		child_free_corpses(host);
}

/* For the end of the host, and for a child that cannot be watched: waits. A
 * process that the kernel does not let die (it hangs in a device) is left. */
void child_destroy(perch_child *child)
{
	give_back(child);
	struct timers *timers = &child->host->loop.timers;
	timer_cancel(timers, &child->climb);
	timer_cancel(timers, &child->clock);
	if (child->exit.fd >= 0 && pidfd_wait(child->exit.fd, DEATH_WAIT_MS) == 1)
		reap(child);
	move_to_corpses(child);
}

void child_free_corpses(perch_host *host)
{
	while (host->corpses) {
		perch_child *child = host->corpses;
		host->corpses = child->next;
		child_free_memory(child);
	}
}

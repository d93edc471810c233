/* Sandboxes between two runs. */
#include "sandbox/keep.h"

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/fd.h"
#include "proc/host.h"
#include "proc/room.h"
#include "sandbox/likeness.h"

enum { KEPT_MAX = 8 }; /* in a host; each is a process that sleeps */

/* How long one is kept that nobody asks for. */
#define KEPT_NS (5 * NSEC_PER_SEC)

/* Those of a host. */
struct keep {
	struct host_guest guest; /* first: it is found by it */
	perch_host *host;
	struct sandbox *first; /* the one that was put last */
	size_t count;
	int mountinfo; /* tells when something is mounted outside, which rooms do not see */
	struct timer idle;
};

static void free_all(struct keep *keep)
{
	for (struct sandbox *sandbox; (sandbox = keep->first);) {
		keep->first = sandbox->next_kept;
		sandbox_free(sandbox);
	}
	keep->count = 0;
}

static void leave(struct host_guest *guest)
{
	struct keep *keep = (struct keep *)guest;
	free_all(keep);
	timer_cancel(&keep->host->loop.timers, &keep->idle);
	timers_release(&keep->host->loop.timers);
	fd_close(keep->mountinfo);
	free(keep);
}

static void on_idle(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	free_all((struct keep *)((char *)timer - offsetof(struct keep, idle)));
}

/* NULL: nothing is kept here. */
static struct keep *keep_of(perch_host *host)
{
	struct keep *keep = (struct keep *)host_find_guest(host, leave);
	if (keep)
		return keep;
	_cleanup_fd_ int mountinfo =
		fd_above_stdio(open("/proc/thread-self/mountinfo", O_RDONLY | O_CLOEXEC));
	keep = mountinfo < 0 ? NULL : malloc(sizeof(*keep));
	if (!keep || timers_promise(&host->loop.timers) < 0) {
		free(keep);
		return NULL;
	}
	*keep = (struct keep){
		.guest.leave = leave,
		.host = host,
		.mountinfo = fd_steal(&mountinfo),
		.idle.due = on_idle,
	};
	host_add_guest(host, &keep->guest);
	return keep;
}

static bool has_mounts_changed(const struct keep *keep)
{
	struct pollfd change = { .fd = keep->mountinfo, .events = POLLPRI };
	return poll(&change, 1, 0) != 0;
}

/* ---- as good as new ------------------------------------------------------------ */

static bool is_as_new(const struct sandbox *sandbox, const struct mounts *mounts)
{
	_cleanup_(buf_free) struct buf now = { 0 };
	return room_is_empty(sandbox->confine.room) &&
		likeness_picture(room_root(sandbox->confine.room), mounts, &now) == 0 &&
		likeness_is_same(&now, &sandbox->picture);
}

/* Not where a room shows more than its own, or where something is to be looked for in the end. */
static bool can_be_kept(const struct sandbox *sandbox)
{
	const struct room *room = sandbox->confine.room;
	return room && room_root(room) >= 0 && room_has_own_proc(room) &&
		!(sandbox->absent && sandbox->absent[0]);
}

void keep_note_new(struct sandbox *sandbox)
{
	const struct room *room = sandbox->confine.room;
	if (!can_be_kept(sandbox) ||
		likeness_picture(room_root(room), &sandbox->finding.mounts, &sandbox->picture) < 0)
		buf_clear(&sandbox->likeness);
}

/* ---- taking and putting --------------------------------------------------------- */

/* Takes it off the list. */
static struct sandbox *take_alike(struct keep *keep, const struct buf *likeness)
{
	struct sandbox **link = &keep->first;
	while (*link && !likeness_is_same(&(*link)->likeness, likeness))
		link = &(*link)->next_kept;
	struct sandbox *found = *link;
	if (found) {
		*link = found->next_kept;
		keep->count--;
	}
	return found;
}

struct sandbox *keep_take(struct sandbox *wanted)
{
	struct keep *keep = keep_of(wanted->host);
	if (!keep || !wanted->finding.has_looked)
		return NULL;
	if (has_mounts_changed(keep))
		free_all(keep);
	if (likeness_make(wanted, &wanted->likeness) < 0) {
		buf_clear(&wanted->likeness);
		return NULL;
	}
	struct sandbox *found;
	while (
		(found = take_alike(keep, &wanted->likeness)) && !is_as_new(found, &wanted->finding.mounts))
		sandbox_free(found);
	return found;
}

static void free_oldest(struct keep *keep)
{
	struct sandbox **link = &keep->first;
	while ((*link)->next_kept)
		link = &(*link)->next_kept;
	sandbox_free(*link);
	*link = NULL;
	keep->count--;
}

bool keep_put(struct sandbox *sandbox)
{
	struct keep *keep = sandbox->likeness.len ? keep_of(sandbox->host) : NULL;
	if (!keep || !room_is_empty(sandbox->confine.room))
		return false;
	if (keep->count == KEPT_MAX)
		free_oldest(keep);
	sandbox->next_kept = keep->first;
	keep->first = sandbox;
	keep->count++;
	timer_set(&keep->host->loop.timers, &keep->idle,
		clock_after(loop_now_ns(&keep->host->loop), KEPT_NS));
	return true;
}

/* Sandboxes between two runs. */
#include "sandbox/reuse/reuse_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/macros.h"
#include "base/stamp.h"
#include "proc/host.h"
#include "proc/room.h"
#include "sandbox/reuse/fingerprint.h"

enum { KEPT_MAX = 8 }; /* in a host; each is a process that sleeps */

/* How long one is kept that nobody asks for. */
#define KEPT_NS (5 * NSEC_PER_SEC)

/* Those of a host. */
struct keep {
	struct host_guest guest; /* first: it is found by it */
	perch_host *host;
	struct sandbox *first; /* the one that was put last */
	size_t count;
	pid_t owner; /* a fork of it has a copy of this */
	/* Something that is mounted outside is not seen in rooms: those of another age are not used
	 * again. */
	unsigned long age;
	int mountinfo;            /* tells of it */
	struct stat mountinfo_of; /* which mount namespace that is */
	struct timer idle;
};

/* Those that a fork knows of are its parent's, who may be in one by now: they are left alone. */
static void reuse_pool_free_all(struct keep *keep)
{
	bool are_ours = keep->owner == getpid();
	for (struct sandbox *sandbox; (sandbox = keep->first);) {
		keep->first = sandbox->kept.next;
		if (are_ours)
			sandbox_free(sandbox);
	}
	keep->count = 0;
}

static void reuse_pool_leave(struct host_guest *guest)
{
	struct keep *keep = (struct keep *)guest;
	reuse_pool_free_all(keep);
	timer_cancel(&keep->host->loop.timers, &keep->idle);
	timers_release(&keep->host->loop.timers);
	fd_close(keep->mountinfo);
	free(keep);
}

static void reuse_pool_on_idle(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	reuse_pool_free_all(container_of(timer, struct keep, idle));
}

/* ---- what is mounted outside --------------------------------------------------------- */

/* A thread can have moved into another mount namespace. A fork is told of nothing that its parent
 * has heard of, and the other way round, as long as they share what tells of it. */
static bool reuse_pool_is_elsewhere(const struct keep *keep, const struct stat *here)
{
	return keep->owner != getpid() || !stamp_is_same_file(here, &keep->mountinfo_of);
}

static bool reuse_pool_has_changed(const struct keep *keep)
{
	struct pollfd change = { .fd = keep->mountinfo, .events = POLLPRI };
	return keep->mountinfo < 0 || poll(&change, 1, 0) != 0;
}

static void reuse_pool_settle(struct keep *keep, const struct stat *here)
{
	fd_close(keep->mountinfo);
	keep->mountinfo = fd_above_stdio(open("/proc/thread-self/mountinfo", O_RDONLY | O_CLOEXEC));
	keep->mountinfo_of = *here;
	keep->owner = getpid();
}

static void reuse_pool_look_outside(struct keep *keep)
{
	struct stat here = { 0 };
	stat("/proc/thread-self/ns/mnt", &here);
	bool has_moved = reuse_pool_is_elsewhere(keep, &here);
	if (!has_moved && !reuse_pool_has_changed(keep))
		return;
	keep->age++;
	reuse_pool_free_all(keep);
	if (has_moved)
		reuse_pool_settle(keep, &here);
}

/* NULL: nothing is kept here. */
static struct keep *reuse_pool_keep_of(perch_host *host)
{
	struct keep *keep = (struct keep *)host_find_guest(host, reuse_pool_leave);
	if (keep)
		return keep;
	keep = malloc(sizeof(*keep));
	if (!keep || timers_promise(&host->loop.timers) < 0) {
		free(keep);
		return NULL;
	}
	*keep = (struct keep){
		.guest.leave = reuse_pool_leave,
		.host = host,
		.owner = getpid(),
		.mountinfo = -1,
		.idle.due = reuse_pool_on_idle,
	};
	host_add_guest(host, &keep->guest);
	return keep;
}

/* ---- as good as new ------------------------------------------------------------ */

/* That nobody was in it when it was put is not enough: a listing of processes is not made in one
 * moment, so that who forks fast enough may have escaped that one; and the init may have died. */
static bool reuse_pool_is_as_new(const struct sandbox *sandbox)
{
	const struct room *room = sandbox->confine.room;
	_cleanup_(buf_free) struct buf now = { 0 };
	return room_is_empty(room) &&
		fingerprint_picture(room_root(room), &sandbox->kept.mounts, &now) == 0 &&
		fingerprint_is_same(&now, &sandbox->kept.picture);
}

/* Not where a room shows more than its own. */
static bool reuse_pool_can_be_kept(const struct sandbox *sandbox)
{
	const struct room *room = sandbox->confine.room;
	return room && room_root(room) >= 0 && room_has_own_proc(room) && sandbox->layers.has_seccomp &&
		!sandbox->scratch.path;
}

/* The paths of what was found belong to the view, which goes. */
static int reuse_pool_keep_mounts(struct sandbox *sandbox)
{
	struct mounts *mounts = &sandbox->kept.mounts;
	*mounts = sandbox->finding.mounts;
	sandbox->finding.mounts = (struct mounts){ 0 };
	for (size_t i = 0; i < mounts->count; i++) {
		mounts->items[i].path = arena_dup(&sandbox->arena, str_from(mounts->items[i].path));
		if (!mounts->items[i].path)
			return -ENOMEM;
	}
	return 0;
}

void reuse_pool_note_new(struct sandbox *sandbox)
{
	struct kept *kept = &sandbox->kept;
	if (!reuse_pool_can_be_kept(sandbox) || reuse_pool_keep_mounts(sandbox) < 0 ||
		fingerprint_picture(room_root(sandbox->confine.room), &kept->mounts, &kept->picture) < 0)
		buf_clear(&kept->fingerprint);
}

void reuse_pool_forget(struct sandbox *sandbox)
{
	struct kept *kept = &sandbox->kept;
	buf_free(&kept->asked);
	buf_free(&kept->fingerprint);
	buf_free(&kept->picture);
	free(kept->mounts.items);
	path_record_free(&kept->path_record);
}

/* ---- taking ---------------------------------------------------------------------- */

typedef bool is_wanted_fn(const struct sandbox *kept, const struct sandbox *wanted);

/* The first that is wanted and as good as new; those that are not as new are taken down. */
static struct sandbox *reuse_pool_take(
	struct keep *keep, is_wanted_fn *is_it, const struct sandbox *wanted)
{
	struct sandbox **link = &keep->first;
	for (struct sandbox *found; (found = *link);) {
		if (!is_it(found, wanted)) {
			link = &found->kept.next;
			continue;
		}
		*link = found->kept.next;
		keep->count--;
		if (reuse_pool_is_as_new(found))
			return found;
		sandbox_free(found);
	}
	return NULL;
}

static bool reuse_pool_is_known(const struct sandbox *kept, const struct sandbox *wanted)
{
	return fingerprint_is_same(&kept->kept.asked, &wanted->kept.asked) &&
		path_record_is_same(&kept->kept.path_record);
}

struct sandbox *reuse_pool_take_known(struct sandbox *wanted)
{
	struct keep *keep = reuse_pool_keep_of(wanted->host);
	struct kept *kept = &wanted->kept;
	if (!keep || fingerprint_ask(&wanted->policy, &kept->asked) < 0)
		return NULL;
	reuse_pool_look_outside(keep);
	kept->age = keep->age;
	kept->path_record.since = stamp_now();
	return reuse_pool_take(keep, reuse_pool_is_known, wanted);
}

static bool reuse_pool_is_alike(const struct sandbox *kept, const struct sandbox *wanted)
{
	return fingerprint_is_same(&kept->kept.fingerprint, &wanted->kept.fingerprint);
}

struct sandbox *reuse_pool_take_alike(struct sandbox *wanted)
{
	struct keep *keep = reuse_pool_keep_of(wanted->host);
	struct kept *kept = &wanted->kept;
	if (!keep || !wanted->finding.has_looked || kept->asked.failed)
		return NULL;
	if (fingerprint_make(wanted, &kept->fingerprint) < 0) {
		buf_clear(&kept->fingerprint);
		return NULL;
	}
	struct sandbox *found = reuse_pool_take(keep, reuse_pool_is_alike, wanted);
	/* Only now: whoever runs once shall not pay for what the next one saves. */
	if (found && fingerprint_is_same(&found->kept.asked, &kept->asked)) {
		path_record_free(&found->kept.path_record);
		found->kept.path_record.since = kept->path_record.since;
		sandbox_add_ways(wanted, &found->kept.path_record);
	}
	return found;
}

/* ---- putting --------------------------------------------------------------------- */

static void reuse_pool_free_oldest(struct keep *keep)
{
	struct sandbox **link = &keep->first;
	while ((*link)->kept.next)
		link = &(*link)->kept.next;
	sandbox_free(*link);
	*link = NULL;
	keep->count--;
}

bool reuse_pool_put(struct sandbox *sandbox)
{
	struct keep *keep = sandbox->kept.fingerprint.len ? reuse_pool_keep_of(sandbox->host) : NULL;
	if (!keep || !room_is_empty(sandbox->confine.room))
		return false;
	reuse_pool_look_outside(keep);
	if (sandbox->kept.age != keep->age || sandbox_tell_made(sandbox))
		return false;
	if (keep->count == KEPT_MAX)
		reuse_pool_free_oldest(keep);
	sandbox->kept.next = keep->first;
	keep->first = sandbox;
	keep->count++;
	timer_set(&keep->host->loop.timers, &keep->idle,
		clock_after(loop_now_ns(&keep->host->loop), KEPT_NS));
	return true;
}

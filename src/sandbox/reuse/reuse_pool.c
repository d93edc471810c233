/* Sandboxes between two runs. */
#include "sandbox/reuse/reuse_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/linux_calls.h"
#include "base/macros.h"
#include "base/stamp.h"
#include "proc/host.h"
#include "proc/room.h"
#include "sandbox/reuse/policy_memory.h"

enum { REUSE_MAX = 8 }; /* in a host; each is a process that sleeps */

/* How long a sandbox stays in the pool while no run asks for it. */
#define REUSE_IDLE_NS (5 * NSEC_PER_SEC)

/* The sandboxes of a host that the next run may have. */
struct reuse_pool {
	struct host_guest guest; /* first: it is found by it */
	perch_host *host;
	struct sandbox *first; /* the one that was put last */
	size_t count;
	pid_t owner; /* a fork of it has a copy of this */
	/* A room does not see mounts that are made outside after it. Every such change begins a new
	 * age, and sandboxes of an earlier age are not used again. */
	unsigned long age;
	int mountinfo;     /* /proc/…/mountinfo, which reports the change */
	struct statx here; /* the root that our paths began at when that was opened */
	struct timer idle;
};

/* After a fork the child has a copy of the pool, but the sandboxes are its parent's, which may be
 * running something in them: the child leaves them alone. */
static void reuse_pool_free_all(struct reuse_pool *pool)
{
	bool are_ours = pool->owner == getpid();
	for (struct sandbox *sandbox; (sandbox = pool->first);) {
		pool->first = sandbox->reuse.next;
		if (are_ours)
			sandbox_free(sandbox);
	}
	pool->count = 0;
}

static void reuse_pool_leave(struct host_guest *guest)
{
	struct reuse_pool *pool = (struct reuse_pool *)guest;
	reuse_pool_free_all(pool);
	timer_cancel(&pool->host->loop.timers, &pool->idle);
	timers_release(&pool->host->loop.timers);
	fd_close(pool->mountinfo);
	free(pool);
}

static void reuse_pool_on_idle(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct reuse_pool *pool = container_of(timer, struct reuse_pool, idle);
	reuse_pool_free_all(pool);
	policy_memory_rest(pool->host);
}

/* ---- what is mounted outside --------------------------------------------------------- */

/* A thread that has moved to other mounts, or to another root, has a root with another number; an
 * open mountinfo holds the old one, so that its number is nobody else's. A fork shares the open
 * file with its parent: a change is reported to one of the two only, so a fork opens its own. */
static bool reuse_pool_is_elsewhere(const struct reuse_pool *pool, const struct statx *here)
{
	const struct statx *before = &pool->here;
	return pool->owner != getpid() || !(here->stx_mask & STATX_MNT_ID) ||
		here->stx_mnt_id != before->stx_mnt_id || here->stx_ino != before->stx_ino ||
		here->stx_dev_major != before->stx_dev_major ||
		here->stx_dev_minor != before->stx_dev_minor;
}

static bool reuse_pool_has_changed(const struct reuse_pool *pool)
{
	struct pollfd change = { .fd = pool->mountinfo, .events = POLLPRI };
	return pool->mountinfo < 0 || poll(&change, 1, 0) != 0;
}

static void reuse_pool_settle(struct reuse_pool *pool, const struct statx *here)
{
	fd_close(pool->mountinfo);
	pool->mountinfo = fd_above_stdio(open("/proc/thread-self/mountinfo", O_RDONLY | O_CLOEXEC));
	pool->here = *here;
	pool->owner = getpid();
}

static void reuse_pool_look_outside(struct reuse_pool *pool)
{
	struct statx here = { 0 };
	statx(AT_FDCWD, "/", 0, STATX_INO | STATX_MNT_ID, &here);
	bool has_moved = reuse_pool_is_elsewhere(pool, &here);
	if (!has_moved && !reuse_pool_has_changed(pool))
		return;
	pool->age++;
	reuse_pool_free_all(pool);
	if (has_moved)
		reuse_pool_settle(pool, &here);
}

/* The pool of a host; NULL without memory: then nothing is used again. */
static struct reuse_pool *reuse_pool_of(perch_host *host)
{
	struct reuse_pool *pool = (struct reuse_pool *)host_find_guest(host, reuse_pool_leave);
	if (pool)
		return pool;
	pool = malloc(sizeof(*pool));
	if (!pool || timers_promise(&host->loop.timers) < 0) {
		free(pool);
		return NULL;
	}
	*pool = (struct reuse_pool){
		.guest.leave = reuse_pool_leave,
		.host = host,
		.owner = getpid(),
		.mountinfo = -1,
		.idle.due = reuse_pool_on_idle,
	};
	host_add_guest(host, &pool->guest);
	return pool;
}

unsigned long reuse_pool_age(perch_host *host)
{
	struct reuse_pool *pool = reuse_pool_of(host);
	if (pool)
		reuse_pool_look_outside(pool);
	return pool ? pool->age : 0;
}

/* ---- as good as new ------------------------------------------------------------ */

/* The room was empty when the sandbox was put here, but that is not enough: a listing of processes
 * is not made in one moment, so a process that forks fast enough may have escaped it; and the
 * room's init may have died since. */
static bool reuse_pool_is_as_new(const struct sandbox *sandbox, bool may_have_moved)
{
	struct room *room = sandbox->confine.room;
	const struct reuse *reuse = &sandbox->reuse;
	return room_is_empty(room) &&
		picture_is_same(&reuse->picture, room, &reuse->mounts, may_have_moved);
}

/* Only a sandbox whose room shows nothing but its own processes and has its own /tmp. */
static bool reuse_pool_accepts(const struct sandbox *sandbox)
{
	const struct room *room = sandbox->confine.room;
	return room && room_root(room) >= 0 && room_has_own_proc(room) && sandbox->layers.has_seccomp &&
		!sandbox->scratch.path;
}

/* The paths of the mounts belong to the view, which is freed: they are copied. */
static int reuse_pool_own_mounts(struct sandbox *sandbox)
{
	struct mounts *mounts = &sandbox->reuse.mounts;
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
	struct reuse *reuse = &sandbox->reuse;
	reuse->watched = sandbox->policy.watched;
	if (!reuse_pool_accepts(sandbox) || reuse_pool_own_mounts(sandbox) < 0 ||
		picture_take(&reuse->picture, sandbox->confine.room, &reuse->mounts) < 0)
		buf_clear(&reuse->fingerprint);
}

void reuse_pool_forget(struct sandbox *sandbox)
{
	struct reuse *reuse = &sandbox->reuse;
	buf_free(&reuse->asked);
	buf_free(&reuse->fingerprint);
	picture_free(&reuse->picture);
	free(reuse->mounts.items);
	path_record_free(&reuse->path_record);
}

/* ---- taking ---------------------------------------------------------------------- */

typedef bool is_wanted_fn(const struct sandbox *pooled, const struct sandbox *wanted);

/* The first sandbox that is wanted and as good as new. Wanted ones that are not are freed. */
static struct sandbox *reuse_pool_take(
	struct reuse_pool *pool, is_wanted_fn *is_it, const struct sandbox *wanted, bool may_have_moved)
{
	struct sandbox **link = &pool->first;
	for (struct sandbox *found; (found = *link);) {
		if (!is_it(found, wanted)) {
			link = &found->reuse.next;
			continue;
		}
		*link = found->reuse.next;
		pool->count--;
		if (reuse_pool_is_as_new(found, may_have_moved))
			return found;
		sandbox_free(found);
	}
	return NULL;
}

/* Where the paths of the wanted one are watched, and were when those of the pooled one were looked
 * up, they lead to the same. */
static bool reuse_pool_is_known(const struct sandbox *pooled, const struct sandbox *wanted)
{
	const unsigned long watched = wanted->policy.watched;
	return fingerprint_is_same(&pooled->reuse.asked, &wanted->reuse.asked) &&
		((watched && pooled->reuse.watched == watched) ||
			path_record_is_same(&pooled->reuse.path_record));
}

struct sandbox *reuse_pool_take_known(struct sandbox *wanted)
{
	struct reuse_pool *pool = reuse_pool_of(wanted->host);
	struct reuse *reuse = &wanted->reuse;
	if (!pool || fingerprint_ask(&wanted->policy, &reuse->asked) < 0)
		return NULL;
	reuse_pool_look_outside(pool);
	reuse->age = pool->age;
	reuse->path_record.since = stamp_now();
	return reuse_pool_take(pool, reuse_pool_is_known, wanted, false);
}

static bool reuse_pool_is_alike(const struct sandbox *pooled, const struct sandbox *wanted)
{
	return fingerprint_is_same(&pooled->reuse.fingerprint, &wanted->reuse.fingerprint);
}

/* With the second run only, so that a caller that runs once does not pay for it. */
static void reuse_pool_note_ways(struct sandbox *found, const struct sandbox *wanted)
{
	struct path_record *record = &found->reuse.path_record;
	path_record_free(record);
	record->since = wanted->reuse.path_record.since;
	found->reuse.watched = wanted->policy.watched;
	if (!found->reuse.watched)
		sandbox_add_ways(wanted, record);
}

struct sandbox *reuse_pool_take_alike(struct sandbox *wanted)
{
	struct reuse_pool *pool = reuse_pool_of(wanted->host);
	struct reuse *reuse = &wanted->reuse;
	if (!pool || !wanted->finding.has_looked || reuse->asked.failed)
		return NULL;
	if (fingerprint_make(wanted, &reuse->fingerprint) < 0) {
		buf_clear(&reuse->fingerprint);
		return NULL;
	}
	/* A hidden path may lead to another file, beside the cover, and the fingerprint is the same. */
	struct sandbox *found = reuse_pool_take(pool, reuse_pool_is_alike, wanted, true);
	if (found && fingerprint_is_same(&found->reuse.asked, &reuse->asked))
		reuse_pool_note_ways(found, wanted);
	return found;
}

/* ---- putting --------------------------------------------------------------------- */

static void reuse_pool_free_oldest(struct reuse_pool *pool)
{
	struct sandbox **link = &pool->first;
	while ((*link)->reuse.next)
		link = &(*link)->reuse.next;
	sandbox_free(*link);
	*link = NULL;
	pool->count--;
}

bool reuse_pool_put(struct sandbox *sandbox)
{
	struct reuse_pool *pool = sandbox->reuse.fingerprint.len ? reuse_pool_of(sandbox->host) : NULL;
	if (!pool || !room_is_empty(sandbox->confine.room))
		return false;
	reuse_pool_look_outside(pool);
	if (sandbox->reuse.age != pool->age || sandbox_tell_new_triggers(sandbox))
		return false;
	if (pool->count == REUSE_MAX)
		reuse_pool_free_oldest(pool);
	sandbox->reuse.next = pool->first;
	pool->first = sandbox;
	pool->count++;
	timer_set(&pool->host->loop.timers, &pool->idle,
		clock_after(loop_now_ns(&pool->host->loop), REUSE_IDLE_NS));
	room_expect_child(sandbox->confine.room);
	return true;
}

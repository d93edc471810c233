/* Rooms that are used again: the pool, its fingerprints, the rooms and the sandbox that is taken
 * from one call to the next are the real ones, above a kernel of flags. Two calls at a time leave a
 * file, a time that was changed, a process, one that escapes a listing, or nothing; inits and the
 * host are killed, the host forks, mounts and paths change outside. No call sees what another one
 * has left, no room is used by two, and none stays. */
#include "reuse_kernel.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/stamp.h"
#include "proc/cgroup.h"
#include "proc/child.h"
#include "proc/host.h"
#include "proc/pidfd.h"
#include "sandbox/layers/landlock.h"
#include "sandbox/layers/probe.h"
#include "sandbox/layers/seccomp.h"
#include "sandbox/policy/path_list.h"
#include "sandbox/reuse/path_walk.h"
#include "sandbox/reuse/policy_memory.h"
#include "sandbox/reuse/reuse_pool.h"
#include "sandbox/reuse/name_watch.h"
#include "sandbox/sandbox_parts.h"

/* ---- what stands below -------------------------------------------------------------------- */

static int model_look_first(struct sandbox *sandbox)
{
	sandbox->finding = (struct finding){ .has_looked = true };
	sandbox->finding.mounts = (struct mounts){ calloc(2, sizeof(struct room_mount)), 2, 2 };
	sandbox->view = (struct view){ .entries = calloc(1, sizeof(struct view_entry)), .count = 1 };
	if (!sandbox->finding.mounts.items || !sandbox->view.entries)
		abort();
	sandbox->finding.mounts.items[0] = (struct room_mount){ .kind = ROOM_TMP, .path = "/tmp" };
	sandbox->finding.mounts.items[1] = (struct room_mount){ .kind = ROOM_HIDE, .path = "/x" };
	sandbox->view.entries[0] = (struct view_entry){ .path = "/usr", .fd = OTHER };
	sandbox->view.entries[0].access = ACCESS_READ;
	return 0;
}

static int model_find(
	void *data, const struct room_mount **ret_mounts, size_t *ret_count, perch_err *err)
{
	(void)data, (void)ret_mounts, (void)ret_count, (void)err;
	return 0;
}

static int model_look(struct sandbox *sandbox, perch_host *host, perch_err *err)
{
	static const struct room_wish wish = { .find = model_find, .is_usual = true };
	if (!sandbox->finding.has_looked)
		model_look_first(sandbox);
	sandbox->layers.has_room = sandbox->layers.has_own_proc = true;
	return room_open_with(host, &wish, &sandbox->confine.room, err);
}

static void model_view_free(struct view *view)
{
	free(view->entries);
	*view = (struct view){ 0 };
}

static int model_walk(const struct path_walker *walker)
{
	return walker->enter(walker->data, "/", "x") ? 0 : -ECANCELED;
}

static int model_filter(struct bpf *bpf)
{
	*bpf = (struct bpf){ 0 };
	return 0;
}

#define fd_close model_fd_close
#define open(path, flags) model_open(path, flags)
#define pread(fd, data, size, offset) ((void)(data), model_pread(fd))
#define fd_directory(root, path, flags) ((void)(path), TMP + ((root) & ~KIND))
#define room_init_begin(init, host, is_usual, early) \
	((void)(is_usual), (void)(early), model_bear_init(init))
#define room_init_be_born(init) 0
#define room_init_let_furnish(init) 0
#define room_init_await_furnished(init) 0
#define room_init_await_exec(init) 0
#define room_init_leave(init, has_failed) ((void)(init), (void)(has_failed))
#define newcomer_send(...) ((void)0)
#define newcomer_dismiss(newcomer) ((void)(newcomer))
#define furnish_prepare(furnishing, mounts, count, err) ((void)(furnishing), (void)(mounts), 0)
#define pidfd_signal(pidfd, pid, number) model_pidfd_signal(pidfd, number)
#define pidfd_wait(pidfd, timeout) model_pidfd_wait(pidfd)
#define pidfd_reap model_pidfd_reap
#define listing_open(root, path, flags) model_listing_open(root)
#define listing_next(listing) ((void)(listing), model_listing_next())
#define getpid() runner
#define poll(fds, count, timeout) model_poll(fds)
#define stat(path, info) model_stat(1, info)
#define statx(directory, path, flags, mask, info) ((void)(path), model_statx(directory, info))
#define fstat(fd, info) model_stat_fd(fd, info)
#define fstatfs(fd, space) model_space(fd, space)
#define flistxattr(fd, list, size) ((void)(fd), 0)
#define landlock_abi() 7
#define scratch_parent() strdup("/tmp/perch")
#define path_record_has_encrypted_names(directory) false
#define path_record_is_same(record) ((record)->count == names_changed())
#define sandbox_add_ways(sandbox, record) ((void)((record)->count = names_changed()))
#define sandbox_protect(...) 0
#define sandbox_look_first(sandbox, err) model_look_first(sandbox)
#define sandbox_look model_look
#define sandbox_make_tmp(...) 0
#define sandbox_make_ruleset(...) 0
#define sandbox_tell_new_triggers(sandbox) false
#define view_free model_view_free
#define probe_seccomp() true
#define seccomp_is_known() true
#define seccomp_filter(needs, bpf) ((void)(needs), model_filter(bpf))
#define limits_make(...) 0
#define report_make(...) 0
#define inotify_init1(flags) model_open_events()
#define inotify_add_watch(events, path, mask) model_watch(events, true)
#define inotify_rm_watch(events, number) ((void)(number), model_watch(events, false))
#define read(events, bytes, size) model_read(events, bytes)
#define statfs(path, info) ((void)(path), model_type(info))
#define path_walk(path, walker) ((void)(path), model_walk(walker))
#include FINGERPRINT_SOURCE
#include WATCH_SOURCE
#include MEMORY_SOURCE
#include PICTURE_SOURCE
#include POOL_SOURCE
#include ROOM_SOURCE
#include "sandbox/sandbox.c"

/* ---- the world --------------------------------------------------------------------------------
 */

enum { CALLS = 2, POLICIES = 2, MOUNTS_MAX = 2, PATHS_MAX = 2, CHANGES_MAX = 2 };
enum deed {
	LEAVES_A_FILE,
	LEAVES_A_TRACE,
	LEAVES_A_PROCESS,
	LEAVES_A_HIDER,
	EXITS,
	CLOSES,
	LOSES_INIT,
	DEEDS
};
enum {
	BEGINS = CALLS * DEEDS, /* with each of the policies */
	POOLED_LOSES_INIT = BEGINS + CALLS * POLICIES,
	ORPHAN_EXITS,
	MOUNTS_CHANGE,
	PATHS_CHANGE,
	COVERS_GO,
	COVERS_MOVE,
	NOBODY_CALLS,
	HOST_FORKS,
	HOST_IS_KILLED,
	OPENS, /* the sandbox of a call whose policy is known */
	PATHS_CHANGE_UNTOLD = OPENS + CALLS,
};

static perch_host host;
static bool is_dead;
static bool have_covers_gone;
static bool is_outside;     /* what changes around the rooms; or else what is left in them */
static bool is_remembering; /* the same, and policies are made from it, and remembered */
static struct call {
	struct sandbox *sandbox; /* NULL = there is none under way */
	struct model_room *room;
	unsigned policy;
	bool has_child;
	/* Where policies are remembered, and its sandbox is not open yet. */
	bool has_policy;
	struct remembered *remembered;
	struct sandbox_policy asked;
	unsigned begun; /* how often paths had changed when its policy was asked for */
} calls[CALLS];
static struct sandbox *of_the_host; /* what a fork has left alone, with its own memory of it */

static struct reuse_pool *pool_now(void)
{
	return (struct reuse_pool *)host_find_guest(&host, reuse_pool_leave);
}

static struct name_watch *name_watch_now(void)
{
	return (struct name_watch *)host_find_guest(&host, name_watch_leave);
}

static struct sandbox *pool_first(void)
{
	return pool_now() ? pool_now()->first : NULL;
}

static struct model_room *room_in(const struct sandbox *sandbox)
{
	return room_by(sandbox->confine.room->pidfd);
}

static void world_prepare(void);

static void world_begin(void)
{
	memset(rooms, 0, sizeof(rooms));
	memset(calls, 0, sizeof(calls));
	host = (perch_host){ 0 };
	runner = THE_HOST;
	mounted = moved = 0;
	is_dead = is_over = is_wrong = is_change_reported = false;
	have_covers_gone = have_covers_moved = false;
	of_the_host = NULL;
	memset(watchers, 0, sizeof(watchers));
	if (is_remembering)
		world_prepare();
}

static bool call_is_under_way(const struct call *call)
{
	return call->sandbox || call->has_policy;
}

static uint32_t call_can(const struct call *call)
{
	uint32_t can = 0;
	if (!call->sandbox)
		return 0;
	if (is_remembering)
		return 1U << EXITS;
	const struct model_room *room = call->room;
	if (call->has_child && room->has_init) {
		can |= room->has_trace ? 0 : 1U << LEAVES_A_FILE | 1U << LEAVES_A_TRACE;
		can |= room->orphans ? 0 : 1U << LEAVES_A_PROCESS | 1U << LEAVES_A_HIDER;
	}
	can |= room->has_init ? 1U << LOSES_INIT : 0;
	return (is_outside ? 0 : can) | 1U << (call->has_child ? EXITS : CLOSES);
}

static struct model_room *room_with_orphan(void)
{
	unsigned at = 0;
	while (at < ROOMS && !rooms[at].orphans)
		at++;
	return at < ROOMS ? &rooms[at] : NULL;
}

static uint32_t world_can(void)
{
	uint32_t can = 0;
	if (is_dead)
		return 0;
	for (unsigned i = 0; i < CALLS; i++) {
		can |= call_can(&calls[i]) << (i * DEEDS);
		bool may_begin = !call_is_under_way(&calls[i]) &&
			(i == 0 || call_is_under_way(&calls[i - 1])); /* they are alike */
		can |= may_begin ? (is_outside && !is_remembering ? 3U : 1U) << (BEGINS + i * POLICIES) : 0;
		can |= calls[i].has_policy ? 1U << (OPENS + i) : 0;
	}
	/* Between the making of a policy and its sandbox the host does nothing else. */
	uint32_t opens = can & 3U << OPENS;
	if (opens)
		can = opens;
	bool is_idle = !call_is_under_way(&calls[0]) && !call_is_under_way(&calls[1]);
	if (is_outside) {
		unsigned changes =
			mounted + moved + have_covers_gone + have_covers_moved; /* each room outlives few */
		can |= mounted < MOUNTS_MAX && changes < CHANGES_MAX ? 1U << MOUNTS_CHANGE : 0;
		can |= moved < PATHS_MAX && changes < CHANGES_MAX ? 1U << PATHS_CHANGE : 0;
		can |= have_covers_gone || is_remembering || changes == CHANGES_MAX ? 0 : 1U << COVERS_GO;
		/* What moves before a sandbox is opened for a policy could move a moment later as well. */
		can |= have_covers_moved || changes == CHANGES_MAX || opens ? 0 : 1U << COVERS_MOVE;
		can |= is_remembering && can >> PATHS_CHANGE & 1 ? 1U << PATHS_CHANGE_UNTOLD : 0;
	} else {
		can |= pool_first() && room_in(pool_first())->has_init ? 1U << POOLED_LOSES_INIT : 0;
		can |= room_with_orphan() ? 1U << ORPHAN_EXITS : 0;
	}
	if (opens)
		return can;
	can |= pool_now() && timer_is_set(&pool_now()->idle) ? 1U << NOBODY_CALLS : 0;
	can |= is_idle && runner == THE_HOST ? 1U << HOST_FORKS : 0;
	return can | 1U << HOST_IS_KILLED;
}

/* Of a room that a call is given. */
static void call_check(const struct call *call)
{
	const struct model_room *room = call->room;
	const struct call *other = &calls[call == &calls[0]];
	bool is_pooled = false;
	for (const struct sandbox *pooled = pool_first(); pooled && !is_pooled;)
		is_pooled = pooled == call->sandbox || (pooled = pooled->reuse.next, false);
	if (is_pooled || (other->sandbox && other->room == room) || room->owner != runner)
		kernel_wrong("a room can be used by two at a time");
	if (!room->has_init)
		kernel_wrong("a call is given a room that is dead");
	if (room->has_file || room->has_trace)
		kernel_wrong("what a call has left in /tmp is seen by the next one");
	if (room->orphans || room->children)
		kernel_wrong("a process of a call is there with the next one");
	if (room->mounts != mounted)
		kernel_wrong("a call does not see what was mounted outside");
	if (room->is_uncovered)
		kernel_wrong("a call sees what is hidden from it");
	if (is_remembering ? room->paths < call->begun : room->paths != moved)
		kernel_wrong("a call sees other files than its paths lead to");
	if (call->sandbox->policy.net != (call->policy ? SANDBOX_NET_FULL : SANDBOX_NET_NONE))
		kernel_wrong("a call is given the sandbox of another policy");
}

static void call_open(struct call *call, const struct sandbox_policy *asked)
{
	perch_err err = { 0 };
	if (sandbox_open(&host, asked, &call->sandbox, &err) < 0)
		abort();
	call->room = room_in(call->sandbox);
	call_check(call);
	room_enter(call->sandbox->confine.room);
	call->room->children += call->room->has_init;
	call->has_child = true;
}

static void call_begin(struct call *call, unsigned policy)
{
	const struct sandbox_policy asked = {
		.net = policy ? SANDBOX_NET_FULL : SANDBOX_NET_NONE,
		.may_be_used_again = true,
	};
	call->policy = policy;
	call_open(call, &asked);
}

/* ---- with a memory of policies ----------------------------------------------------------------
 */

static char cause_text[] = "cause";
static const struct buf cause = { .data = cause_text, .len = sizeof(cause_text) };
static const char *const looked_up[] = { "/x", NULL };

/* What is hidden says what the files and the mounts are; behind two changes it is as it was. */
static const char *const *hidden_now(void)
{
	static const char *const hidden[2][MOUNTS_MAX + 1][2] = {
		{ { "/00" }, { "/01" }, { "/02" } },
		{ { "/10" }, { "/11" }, { "/12" } },
	};
	return hidden[moved % 2][mounted];
}

static void call_find_policy(struct call *call)
{
	call->has_policy = true;
	call->begun = moved;
	call->policy = 0;
	call->remembered = policy_memory_take(&host, &cause);
	call->asked = (struct sandbox_policy){ .may_be_used_again = true, .hide = hidden_now() };
	if (!call->remembered)
		return;
	call->asked = *remembered_policy(call->remembered);
	if (strcmp(call->asked.hide[0], hidden_now()[0]) != 0)
		kernel_wrong("a call is given a policy that would not be made any more");
}

static void call_open_with_policy(struct call *call)
{
	struct remembered *considered = NULL;
	call->has_policy = false;
	if (!call->remembered)
		considered = policy_memory_consider(&host, &cause, &call->asked);
	if (considered)
		policy_memory_note(&host, considered, &call->asked, looked_up);
	call_open(call, &call->asked);
}

static void call_exit(struct call *call)
{
	call->has_child = false;
	call->room->children -= call->room->children > 0;
	room_leave(call->sandbox->confine.room);
}

static void call_close(struct call *call)
{
	struct sandbox *sandbox = call->sandbox;
	call->sandbox = NULL;
	remembered_release(call->remembered);
	call->remembered = NULL;
	sandbox_close(sandbox);
}

static void call_do(struct call *call, enum deed deed)
{
	struct model_room *room = call->room;
	switch (deed) {
	case LEAVES_A_FILE:
		room->has_file = room->has_trace = true;
		break;
	case LEAVES_A_TRACE:
		room->has_trace = true;
		break;
	case LEAVES_A_PROCESS:
	case LEAVES_A_HIDER:
		room->orphans++;
		room->hides = deed == LEAVES_A_HIDER;
		break;
	case EXITS:
		call_exit(call);
		if (is_remembering)
			call_close(call);
		break;
	case CLOSES:
		call_close(call);
		break;
	default:
		model_end_room(room);
	}
}

/* A policy was made once. */
static void world_prepare(void)
{
	call_find_policy(&calls[0]);
	call_open_with_policy(&calls[0]);
	call_exit(&calls[0]);
	call_close(&calls[0]);
}

static void nobody_calls(void)
{
	struct reuse_pool *pool = pool_now();
	timer_cancel(&host.loop.timers, &pool->idle);
	pool->idle.due(&pool->idle, 0);
	if (pool->first)
		kernel_wrong("a room stays although nobody calls");
}

static void host_forks(void)
{
	of_the_host = pool_first();
	runner = THE_FORK;
}

/* Its lifelines are cut. */
static void host_is_killed(void)
{
	is_dead = true;
	for (unsigned i = 0; i < ROOMS; i++)
		if (rooms[i].owner == runner)
			model_end_room(&rooms[i]);
}

static void covers_leave(bool is_reported)
{
	for (unsigned i = 0; i < ROOMS; i++) {
		rooms[i].is_uncovered = true;
		rooms[i].is_cover_reported &= !is_reported;
	}
}

/* The kernel takes what covers it away, in every room that there is. */
static void covers_go(void)
{
	have_covers_gone = true;
	covers_leave(true);
}

/* What covers it has another name by now, which no room is told. */
static void covers_move(void)
{
	have_covers_moved = true;
	model_tell_watchers(IN_CREATE);
	covers_leave(false);
}

static void orphan_exits(void)
{
	struct model_room *room = room_with_orphan();
	room->orphans--;
	room->hides = false;
}

static void world_do(unsigned event)
{
	switch (event) {
	case POOLED_LOSES_INIT:
		model_end_room(room_in(pool_first()));
		break;
	case ORPHAN_EXITS:
		orphan_exits();
		break;
	case MOUNTS_CHANGE:
		mounted++;
		is_change_reported = false;
		break;
	case PATHS_CHANGE:
	case PATHS_CHANGE_UNTOLD:
		moved++;
		model_tell_watchers(event == PATHS_CHANGE ? IN_CREATE : IN_Q_OVERFLOW);
		break;
	case COVERS_GO:
		covers_go();
		break;
	case COVERS_MOVE:
		covers_move();
		break;
	case NOBODY_CALLS:
		nobody_calls();
		break;
	case HOST_FORKS:
		host_forks();
		break;
	default:
		host_is_killed();
	}
}

static void world_happen(unsigned event)
{
	if (event < BEGINS)
		call_do(&calls[event / DEEDS], event % DEEDS);
	else if (event < POOLED_LOSES_INIT && is_remembering)
		call_find_policy(&calls[(event - BEGINS) / POLICIES]);
	else if (event >= OPENS && event < PATHS_CHANGE_UNTOLD)
		call_open_with_policy(&calls[event - OPENS]);
	else if (event < POOLED_LOSES_INIT)
		call_begin(&calls[(event - BEGINS) / POLICIES], (event - BEGINS) % POLICIES);
	else
		world_do(event);
	if (pool_first() && !timer_is_set(&pool_now()->idle))
		kernel_wrong("a room stays although nobody calls");
}

static const char *world_describe(unsigned event)
{
	static const char *const deeds[] = { "leaves a file", "changes a time", "leaves a process",
		"leaves a process that escapes a listing", "exits", "is closed", "loses its room's init" };
	static const char *const others[] = { "the init of a room that waits is killed",
		"a process that was left exits", "something is mounted outside", "a path leads elsewhere",
		"a hidden file is replaced outside", "a hidden file is moved outside, and there is another",
		"nobody calls for a while", "the host forks, and the fork goes on", "the host is killed",
		"call 1 is opened", "call 2 is opened",
		"a path leads elsewhere, and the kernel has lost events" };
	static char text[80];
	if (event >= POOLED_LOSES_INIT)
		return others[event - POOLED_LOSES_INIT];
	if (event >= BEGINS)
		snprintf(text, sizeof(text), "call %u begins, with policy %u",
			(event - BEGINS) / POLICIES + 1, (event - BEGINS) % POLICIES + 1);
	else
		snprintf(text, sizeof(text), "call %u %s", event / DEEDS + 1, deeds[event % DEEDS]);
	return text;
}

static void sandbox_mix(const struct sandbox *sandbox)
{
	const struct model_room *room = room_in(sandbox);
	const bool flags[] = { room->is_reaped, room->has_init, room->hides, room->has_file,
		room->has_trace, room->is_uncovered, room->is_cover_reported, room->owner == runner,
		room->mounts == mounted, room->paths == moved, sandbox->policy.net == SANDBOX_NET_FULL,
		sandbox->reuse.fingerprint.len };
	for (size_t at = 0; at < COUNT(flags); at++)
		explorer_mix(flags[at]);
	explorer_mix(room->children * 4 + room->orphans);
	explorer_mix(sandbox->reuse.path_record.count);
	explorer_mix(pool_now() ? pool_now()->age - sandbox->reuse.age : 0);
	explorer_mix(name_watch_now() ? name_watch_now()->age - sandbox->reuse.watched : 0);
	explorer_mix(sandbox->reuse.watched > 0);
}

static void hidden_mix(const struct sandbox_policy *policy)
{
	const char *path = policy && policy->hide ? policy->hide[0] : "/xx";
	explorer_mix((unsigned char)path[1] * 256U + (unsigned char)path[2]);
	explorer_mix(policy && policy->watched ? name_watch_now()->age - policy->watched : 99);
}

static void memory_mix(void)
{
	const struct policy_memory *memory = policy_memory_find(&host);
	const struct remembered *item = memory && memory->count ? memory->items[0] : NULL;
	explorer_mix(item ? item->makings + item->patience * 100U + item->is_proven * 50U : 7);
	explorer_mix(item && item->age ? name_watch_now()->age - item->age : 99);
	hidden_mix(item ? &item->policy : NULL);
	for (unsigned i = 0; i < WATCHERS; i++)
		explorer_mix(watchers[i].is_watching + watchers[i].told * 4ULL);
	for (unsigned i = 0; i < CALLS; i++) {
		explorer_mix(calls[i].has_policy + 2U * !calls[i].remembered + calls[i].begun * 4);
		hidden_mix(calls[i].has_policy ? &calls[i].asked : NULL);
	}
}

static void world_mix(void)
{
	for (unsigned i = 0; i < CALLS; i++) {
		explorer_mix(calls[i].has_child + 2U * !calls[i].sandbox);
		if (calls[i].sandbox)
			sandbox_mix(calls[i].sandbox);
	}
	for (const struct sandbox *pooled = pool_first(); pooled; pooled = pooled->reuse.next)
		sandbox_mix(pooled);
	explorer_mix(mounted * 4 + moved);
	explorer_mix((uint64_t)runner * 4 + is_dead * 2U + is_change_reported);
	explorer_mix(have_covers_gone + 2U * have_covers_moved);
	if (is_remembering)
		memory_mix();
}

/* The calls end, and so does the host: no room of its own stays. */
static void world_finish(void)
{
	if (is_wrong)
		return; /* who owns what is not known */
	is_over = is_dead;
	for (unsigned i = 0; i < CALLS; i++) {
		if (calls[i].has_child)
			call_exit(&calls[i]);
		if (calls[i].sandbox)
			call_close(&calls[i]);
		remembered_release(calls[i].remembered);
	}
	for (struct host_guest *guest; (guest = host.guests);) {
		host.guests = guest->next;
		guest->leave(guest);
	}
	for (unsigned i = 0; i < ROOMS && !is_dead; i++)
		if (rooms[i].owner == runner && (rooms[i].has_init || !rooms[i].is_reaped))
			kernel_wrong("a room stays behind its host for ever");
	is_over = true;
	for (struct sandbox *left; !is_dead && !is_wrong && (left = of_the_host);) {
		of_the_host = left->reuse.next;
		sandbox_free(left);
	}
	timers_free(&host.loop.timers);
}

int main(void)
{
	static struct world world = { "rooms that are used again, and what is left in them",
		world_begin, world_can, world_happen, world_describe, world_mix, world_finish };
	int status = explore(&world);
	tells_orphans = true;
	world.name = "rooms that are used again, where the kernel tells of orphans";
	if (!status)
		status = explore(&world);
	if (status)
		return status;
	is_outside = true;
	world.name = "rooms that are used again, and what changes around them";
	status = explore(&world);
	if (status)
		return status;
	is_remembering = true;
	world.name = "policies that are remembered, and what changes around them";
	return explore(&world);
}

/* Policies that a host remembers. One is made, everything that decided it is watched, it is made
 * once more: if it is the same, and nothing has changed since the watching began, it is what would
 * be made as long as nothing changes. */
#include "sandbox/reuse/policy_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/environment.h"
#include "base/macros.h"
#include "base/paths.h"
#include "proc/host.h"
#include "sandbox/reuse/reuse_pool.h"
#include "sandbox/reuse/name_watch.h"

enum {
	REMEMBERED_MAX = 16, /* of a host: different tools, or environments */
	GROUPS_MAX = 64,
	/* To watch takes about as long as to make a policy some times: it has to pay. Who had to be
	 * watched anew before it was used often is watched after twice as many calls the next time. */
	PATIENCE_MIN = 2,
	PATIENCE_MAX = 64,
	USES_THAT_PAY = 32,
};

struct remembered {
	unsigned holders; /* the memory, and who has taken it */
	struct buf cause;
	struct buf made; /* the policy and what it was looked up by, as bytes */
	struct arena arena;
	struct sandbox_policy policy;
	unsigned long age; /* of the watch, since when all of it is watched; 0 = it is not */
	bool is_proven;    /* it was made again since then, and was the same */
	unsigned patience;
	unsigned makings; /* since the last time that it was watched */
	unsigned uses;
};

struct policy_memory {
	struct host_guest guest; /* first: it is found by it */
	perch_host *host;
	struct remembered *items[REMEMBERED_MAX]; /* the one that was asked for last comes first */
	size_t count;
};

/* ---- its life ------------------------------------------------------------------------ */

void remembered_release(struct remembered *remembered)
{
	if (!remembered || --remembered->holders)
		return;
	buf_free(&remembered->cause);
	buf_free(&remembered->made);
	arena_free(&remembered->arena);
	free(remembered);
}

const struct sandbox_policy *remembered_policy(const struct remembered *remembered)
{
	return &remembered->policy;
}

static void policy_memory_forget(struct policy_memory *memory)
{
	while (memory->count)
		remembered_release(memory->items[--memory->count]);
}

static void policy_memory_leave(struct host_guest *guest)
{
	policy_memory_forget((struct policy_memory *)guest);
	free(guest);
}

static struct policy_memory *policy_memory_find(const perch_host *host)
{
	return (struct policy_memory *)host_find_guest(host, policy_memory_leave);
}

static struct policy_memory *policy_memory_of(perch_host *host)
{
	struct policy_memory *memory = policy_memory_find(host);
	if (memory)
		return memory;
	memory = calloc(1, sizeof(*memory));
	if (!memory)
		return NULL;
	memory->guest.leave = policy_memory_leave;
	memory->host = host;
	host_add_guest(host, &memory->guest);
	return memory;
}

void policy_memory_rest(perch_host *host)
{
	struct policy_memory *memory = policy_memory_find(host);
	struct name_watch *watch = memory ? name_watch_of(host) : NULL;
	if (memory)
		policy_memory_forget(memory);
	if (watch)
		name_watch_rest(watch);
}

/* ---- as bytes ---------------------------------------------------------------------------- */

int policy_memory_add_surroundings(struct buf *cause)
{
	gid_t groups[GROUPS_MAX];
	int count = getgroups(GROUPS_MAX, groups);
	if (count < 0)
		return -E2BIG;
	fingerprint_add_number(cause, getuid());
	fingerprint_add_number(cause, geteuid());
	fingerprint_add_number(cause, getegid());
	buf_append(cause, groups, (size_t)count * sizeof(*groups));
	fingerprint_add_list(cause, (const char *const *)environ);
	return cause->failed ? -ENOMEM : 0;
}

/* What two makings have in common, if they are alike. */
static int policy_memory_describe(
	const struct sandbox_policy *policy, const char *const *looked_up, struct buf *made)
{
	fingerprint_add_number(made, policy->leaves_terminal);
	fingerprint_add_text(made, policy->note ? policy->note : "");
	fingerprint_add_text(made, policy->withheld ? policy->withheld : "");
	fingerprint_add_text(made, policy->allow_by ? policy->allow_by : "");
	fingerprint_add_list(made, looked_up);
	return fingerprint_ask(policy, made);
}

static int policy_memory_copy_texts(struct arena *arena, struct sandbox_policy *policy)
{
	const char **const texts[] = { &policy->note, &policy->withheld, &policy->allow_by };
	for (size_t i = 0; i < COUNT(texts); i++) {
		if (*texts[i] && !(*texts[i] = arena_dup(arena, str_from(*texts[i]))))
			return -ENOMEM;
	}
	return 0;
}

static int policy_memory_copy(
	struct arena *arena, const struct sandbox_policy *policy, struct sandbox_policy *ret_copy)
{
	struct sandbox_policy copy = *policy;
	const char *const **const lists[] = { &copy.read, &copy.write, &copy.hide, &copy.reveal,
		&copy.protect, &copy.named, &copy.fixed, &copy.granted };
	for (size_t i = 0; i < COUNT(lists); i++) {
		if (*lists[i] && !(*lists[i] = arena_dup_list(arena, *lists[i])))
			return -ENOMEM;
	}
	if (policy_memory_copy_texts(arena, &copy) < 0)
		return -ENOMEM;
	*ret_copy = copy;
	return 0;
}

/* ---- taking -------------------------------------------------------------------------------- */

/* What has this cause, which becomes the first. */
static struct remembered *policy_memory_look_for(
	struct policy_memory *memory, const struct buf *cause)
{
	for (size_t i = 0; i < memory->count; i++) {
		struct remembered *found = memory->items[i];
		if (!fingerprint_is_same(&found->cause, cause))
			continue;
		memmove(memory->items + 1, memory->items, i * sizeof(*memory->items));
		return memory->items[0] = found;
	}
	return NULL;
}

static unsigned long policy_memory_age(const struct policy_memory *memory)
{
	struct name_watch *watch = name_watch_of(memory->host);
	unsigned long mounts = reuse_pool_age(memory->host);
	return watch && mounts ? name_watch_age(watch, mounts) : 0;
}

struct remembered *policy_memory_take(perch_host *host, const struct buf *cause)
{
	struct policy_memory *memory = policy_memory_find(host);
	struct remembered *found = memory ? policy_memory_look_for(memory, cause) : NULL;
	if (!found || !found->is_proven || found->age != policy_memory_age(memory))
		return NULL;
	found->uses++;
	found->holders++;
	return found;
}

/* ---- noting -------------------------------------------------------------------------------- */

static struct remembered *policy_memory_begin(struct policy_memory *memory, const struct buf *cause)
{
	struct remembered *begun = calloc(1, sizeof(*begun));
	if (!begun)
		return NULL;
	begun->holders = 1;
	begun->patience = PATIENCE_MIN;
	if (buf_append(&begun->cause, cause->data, cause->len) < 0) {
		remembered_release(begun);
		return NULL;
	}
	if (memory->count == REMEMBERED_MAX)
		remembered_release(memory->items[--memory->count]);
	memmove(memory->items + 1, memory->items, memory->count * sizeof(*memory->items));
	memory->count++;
	return memory->items[0] = begun;
}

static bool policy_memory_watch(
	struct name_watch *watch, const struct sandbox_policy *policy, const char *const *looked_up)
{
	_cleanup_free_ char *scratch = scratch_parent();
	const char *const own[] = { scratch, NULL };
	const char *const *const lists[] = { own, sandbox_devices, policy_shared, looked_up,
		policy->read, policy->hide, policy->reveal };
	bool is_watched = scratch && name_watch_add_contents(watch, PATHS_ACCOUNTS);
	for (size_t i = 0; i < COUNT(lists); i++) {
		for (const char *const *path = lists[i]; is_watched && path && *path; path++)
			is_watched = name_watch_add(watch, *path);
	}
	return is_watched;
}

/* From now on all of it is watched. Who holds the old one may have it: this is another. */
static struct remembered *policy_memory_renew(struct policy_memory *memory, struct remembered *old,
	const struct sandbox_policy *policy, struct buf *made)
{
	struct remembered *renewed = calloc(1, sizeof(*renewed));
	if (!renewed)
		return NULL;
	renewed->holders = 1;
	if (buf_append(&renewed->cause, old->cause.data, old->cause.len) < 0 ||
		policy_memory_copy(&renewed->arena, policy, &renewed->policy) < 0) {
		remembered_release(renewed);
		return NULL;
	}
	renewed->made = *made;
	*made = (struct buf){ 0 };
	renewed->patience = old->patience;
	remembered_release(old);
	return memory->items[0] = renewed;
}

/* Whether it has been made often enough to be watched (again). */
static bool policy_memory_is_worth_it(struct remembered *remembered)
{
	if (++remembered->makings < remembered->patience)
		return false;
	bool has_paid = remembered->uses >= USES_THAT_PAY;
	unsigned twice = remembered->patience * 2;
	remembered->patience = has_paid ? PATIENCE_MIN : twice < PATIENCE_MAX ? twice : PATIENCE_MAX;
	remembered->makings = remembered->uses = 0;
	return true;
}

static void policy_memory_begin_watching(struct policy_memory *memory, struct remembered *found,
	struct sandbox_policy *policy, const char *const *looked_up, struct buf *made)
{
	struct name_watch *watch = name_watch_of(memory->host);
	unsigned long age = policy_memory_age(memory);
	if (!watch || !age || !policy_memory_watch(watch, policy, looked_up))
		return;
	struct remembered *renewed = policy_memory_renew(memory, found, policy, made);
	if (renewed)
		renewed->age = renewed->policy.watched = policy->watched = age;
}

/* What may be written decides what git would execute: that is looked for every time. */
static bool policy_memory_is_simple(const struct sandbox_policy *policy)
{
	return policy->may_be_used_again && !(policy->write && policy->write[0]) &&
		!(policy->protect && policy->protect[0]);
}

struct remembered *policy_memory_consider(
	perch_host *host, const struct buf *cause, const struct sandbox_policy *policy)
{
	if (host->runs_once || !policy_memory_is_simple(policy))
		return NULL;
	struct policy_memory *memory = policy_memory_of(host);
	struct remembered *found = memory ? policy_memory_look_for(memory, cause) : NULL;
	if (memory && !found)
		found = policy_memory_begin(memory, cause);
	if (!found)
		return NULL;
	bool is_watched = found->age && found->age == policy_memory_age(memory);
	return is_watched || policy_memory_is_worth_it(found) ? found : NULL;
}

void policy_memory_note(perch_host *host, struct remembered *considered,
	struct sandbox_policy *policy, const char *const *looked_up)
{
	_cleanup_(buf_free) struct buf made = { 0 };
	struct policy_memory *memory = policy_memory_of(host);
	if (!memory || policy_memory_describe(policy, looked_up, &made) < 0)
		return;
	bool is_watched = considered->age && considered->age == policy_memory_age(memory);
	if (!is_watched) {
		policy_memory_begin_watching(memory, considered, policy, looked_up, &made);
	} else if (fingerprint_is_same(&considered->made, &made)) {
		considered->is_proven = true;
		policy->watched = considered->age;
	} else {
		considered->age = 0; /* it was changing while the watching began */
	}
}

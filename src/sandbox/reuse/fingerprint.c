/* Everything that decides how a sandbox is made, as bytes. */
#include "sandbox/reuse/reuse_pool.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/layers/landlock.h"

void fingerprint_add_number(struct buf *out, uint64_t number)
{
	buf_append(out, &number, sizeof(number));
}

void fingerprint_add_text(struct buf *out, const char *text)
{
	buf_append(out, text, strlen(text) + 1);
}

void fingerprint_add_identity(struct buf *out, const struct stat *info)
{
	fingerprint_add_number(out, info->st_dev);
	fingerprint_add_number(out, info->st_ino);
}

/* ---- what it is made from ---------------------------------------------------- */

/* Our user, the tree that our paths are in, the variables of the environment: a program can change
 * them all. reuse_pool.c notices whether this is another process by now, or among other mounts. */
static void fingerprint_add_surroundings(struct buf *out)
{
	_cleanup_free_ char *scratch = scratch_parent();
	struct stat root = { 0 };
	stat("/", &root);
	fingerprint_add_identity(out, &root);
	fingerprint_add_number(out, geteuid());
	fingerprint_add_number(out, getegid());
	fingerprint_add_number(out, (uint64_t)landlock_abi());
	fingerprint_add_number(out, sandbox_has_room_off());
	fingerprint_add_text(out, scratch ? scratch : "");
	out->failed |= !scratch;
}

static void fingerprint_add_policy(struct buf *out, const struct sandbox_policy *policy)
{
	const uint64_t numbers[] = {
		policy->reads_everything,
		policy->net,
		policy->has_unix_sockets,
		policy->has_private_tmp,
		policy->leaves_terminal,
		policy->shares_group,
		policy->refuses_unsupported,
		policy->is_alone,
		policy->is_strict,
		policy->limits.memory,
		policy->limits.processes,
		policy->limits.files,
		policy->limits.size,
		policy->limits.cpu,
	};
	buf_append(out, numbers, sizeof(numbers));
}

void fingerprint_add_list(struct buf *out, const char *const *list)
{
	for (; list && *list; list++)
		fingerprint_add_text(out, *list);
	fingerprint_add_text(out, "");
}

/* With which paths exist: that is looked up once, when a room is made. */
static void fingerprint_add_protected(struct buf *out, const char *const *list)
{
	for (; list && *list; list++) {
		struct stat info = { 0 };
		lstat(*list, &info);
		fingerprint_add_text(out, *list);
		fingerprint_add_identity(out, &info);
	}
	fingerprint_add_text(out, "");
}

int fingerprint_ask(const struct sandbox_policy *policy, struct buf *asked)
{
	fingerprint_add_surroundings(asked);
	fingerprint_add_policy(asked, policy);
	fingerprint_add_list(asked, policy->read);
	fingerprint_add_list(asked, policy->write);
	fingerprint_add_list(asked, policy->hide);
	fingerprint_add_list(asked, policy->reveal);
	fingerprint_add_protected(asked, policy->protect);
	fingerprint_add_list(asked, policy->named);
	fingerprint_add_list(asked, policy->fixed);
	fingerprint_add_list(asked, policy->granted);
	return asked->failed ? -ENOMEM : 0;
}

/* A hidden path may be another file than it was: the picture shows that it is hidden. */
static void fingerprint_add_view(struct buf *out, const struct view *view)
{
	for (size_t i = 0; i < view->count; i++) {
		const struct view_entry *entry = &view->entries[i];
		struct stat info = { 0 };
		if (entry->access != ACCESS_NONE)
			fstat(entry->fd, &info);
		fingerprint_add_text(out, entry->path);
		fingerprint_add_number(out, entry->access);
		fingerprint_add_number(out, entry->fd >= 0);
		fingerprint_add_identity(out, &info);
	}
}

static void fingerprint_add_mounts(struct buf *out, const struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++) {
		fingerprint_add_text(out, mounts->items[i].path);
		fingerprint_add_number(out, mounts->items[i].kind);
		fingerprint_add_number(out, mounts->items[i].size);
	}
}

int fingerprint_make(const struct sandbox *sandbox, struct buf *fingerprint)
{
	fingerprint_add_surroundings(fingerprint);
	fingerprint_add_policy(fingerprint, &sandbox->policy);
	fingerprint_add_view(fingerprint, &sandbox->view);
	fingerprint_add_mounts(fingerprint, &sandbox->finding.mounts);
	fingerprint_add_protected(fingerprint, sandbox->policy.protect);
	return fingerprint->failed ? -ENOMEM : 0;
}

bool fingerprint_is_same(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

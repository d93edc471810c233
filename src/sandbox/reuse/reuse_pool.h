/* Sandboxes between two runs: making a room and taking it down costs more than starting a program
 * in it. So a host pools a sandbox that was left as new, for a while, and gives it to the next run
 * that would get just the same. */
#ifndef SANDBOX_REUSE_REUSE_POOL_H
#define SANDBOX_REUSE_REUSE_POOL_H

#include "base/buf.h"
#include "proc/room.h"
#include "sandbox/sandbox_parts.h"

/* A pooled sandbox for an equal policy of the same process, if the file tree has not changed since:
 * then no path needs to be looked up. NULL = there is none. */
struct sandbox *reuse_pool_take_known(struct sandbox *wanted);

/* To be asked next, when `wanted` has looked up its paths: a pooled sandbox that is just what
 * `wanted` would be. NULL = there is none: then the fingerprint of `wanted` is noted. */
struct sandbox *reuse_pool_take_alike(struct sandbox *wanted);

/* Notes what the room of a new sandbox looks like, so that it can be pooled later. */
void reuse_pool_note_new(struct sandbox *sandbox);

/* Whether the pool took it; else the caller frees it. */
bool reuse_pool_put(struct sandbox *sandbox);

/* As long as this number is the same, nothing was mounted outside, and we see the same mounts. 0 =
 * that cannot be told. */
unsigned long reuse_pool_age(perch_host *host);

/* Frees the notes. */
void reuse_pool_forget(struct sandbox *sandbox);

/* ---- fingerprint.c: sandboxes as bytes that can be compared -------------------- */

/* Of a policy: all that it says, and the process that asks. Returns 0 or -ENOMEM. */
int fingerprint_ask(const struct sandbox_policy *policy, struct buf *asked);

/* Of a sandbox that has looked up its paths, made or not: everything that decides how it would be
 * made now. Returns 0 or -ENOMEM. */
int fingerprint_make(const struct sandbox *sandbox, struct buf *fingerprint);

bool fingerprint_is_same(const struct buf *a, const struct buf *b);

void fingerprint_add_number(struct buf *out, uint64_t number);
void fingerprint_add_text(struct buf *out, const char *text);
void fingerprint_add_list(struct buf *out, const char *const *list);
void fingerprint_add_identity(struct buf *out, const struct stat *info);

/* ---- picture.c: what a room looks like ------------------------------------------ */

/* Of a new room, which shows these mounts. Returns 0 or -ENOMEM. */
int picture_take(struct picture *picture, const struct room *room, const struct mounts *mounts);

/* Whether hidden paths are still hidden, and nothing was left in the room's own directories.
 * `may_have_moved`: the paths may lead to other files than when the room was made. */
bool picture_is_same(const struct picture *picture, const struct room *room,
	const struct mounts *mounts, bool may_have_moved);

void picture_free(struct picture *picture);

#endif

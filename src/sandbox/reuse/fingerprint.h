/* Two sandboxes that are alike do the same, as bytes that can be compared: what a sandbox is
 * made from, and what its room looks like from inside. */
#ifndef SANDBOX_REUSE_FINGERPRINT_H
#define SANDBOX_REUSE_FINGERPRINT_H

#include "base/buf.h"
#include "sandbox/sandbox_parts.h"

/* Of a policy: all that it says, and who is asking. Returns 0 or -ENOMEM. */
int fingerprint_ask(const struct sandbox_policy *policy, struct buf *asked);

/* Of a sandbox that has looked, whether it was made or not: everything that decides how it
 * would be made now. Returns 0 or -ENOMEM. */
int fingerprint_make(const struct sandbox *sandbox, struct buf *fingerprint);

/* What is to be seen in the room (`root` is its root directory) where these mounts are: that
 * what was hidden still is, and that nobody has left anything in what is temporary. Returns 0
 * or -ENOMEM. */
int fingerprint_picture(int root, const struct mounts *mounts, struct buf *picture);

bool fingerprint_is_same(const struct buf *a, const struct buf *b);

#endif

/* Two sandboxes that are alike do the same, as bytes that can be compared: what a sandbox is
 * made from, and what its room looks like from inside. */
#ifndef SANDBOX_LIKENESS_H
#define SANDBOX_LIKENESS_H

#include "base/buf.h"
#include "sandbox/sandbox_parts.h"

/* Of a policy: all that it says, and who is asking. Returns 0 or -ENOMEM. */
int likeness_ask(const struct sandbox_policy *policy, struct buf *asked);

/* Of a sandbox that has looked, whether it was made or not: everything that decides how it
 * would be made now. Returns 0 or -ENOMEM. */
int likeness_make(const struct sandbox *sandbox, struct buf *likeness);

/* What is to be seen in the room (`root` is its root directory) where these mounts are: that
 * what was hidden still is, and that nobody has left anything in what is temporary. Returns 0
 * or -ENOMEM. */
int likeness_picture(int root, const struct mounts *mounts, struct buf *picture);

bool likeness_is_same(const struct buf *a, const struct buf *b);

#endif

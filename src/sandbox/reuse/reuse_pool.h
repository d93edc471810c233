/* Sandboxes between two runs: making a room and taking it down costs more than the start of
 * what runs in it. So one that was left as new is kept by its host, for a while, and given to
 * the next run that would get just the same. */
#ifndef SANDBOX_REUSE_REUSE_POOL_H
#define SANDBOX_REUSE_REUSE_POOL_H

#include "sandbox/sandbox_parts.h"

/* A kept one for whoever asks what somebody has asked before, if nothing has changed since
 * then in the file tree: nothing needs to be looked up. NULL = there is none. */
struct sandbox *reuse_pool_take_known(struct sandbox *wanted);

/* Behind that, one that is just as `wanted`, which has looked by now, would be; NULL = there is
 * none: then it is noted what `wanted` will be made from. */
struct sandbox *reuse_pool_take_alike(struct sandbox *wanted);

/* Notes what its room is like, behind its making: so that it can be kept. */
void reuse_pool_note_new(struct sandbox *sandbox);

/* Whether it was kept; else the caller takes it down. */
bool reuse_pool_put(struct sandbox *sandbox);

/* Frees what was noted. */
void reuse_pool_forget(struct sandbox *sandbox);

#endif

/* Compares what was approved with what a manifest asks for now. A plugin may change its own
 * manifest (a live link), or another program may: what it asks for beyond the approval must not
 * take effect by itself. */
#ifndef REGISTRY_APPROVAL_H
#define REGISTRY_APPROVAL_H

#include "registry/grants.h"
#include "registry/manifest.h"

/* What a user approves by saying yes to this manifest. Lives in the arena. -ENOMEM. */
int approval_of(
	const struct manifest *manifest, struct arena *arena, struct grant_approval *ret_approval);

/* Whether the manifest is the one that was approved, to the byte. */
bool approval_is_same(const struct grant_approval *approval, const struct manifest *manifest);

enum { APPROVAL_EXCESS_MAX = 400 };

/* What the manifest asks for that was not approved, in words: "it wants exec, network; it has the
 * hook pre_push"; "" for nothing. manifest NULL = there is none any more. */
void approval_excess(const struct grant_approval *approval, const struct manifest *manifest,
	char ret_words[APPROVAL_EXCESS_MAX]);

#endif

/* What was approved against what a manifest says now. A plugin may change its
 * own manifest (a live link), or be changed by others: what it asks for beyond
 * what was approved must not take effect by itself. */
#ifndef REGISTRY_APPROVAL_H
#define REGISTRY_APPROVAL_H

#include "registry/grants.h"
#include "registry/manifest.h"

/* What is approved by whoever says yes to this manifest. Lives in the arena.
 * -ENOMEM. */
int approval_of(
	const struct manifest *manifest, struct arena *arena, struct grant_approval *ret_approval);

/* Whether the manifest is the one that was approved, to the byte. */
bool approval_is_same(const struct grant_approval *approval, const struct manifest *manifest);

enum { APPROVAL_EXCESS_MAX = 400 };

/* In words, what the manifest asks for that was not approved: "it wants exec,
 * network; it has the hook pre_push"; "" for nothing. manifest NULL = there is
 * none any more. */
void approval_excess(const struct grant_approval *approval, const struct manifest *manifest,
	char ret_words[APPROVAL_EXCESS_MAX]);

/* The words for wishes, as they stand in an approval: at most WISHES_MAX and a
 * NULL; constants. */
enum { WISHES_MAX = 6 };
void wishes_words(const struct capabilities *wishes, const char *ret_words[WISHES_MAX + 1]);

/* What is in force: what was granted, narrowed by what the manifest says about
 * files, and whether it says anything about the network: a wish for it that was
 * not granted, and `network = false`, mean none. */
struct capabilities capabilities_in_force(
	const struct capabilities *granted, const struct capabilities *wishes);

#endif

/* What a user allows by name: where links are on its way. A name says what it says, and not what
 * somebody has made of it since: who may write in a project may put a link there. */
#ifndef SANDBOX_POLICY_NAMED_PATHS_H
#define SANDBOX_POLICY_NAMED_PATHS_H

#include "perch/base.h"
#include "sandbox/policy/policy.h"
#include "sandbox/layers/view.h"

/* The entries of a view, which is not sorted yet, that hide what the policy hides. */
struct named_hidden {
	size_t first;
	size_t end;
};

/* Adds a path of the policy. One that was resolved when it was allowed must not meet a link now;
 * one that leads to something hidden must name that. -ELOOP with words, or as view_add. */
int named_add(struct view *view, const struct sandbox_policy *policy, struct named_hidden hidden,
	const char *path, enum access access, perch_err *err);

/* Of a sorted view: none of the links on the way to what was named may lie where the sandbox
 * writes. -ELOOP with words. */
int named_check(const struct view *view, const struct sandbox_policy *policy, perch_err *err);

#endif

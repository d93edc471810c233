/* Policies that a host remembers from one call to the next. To make the policy of a tool takes a
 * hundred looks at files; a host that makes the same again and again watches what decides it
 * instead (name_watch.h). */
#ifndef SANDBOX_REUSE_POLICY_MEMORY_H
#define SANDBOX_REUSE_POLICY_MEMORY_H

#include "base/buf.h"
#include "perch/host.h"
#include "sandbox/policy/policy.h"

struct remembered;

/* Appends what decides a policy beside files and the caller's own data: our user and groups, and
 * the environment. Returns 0, -ENOMEM, or -E2BIG: too much to be compared. */
int policy_memory_add_surroundings(struct buf *cause);

/* What was made for this cause before and would be made just so again: nothing has changed since.
 * The caller releases it. NULL: it has to be made. */
struct remembered *policy_memory_take(perch_host *host, const struct buf *cause);

/* Valid until it is released. */
const struct sandbox_policy *remembered_policy(const struct remembered *remembered);
void remembered_release(struct remembered *remembered);

/* A policy was made for this cause just now. NULL: it need not be noted, because it was not made
 * often enough, or is looked for every time. */
struct remembered *policy_memory_consider(
	perch_host *host, const struct buf *cause, const struct sandbox_policy *policy);

/* Notes what was considered, at once. `looked_up` are the paths that decided it beside its own,
 * whether they exist or not. A sandbox for it is opened after this. */
void policy_memory_note(perch_host *host, struct remembered *considered,
	struct sandbox_policy *policy, const char *const *looked_up);

/* Nobody has called for a while. */
void policy_memory_rest(perch_host *host);

#endif

/* Which layers of a sandbox are in force on this machine, for commands that show a sandbox without
 * running anything in it. */
#ifndef CLI_UI_LAYERS_IN_FORCE_H
#define CLI_UI_LAYERS_IN_FORCE_H

#include "base/arena.h"
#include "perch/json.h"
#include "sandbox/sandbox.h"

/* Lists end with NULL and live in the arena. */
struct in_force {
	const char *const *layers;
	const char *const *missing; /* what is asked for and not enforced, one sentence each */
	const char *problem;        /* why there could be none at all; NULL = nothing */
};

/* Makes a sandbox of that policy, looks at it and takes it down again. NULL = there is no
 * policy: nothing is in force. -ENOMEM. */
int in_force_find(
	const struct sandbox_policy *policy, struct arena *arena, struct in_force *ret_in_force);

/* The same, and calls `visit` (may be NULL) while it stands. */
typedef void in_force_visitor(void *data, perch_host *host, const struct sandbox *sandbox);
int in_force_visit(const struct sandbox_policy *policy, in_force_visitor *visit, void *data,
	struct arena *arena, struct in_force *ret_in_force);

/* The same where there is not even a policy. -ENOMEM. */
int in_force_problem(const char *problem, struct arena *arena, struct in_force *ret_in_force);

/* Members of an object: "layers", "not_enforced", "sandbox_problem". */
void in_force_write(perch_json_writer *writer, const struct in_force *in_force);

#endif

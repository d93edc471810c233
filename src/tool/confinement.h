/* What a tool is confined to: the default policy of tools, widened by its
 * binding. */
#ifndef TOOL_CONFINEMENT_H
#define TOOL_CONFINEMENT_H

#include "sandbox/sandbox.h"
#include "tool/binding.h"

/* Makes the sandbox of one process; *ret_sandbox is NULL where the binding
 * switches it off, or nothing is enforced. Fails as sandbox_open and
 * policy_widen do. */
int tool_confinement_open(perch_host *host, const struct tool_binding *binding, struct arena *arena,
	struct sandbox **ret_sandbox, perch_err *err);

#endif

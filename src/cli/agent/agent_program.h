/* Whether the program of an agent could be run. */
#ifndef CLI_AGENT_AGENT_PROGRAM_H
#define CLI_AGENT_AGENT_PROGRAM_H

#include "perch/host.h"
#include "sandbox/sandbox.h"

/* Whether the program of an agent could be run, without running it. Looks at the file and at its
 * interpreter. Fails in the words of a start that fails. */
int agent_program_check(const char *path, perch_err *err);

/* The same for what is seen of them in a sandbox, from the directory `cwd` (NULL = ours), after
 * the function above; widen_by is the command that shows more, see agent/profile.h. */
int agent_program_check_inside(perch_host *host, const struct sandbox *sandbox, const char *path,
	const char *cwd, const char *widen_by, perch_err *err);

#endif

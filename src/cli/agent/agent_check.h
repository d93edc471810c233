/* What `perch agent check` knows of a profile: how its agent would be started. */
#ifndef CLI_AGENT_AGENT_CHECK_H
#define CLI_AGENT_AGENT_CHECK_H

#include "agent/agent_launch.h"
#include "cli/agent/agent_commands.h"
#include "cli/ui/layers_in_force.h"

/* ---- agent_needs.c ------------------------------------------------------------- */

/* Whether the script that its command runs is there, as in `python3 {{PROFILE_DIR}}/bot.py`.
 * -ENOENT: err says which is not; -ENOMEM. */
int agent_needs_script(const struct launch *launch, perch_err *err);

/* ---- agent_program.c ---------------------------------------------------------------- */

/* Whether the program of an agent could be run, without running it: looks at the file and at its
 * interpreter. Fails in the words of a start that fails. */
int agent_program_check(const char *path, perch_err *err);

/* The same as seen from inside of its sandbox, in the directory `cwd` (NULL = ours). To be called
 * after the function above; widen_by is the command that allows more, see agent/profile.h. */
int agent_program_check_inside(perch_host *host, const struct sandbox *sandbox, const char *path,
	const char *cwd, const char *widen_by, perch_err *err);

/* ---- agent_check_print.c ------------------------------------------------------- */

/* Everything that is known of a profile. */
struct checkup {
	const struct cli *cli;
	const char *protocol; /* NULL = the profile's */
	const char *cwd;      /* the same */
	struct arena arena;
	struct agent_profile profile;
	struct agent_turn_options options;
	struct launch launch;
	struct in_force in_force; /* of its sandbox */
	bool has_directory;       /* its cwd is there */
	char *program;            /* where it is; NULL = not found */
	perch_err problem;        /* what keeps it from starting; code 0 = nothing */
	struct buf warnings;      /* each ends with '\n' */
};

void agent_check_print_for_people(const struct checkup *checkup);
int agent_check_print_json(const struct checkup *checkup);

/* A profile that cannot be used at all. */
void agent_check_tell_failure(const struct cli *cli, const char *path, const perch_err *err);

#endif

/* The subcommands of `perch sandbox`, and how the options of `run` become a policy. */
#ifndef CLI_SANDBOX_SANDBOX_COMMANDS_H
#define CLI_SANDBOX_SANDBOX_COMMANDS_H

#include "base/arena.h"
#include "cli/cli.h"
#include "sandbox/policy/policy.h"

struct sandbox_request {
	const char *policy_name; /* "fledge", "tool" */
	struct option_list read;
	struct option_list write;
	struct option_list hide;
	struct option_list env;
	struct option_list presets;
	struct option_list limits;
	const char *net;
	const char *on_unsupported; /* "refuse", "warn"; NULL = as the policy has it */
	bool is_strict;
	bool explain;
};

/* Makes the policy: the default of its name, for the current directory and the
 * program, and what was asked for beyond it. `widening` points into the request and
 * the arena. Returns 0, or an exit code after an error message. */
int sandbox_request_policy(const struct sandbox_request *request, const char *program,
	struct arena *arena, struct sandbox_policy *ret_policy, struct policy_widening *ret_widening);

extern const struct command sandbox_run;

#endif

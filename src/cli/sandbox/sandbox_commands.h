/* The subcommands of `perch sandbox`, and how the words of `run` become a policy. */
#ifndef CLI_SANDBOX_SANDBOX_COMMANDS_H
#define CLI_SANDBOX_SANDBOX_COMMANDS_H

#include "cli/cli.h"
#include "perch/sandbox.h"

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

/* Fills in what the words ask for; lists are the request's. Returns 0, or an exit code after an
 * error message. */
int sandbox_request_options(struct sandbox_request *request, perch_sandbox_options *options);

extern const struct command sandbox_run;

#endif

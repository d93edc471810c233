/* The perch command: the table of what it can do. The names `fledge` and `agentproc` are other
 * command lines for the same program. */
#include <string.h>

#include "cli/cli.h"

/* A command that is a program of its own, which has its options, its help and its completions.
 * */
#define COMPANION_OF(word, file, purpose, text)                                                \
	&(const struct command)                                                                    \
	{                                                                                          \
		.name = word, .summary = text, .group = purpose, .program = file, .run = companion_run \
	}
#define COMPANION(word, purpose, text) COMPANION_OF(word, "perch-" word, purpose, text)

/* All commands. `perch help` sorts them by group and keeps this order within a group. */
const struct command *const command_table[] = {
	&command_tour,
	&command_help,
	&command_run,
	&command_plugins,
	&command_plugin,
	&command_tool,
	&command_mcp,
	&command_agent,
	&command_sandbox,
	&command_trace,
	COMPANION("acp", GROUP_AGENTS, "offer an agent to an editor (ACP)"),
	COMPANION("serve", GROUP_TOOLS, "offer agents, tools and plugins over HTTP"),
	COMPANION_OF("token", "perch-serve", GROUP_TOOLS, "tokens for perch serve"),
	COMPANION("worker", GROUP_TOOLS, "run jobs of a queue that several machines share"),
	COMPANION_OF("queue", "perch-worker", GROUP_TOOLS, "see to that queue"),
	COMPANION("conformance", GROUP_LOOK, "check a host, or a plugin, against the contracts"),
	&command_doctor,
	&command_completions,
	&command_complete,
	NULL,
};

/* Called as `fledge`: a few commands of its own, every other word is a plugin's command. */
static int main_run_as_fledge(struct cli *cli, int argc, char **argv)
{
	if (strcmp(argv[0], "plugins") == 0 || strcmp(argv[0], "plugin") == 0)
		return cli_plugins(cli, argc, argv);
	if (strcmp(argv[0], "help") == 0)
		return cli_help(cli, argc, argv);
	if (strcmp(argv[0], "doctor") == 0 && !cli_is_plugin_command(argv[0]))
		return command_doctor.run(cli, argc, argv);
	return cli_run_plugin(cli, argc, argv);
}

static bool main_is_called(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	return strcmp(slash ? slash + 1 : path, name) == 0;
}

int main(int argc, char **argv)
{
	struct cli cli = { .is_fledge = argc > 0 && main_is_called(argv[0], "fledge") };
	cli_program_begin();
	if (argc > 0 && main_is_called(argv[0], "agentproc"))
		return cli_program_finish(cli_agentproc(argc, argv));
	return cli_program_finish(cli_program_run(
		&cli, argc, argv, cli.is_fledge ? main_run_as_fledge : cli_program_run_command));
}

/* perch agent: its subcommands. */
#include "cli/agent.h"

#include <string.h>

/* In the order of the help. */
static const struct command *const subcommands[] = {
	&agent_run_command,
	&agent_check_command,
	&agent_chat_command,
	&agent_serve_command,
	&agent_sessions_command,
	&agent_allow_command,
	&agent_revoke_command,
};

enum { SUBCOMMANDS = sizeof(subcommands) / sizeof(subcommands[0]) };

static const char *subcommand_name(const void *data, size_t i)
{
	(void)data;
	return i < SUBCOMMANDS ? subcommands[i]->name : NULL;
}

static int refuse_unknown(const char *name)
{
	const char *near = cli_nearest(name, subcommand_name, NULL);
	char hint[128];
	snprintf(hint, sizeof(hint), "did you mean: perch agent %s", near ? near : "");
	return cli_usage_error(near ? hint : "see: perch help agent", "agent has no '%s'", name);
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < SUBCOMMANDS; i++) {
		if (strcmp(subcommands[i]->name, name) == 0)
			return subcommands[i];
	}
	return NULL;
}

static bool asks_for_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int cli_agent(struct cli *cli, int argc, char **argv)
{
	int at = 1;
	int r = cli_read_globals(cli, argc, argv, &at);
	if (r)
		return r;
	if (at >= argc)
		return cli_usage_error("see: perch help agent", "agent what?");
	const struct command *command = find(argv[at]);
	if (!command)
		return refuse_unknown(argv[at]);
	if (at + 1 < argc && asks_for_help(argv[at + 1]))
		return fputs(command->help, stdout) < 0;
	return command->run(cli, argc - at, argv + at);
}

const struct command command_agent = {
	.name = "agent",
	.summary = "talk to an agent, or look at its profile",
	.help = "usage: perch agent WORD …\n"
			"\n"
			"Hosts agents: any program that takes a message and writes its reply to stdout.\n"
			"A profile, a small YAML file, says how it is started.\n"
			"\n"
			"  run       one turn: a message in, the reply out\n"
			"  chat      a conversation in the terminal\n"
			"  check     look at a profile: what would be started, and what is missing\n"
			"  serve     many turns at once: lines of JSON in, events out\n"
			"  sessions  list, show or remove what is stored\n"
			"  allow     give a sandboxed agent more than its profile does, or a sandbox\n"
			"  revoke    take that back\n"
			"\n"
			"perch agent WORD --help explains one of them.\n"
			"\n"
			"example:\n"
			"  perch agent run --profile bot.yaml --prompt 'What is new?'\n",
	.run = cli_agent,
};

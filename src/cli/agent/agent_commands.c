/* perch agent: its subcommands. */
#include "cli/agent/agent_commands.h"

/* In the order of the help. */
static const struct command *const subcommands[] = {
	&agent_run_command,
	&agent_check_command,
	&agent_chat_command,
	&agent_list_command,
	&agent_create_command,
	&agent_add_command,
	&agent_remove_command,
	&agent_serve_command,
	&agent_sessions_command,
	&agent_allow_command,
	&agent_revoke_command,
	NULL,
};

const struct command command_agent = {
	.name = "agent",
	.summary = "talk to an agent, or look at its profile",
	.group = GROUP_AGENTS,
	.help = "usage: perch agent WORD …\n"
			"\n"
			"Hosts agents: any program that takes a message and writes its reply to stdout.\n"
			"A profile, a small YAML file, says how it is started.\n"
			"\n",
	.example = "perch agent run --profile bot.yaml --prompt 'What is new?'",
	.subcommands = subcommands,
};

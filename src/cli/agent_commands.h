/* The commands below `perch agent` that live in files of their own. argv[0] is the
 * command's name. */
#ifndef CLI_AGENT_COMMANDS_H
#define CLI_AGENT_COMMANDS_H

#include "cli/cli.h"

int cli_agent_serve(struct cli *cli, int argc, char **argv);
int cli_agent_chat(struct cli *cli, int argc, char **argv);
int cli_agent_sessions(struct cli *cli, int argc, char **argv);

/* Called by the name agentproc: argv[0] is that. */
int cli_agentproc(int argc, char **argv);

#endif

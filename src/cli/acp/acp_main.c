/* perch-acp, the companion: `perch acp`. */
#include "cli/cli.h"

const struct command *const command_table[] = {
	&command_acp,
	&command_help,
	&command_complete,
	NULL,
};

int main(int argc, char **argv)
{
	return cli_program_companion(argc, argv);
}

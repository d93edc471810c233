/* perch-serve, the companion: `perch serve` and `perch token`. */
#include "cli/cli.h"

const struct command *const command_table[] = {
	&command_serve,
	&command_token,
	&command_help,
	&command_complete,
	NULL,
};

int main(int argc, char **argv)
{
	return cli_program_companion(argc, argv);
}

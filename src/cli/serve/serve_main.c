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
	struct cli cli = { 0 };
	cli_program_begin();
	return cli_program_finish(cli_program_run(&cli, argc, argv, cli_program_run_command));
}

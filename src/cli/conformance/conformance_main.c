/* perch-conformance, the companion: `perch conformance`, and the actor that it has hosts start. */
#include "cli/cli.h"

const struct command *const command_table[] = {
	&command_conformance,
	&command_actor,
	&command_help,
	&command_complete,
	NULL,
};

int main(int argc, char **argv)
{
	struct cli cli = { 0 };
	program_begin();
	return program_finish(program_run(&cli, argc, argv, program_run_command));
}

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
	return cli_program_companion(argc, argv);
}

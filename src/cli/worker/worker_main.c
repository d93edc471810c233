/* perch-worker, the companion: `perch worker` and `perch queue`. */
#include "cli/cli.h"

const struct command *const command_table[] = {
	&command_worker,
	&command_queue,
	&command_help,
	&command_complete,
	NULL,
};

int main(int argc, char **argv)
{
	return cli_program_companion(argc, argv);
}

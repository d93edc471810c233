/* perch __actor DIRECTORY CASE ARGV…: the program that the conformance kit has a host start. */
#include "conformance/actor.h"

#include "cli/cli.h"

static int conformance_actor_cli_actor(struct cli *cli, int argc, char **argv)
{
	(void)cli;
	if (argc < 4)
		return cli_usage_error(NULL, "__actor is started by perch conformance");
	return actor_play(argv[1], argv[2], argv + 3);
}

const struct command command_actor = { .name = "__actor", .run = conformance_actor_cli_actor };

/* Companions: commands too heavy for the core, each a program of its own beside perch-guard. perch
 * executes it with the same arguments: only the companion knows its own options. */
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "cli/cli.h"

static int companion_refuse(const struct command *command, const char *path, int error)
{
	char hint[PATH_MAX + 128];
	if (error != -ENOENT) {
		cli_error(
			NULL, "perch %s cannot be started: %s: %s", command->name, path, perch_strerror(error));
		return exit_status_of_failed_start(error);
	}
	snprintf(hint, sizeof(hint), "the package %s has it; its place is %s", command->program, path);
	cli_error(hint, "perch %s is a program of its own, and it is not installed", command->name);
	return EXIT_NOT_FOUND;
}

int companion_become(const struct cli *cli, const struct command *command)
{
	char path[PATH_MAX];
	int r = installed_path(INSTALLED_PROGRAMS, command->program, path);
	if (r < 0)
		snprintf(path, sizeof(path), "%s", command->program);
	fflush(stdout);
	if (r == 0 && execv(path, cli->words) < 0)
		r = -errno;
	return companion_refuse(command, path, r);
}

int companion_run(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	return companion_become(cli, command_find(argv[0]));
}

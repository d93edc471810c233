/* perch run, and perch plugins run. */
#include <errno.h>
#include <string.h>

#include "cli/cli.h"

int cli_start_failure_code(int error)
{
	switch (error) {
	case -ENOENT:
		return EXIT_NOT_FOUND;
	case -EACCES:
	case -ENOEXEC:
	case PERCH_EINTERPRETER:
		return EXIT_NOT_EXECUTABLE;
	default:
		return EXIT_HOST;
	}
}

int cli_run(struct cli *cli, int argc, char **argv)
{
	int at = 1;
	int r = cli_read_globals(cli, argc, argv, &at);
	if (r)
		return r;
	if (at >= argc)
		return cli_usage_error("see: perch help run", "run what? A plugin command is missing");
	return cli_run_plugin(cli, argc - at, argv + at);
}

/* `plugins run CMD` takes a --ni directly behind CMD and swallows one `--`. */
static int run_from_plugins(struct cli *cli, int argc, char **argv)
{
	int at = 1;
	int r = cli_read_globals(cli, argc, argv, &at);
	if (r)
		return r;
	if (at >= argc)
		return cli_usage_error("see: perch help plugins", "run what? A plugin command is missing");
	char *command = argv[at];
	while (at + 1 < argc && strncmp(argv[at + 1], "--ni", 4) == 0) {
		int word = 0;
		char *one[] = { argv[++at] };
		r = cli_read_globals(cli, 1, one, &word);
		if (r)
			return r;
	}
	if (at + 1 < argc && strcmp(argv[at + 1], "--") == 0)
		at++;
	argv[at] = command;
	return cli_run_plugin(cli, argc - at, argv + at);
}

int cli_plugins(struct cli *cli, int argc, char **argv)
{
	int at = 1;
	int r = cli_read_globals(cli, argc, argv, &at);
	if (r)
		return r;
	if (at >= argc)
		return cli_usage_error("see: perch help plugins", "plugins what?");
	if (strcmp(argv[at], "run") == 0)
		return run_from_plugins(cli, argc - at, argv + at);
	return cli_usage_error("see: perch help plugins", "plugins has no '%s'", argv[at]);
}

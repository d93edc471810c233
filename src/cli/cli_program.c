/* What perch and its companions have in common: a table of commands (each program's own), the
 * options before the command, output that may fail. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/paths.h"
#include "cli/cli.h"
#include "fledge/context.h"
#include "registry/names.h"
#include "registry/registry.h"

const struct command *command_at(size_t i)
{
	return command_table[i];
}

const struct command *command_find(const char *name)
{
	return command_named(command_table, name);
}

static const char *cli_program_command_name(const void *data, size_t i)
{
	(void)data;
	while (command_at(i) && !command_at(i)->summary)
		i++;
	return command_at(i) ? command_at(i)->name : NULL;
}

/* Whether the user left out the `run` in front of a plugin's command. */
bool cli_is_plugin_command(const char *name)
{
	struct arena arena = { 0 };
	struct registry registry;
	bool found = false;
	if (registry_read(&arena, &registry, NULL) == 0) {
		for (size_t i = 0; i < registry.count && !found; i++)
			found = list_has(registry.entries[i].commands, name);
	}
	arena_free(&arena);
	return found;
}

int command_refuse(const char *name)
{
	const char *near = cli_nearest(name, cli_program_command_name, NULL);
	char hint[64 + NAME_LENGTH_MAX];
	if (cli_is_plugin_command(name)) {
		snprintf(hint, sizeof(hint), "perch run %s runs the plugin's", name);
		return cli_usage_error(hint, "there is no command '%s'", name);
	}
	_cleanup_(buf_free) struct buf others = { 0 };
	synonym_suggest(command_table, name, &others);
	snprintf(hint, sizeof(hint), "did you mean: perch %s", near ? near : "");
	const char *advice = buf_terminate(&others) == 0 && others.len ? others.data : hint;
	return cli_usage_error(near || others.len ? advice : "perch help lists them all",
		"there is no command '%s'", name);
}

/* Some services start us without HOME; everything of the user's is below it. */
static void program_find_home(void)
{
	char home[PATH_MAX];
	const char *given = getenv("HOME");
	if ((!given || !given[0]) && paths_account_home(home))
		setenv("HOME", home, 1);
}

/* A reader that goes away (`perch … | head`) and a file that grows over its
 * limit make a write fail; they must not kill us before we have cleaned up. */
void cli_program_begin(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	program_find_home();
}

/* False when stdout is a pipe without a reader. */
static bool cli_program_is_output_read(void)
{
	struct pollfd output = { .fd = STDOUT_FILENO };
	return poll(&output, 1, 0) <= 0 || !(output.revents & (POLLERR | POLLHUP));
}

/* Turns success into failure when stdout could not be written. Nothing is said about it when its
 * reader went away. */
int cli_program_finish(int status)
{
	errno = 0;
	bool failed = fflush(stdout) != 0 || ferror(stdout);
	if (!failed)
		return status;
	if (errno != EPIPE && cli_program_is_output_read())
		cli_error(NULL, "the output could not be written%s%s", errno ? ": " : "",
			errno ? perch_strerror(-errno) : "");
	return status ? status : EXIT_HOST;
}

/* ---- running a command -------------------------------------------------------- */

static int cli_program_print_version(const struct cli *cli)
{
	if (cli->is_fledge)
		return printf("fledge %s (perch %s)\n", FLEDGE_VERSION, perch_version()) < 0;
	return printf("perch %s\n", perch_version()) < 0;
}

int cli_program_run_command(struct cli *cli, int argc, char **argv)
{
	const struct command *command = command_find(argv[0]);
	if (!command && strcmp(argv[0], "version") == 0)
		return cli_program_print_version(cli);
	if (!command)
		return command_refuse(argv[0]);
	if (argc > 1 && command->help && command_is_help(argv[1]))
		return command_print_help(command, 0, NULL);
	cli_speak_of(command->name, NULL);
	return command_start(command, cli, argc, argv);
}

int cli_program_run(struct cli *cli, int argc, char **argv, cli_program_run_fn *run)
{
	int at = 1;
	cli->color = "auto";
	cli->words = argv;
	cli_speak_for(cli);
	int r = cli_read_globals(cli, argc, argv, &at);
	if (r == 0 && cli->version)
		r = cli_program_print_version(cli);
	else if (r == 0 && (cli->help || at >= argc))
		r = cli_help(cli, 0, NULL);
	else if (r == 0)
		r = run(cli, argc - at, argv + at);
	free(cli->answers.items);
	return r;
}

int cli_program_companion(int argc, char **argv)
{
	struct cli cli = { 0 };
	cli_program_begin();
	return cli_program_finish(cli_program_run(&cli, argc, argv, cli_program_run_command));
}

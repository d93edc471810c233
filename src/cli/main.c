/* The perch command: reads the options, finds the command in a table, returns its exit code. The
 * names `fledge` and `agentproc` are other command lines for the same program. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/str.h"
#include "cli/cli.h"
#include "fledge/context.h"
#include "registry/names.h"
#include "registry/registry.h"

/* All commands. `perch help` sorts them by group and keeps this order within a group. */
static const struct command *const commands[] = {
	&command_tour,
	&command_help,
	&command_run,
	&command_plugins,
	&command_plugin,
	&command_tool,
	&command_mcp,
	&command_agent,
	&command_sandbox,
	&command_trace,
	&command_conformance,
	&command_doctor,
	&command_completions,
	&command_complete,
	&command_actor,
	NULL,
};

const struct command *command_at(size_t i)
{
	return i < COUNT(commands) ? commands[i] : NULL;
}

const struct command *command_find(const char *name)
{
	return command_find_in(commands, name);
}

static const char *cli_command_name(const void *data, size_t i)
{
	(void)data;
	while (command_at(i) && !command_at(i)->summary)
		i++;
	return command_at(i) ? command_at(i)->name : NULL;
}

/* Whether the user left out the `run` in front of a plugin's command. */
static bool cli_is_plugin_command(const char *name)
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
	const char *near = cli_nearest(name, cli_command_name, NULL);
	char hint[64 + NAME_LENGTH_MAX];
	if (cli_is_plugin_command(name)) {
		snprintf(hint, sizeof(hint), "perch run %s runs the plugin's", name);
		return cli_usage_error(hint, "there is no command '%s'", name);
	}
	snprintf(hint, sizeof(hint), "did you mean: perch %s", near ? near : "");
	return cli_usage_error(
		near ? hint : "perch help lists them all", "there is no command '%s'", name);
}

const char *cli_guard_path(void)
{
	static char path[4096];
	char self[2048] = { 0 };
	const char *given = getenv("PERCH_GUARD");
	if (given && given[0])
		return given;
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) <= 0)
		return NULL;
	*strrchr(self, '/') = '\0';
	snprintf(path, sizeof(path), "%s/perch-guard", self);
	return access(path, X_OK) == 0 ? path : NULL;
}

/* A reader that goes away (`perch … | head`) and a file that grows over its
 * limit make a write fail; they must not kill us before we have cleaned up. */
static void cli_let_writes_fail(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

/* False when stdout is a pipe without a reader. */
static bool cli_is_output_read(void)
{
	struct pollfd output = { .fd = STDOUT_FILENO };
	return poll(&output, 1, 0) <= 0 || !(output.revents & (POLLERR | POLLHUP));
}

/* Turns success into failure when stdout could not be written. Nothing is said about it when its
 * reader went away. */
static int cli_finish(int status)
{
	errno = 0;
	bool failed = fflush(stdout) != 0 || ferror(stdout);
	if (!failed)
		return status;
	if (errno != EPIPE && cli_is_output_read())
		cli_error(NULL, "the output could not be written%s%s", errno ? ": " : "",
			errno ? perch_strerror(-errno) : "");
	return status ? status : EXIT_HOST;
}

/* Called as `perch`: the first word is a command. */
static int cli_run_command(struct cli *cli, int argc, char **argv)
{
	const struct command *command = command_find(argv[0]);
	if (!command)
		return command_refuse(argv[0]);
	if (argc > 1 && command->help && command_is_help(argv[1]))
		return command_print_help(command, 0, NULL);
	cli_speak_of(command->name, NULL);
	return command->run(cli, argc, argv);
}

/* Called as `fledge`: a few commands of its own, every other word is a plugin's command. */
static int cli_run_as_fledge(struct cli *cli, int argc, char **argv)
{
	if (strcmp(argv[0], "plugins") == 0 || strcmp(argv[0], "plugin") == 0)
		return cli_plugins(cli, argc, argv);
	if (strcmp(argv[0], "help") == 0)
		return cli_help(cli, argc, argv);
	if (strcmp(argv[0], "doctor") == 0 && !cli_is_plugin_command(argv[0]))
		return command_doctor.run(cli, argc, argv);
	return cli_run_plugin(cli, argc, argv);
}

static int cli_print_version(const struct cli *cli)
{
	if (cli->is_fledge)
		return printf("fledge %s (perch %s)\n", FLEDGE_VERSION, perch_version()) < 0;
	return printf("perch %s\n", perch_version()) < 0;
}

static bool cli_is_called(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	return strcmp(slash ? slash + 1 : path, name) == 0;
}

static int cli_run(int argc, char **argv)
{
	struct cli cli = { .color = "auto", .is_fledge = argc > 0 && cli_is_called(argv[0], "fledge") };
	int at = 1;
	int r = cli_read_globals(&cli, argc, argv, &at);
	if (r == 0 && cli.version)
		r = cli_print_version(&cli);
	else if (r == 0 && (cli.help || at >= argc))
		r = cli_help(&cli, 0, NULL);
	else if (r == 0 && cli.is_fledge)
		r = cli_run_as_fledge(&cli, argc - at, argv + at);
	else if (r == 0)
		r = cli_run_command(&cli, argc - at, argv + at);
	free(cli.answers.items);
	return r;
}

int main(int argc, char **argv)
{
	cli_let_writes_fail();
	if (argc > 0 && cli_is_called(argv[0], "agentproc"))
		return cli_finish(cli_agentproc(argc, argv));
	return cli_finish(cli_run(argc, argv));
}

/* The perch command: options, a command, its exit code. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"

const struct command commands[] = {
	{ "doctor", "show what this machine offers, and what is missing",
		"usage: perch doctor [--json]\n"
		"\n"
		"Looks at the kernel, the programs and the directories that perch relies on and\n"
		"says for each what it found, and what to do where something is missing.\n"
		"Ends with 0 when perch can do its work here, with 1 when it cannot.\n"
		"\n"
		"  --json   one object, for programs\n"
		"\n"
		"example:\n"
		"  perch doctor --json | jq '.findings[] | select(.status != \"ok\")'\n",
		cli_doctor },
	{ "help", "explain perch, or one command",
		"usage: perch help [COMMAND]\n"
		"\n"
		"example:\n"
		"  perch help doctor\n",
		cli_help },
	{ "__probe", NULL, NULL, cli_probe },
};
const size_t command_count = sizeof(commands) / sizeof(commands[0]);

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < command_count; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

static const char *command_name(const void *data, size_t i)
{
	(void)data;
	while (i < command_count && !commands[i].summary)
		i++;
	return i < command_count ? commands[i].name : NULL;
}

static int refuse_unknown(const char *name)
{
	const char *near = cli_nearest(name, command_name, NULL);
	char hint[128];
	snprintf(hint, sizeof(hint), "did you mean: perch %s", near ? near : "");
	return cli_usage_error(near ? hint : NULL, "there is no command '%s'", name);
}

static bool is_color(const char *word)
{
	return strcmp(word, "auto") == 0 || strcmp(word, "always") == 0 || strcmp(word, "never") == 0;
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

/* A reader that goes away (`perch … | head`) must end us quietly, with what
 * was started cleaned up: writes fail, nothing kills us. */
static void ignore_broken_pipes(void)
{
	signal(SIGPIPE, SIG_IGN);
}

/* Output that could not be written is a failure, however well the rest went. */
static int finish(int status)
{
	bool failed = fflush(stdout) != 0 || ferror(stdout);
	if (failed && status == EXIT_SUCCESS)
		return EXIT_FAILURE;
	return status;
}

static bool asks_for_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int run(int argc, char **argv)
{
	struct cli cli = { .color = "auto" };
	bool help = false;
	bool version = false;
	const struct option_spec globals[] = {
		{ "json", 0, OPTION_FLAG, &cli.json },
		{ "color", 0, OPTION_TEXT, &cli.color },
		{ "help", 'h', OPTION_FLAG, &help },
		{ "version", 0, OPTION_FLAG, &version },
		{ 0 },
	};
	int at = 1;
	int r = options_parse(globals, argc, argv, &at);
	if (r)
		return r;
	if (!is_color(cli.color))
		return cli_usage_error(NULL, "--color is auto, always or never, not '%s'", cli.color);
	if (version)
		return printf("perch %s\n", perch_version()) < 0;
	if (help || at == argc)
		return cli_help(&cli, 0, NULL);
	const struct command *command = command_find(argv[at]);
	if (!command)
		return refuse_unknown(argv[at]);
	if (at + 1 < argc && command->help && asks_for_help(argv[at + 1]))
		return fputs(command->help, stdout) < 0;
	return command->run(&cli, argc - at, argv + at);
}

int main(int argc, char **argv)
{
	ignore_broken_pipes();
	return finish(run(argc, argv));
}

/* perch plugins: its subcommands. */
#include "cli/plugins.h"

#include <string.h>

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

static const struct command plugins_run = {
	.name = "run",
	.summary = "run a plugin command, as `perch run` does",
	.help = "usage: perch plugins run COMMAND [--ni] [--] [ARGUMENTS]\n"
			"\n"
			"Runs a plugin command, as `perch run` does.\n"
			"\n"
			"example:\n"
			"  perch plugins run deploy --ni -- staging\n",
	.run = run_from_plugins,
};

/* In the order of the help. */
static const struct command *const subcommands[] = {
	&plugins_install,
	&plugins_update,
	&plugins_remove,
	&plugins_list,
	&plugins_audit,
	&plugins_allow,
	&plugins_revoke,
	&plugins_hooks,
	&plugins_run,
	&plugins_create,
	&plugins_validate,
	&plugins_test,
};

enum { SUBCOMMANDS = sizeof(subcommands) / sizeof(subcommands[0]), COMMON_MAX = 32 };

static const char *subcommand_name(const void *data, size_t i)
{
	(void)data;
	return i < SUBCOMMANDS ? subcommands[i]->name : NULL;
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < SUBCOMMANDS; i++) {
		if (strcmp(subcommands[i]->name, name) == 0)
			return subcommands[i];
	}
	return NULL;
}

static int refuse_unknown(const char *name)
{
	const char *near = cli_nearest(name, subcommand_name, NULL);
	char hint[128];
	snprintf(hint, sizeof(hint), "did you mean: perch plugins %s", near ? near : "");
	return cli_usage_error(near ? hint : "see: perch help plugins", "plugins has no '%s'", name);
}

static int print_overview(void)
{
	printf("usage: perch plugins WORD …\n\n");
	for (size_t i = 0; i < SUBCOMMANDS; i++)
		printf("  %-9s %s\n", subcommands[i]->name, subcommands[i]->summary);
	return printf("\n"
				  "perch plugins WORD --help explains one of them.\n"
				  "\n"
				  "example:\n"
				  "  perch plugins install ./my-plugin\n") < 0;
}

static int print_help(int argc, char **argv)
{
	const struct command *command = argc > 1 ? find(argv[1]) : NULL;
	if (argc > 1 && !command)
		return refuse_unknown(argv[1]);
	return command ? fputs(command->help, stdout) < 0 : print_overview();
}

static bool asks_for_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int cli_plugins(struct cli *cli, int argc, char **argv)
{
	int at = 1;
	int r = cli_read_globals(cli, argc, argv, &at);
	if (r)
		return r;
	if (cli->help || (at < argc && strcmp(argv[at], "help") == 0))
		return print_help(argc - at, argv + at);
	if (at >= argc)
		return cli_usage_error("see: perch help plugins", "plugins what?");
	const struct command *command = find(argv[at]);
	if (!command)
		return refuse_unknown(argv[at]);
	if (at + 1 < argc && asks_for_help(argv[at + 1]))
		return fputs(command->help, stdout) < 0;
	return command->run(cli, argc - at, argv + at);
}

int plugins_options(struct cli *cli, const struct option_spec *own, int argc, char **argv,
	struct option_list *words)
{
	const struct option_spec common[] = {
		{ "json", 0, OPTION_FLAG, &cli->json },
		{ "verbose", 'v', OPTION_FLAG, &cli->verbose },
		{ "quiet", 'q', OPTION_FLAG, &cli->quiet },
		{ "color", 0, OPTION_TEXT, &cli->color },
		{ "ni", 0, OPTION_MAYBE, &cli->non_interactive },
		{ "non-interactive", 0, OPTION_MAYBE, &cli->non_interactive },
		{ 0 },
	};
	struct option_spec all[COMMON_MAX] = { 0 };
	size_t count = 0;
	for (; own && own->name && count < COMMON_MAX - sizeof(common) / sizeof(common[0]); own++)
		all[count++] = *own;
	memcpy(all + count, common, sizeof(common));
	return options_parse_words(all, argc, argv, words);
}

const struct command command_plugins = {
	.name = "plugins",
	.summary = "install, update, remove and allow plugins",
	.run = cli_plugins,
};

/* The other name of it. */
const struct command command_plugin = {
	.name = "plugin",
	.run = cli_plugins,
};

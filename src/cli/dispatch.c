/* Commands that have subcommands: `perch plugins install`, `perch tool call`. */
#include <string.h>

#include "cli/cli.h"

/* ---- finding one ------------------------------------------------------------- */

bool command_is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static const char *dispatch_subcommand_name(const void *data, size_t i)
{
	const struct command *const *subcommands = data;
	return subcommands[i] ? subcommands[i]->name : NULL;
}

const struct command *command_named(const struct command *const *list, const char *name)
{
	for (; name && list && *list; list++) {
		if (strcmp((*list)->name, name) == 0)
			return *list;
	}
	return NULL;
}

const struct command *command_find_in(const struct command *const *list, const char *word)
{
	const struct command *command = command_named(list, word);
	return command ? command : synonym_find(list, word);
}

static int dispatch_refuse_unknown(const struct command *parent, const char *name)
{
	const char *near = cli_nearest(name, dispatch_subcommand_name, parent->subcommands);
	char hint[128];
	if (near)
		snprintf(hint, sizeof(hint), "did you mean: perch %s %s", parent->name, near);
	else
		snprintf(hint, sizeof(hint), "see: perch help %s", parent->name);
	return cli_usage_error(hint, "%s has no '%s'", parent->name, name);
}

/* ---- help --------------------------------------------------------------------- */

static int dispatch_print_overview(const struct command *parent)
{
	help_put(parent->help);
	for (const struct command *const *at = parent->subcommands; *at; at++)
		printf("  %-9s %s\n", (*at)->name, (*at)->summary);
	printf("\n"
		   "perch %s WORD --help explains one of them.\n",
		parent->name);
	help_put("example:\n");
	return printf("  %s\n", parent->example) < 0;
}

static int dispatch_print_leaf(const struct command *command)
{
	if (!command->print_more)
		return help_put(command->help);
	help_put(command->help);
	command->print_more();
	help_put("example:\n");
	return printf("  %s\n", command->example) < 0;
}

int command_print_help(const struct command *command, int argc, char **argv)
{
	if (!command->subcommands)
		return dispatch_print_leaf(command);
	if (argc < 1)
		return dispatch_print_overview(command);
	const struct command *child = command_find_in(command->subcommands, argv[0]);
	return child ? command_print_help(child, argc - 1, argv + 1)
				 : dispatch_refuse_unknown(command, argv[0]);
}

/* ---- running one --------------------------------------------------------------- */

int command_dispatch(const struct command *parent, struct cli *cli, int argc, char **argv)
{
	int at = 1;
	int r = cli_read_globals(cli, argc, argv, &at);
	if (r)
		return r;
	if (cli->help || (at < argc && strcmp(argv[at], "help") == 0))
		return command_print_help(parent, argc - at - 1, argv + at + 1);
	char hint[128];
	snprintf(hint, sizeof(hint), "see: perch help %s", parent->name);
	if (at >= argc)
		return cli_usage_error(hint, "%s what?", parent->name);
	const struct command *command = command_find_in(parent->subcommands, argv[at]);
	if (!command)
		return dispatch_refuse_unknown(parent, argv[at]);
	if (at + 1 < argc && command_is_help(argv[at + 1]))
		return command_print_help(command, 0, NULL);
	cli_speak_of(parent->name, command->name);
	return command_start(command, cli, argc - at, argv + at);
}

int command_start(const struct command *command, struct cli *cli, int argc, char **argv)
{
	return command->run ? command->run(cli, argc, argv)
						: command_dispatch(command, cli, argc, argv);
}

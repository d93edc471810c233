/* perch help: an overview by purpose, or the help text of one command. */
#include <string.h>

#include "base/macros.h"
#include "cli/cli.h"
#include "fledge/context.h"

/* In the order of the overview. */
static const struct {
	enum command_group group;
	const char *title;
} groups[] = {
	{ GROUP_BEGIN, "first steps" },
	{ GROUP_RUN, "run plugins" },
	{ GROUP_MANAGE, "manage plugins" },
	{ GROUP_TOOLS, "call tools" },
	{ GROUP_AGENTS, "use agents" },
	{ GROUP_CONFINE, "confine" },
	{ GROUP_LOOK, "look into" },
};

static void help_print_group(enum command_group group, const char *title)
{
	const struct command *command;
	for (size_t i = 0; (command = command_at(i)); i++) {
		if (!command->summary || command->group != group)
			continue;
		printf("  %-14s  %-11s  %s\n", title, command->name, command->summary);
		title = "";
	}
}

static int help_print_overview(void)
{
	printf("perch %s hosts programs that live in their own process and talk in lines.\n"
		   "\n"
		   "usage: perch [OPTIONS] COMMAND [ARGUMENTS]\n"
		   "\n",
		perch_version());
	for (size_t i = 0; i < COUNT(groups); i++)
		help_print_group(groups[i].group, groups[i].title);
	printf("\n"
		   "perch help COMMAND explains one command, perch help options every option:\n"
		   "--json for programs, --color WHEN, -V, --version, -h, --help and more.\n");
	return 0;
}

/* Called by the name fledge: what is built in, and what the plugins bring. */
static int help_print_fledge(void)
{
	printf("fledge %s, hosted by perch %s\n"
		   "\n"
		   "usage: fledge [OPTIONS] COMMAND [ARGUMENTS]\n"
		   "\n"
		   "  plugins         install, update, remove, list, audit, allow: fledge plugins help\n"
		   "  doctor          what this machine offers, and what is missing\n"
		   "  help            this text; fledge help options\n"
		   "\n"
		   "commands of the plugins that are installed:\n",
		FLEDGE_VERSION, perch_version());
	if (!plugin_commands_print())
		printf("  none yet: fledge plugins install SOURCE\n");
	printf("\n"
		   "example:\n"
		   "  fledge plugins install ./my-plugin\n");
	return 0;
}

int cli_help(struct cli *cli, int argc, char **argv)
{
	int at = 1;
	int r = cli_read_globals(cli, argc, argv, &at);
	if (r)
		return r;
	if (at >= argc)
		return cli->is_fledge ? help_print_fledge() : help_print_overview();
	if (strcmp(argv[at], "options") == 0)
		return fputs(globals_help, stdout) < 0;
	const struct command *command = command_find(argv[at]);
	if (command && command->program)
		return companion_become(cli, command);
	if (!command || !command->help)
		return command_refuse(argv[at]);
	return command_print_help(command, argc - at - 1, argv + at + 1);
}

const struct command command_help = {
	.name = "help",
	.summary = "explain perch, or one command",
	.group = GROUP_BEGIN,
	.help = "usage: perch help [COMMAND [WORD] | options]\n"
			"\n"
			"Explains a command, or one of its words; `options` are those that every command\n"
			"takes. The manual has more: man perch, man perch-plugins …\n"
			"\n"
			"example:\n"
			"  perch help plugins install\n",
	.words = WORDS_COMMANDS,
	.run = cli_help,
};

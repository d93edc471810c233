/* perch help. */
#include "cli/cli.h"

static int print_overview(void)
{
	printf("perch %s hosts programs that live in their own process and talk in lines.\n"
		   "\n"
		   "usage: perch [OPTIONS] COMMAND [ARGUMENTS]\n"
		   "\n"
		   "commands:\n",
		perch_version());
	const struct command *command;
	for (size_t i = 0; (command = command_at(i)); i++) {
		if (command->summary)
			printf("  %-11s %s\n", command->name, command->summary);
	}
	printf("\n"
		   "options:\n"
		   "  --json          results as JSON, for programs\n"
		   "  --color WHEN    auto, always or never\n"
		   "  --version       the version;  -h, --help  this text\n"
		   "\n"
		   "example:\n"
		   "  perch doctor\n"
		   "\n"
		   "perch help COMMAND explains one command.\n");
	return 0;
}

int cli_help(struct cli *cli, int argc, char **argv)
{
	if (argc < 2)
		return print_overview();
	const struct command *command = command_find(argv[1]);
	if (command && command->run == cli_plugins) {
		static char word[] = "help";
		argv[1] = word;
		return cli_plugins(cli, argc, argv);
	}
	if (!command || !command->help)
		return cli_usage_error("perch help lists them all", "there is no command '%s'", argv[1]);
	return command_print_help(command, argc - 2, argv + 2);
}

const struct command command_help = {
	.name = "help",
	.summary = "explain perch, or one command",
	.help = "usage: perch help [COMMAND]\n"
			"\n"
			"example:\n"
			"  perch help doctor\n",
	.words = WORDS_COMMANDS,
	.run = cli_help,
};

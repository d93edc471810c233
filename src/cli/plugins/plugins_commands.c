/* perch plugins: its subcommands. */
#include "cli/plugins/plugins_commands.h"

#include "base/macros.h"
#include "cli/run/run_call.h"

#include <string.h>

/* `plugins run CMD` takes a --ni directly behind CMD and swallows one `--`. */
static int plugins_commands_run_from_plugins(struct cli *cli, int argc, char **argv)
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
	.help = "usage: perch plugins run [OPTIONS] COMMAND [--ni] [--] [ARGUMENTS]\n"
			"\n"
			"Runs a plugin command, with the options of `perch run`.\n"
			"\n"
			"example:\n"
			"  perch plugins run deploy --ni -- staging\n",
	.words = WORDS_PLUGIN_COMMANDS,
	.run = plugins_commands_run_from_plugins,
};

/* Commands that need no installed plugin; `run` asks the host by itself. */
static bool plugins_commands_work_inside(const char *word)
{
	static const char *const words[] = { "run", "create", "validate", "test", "help", NULL };
	return list_has(words, word);
}

int cli_plugins(struct cli *cli, int argc, char **argv)
{
	int at = 1;
	if (!call_is_inside())
		return command_dispatch(&command_plugins, cli, argc, argv);
	int r = cli_read_globals(cli, argc, argv, &at);
	if (r || (at < argc && !cli->help && !plugins_commands_work_inside(argv[at])))
		return r ? r : call_plugins(cli, argc - at, argv + at);
	return command_dispatch(&command_plugins, cli, argc - at + 1, argv + at - 1);
}

/* In the order of the help. */
static const struct command *const subcommands[] = {
	&plugins_install,
	&plugins_inspect,
	&plugins_update,
	&plugins_pin,
	&plugins_unpin,
	&plugins_remove,
	&plugins_search,
	&plugins_recommend,
	&plugins_list,
	&plugins_show,
	&plugins_audit,
	&plugins_allow,
	&plugins_revoke,
	&plugins_hooks,
	&plugins_run,
	&plugins_create,
	&plugins_validate,
	&plugins_test,
	NULL,
};

const struct command command_plugins = {
	.name = "plugins",
	.summary = "install, update, remove and allow plugins",
	.group = GROUP_MANAGE,
	.help = "usage: perch plugins WORD …\n"
			"\n",
	.example = "perch plugins install ./my-plugin",
	.subcommands = subcommands,
	.run = cli_plugins,
};

/* The other name of it. */
const struct command command_plugin = {
	.name = "plugin",
	.help = "usage: perch plugins WORD …\n"
			"\n",
	.example = "perch plugins install ./my-plugin",
	.subcommands = subcommands,
	.run = cli_plugins,
};

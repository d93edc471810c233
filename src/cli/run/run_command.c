/* perch run. */
#include "cli/cli.h"

/* Without a command it lists those that there are. */
static int run_command_list(void)
{
	printf("commands of the plugins that are installed:\n\n");
	if (!plugin_commands_print())
		printf("  none yet: perch plugins install SOURCE\n");
	return printf("\nperch run COMMAND runs one; perch help run has the options.\n") < 0;
}

static int run_command_cli_run(struct cli *cli, int argc, char **argv)
{
	int at = 1;
	int r = cli_read_globals(cli, argc, argv, &at);
	if (r)
		return r;
	if (at >= argc && !cli->json)
		return run_command_list();
	if (at >= argc)
		return cli_usage_error("see: perch help run", "run what? A plugin command is missing");
	return cli_run_plugin(cli, argc - at, argv + at);
}

const struct command command_run = {
	.name = "run",
	.summary = "run a plugin command",
	.group = GROUP_RUN,
	.help = "usage: perch run [OPTIONS] COMMAND [ARGUMENTS]\n"
			"\n"
			"Runs an installed fledge plugin. Everything behind COMMAND is the plugin's.\n"
			"\n"
			"  --ni[=strict]            ask nothing: take defaults; strict: explicit ones\n"
			"  --answer 'MESSAGE=VALUE' answer a question in advance (again for more)\n"
			"  --answers FILE           the same, one a line\n"
			"  --json                   events as JSON lines; answers on stdin\n"
			"  --trace FILE             record every line; --trace-secrets: values too\n"
			"  --prompt-timeout SECS    how long a question waits (300)\n"
			"  --exec-timeout-max SECS  the longest a command may ask for (3600)\n"
			"  --line-limit BYTES       of a line of the plugin (8388608)\n"
			"  --waiting-limit BYTES    of its requests and answers that wait (67108864)\n"
			"  --unread-timeout SECS    how long it may write without reading them (60)\n"
			"  --shell PROGRAM          runs the plugin's commands (sh)\n"
			"  --sandbox[=off]          confine a legacy plugin, too; off: no plugin now\n"
			"  --strict                 remove what is left for git to execute\n"
			"  -v, -q                   say more, say less\n"
			"\n"
			"The exit code is the plugin's; 130 interrupted, 127 no such command, 126 not\n"
			"executable, 125 perch itself failed.\n"
			"\n"
			"example:\n"
			"  perch run --answer 'Deploy target:=staging' deploy --dry-run\n",
	.words = WORDS_PLUGIN_COMMANDS,
	.run = run_command_cli_run,
};

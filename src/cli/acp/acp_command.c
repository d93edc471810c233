/* perch acp: reads its options, watches signals, and has src/acp serve the editor. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acp/acp_editor.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "cli/agent/agent_commands.h"
#include "cli/cli.h"
#include "cli/ui/signals.h"
#include "proc/host.h"

struct acp_words {
	const char *config;
	const char *agent;
	const char *agents;
	bool no_store;
};

static void acp_command_warn(void *data, const char *text)
{
	(void)data;
	cli_warning(text);
}

static void acp_command_signal(void *data, int signal)
{
	(void)signal;
	acp_editor_stop(data);
}

/* ---- agents ---------------------------------------------------------------- */

/* The file of an agent's profile, with links resolved: its sessions are stored under that path. */
static int acp_command_find(struct str word, struct arena *arena, struct option_list *files)
{
	const char *name = arena_dup(arena, word);
	const char *path = NULL;
	perch_err err = { 0 };
	if (!name || agent_find_profile(name, arena, &path, &err) < 0) {
		cli_error(NULL, "%s", name ? err.text : "out of memory");
		return EXIT_HOST;
	}
	_cleanup_free_ char *resolved = realpath(path, NULL);
	if (!resolved) {
		cli_error(NULL, "%s: %s", name, perch_strerror(-errno));
		return EXIT_HOST;
	}
	const char *kept = arena_dup(arena, str_from(resolved));
	return kept && options_add(files, kept) == 0 ? 0 : EXIT_HOST;
}

static int acp_command_find_all(
	const struct acp_words *words, struct arena *arena, struct option_list *files)
{
	if (!words->agent == !words->agents)
		return cli_usage_error("write: perch acp --agent NAME, or --agents NAME,NAME",
			"it needs the agent that the editor is to talk with");
	struct str rest = str_from(words->agents ? words->agents : "");
	int r = words->agent ? acp_command_find(str_from(words->agent), arena, files) : 0;
	while (r == 0 && rest.len)
		r = acp_command_find(str_cut(&rest, ','), arena, files);
	return r ? r : options_add(files, NULL) < 0 ? EXIT_HOST : 0;
}

/* ---- serving --------------------------------------------------------------- */

static int acp_command_run_editor(void *data)
{
	return acp_editor_run(data);
}

static int acp_command_serve(perch_host *host, const struct acp_editor_options *options)
{
	struct acp_editor *editor = NULL;
	perch_err err = { 0 };
	int r = acp_editor_new(host, options, &editor, &err);
	if (r < 0) {
		cli_error(NULL, "%s", err.text);
		return EXIT_HOST;
	}
	r = signals_serve(&host->loop, acp_command_signal, acp_command_run_editor, editor);
	acp_editor_free(editor);
	if (r < 0)
		cli_error(NULL, "the editor can be served no longer: %s", perch_strerror(r));
	return r < 0 ? EXIT_HOST : 0;
}

static int acp_command_start(
	struct cli *cli, const struct acp_words *words, struct arena *arena, struct option_list *files)
{
	int r = cli_set_config(words->config);
	if (r == 0)
		r = acp_command_find_all(words, arena, files);
	if (r)
		return r;
	const struct acp_editor_options options = {
		.input = STDIN_FILENO,
		.output = STDOUT_FILENO,
		.profiles = files->items,
		.no_store = words->no_store,
		.trace = cli->trace,
		.trace_secrets = cli->trace_secrets,
		.warn = acp_command_warn,
	};
	perch_host *host = NULL;
	r = cli_host_serve(NULL, NULL, &host);
	if (r == 0)
		r = acp_command_serve(host, &options);
	perch_host_free(host);
	return r;
}

static int acp_command_run(struct cli *cli, int argc, char **argv)
{
	struct acp_words words = { 0 };
	struct option_list files = { 0 };
	_cleanup_(arena_free) struct arena arena = { 0 };
	const struct option_spec specs[] = {
		{ "agent", 0, OPTION_TEXT, &words.agent },
		{ "agents", 0, OPTION_TEXT, &words.agents },
		{ "config", 0, OPTION_TEXT, &words.config },
		{ "no-store", 0, OPTION_FLAG, &words.no_store },
		{ 0 },
	};
	int at = 1;
	int r = options_parse(specs, argc, argv, &at);
	if (r == 0 && at < argc)
		r = cli_usage_error(NULL, "no word stands behind these options: '%s'", argv[at]);
	if (r == 0)
		r = acp_command_start(cli, &words, &arena, &files);
	free(files.items);
	return r;
}

const struct command command_acp = {
	.name = "acp",
	.summary = "offer an agent to an editor (ACP)",
	.group = GROUP_AGENTS,
	.help = "usage: perch acp --agent NAME|PROFILE [OPTIONS]\n"
			"       perch acp --agents NAME,NAME… [OPTIONS]\n"
			"\n"
			"An agent of the Agent Client Protocol on stdin and stdout, for Zed, JetBrains,\n"
			"Neovim, Emacs and others, which start it. Each prompt is a turn of that agent,\n"
			"in the editor's directory. It ends with its editor.\n"
			"\n"
			"  --agent NAME|PROFILE  an agent of perch agent list, or a file\n"
			"  --agents NAME,NAME…   several; the user chooses one for each session\n"
			"  --no-store            keep no conversations: none can be listed or loaded\n"
			"  --config DIR          configuration in DIR/perch instead of ~/.config/perch\n"
			"\n"
			"Commands of plugins that [expose.acp] of perch/config.toml lists are slash\n"
			"commands of the session. `perch --trace FILE acp …` records what agents say.\n"
			"\n"
			"example:\n"
			"  perch acp --agent copilot\n",
	.run = acp_command_run,
};

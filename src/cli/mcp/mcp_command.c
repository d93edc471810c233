/* perch mcp: reads its options, watches signals, and has src/mcp serve the client. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/mcp/mcp_commands.h"
#include "cli/ui/signals.h"
#include "mcp/stdio.h"
#include "proc/host.h"

struct mcp_words {
	const char *config;
	const char *prefix;
	const char *page_size;
	const char *result_chars;
};

static void mcp_command_warn(void *data, const char *text)
{
	(void)data;
	cli_warning(text);
}

static void mcp_command_signal(void *data, int signal)
{
	(void)signal;
	mcp_stdio_stop(data);
}

static int mcp_command_number(const char *option, const char *text, size_t *ret_number)
{
	uint64_t number = 0;
	if (text && (!options_amount(text, false, &number) || number < 1 || number > 1000000000))
		return cli_usage_error(NULL, "%s takes a number from 1 on, not '%s'", option, text);
	*ret_number = (size_t)number;
	return 0;
}

static int mcp_command_read(const struct mcp_words *words, struct mcp_stdio_options *options)
{
	if (words->prefix && strcmp(words->prefix, "none") != 0)
		return cli_usage_error(NULL, "--prefix takes the word none, not '%s'", words->prefix);
	options->without_prefix = words->prefix;
	int r = mcp_command_number("--page-size", words->page_size, &options->page_size);
	if (r == 0)
		r = mcp_command_number(
			"--max-result-chars", words->result_chars, &options->result_chars_max);
	return r ? r : cli_set_config(words->config);
}

static int mcp_command_run_stdio(void *data)
{
	return mcp_stdio_run(data);
}

static int mcp_command_serve(perch_host *host, const struct mcp_stdio_options *options)
{
	struct mcp_stdio *stdio = NULL;
	perch_err err = { 0 };
	int r = mcp_stdio_new(host, options, &stdio, &err);
	if (r < 0) {
		cli_error(NULL, "%s", err.text);
		return EXIT_HOST;
	}
	r = signals_serve(&host->loop, mcp_command_signal, mcp_command_run_stdio, stdio);
	mcp_stdio_free(stdio);
	if (r < 0)
		cli_error(NULL, "the client can be served no longer: %s", perch_strerror(r));
	return r < 0 ? EXIT_HOST : 0;
}

static int mcp_command_start(int argc, char **argv)
{
	struct mcp_words words = { 0 };
	struct mcp_stdio_options options = {
		.input = STDIN_FILENO,
		.output = STDOUT_FILENO,
		.warn = mcp_command_warn,
	};
	const struct option_spec specs[] = {
		{ "config", 0, OPTION_TEXT, &words.config },
		{ "prefix", 0, OPTION_TEXT, &words.prefix },
		{ "page-size", 0, OPTION_TEXT, &words.page_size },
		{ "max-result-chars", 0, OPTION_TEXT, &words.result_chars },
		{ 0 },
	};
	int at = 1;
	int r = options_parse(specs, argc, argv, &at);
	if (r == 0 && at < argc)
		r = cli_usage_error(NULL, "no word stands behind these options: '%s'", argv[at]);
	if (r == 0)
		r = mcp_command_read(&words, &options);
	if (r)
		return r;
	perch_host *host = NULL;
	r = cli_host_serve(NULL, NULL, &host);
	if (r == 0)
		r = mcp_command_serve(host, &options);
	perch_host_free(host);
	return r;
}

/* In the order of the help. */
static const struct command *const verbs[] = {
	&mcp_verb_connect,
	&mcp_verb_list,
	&mcp_verb_call,
	&mcp_verb_inspect,
	NULL,
};

/* Clients start it without a word behind it. */
static int mcp_command_run(struct cli *cli, int argc, char **argv)
{
	bool is_verb = argc > 1 && (argv[1][0] != '-' || command_is_help(argv[1]));
	return is_verb ? command_dispatch(&command_mcp, cli, argc, argv)
				   : mcp_command_start(argc, argv);
}

const struct command command_mcp = {
	.name = "mcp",
	.summary = "offer tools, plugins and agents to an MCP client",
	.group = GROUP_TOOLS,
	.help = "usage: perch mcp [OPTIONS]\n"
			"       perch mcp WORD …\n"
			"\n"
			"An MCP server on stdin and stdout, for Claude Code and other clients, which\n"
			"start it. Each call runs in the sandbox of its tool. It ends with its client.\n"
			"\n"
			"  --config DIR          configuration in DIR/perch instead of ~/.config/perch\n"
			"  --prefix none         tools and commands by their own names alone\n"
			"  --page-size N         tools/list in pages of so many\n"
			"  --max-result-chars N  longer results are cut, the whole is a resource (100000)\n"
			"\n"
			"What clients see is listed in [expose.mcp] of perch/config.toml: all tools, no\n"
			"plugins and no agents unless it says otherwise.\n"
			"\n",
	.example = "perch mcp connect claude-code",
	.subcommands = verbs,
	.run = mcp_command_run,
};

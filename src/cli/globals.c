/* The options that stand before the command, or directly behind it: one table reads them, one
 * function checks their values, one text explains them. */
#include <string.h>

#include "base/macros.h"
#include "cli/cli.h"

static bool globals_is_color(const char *word)
{
	return strcmp(word, "auto") == 0 || strcmp(word, "always") == 0 || strcmp(word, "never") == 0;
}

int cli_check_sandbox(const struct cli *cli)
{
	const char *given = cli->sandbox;
	if (!given || !given[0] || strcmp(given, "on") == 0 || strcmp(given, "off") == 0)
		return 0;
	return cli_usage_error(NULL, "--sandbox is on or off, not '%s'", given);
}

perch_sandbox_choice cli_sandbox_choice(const struct cli *cli)
{
	if (!cli->sandbox)
		return PERCH_SANDBOX_AS_GRANTED;
	return strcmp(cli->sandbox, "off") == 0 ? PERCH_SANDBOX_OFF : PERCH_SANDBOX_ON;
}

static int globals_check(const struct cli *cli)
{
	if (!globals_is_color(cli->color))
		return cli_usage_error(NULL, "--color is auto, always or never, not '%s'", cli->color);
	const char *mode = cli->non_interactive;
	if (mode && mode[0] && strcmp(mode, "strict") != 0)
		return cli_usage_error(NULL, "--ni takes no value but strict, not '%s'", mode);
	int r = cli_check_sandbox(cli);
	for (size_t i = 0; r == 0 && i < cli->answers.count; i++) {
		if (!strchr(cli->answers.items[i], '='))
			return cli_usage_error("write: --answer 'MESSAGE=VALUE'",
				"--answer needs a message and a value, not '%s'", cli->answers.items[i]);
	}
	return r;
}

const char globals_help[] =
	"usage: perch [OPTIONS] COMMAND …\n"
	"\n"
	"These stand before the command or between it and its word; most commands take\n"
	"those that mean something to them behind it as well.\n"
	"\n"
	"  --json                   results as JSON, for programs; asks nothing\n"
	"  --ni[=strict]            ask nothing: take defaults; strict: explicit ones\n"
	"  --non-interactive        the same\n"
	"  -v, --verbose            say more;  -q, --quiet: say less\n"
	"  --color WHEN             auto, always or never\n"
	"  --trace FILE             record every line; --trace-secrets: values too\n"
	"  -V, --version            the version;  -h, --help: explain\n"
	"\n"
	"for plugins (perch help run explains them):\n"
	"  --answer 'MESSAGE=VALUE', --answers FILE, --prompt-timeout SECS,\n"
	"  --exec-timeout-max SECS, --line-limit BYTES, --waiting-limit BYTES,\n"
	"  --unread-timeout SECS, --shell PROGRAM, --sandbox[=off], --strict\n"
	"\n"
	"example:\n"
	"  perch --json plugins list\n";

/* A new option also gets a line in globals_help and in man/perch.1; tests/man.sh compares them. */
int cli_read_globals(struct cli *cli, int argc, char **argv, int *at)
{
	const struct option_spec specs[] = {
		{ "json", 0, OPTION_FLAG, &cli->json },
		{ "verbose", 'v', OPTION_FLAG, &cli->verbose },
		{ "quiet", 'q', OPTION_FLAG, &cli->quiet },
		{ "help", 'h', OPTION_FLAG, &cli->help },
		{ "version", 'V', OPTION_FLAG, &cli->version },
		{ "color", 0, OPTION_TEXT, &cli->color },
		{ "ni", 0, OPTION_MAYBE, &cli->non_interactive },
		{ "non-interactive", 0, OPTION_MAYBE, &cli->non_interactive },
		{ "trace", 0, OPTION_TEXT, &cli->trace },
		{ "trace-secrets", 0, OPTION_FLAG, &cli->trace_secrets },
		{ "answer", 0, OPTION_LIST, &cli->answers },
		{ "answers", 0, OPTION_TEXT, &cli->answers_file },
		{ "prompt-timeout", 0, OPTION_TEXT, &cli->prompt_timeout },
		{ "line-limit", 0, OPTION_TEXT, &cli->line_limit },
		{ "waiting-limit", 0, OPTION_TEXT, &cli->waiting_limit },
		{ "unread-timeout", 0, OPTION_TEXT, &cli->unread_timeout },
		{ "exec-timeout-max", 0, OPTION_TEXT, &cli->exec_timeout_max },
		{ "shell", 0, OPTION_TEXT, &cli->shell },
		{ "sandbox", 0, OPTION_MAYBE, &cli->sandbox },
		{ "strict", 0, OPTION_FLAG, &cli->is_strict },
		{ 0 },
	};
	int r = options_parse(specs, argc, argv, at);
	return r ? r : globals_check(cli);
}

enum { OPTIONS_MAX = 32 }; /* of a command, with those that it has in common with others */

int cli_options(struct cli *cli, const struct option_spec *own, int argc, char **argv,
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
	struct option_spec all[OPTIONS_MAX] = { 0 };
	size_t count = 0;
	for (; own && own->name && count < OPTIONS_MAX - COUNT(common); own++)
		all[count++] = *own;
	memcpy(all + count, common, sizeof(common));
	return options_parse_words(all, argc, argv, words);
}

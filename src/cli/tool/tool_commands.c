/* perch tool: the table of its verbs, and the words behind them. */
#include "cli/tool/tool_commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

int tool_words(const struct option_spec *specs, int argc, char **argv, const char *usage, int least,
	int most, const char **words)
{
	struct option_list found = { 0 };
	int r = options_parse_words(specs, argc, argv, &found);
	int count = (int)found.count;
	for (int i = 0; i < most; i++)
		words[i] = i < count ? found.items[i] : NULL;
	if (r == 0 && count > most)
		r = cli_usage_error(usage, "'%s' is one word too many", found.items[most]);
	else if (r == 0 && count < least)
		r = cli_usage_error(usage, "%s what? A word is missing", argv[0]);
	free(found.items);
	return r;
}

const char *tool_known_names(const struct tool_binding *binding, struct arena *arena)
{
	_cleanup_(buf_free) struct buf names = { 0 };
	for (size_t i = 0; i < binding->tool_count; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", binding->tools[i].name);
	const char *kept =
		names.failed ? NULL : arena_dup(arena, (struct str){ names.data, names.len });
	return kept ? kept : "";
}

/* In the order of the help. */
static const struct command *const verbs[] = {
	&tool_verb_add,
	&tool_verb_import,
	&tool_verb_create,
	&tool_verb_list,
	&tool_verb_show,
	&tool_verb_check,
	&tool_verb_call,
	&tool_verb_serve,
	&tool_verb_review,
	&tool_verb_log,
	&tool_verb_remove,
	&tool_verb_allow,
	&tool_verb_revoke,
	NULL,
};

enum { HELP_COLUMNS = 80 };

/* The exit codes, as many as fit on each line. */
void tool_commands_print_codes(void)
{
	int column = printf("A call ends with");
	for (size_t i = 0; i < TOOL_CODES; i++) {
		char text[HELP_COLUMNS];
		bool is_own = i == PERCH_TOOL_EXECUTION_ERROR;
		bool is_last = i + 1 == TOOL_CODES;
		int len = snprintf(text, sizeof(text), "%d %s%s", tool_codes[i].exit_code,
			is_own ? tool_codes[i].words : tool_codes[i].name, is_last ? ".\n\n" : ",");
		bool fits = column + 1 + len <= HELP_COLUMNS;
		column = fits ? column + 1 + len : len;
		printf("%s%s", fits ? " " : "\n", text);
	}
}

const struct command command_tool = {
	.name = "tool",
	.summary = "bind and call tools",
	.group = GROUP_TOOLS,
	.help = "usage: perch tool WORD …\n"
			"\n"
			"A binding, in $XDG_CONFIG_HOME/perch/tools, says what a plugin is allowed.\n"
			"\n",
	.example = "perch tool call acme.echo acme.say --input '{\"text\":\"hi\"}'",
	.subcommands = verbs,
};

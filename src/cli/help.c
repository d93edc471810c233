/* perch help: an overview by purpose, or the help text of one command. */
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "cli/cli.h"
#include "fledge/context.h"
#include "term/style.h"

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

/* "usage:", and lines that end with a colon. */
static size_t help_head_length(struct str line)
{
	static const struct str usage = { "usage:", 6 };
	if (str_has_prefix(line, usage))
		return usage.len;
	return str_has_suffix(line, STR(":")) && line.data[0] != ' ' ? line.len : 0;
}

int help_put(const char *text)
{
	const struct look look = { .colored = cli_colors(stdout) };
	_cleanup_(buf_free) struct buf out = { 0 };
	struct str rest = str_from(text);
	while (look.colored && rest.len) {
		struct str line = str_cut(&rest, '\n');
		size_t head = help_head_length(line);
		buf_append_text(&out, head ? style_begin(&look, STYLE_MESSAGE) : "");
		buf_append(&out, line.data, head);
		buf_append_text(&out, head ? style_end(&look, STYLE_MESSAGE) : "");
		buf_append(&out, line.data + head, line.len - head);
		buf_append_char(&out, '\n');
	}
	bool is_bold = look.colored && buf_terminate(&out) == 0;
	return cli_put(stdout, is_bold ? out.data : text);
}

static void help_print_group(enum command_group group, const char *title)
{
	const struct command *command;
	for (size_t i = 0; (command = command_at(i)); i++) {
		if (!command->summary || command->group != group)
			continue;
		const struct look look = { .colored = cli_colors(stdout) };
		printf("  %s%-14s%s  %-11s  %s\n", style_begin(&look, STYLE_MESSAGE), title,
			style_end(&look, STYLE_MESSAGE), command->name, command->summary);
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
		return help_put(globals_help);
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

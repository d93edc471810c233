/* perch tool create. */
#include "cli/tool/tool_commands.h"
#include "cli/ui/created.h"

static void tool_create_next(struct page *page, const struct scaffold *scaffold,
	const struct scaffold_options *options, const char *with_compiler, const char *make)
{
	const char *name = options->name;
	(void)scaffold;
	buf_printf(&page->out,
		"Now bind it%s:\n"
		"  cd %s && %sperch tool add .\n"
		"and call it:\n"
		"  perch tool call %s %s.greet --input '{\"name\":\"Ada\"}'\n"
		"What it takes stands in rterm-plugin.json: change it with the tool.\n",
		with_compiler, name, make, name, name);
}

static int tool_create(struct cli *cli, int argc, char **argv)
{
	struct scaffold_options options = {
		.parent = ".",
		.kind = SCAFFOLD_TOOL,
		.language = "sh",
		.description = "A tool to start from: it greets somebody.",
	};
	return created_run(
		cli, argc, argv, &options, "see: perch tool create --help", tool_create_next);
}

const struct command tool_verb_create = {
	.name = "create",
	.summary = "begin a new tool that works at once",
	.help = "usage: perch tool create NAME [OPTIONS]\n"
			"\n"
			"Makes the directory NAME with a tool that works at once: rterm-plugin.json,\n"
			"which says what it takes, and its program. What is there is never changed.\n"
			"\n"
			"  -l, --lang WORD     sh (the default), python, javascript or c\n"
			"  -d, --description TEXT\n"
			"                      one line for rterm-plugin.json\n"
			"  --json              what was made, for programs\n"
			"\n"
			"example:\n"
			"  perch tool create notes --lang python && perch tool add ./notes\n",
	.run = tool_create,
};

/* perch agent create. */
#include "cli/agent/agent_commands.h"
#include "cli/ui/created.h"

static void agent_create_next(struct page *page, const struct scaffold *scaffold,
	const struct scaffold_options *options, const char *with_compiler, const char *make)
{
	const char *name = options->name;
	(void)scaffold;
	buf_printf(&page->out,
		"Now talk to it%s:\n"
		"  cd %s && %sperch agent chat %s.yaml\n"
		"and give it a name of its own:\n"
		"  perch agent add %s %s.yaml && perch agent run %s 'hello'\n",
		with_compiler, name, make, name, name, name, name);
}

static int agent_create(struct cli *cli, int argc, char **argv)
{
	struct scaffold_options options = {
		.parent = ".",
		.language = "sh",
		.description = "an agent to start from",
		.kind = SCAFFOLD_AGENT,
	};
	return created_run(
		cli, argc, argv, &options, "see: perch agent create --help", agent_create_next);
}

const struct command agent_create_command = {
	.name = "create",
	.summary = "begin a new agent that answers at once",
	.help = "usage: perch agent create NAME [OPTIONS]\n"
			"\n"
			"Makes the directory NAME with an agent that answers at once: NAME.yaml, its\n"
			"profile, and its program. What is there already is never changed.\n"
			"\n"
			"  -l, --lang WORD     sh (the default), python, javascript or c\n"
			"  -d, --description TEXT\n"
			"                      one line for the profile\n"
			"  --json              what was made, for programs\n"
			"\n"
			"example:\n"
			"  perch agent create bot --lang python && perch agent chat bot/bot.yaml\n",
	.run = agent_create,
};

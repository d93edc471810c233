/* perch tool allow and revoke. */
#include "cli/allow.h"
#include "cli/tool.h"

/* A grant belongs to the name that a binding is found by. */
static int find_tool(const char *word, struct arena *arena, const char **ret_name, perch_err *err)
{
	struct tool_binding binding;
	int r = tool_binding_find(word, arena, &binding, err);
	if (r == 0)
		*ret_name = word;
	return r;
}

/* Also of a binding that is broken or gone. */
static int find_name(const char *word, struct arena *arena, const char **ret_name, perch_err *err)
{
	const char *unused;
	int r = tool_binding_path(word, arena, &unused, err);
	if (r == 0)
		*ret_name = word;
	return r;
}

static int run_allow(struct cli *cli, int argc, char **argv)
{
	static const struct allow_subject tool = {
		.kind = GRANT_TOOL,
		.noun = "tool",
		.command = "perch tool",
		.find = find_tool,
	};
	return cli_allow(cli, &tool, argc, argv);
}

static int run_revoke(struct cli *cli, int argc, char **argv)
{
	static const struct allow_subject tool = {
		.kind = GRANT_TOOL,
		.noun = "tool",
		.command = "perch tool",
		.find = find_name,
	};
	return cli_revoke(cli, &tool, argc, argv);
}

const struct command tool_verb_allow = {
	.name = "allow",
	.summary = "give a tool more than its binding does",
	.words = WORDS_TOOLS,
	.help = "usage: perch tool allow NAME OPTIONS\n"
			"\n" ALLOW_OPTIONS_HELP "\n"
			"On top of what [sandbox] of its binding says; kept in perch's grants.toml, shown\n"
			"by `perch tool show`, taken back by `perch tool revoke` and `perch tool remove`.\n"
			"A binding that is given by --binding FILE has what the file says alone.\n"
			"\n"
			"example:\n"
			"  perch tool allow acme.echo --read /srv/data --env GH_TOKEN\n",
	.run = run_allow,
};

const struct command tool_verb_revoke = {
	.name = "revoke",
	.summary = "take that back",
	.words = WORDS_TOOLS,
	.help = "usage: perch tool revoke NAME [OPTIONS]\n"
			"\n"
			"Takes back what the options name; without options, all that was allowed. What\n"
			"its binding says stays.\n"
			"\n" ALLOW_OPTIONS_HELP "\n"
			"example:\n"
			"  perch tool revoke acme.echo --env GH_TOKEN\n",
	.run = run_revoke,
};

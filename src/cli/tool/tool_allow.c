/* perch tool allow and revoke. A grant belongs to the name that a binding is found by, and records
 * what the binding said when a user approved it; so does the grant of a file that is given by
 * --binding. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "cli/ui/allow.h"
#include "cli/ui/page.h"
#include "cli/tool/tool_commands.h"
#include "registry/decision.h"

static bool tool_allow_is_file(const char *word)
{
	return strchr(word, '/') || str_has_suffix(str_from(word), STR(".toml"));
}

static int tool_allow_read_binding(
	const char *word, struct arena *arena, struct tool_binding *ret_binding, perch_err *err)
{
	return tool_allow_is_file(word) ? tool_binding_read(word, arena, ret_binding, err)
									: tool_binding_find(word, arena, ret_binding, err);
}

static int tool_allow_find_tool(
	const char *word, struct arena *arena, const char **ret_name, perch_err *err)
{
	struct tool_binding binding;
	int r = tool_allow_read_binding(word, arena, &binding, err);
	if (r == 0)
		*ret_name = tool_allow_is_file(word) ? binding.path : word;
	return r;
}

/* ---- what the binding says ----------------------------------------------------- */

static int tool_allow_approve_binding(const char *name, struct arena *arena, struct grant *grant,
	const char **ret_words, perch_err *err)
{
	struct tool_binding binding;
	struct decision decision;
	struct buf words = { 0 };
	int r = tool_allow_read_binding(name, arena, &binding, err);
	if (r == 0)
		r = tool_binding_decision(arena, &binding, grant, name, &decision, err);
	if (r == 0)
		r = decision_approve(&decision, tool_binding_files(arena, &binding), grant, err);
	if (r < 0)
		return r;
	const char *joined = page_join(&words, decision.words, "nothing");
	*ret_words = words.failed ? NULL : arena_dup(arena, str_from(joined));
	buf_free(&words);
	return *ret_words ? 0 : err_no_memory(err);
}

/* A user who allows it something has seen the binding, unless it has changed behind their back. */
static int tool_allow_settle_binding(const char *name, struct arena *arena,
	const struct grant *before, struct grant *grant, perch_err *err)
{
	struct tool_binding binding;
	struct decision then;
	struct decision now;
	if (tool_allow_is_file(name))
		return err_set(err, -EINVAL,
			"a binding that is given as a file has what the file says alone: change it, then "
			"approve it by --binding");
	if (tool_binding_find(name, arena, &binding, NULL) < 0)
		return 0;
	int r = tool_binding_decision(arena, &binding, before, name, &then, err);
	if (r == 0)
		r = tool_binding_decision(arena, &binding, grant, name, &now, err);
	if (r < 0 || (!before->widening.is_off && decision_check(&then, before, NULL) < 0))
		return r;
	return decision_approve(&now, tool_binding_files(arena, &binding), grant, err);
}

/* Also of a binding that is broken or gone. */
static int tool_allow_find_name(
	const char *word, struct arena *arena, const char **ret_name, perch_err *err)
{
	const char *unused;
	int r = tool_binding_path(word, arena, &unused, err);
	if (r == 0)
		*ret_name = word;
	return r;
}

static int tool_allow_run_allow(struct cli *cli, int argc, char **argv)
{
	static const struct allow_subject tool = {
		.kind = GRANT_TOOL,
		.noun = "tool",
		.command = "perch tool",
		.find = tool_allow_find_tool,
		.approve_option = "binding",
		.approve = tool_allow_approve_binding,
		.settle = tool_allow_settle_binding,
	};
	return cli_allow(cli, &tool, argc, argv);
}

static int tool_allow_run_revoke(struct cli *cli, int argc, char **argv)
{
	static const struct allow_subject tool = {
		.kind = GRANT_TOOL,
		.noun = "tool",
		.command = "perch tool",
		.find = tool_allow_find_name,
	};
	return cli_revoke(cli, &tool, argc, argv);
}

const struct command tool_verb_allow = {
	.name = "allow",
	.summary = "give a tool more than its binding does",
	.words = WORDS_TOOLS,
	.help = "usage: perch tool allow NAME OPTIONS\n"
			"\n" ALLOW_OPTIONS_HELP "  --binding       approve what the binding itself allows now\n"
			"\n"
			"On top of what [sandbox] of its binding says; kept in perch's grants.toml, shown\n"
			"by `perch tool show`, taken back by `perch tool revoke` and `perch tool remove`.\n"
			"A binding that allows more than when it was approved is refused until --binding.\n"
			"One that is given as a file (NAME is its path then) gets what it says, no more.\n"
			"\n"
			"example:\n"
			"  perch tool allow acme.echo --read /srv/data --env GH_TOKEN\n",
	.run = tool_allow_run_allow,
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
	.run = tool_allow_run_revoke,
};

/* perch agent allow and revoke. A grant belongs to the canonical path of a profile, and records
 * what the profile said when a user approved it. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "agent/agent_launch.h"
#include "base/err.h"
#include "base/file.h"
#include "cli/agent/agent_commands.h"
#include "cli/ui/allow.h"
#include "cli/ui/page.h"
#include "registry/decision.h"

static int agent_allow_find_profile(
	const char *word, struct arena *arena, const char **ret_name, perch_err *err)
{
	struct agent_profile profile;
	const char *path = NULL;
	int r = agent_find_profile(word, arena, &path, err);
	if (r == 0)
		r = agent_profile_read(path, arena, &profile, err);
	if (r == 0)
		*ret_name = profile.path;
	return r;
}

/* Works also for a broken profile, and for one that is gone if its whole path is given. */
static int agent_allow_find_path(
	const char *word, struct arena *arena, const char **ret_name, perch_err *err)
{
	char resolved[PATH_MAX];
	char shown[FILE_SHOWN_MAX];
	int r = agent_find_profile(word, arena, &word, err);
	if (r < 0)
		return r;
	const char *path = realpath(word, resolved);
	if (!path && (errno != ENOENT || word[0] != '/'))
		return err_set(err, -errno, "%s: %s", file_shown(word, shown), perch_strerror(-errno));
	path = arena_dup(arena, str_from(path ? path : word));
	if (!path)
		return err_no_memory(err);
	*ret_name = path;
	return 0;
}

/* ---- what the profile says --------------------------------------------------- */

static int agent_approve(const char *name, struct arena *arena, struct grant *grant,
	const char **ret_words, perch_err *err)
{
	struct agent_profile profile;
	struct decision decision;
	struct buf words = { 0 };
	int r = agent_profile_read(name, arena, &profile, err);
	if (r == 0)
		r = agent_profile_decision(arena, &profile, grant, &decision, err);
	if (r == 0)
		r = decision_approve(&decision, agent_profile_files(&profile, arena), grant, err);
	if (r < 0)
		return r;
	const char *joined = page_join(&words, decision.words, "nothing beyond the sandbox");
	*ret_words = words.failed ? NULL : arena_dup(arena, str_from(joined));
	buf_free(&words);
	return *ret_words ? 0 : err_no_memory(err);
}

/* A user who allows an agent something has seen its profile, unless that has changed meanwhile. For
 * a profile without a sandbox nothing is recorded; for one that cannot be read the record stays. */
static int agent_settle(const char *name, struct arena *arena, const struct grant *before,
	struct grant *grant, perch_err *err)
{
	struct agent_profile profile;
	struct decision then;
	struct decision now;
	if (agent_profile_read(name, arena, &profile, NULL) < 0)
		return 0;
	int r = agent_profile_decision(arena, &profile, before, &then, err);
	if (r == 0)
		r = agent_profile_decision(arena, &profile, grant, &now, err);
	if (r < 0)
		return r;
	r = before->widening.is_off ? 1 : decision_check(&then, before, NULL);
	if (r < 0)
		return 0;
	grant->has_approval = false;
	bool has_sandbox = !list_has(now.words, DECISION_NO_SANDBOX);
	if (!has_sandbox)
		return 0;
	return decision_approve(&now, agent_profile_files(&profile, arena), grant, err);
}

/* ------------------------------------------------------------------------------- */

static int agent_allow(struct cli *cli, int argc, char **argv)
{
	static const struct allow_subject agent = {
		.kind = GRANT_AGENT,
		.noun = "agent",
		.command = "perch agent",
		.find = agent_allow_find_profile,
		.approve_option = "profile",
		.approve = agent_approve,
		.has_tools = true,
		.settle = agent_settle,
	};
	return cli_allow(cli, &agent, argc, argv);
}

static int agent_revoke(struct cli *cli, int argc, char **argv)
{
	static const struct allow_subject agent = {
		.kind = GRANT_AGENT,
		.noun = "agent",
		.command = "perch agent",
		.find = agent_allow_find_path,
		.has_tools = true,
		.settle = agent_settle,
	};
	return cli_revoke(cli, &agent, argc, argv);
}

const struct command agent_allow_command = {
	.name = "allow",
	.summary = "give a sandboxed agent more than its profile does, or a sandbox",
	.help = "usage: perch agent allow PROFILE [OPTIONS]\n"
			"\n" ALLOW_OPTIONS_HELP "  --tool NAME     use this tool without asking (0.4)\n"
			"  --profile       approve what the profile itself allows now\n"
			"\n"
			"Without options, shows what is allowed.\n"
			"\n"
			"On top of what `sandbox` of the profile says; kept in perch's grants.toml by the\n"
			"path of the profile, shown by `perch agent check`. An agent without a sandbox\n"
			"has all your rights already: --sandbox on gives it one. A sandboxed profile that\n"
			"allows more than when it was approved, or first run, is refused until --profile.\n"
			"\n"
			"example:\n"
			"  perch agent allow bot.yaml --sandbox on --read /srv/data\n",
	.words = WORDS_AGENTS,
	.run = agent_allow,
};

const struct command agent_revoke_command = {
	.name = "revoke",
	.summary = "take back what was allowed",
	.help = "usage: perch agent revoke PROFILE [OPTIONS]\n"
			"\n"
			"Takes back what the options name; without options, all that was allowed. What\n"
			"the profile says stays.\n"
			"\n" ALLOW_OPTIONS_HELP "  --tool NAME     ask again before it uses this tool\n"
			"\n"
			"example:\n"
			"  perch agent revoke bot.yaml --read /srv/data\n",
	.words = WORDS_AGENTS,
	.run = agent_revoke,
};

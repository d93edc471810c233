/* perch agent allow and revoke. A grant belongs to the canonical path of a profile. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/file.h"
#include "cli/agent.h"
#include "cli/allow.h"

static int find_profile(
	const char *word, struct arena *arena, const char **ret_name, perch_err *err)
{
	struct agent_profile profile;
	int r = agent_profile_read(word, arena, &profile, err);
	if (r == 0)
		*ret_name = profile.path;
	return r;
}

/* Also of a profile that is broken, or gone when its whole path is given. */
static int find_path(const char *word, struct arena *arena, const char **ret_name, perch_err *err)
{
	char resolved[PATH_MAX];
	char shown[FILE_SHOWN_MAX];
	const char *path = realpath(word, resolved);
	if (!path && (errno != ENOENT || word[0] != '/'))
		return err_set(err, -errno, "%s: %s", file_shown(word, shown), perch_strerror(-errno));
	path = arena_dup(arena, str_from(path ? path : word));
	if (!path)
		return err_no_memory(err);
	*ret_name = path;
	return 0;
}

static int agent_allow(struct cli *cli, int argc, char **argv)
{
	static const struct allow_subject agent = {
		.kind = GRANT_AGENT,
		.noun = "agent",
		.command = "perch agent",
		.find = find_profile,
	};
	return cli_allow(cli, &agent, argc, argv);
}

static int agent_revoke(struct cli *cli, int argc, char **argv)
{
	static const struct allow_subject agent = {
		.kind = GRANT_AGENT,
		.noun = "agent",
		.command = "perch agent",
		.find = find_path,
	};
	return cli_revoke(cli, &agent, argc, argv);
}

const struct command agent_allow_command = {
	.name = "allow",
	.summary = "give a sandboxed agent more than its profile does, or a sandbox",
	.help = "usage: perch agent allow PROFILE OPTIONS\n"
			"\n" ALLOW_OPTIONS_HELP "\n"
			"On top of what `sandbox` of the profile says; kept in perch's grants.toml by the\n"
			"path of the profile, shown by `perch agent check`. An agent without a sandbox\n"
			"has all your rights already: --sandbox on gives it one.\n"
			"\n"
			"example:\n"
			"  perch agent allow bot.yaml --sandbox on --read /srv/data\n",
	.run = agent_allow,
};

const struct command agent_revoke_command = {
	.name = "revoke",
	.summary = "take back what was allowed",
	.help = "usage: perch agent revoke PROFILE [OPTIONS]\n"
			"\n"
			"Takes back what the options name; without options, all that was allowed. What\n"
			"the profile says stays.\n"
			"\n" ALLOW_OPTIONS_HELP "\n"
			"example:\n"
			"  perch agent revoke bot.yaml --read /srv/data\n",
	.run = agent_revoke,
};

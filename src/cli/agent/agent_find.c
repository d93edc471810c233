/* Which profile a user means: a name of $XDG_CONFIG_HOME/perch/agents, or a file; and which dialect
 * its agent speaks, where the user says so. */
#include "cli/agent/agent_commands.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "cli/ui/granted.h"
#include "service/agent_files.h"

/* A name comes before a file that happens to be called so: what a strange directory holds must not
 * take the place of the user's own agent. */
static bool agent_find_may_be_name(const char *word)
{
	struct str text = str_from(word);
	return !strchr(word, '/') && !str_has_suffix(text, STR(".yaml")) &&
		!str_has_suffix(text, STR(".yml"));
}

/* A directory as `perch agent create` makes it. */
static bool agent_find_is_within(const char *word)
{
	_cleanup_free_ char *path = str_join(word, "/", word, ".yaml", NULL);
	return path && access(path, F_OK) == 0;
}

static int agent_find_refuse(const char *word, perch_err *err)
{
	char shown[FILE_SHOWN_MAX];
	file_shown(word, shown);
	if (agent_find_is_within(word))
		return err_set(err, -ENOENT, "no agent has the name '%s'; the profile there is %s/%s.yaml",
			shown, shown, shown);
	if (agent_catalogue_text(word))
		return err_set(
			err, -ENOENT, "the agent '%s' is not added yet: perch agent add %s", shown, shown);
	return err_set(err, -ENOENT,
		"there is no agent '%s', and no file of that name; perch agent list shows what there is",
		shown);
}

static bool agent_find_is_none(const char *word)
{
	struct stat info;
	return stat(word, &info) < 0 ? errno == ENOENT : S_ISDIR(info.st_mode);
}

int agent_find_profile(const char *word, struct arena *arena, const char **ret_path, perch_err *err)
{
	_cleanup_free_ char *path = NULL;
	*ret_path = word;
	if (!agent_find_may_be_name(word) || agent_file_path(word, &path, NULL) < 0)
		return 0;
	if (access(path, F_OK) == 0)
		*ret_path = arena_dup(arena, str_from(path));
	else if (agent_find_is_none(word))
		return agent_find_refuse(word, err);
	return *ret_path ? 0 : err_no_memory(err);
}

/* The user who started us chose the profile; another user may write the lines. */
int agent_find_turn_profile(
	const char *chosen, bool takes_any, struct arena *arena, const char **profile, perch_err *err)
{
	char full[PATH_MAX];
	char wanted[PATH_MAX];
	char shown[FILE_SHOWN_MAX];
	const char *named = *profile;
	if (named == chosen)
		return 0;
	int r = agent_find_profile(named, arena, profile, err);
	if (r < 0 || !chosen || takes_any || strcmp(named, chosen) == 0)
		return r;
	if (realpath(*profile, full) && realpath(chosen, wanted) && strcmp(full, wanted) == 0)
		return 0;
	return err_set(err, -EPERM,
		"the profile '%s' is not the one that was chosen by --profile; --any-profile takes others",
		file_shown(named, shown));
}

int agent_open_profile(const struct cli *cli, const char *word, const char *protocol,
	struct arena *arena, struct agent_profile *ret_profile, perch_err *err)
{
	const char *path = NULL;
	int r = agent_find_profile(word, arena, &path, err);
	if (r == 0)
		r = agent_profile_read(path, arena, ret_profile, err);
	enum agent_dialect dialect;
	if (r == 0 && protocol && agent_dialect_find(protocol, &dialect))
		r = agent_profile_speak(arena, ret_profile, dialect, err);
	return r < 0 ? r : granted_agent(cli, arena, ret_profile, err);
}

int agent_check_protocol(const char *protocol)
{
	enum agent_dialect dialect;
	if (!protocol || agent_dialect_find(protocol, &dialect))
		return 0;
	return cli_usage_error(
		"write: --protocol 0.1, 0.4 or acp", "agents have no protocol '%.40s'", protocol);
}

/* The user's side of git: where their config is, and who owns a repository. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fledge/context.h"
#include "fledge/git_parts.h"

enum { GIT_USER_FILES_MAX = 3 };

/* "base/below"; NULL when there is no base, *ret_failed without memory. */
static const char *git_user_join(
	struct arena *arena, const char *base, const char *below, bool *ret_failed)
{
	if (!base || base[0] != '/')
		return NULL;
	const char *path = arena_join(arena, base, "/", below, NULL);
	*ret_failed |= !path;
	return path;
}

const char *const *git_user_files(struct arena *arena)
{
	const char *system = getenv("GIT_CONFIG_SYSTEM");
	const char *global = getenv("GIT_CONFIG_GLOBAL");
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	bool has_failed = false;
	const char **files = arena_alloc(arena, (GIT_USER_FILES_MAX + 1) * sizeof(*files));
	size_t count = 0;
	if (!files)
		return NULL;
	const char *const found[] = {
		getenv("GIT_CONFIG_NOSYSTEM") ? NULL
			: system                  ? system
									  : "/etc/gitconfig",
		global                  ? NULL
			: config && *config ? git_user_join(arena, config, "git/config", &has_failed)
								: git_user_join(arena, home, ".config/git/config", &has_failed),
		global ? global : git_user_join(arena, home, ".gitconfig", &has_failed),
	};
	for (size_t i = 0; i < GIT_USER_FILES_MAX; i++) {
		if (found[i] && found[i][0] == '/')
			files[count++] = found[i];
	}
	files[count] = NULL;
	return has_failed ? NULL : files;
}

/* As git has it: a user who became root by sudo still owns their files. */
static bool git_user_is(uid_t owner)
{
	const char *sudo = getenv("SUDO_UID");
	char *end = NULL;
	if (owner == geteuid())
		return true;
	if (geteuid() != 0 || !sudo || !*sudo)
		return false;
	errno = 0;
	unsigned long before = strtoul(sudo, &end, 10);
	return errno == 0 && *end == '\0' && before == owner;
}

bool git_user_owns(const char *path)
{
	struct stat status;
	return lstat(path, &status) == 0 && git_user_is(status.st_uid);
}

/* Where a user's files live, by the XDG base directory rules. */
#include "base/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/replace.h"
#include "base/str.h"

static const struct {
	const char *variable;
	const char *below_home;
} bases[] = {
	[PATH_CONFIG] = { "XDG_CONFIG_HOME", "/.config" },
	[PATH_DATA] = { "XDG_DATA_HOME", "/.local/share" },
	[PATH_STATE] = { "XDG_STATE_HOME", "/.local/state" },
	[PATH_CACHE] = { "XDG_CACHE_HOME", "/.cache" },
	[PATH_RUNTIME] = { "XDG_RUNTIME_DIR", NULL },
};

static const char *paths_absolute_variable(const char *name)
{
	const char *value = getenv(name);
	return value && value[0] == '/' ? value : NULL;
}

enum { PASSWD_LINE_MAX = 16 * 1024 };

/* Whether the line is this user's; then his home is written. */
static bool paths_take_account(char *line, char ret_home[PATH_MAX])
{
	char *fields[7] = { NULL };
	for (size_t i = 0; i < COUNT(fields) && line; i++)
		fields[i] = strsep(&line, ":\n");
	if (!fields[5] || fields[2][0] < '0' || fields[2][0] > '9' ||
		strtoul(fields[2], NULL, 10) != getuid())
		return false;
	snprintf(ret_home, PATH_MAX, "%s", fields[5]);
	return true;
}

bool paths_account_home(char ret_home[PATH_MAX])
{
	char line[PASSWD_LINE_MAX];
	FILE *accounts = fopen(PATHS_ACCOUNTS, "re");
	if (!accounts)
		return false;
	bool is_found = false;
	while (!is_found && fgets(line, sizeof(line), accounts))
		is_found = paths_take_account(line, ret_home);
	fclose(accounts);
	return is_found && ret_home[0] == '/';
}

const char *paths_tmp(void)
{
	const char *given = paths_absolute_variable("TMPDIR");
	return given ? given : "/tmp";
}

int paths_user(enum path_kind kind, const char *below, char **ret_path, perch_err *err)
{
	const char *base = paths_absolute_variable(bases[kind].variable);
	const char *below_home = "";
	if (!base && bases[kind].below_home) {
		base = paths_absolute_variable("HOME");
		below_home = bases[kind].below_home;
	}
	if (!base) {
		const char *or_home = bases[kind].below_home ? " and HOME are" : " is";
		return err_set(
			err, -ENOENT, "%s%s not set to an absolute path", bases[kind].variable, or_home);
	}
	char *path = str_join(base, below_home, below ? "/" : "", below ? below : "", NULL);
	if (!path)
		return err_no_memory(err);
	*ret_path = path;
	return 0;
}

/* The name of a new directory is on disk before anything is written into it: a file there is told
 * to be on disk, and would be lost with its directory. Best effort; a file says what goes wrong. */
static void paths_flush_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *above =
		str_dup(slash ? (struct str){ path, (size_t)(slash - path) + 1 } : STR("."));
	_cleanup_fd_ int directory = above ? fd_directory(AT_FDCWD, above, O_PATH) : -1;
	if (directory >= 0)
		(void)replace_flush(directory);
}

static int paths_make_one(const char *path)
{
	struct stat status;
	if (mkdir(path, 0700) == 0) {
		paths_flush_name(path);
		return 0;
	}
	if (errno != EEXIST || stat(path, &status) < 0)
		return -errno;
	return S_ISDIR(status.st_mode) ? 0 : -ENOTDIR;
}

/* Only the error of the innermost directory counts: a directory further up may exist in a place
 * where we could create none. */
int paths_make(const char *directory, perch_err *err)
{
	_cleanup_free_ char *path = str_dup(str_from(directory));
	if (!path)
		return err_no_memory(err);
	int r = paths_make_one(path);
	int above = 0;
	for (char *slash = path; r == -ENOENT && (slash = strchr(slash + 1, '/')); *slash = '/') {
		*slash = '\0';
		int made = paths_make_one(path);
		above = above ? above : made;
	}
	if (r == -ENOENT)
		r = paths_make_one(path);
	if (r == -ENOENT && above)
		r = above; /* what it lies in could not be made, and why */
	char shown[FILE_SHOWN_MAX];
	return r == 0 ? 0
				  : err_set(err, r, "cannot make the directory %s: %s", file_shown(path, shown),
						perch_strerror(r));
}

int paths_absolute(const char *path, struct arena *arena, const char **ret_path, perch_err *err)
{
	char here[PATH_MAX] = "";
	bool is_relative = path[0] != '/';
	if (is_relative && !getcwd(here, sizeof(here)))
		return err_set(err, -errno, "no current directory: %s", perch_strerror(-errno));
	const char *joined = arena_join(arena, here, is_relative ? "/" : "", path, NULL);
	if (!joined)
		return err_no_memory(err);
	*ret_path = joined;
	return 0;
}

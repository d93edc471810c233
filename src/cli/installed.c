/* Where perch's own programs and files are: found from where this program lies, so that a tree that
 * was moved is one tree still. No variable and no PATH has a say in it. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/* Below the prefix, or absolute where the build was configured so; and seen from this program in a
 * tree that is built and not installed. */
static const struct {
	const char *installed;
	const char *built;
} places[] = {
	[INSTALLED_COMMANDS] = { PERCH_BIN_DIR, "" },
	[INSTALLED_PROGRAMS] = { PERCH_LIBEXEC_DIR, "" },
	[INSTALLED_DATA] = { PERCH_DATA_DIR, "/.." },
};

/* The directory that this program lies in. */
static int installed_find_own(char ret_directory[PATH_MAX])
{
	ssize_t len = readlink("/proc/self/exe", ret_directory, PATH_MAX - 1);
	if (len < 0)
		return -errno;
	ret_directory[len] = '\0';
	*strrchr(ret_directory, '/') = '\0';
	return 0;
}

static int installed_join(
	const char *prefix, const char *place, const char *name, char ret_path[PATH_MAX])
{
	int len = place[0] == '/' ? snprintf(ret_path, PATH_MAX, "%s/%s", place, name)
							  : snprintf(ret_path, PATH_MAX, "%s/%s/%s", prefix, place, name);
	return len >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* Whether the directory is this place of a tree; then it becomes the prefix of that. */
static bool installed_become_prefix(char directory[PATH_MAX], enum installed_place place)
{
	const char *name = places[place].installed;
	if (name[0] == '/') {
		bool is_there = strcmp(directory, name) == 0;
		return is_there && strcpy(directory, PERCH_PREFIX);
	}
	size_t len = strlen(directory);
	size_t tail = strlen(name);
	if (len <= tail || directory[len - tail - 1] != '/' ||
		strcmp(directory + len - tail, name) != 0)
		return false;
	directory[len - tail - 1] = '\0';
	return true;
}

/* The prefix of the tree that this program lies in, or (false) its own directory: a program in some
 * `bin` alone is no tree. */
static bool installed_find_prefix(char base[PATH_MAX])
{
	char prefix[PATH_MAX], programs[PATH_MAX];
	strcpy(prefix, base);
	if (!installed_become_prefix(prefix, INSTALLED_COMMANDS) &&
		!installed_become_prefix(prefix, INSTALLED_PROGRAMS))
		return false;
	bool fits = installed_join(prefix, places[INSTALLED_PROGRAMS].installed, "", programs) == 0;
	if (!fits || access(programs, X_OK) < 0)
		return false;
	strcpy(base, prefix);
	return true;
}

int installed_path(enum installed_place place, const char *name, char ret_path[PATH_MAX])
{
	char base[PATH_MAX];
	int r = installed_find_own(base);
	if (r < 0)
		return r;
	if (installed_find_prefix(base))
		return installed_join(base, places[place].installed, name, ret_path);
	int len = snprintf(ret_path, PATH_MAX, "%s%s/%s", base, places[place].built, name);
	return len >= PATH_MAX ? -ENAMETOOLONG : 0;
}

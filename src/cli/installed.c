/* Where perch's own programs and files are: found from where this program lies, so that an
 * installed tree may be moved as a whole. The environment does not matter. */
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

/* The directory that this program lies in, which is asked for once; NULL where that cannot be. */
static const char *installed_own(void)
{
	static char own[PATH_MAX];
	if (own[0])
		return own;
	ssize_t len = readlink("/proc/self/exe", own, PATH_MAX - 1);
	if (len < 0)
		return NULL;
	own[len] = '\0';
	*strrchr(own, '/') = '\0';
	return own;
}

static int installed_join(
	const char *prefix, const char *place, const char *name, char ret_path[PATH_MAX])
{
	int len = place[0] == '/' ? snprintf(ret_path, PATH_MAX, "%s/%s", place, name)
							  : snprintf(ret_path, PATH_MAX, "%s/%s/%s", prefix, place, name);
	return len >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static int installed_join_place(
	const char *prefix, enum installed_place place, char ret_path[PATH_MAX])
{
	int r = installed_join(prefix, places[place].installed, "", ret_path);
	if (r == 0)
		ret_path[strlen(ret_path) - 1] = '\0';
	return r;
}

/* Whether the directory is this place of a tree; then the text becomes the prefix of that tree. */
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

/* A guard beside perch counts before any tree: a sandboxed process can make a tree's directory in a
 * project, and nothing in the directory that perch itself lies in (sandbox/own_programs.h). */
static bool installed_has_guard(const char *own)
{
	char path[PATH_MAX];
	int len = snprintf(path, sizeof(path), "%s/perch-guard", own);
	return len < PATH_MAX && access(path, X_OK) == 0;
}

/* Where the programs would be if this program's directory were the bin of a tree, whether or not
 * they exist; `base` becomes the prefix of that tree. */
static bool installed_find_tree(char base[PATH_MAX], char ret_programs[PATH_MAX])
{
	if (!installed_become_prefix(base, INSTALLED_PROGRAMS) &&
		(installed_has_guard(base) || !installed_become_prefix(base, INSTALLED_COMMANDS)))
		return false;
	return installed_join_place(base, INSTALLED_PROGRAMS, ret_programs) == 0;
}

/* The prefix of the tree that this program lies in, or (false) its own directory: a program in some
 * `bin` alone is no tree. */
static bool installed_find_prefix(char base[PATH_MAX])
{
	char prefix[PATH_MAX], programs[PATH_MAX];
	strcpy(prefix, base);
	if (!installed_find_tree(prefix, programs) || access(programs, X_OK) < 0)
		return false;
	strcpy(base, prefix);
	return true;
}

const char *const *installed_program_places(void)
{
	static char programs[PATH_MAX], commands[PATH_MAX];
	static const char *list[4];
	char prefix[PATH_MAX];
	size_t count = 0;
	const char *own = installed_own();
	if (!own)
		return list;
	list[count++] = own;
	strcpy(prefix, own);
	if (installed_find_tree(prefix, programs) &&
		installed_join_place(prefix, INSTALLED_COMMANDS, commands) == 0) {
		list[count++] = programs;
		list[count++] = commands;
	}
	list[count] = NULL;
	return list;
}

int installed_path(enum installed_place place, const char *name, char ret_path[PATH_MAX])
{
	char base[PATH_MAX];
	const char *own = installed_own();
	if (!own)
		return -errno;
	strcpy(base, own);
	if (installed_find_prefix(base))
		return installed_join(base, places[place].installed, name, ret_path);
	int len = snprintf(ret_path, PATH_MAX, "%s%s/%s", base, places[place].built, name);
	return len >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* Where a repository of git lies. */
#include "sandbox/git/repository.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "base/regular.h"
#include "sandbox/git/repository_search.h"
#include "sandbox/policy/way.h"

enum { GIT_FILE_MAX = PATH_MAX + 16 };

static bool repository_is_directory(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* 1, 0, -ENOMEM. */
static int repository_has(const char *directory, const char *name)
{
	_cleanup_free_ char *path = str_join(directory, "/", name, NULL);
	struct stat info;
	if (!path)
		return -ENOMEM;
	return lstat(path, &info) == 0;
}

/* Without links; NULL in *ret_path where it leads nowhere. -ENOMEM. */
static int repository_resolve(struct arena *arena, const char *path, const char **ret_path)
{
	char resolved[PATH_MAX];
	*ret_path = NULL;
	if (!way_resolve(path, resolved))
		return errno == ENOMEM ? -ENOMEM : 0;
	*ret_path = arena_dup(arena, str_from(resolved));
	return *ret_path ? 0 : -ENOMEM;
}

/* As git reads it: line ends at its end do not belong to it, blanks do, and a NUL ends it. */
static struct str repository_path_in(struct str text, struct str prefix)
{
	if (!str_has_prefix(text, prefix))
		return (struct str){ 0 };
	while (
		text.len > prefix.len && strchr("\r\n", text.data[text.len - 1]) && text.data[text.len - 1])
		text.len--;
	struct str path = { text.data + prefix.len, text.len - prefix.len };
	path.len = strnlen(path.data, path.len);
	return path;
}

/* The path that a file names, behind `prefix`; relative to `base`. NULL in *ret_path where there is
 * none. -ENOMEM. */
static int repository_read_path(struct arena *arena, const char *file, struct str prefix,
	const char *base, const char **ret_path)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	*ret_path = NULL;
	int r = regular_read(AT_FDCWD, file, 0, GIT_FILE_MAX, &text);
	if (r < 0 || !text.len)
		return r == -ENOMEM ? r : 0;
	struct str path = repository_path_in((struct str){ text.data, text.len }, prefix);
	if (!path.len)
		return 0;
	_cleanup_free_ char *named = str_dup(path);
	_cleanup_free_ char *whole = named
		? str_join(named[0] == '/' ? "" : base, named[0] == '/' ? "" : "/", named, NULL)
		: NULL;
	return whole ? repository_resolve(arena, whole, ret_path) : -ENOMEM;
}

int repository_inside(struct arena *arena, const char *git, struct repository *ret_repository)
{
	struct repository found = { 0 };
	int r = repository_resolve(arena, git, &found.own);
	if (r < 0 || !found.own || !repository_is_directory(found.own))
		return r;
	_cleanup_free_ char *commondir = str_join(found.own, "/commondir", NULL);
	if (!commondir)
		return -ENOMEM;
	r = repository_read_path(arena, commondir, STR(""), found.own, &found.common);
	if (!found.common)
		found.common = found.own;
	if (r == 0)
		*ret_repository = found;
	return r < 0 ? r : 1;
}

/* By names alone, as search_is_git has it; without a HEAD none is. 1, 0, -ENOMEM. */
static int repository_is_bare(const char *directory)
{
	static const struct {
		const char *name;
		unsigned bit;
	} known[] = { { "HEAD", SEARCH_HEAD }, { "objects", SEARCH_OBJECTS }, { "refs", SEARCH_REFS },
		{ "commondir", SEARCH_COMMONDIR } };
	unsigned names = 0;
	for (size_t i = 0; i < COUNT(known); i++) {
		int r = repository_has(directory, known[i].name);
		if (r < 0)
			return r;
		if (!r && known[i].bit == SEARCH_HEAD)
			return 0;
		names |= r ? known[i].bit : 0;
	}
	return search_is_git(names);
}

/* Where a `.git` file says that the repository is; a directory is the repository itself. */
static int repository_led_by(struct arena *arena, const char *directory, const char *entry,
	struct repository *ret_repository)
{
	struct stat info;
	const char *git = entry;
	bool is_file = stat(entry, &info) == 0 && S_ISREG(info.st_mode);
	int r = is_file ? repository_read_path(arena, entry, STR("gitdir: "), directory, &git) : 0;
	if (r == 0 && git)
		r = repository_inside(arena, git, ret_repository);
	return r < 0 ? r : 0;
}

int repository_at(struct arena *arena, const char *directory, struct repository *ret_repository)
{
	const char *entry =
		arena_join(arena, strcmp(directory, "/") == 0 ? "" : directory, "/.git", NULL);
	struct repository found = { 0 };
	struct stat info;
	if (!entry)
		return -ENOMEM;
	if (lstat(entry, &info) < 0) {
		int r = repository_is_bare(directory);
		return r > 0 ? repository_inside(arena, directory, ret_repository) : r;
	}
	int r = repository_led_by(arena, directory, entry, &found);
	found.entry = entry;
	found.is_led = !S_ISDIR(info.st_mode);
	if (r == 0)
		*ret_repository = found;
	return r < 0 ? r : 1;
}

bool repository_go_up(char *path)
{
	char *slash = strrchr(path, '/');
	if (!slash || path[1] == '\0')
		return false;
	slash[slash == path ? 1 : 0] = '\0';
	return true;
}

/* The project that a directory lies in. Found as git finds it: upwards, to the first `.git`, not
 * above GIT_CEILING_DIRECTORIES and not beyond the file system. */
#include "sandbox/git/work_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/regular.h"
#include "base/stamp.h"
#include "sandbox/git/git_plain.h"
#include "sandbox/git/repository.h"

/* ---- whose it is ------------------------------------------------------------- */

/* As git has it: a user who became root by sudo also counts as the user they were. */
static bool work_tree_is_ours(const char *path)
{
	struct stat info;
	const char *sudo = geteuid() == 0 ? getenv("SUDO_UID") : NULL;
	if (lstat(path, &info) < 0)
		return false;
	return info.st_uid == geteuid() ||
		(sudo && sudo[0] && strspn(sudo, "0123456789") == strlen(sudo) &&
			info.st_uid == strtoul(sudo, NULL, 10));
}

static bool work_tree_is_same(const char *a, const char *b)
{
	struct stat left;
	struct stat right;
	return stat(a, &left) == 0 && stat(b, &right) == 0 && stamp_is_same_file(&left, &right);
}

/* ---- whether what is behind it knows of it ------------------------------------- */

/* COMMON/worktrees/NAME holds a file that names the work tree's .git. 1, 0, -ENOMEM. */
static int work_tree_is_linked(const struct repository *repository)
{
	_cleanup_free_ char *file = str_join(repository->own, "/gitdir", NULL);
	_cleanup_free_ char *above = str_join(repository->own, "/../../", NULL);
	_cleanup_(buf_free) struct buf text = { 0 };
	if (!file || !above)
		return -ENOMEM;
	int r = regular_read(AT_FDCWD, file, O_NOFOLLOW, PATH_MAX, &text);
	if (r == 0)
		r = buf_terminate(&text);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	text.data[strcspn(text.data, "\r\n")] = '\0';
	return work_tree_is_same(above, repository->common) && text.data[0] == '/' &&
		work_tree_is_same(text.data, repository->entry);
}

/* Its core.worktree is the root: as in the directory of a submodule. 1, 0, -ENOMEM. */
static int work_tree_is_named(const struct repository *repository, const char *root)
{
	_cleanup_free_ char *file = str_join(repository->own, "/config", NULL);
	_cleanup_(buf_free) struct buf text = { 0 };
	int r = file ? regular_read(AT_FDCWD, file, O_NOFOLLOW, GIT_PLAIN_MAX, &text) : -ENOMEM;
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	struct git_plain plain = { .rest = { text.data, text.len } };
	while (git_plain_next(&plain) > 0) {
		if (!git_plain_is(&plain, "core", "worktree"))
			continue;
		_cleanup_free_ char *value = str_dup(plain.value);
		_cleanup_free_ char *path = value ? str_join(value[0] == '/' ? "" : repository->own,
												value[0] == '/' ? "" : "/", value, NULL)
										  : NULL;
		return path ? work_tree_is_same(path, root) : -ENOMEM;
	}
	return 0;
}

/* A directory `.git` that shares nothing needs no confirmation by git. */
static int work_tree_is_known(const struct repository *repository, const char *root)
{
	if (strcmp(repository->own, repository->common) != 0)
		return work_tree_is_linked(repository);
	return repository->is_led ? work_tree_is_named(repository, root) : 1;
}

/* ---- finding it ----------------------------------------------------------------- */

static bool work_tree_is_ceiling(const char *directory)
{
	const char *given = getenv("GIT_CEILING_DIRECTORIES");
	struct str rest = str_from(given ? given : "");
	while (rest.len) {
		if (str_is(str_cut(&rest, ':'), directory))
			return true;
	}
	return false;
}

/* False: git would not look there. */
static bool work_tree_go_up(char *path)
{
	struct stat below;
	struct stat above;
	if (stat(path, &below) < 0 || !repository_go_up(path) || work_tree_is_ceiling(path))
		return false;
	return stat(path, &above) == 0 && above.st_dev == below.st_dev;
}

/* 1, 0, -ENOMEM. */
static int work_tree_is_whole(const struct repository *repository)
{
	_cleanup_free_ char *objects = str_join(repository->common, "/objects", NULL);
	_cleanup_free_ char *head = str_join(repository->own, "/HEAD", NULL);
	struct stat info;
	if (!objects || !head)
		return -ENOMEM;
	return stat(objects, &info) == 0 && S_ISDIR(info.st_mode) && lstat(head, &info) == 0;
}

static int work_tree_add(struct arena *arena, const struct repository *repository, const char *root,
	const char *ret_places[WORK_TREE_PLACES + 1])
{
	if (!repository->entry || !repository->own || !work_tree_is_ours(root) ||
		!work_tree_is_ours(repository->entry))
		return 0;
	int r = work_tree_is_whole(repository);
	if (r <= 0)
		return r;
	size_t count = 0;
	ret_places[count++] = arena_dup(arena, str_from(root));
	r = work_tree_is_known(repository, root);
	if (r > 0 && work_tree_is_ours(repository->own) && work_tree_is_ours(repository->common)) {
		ret_places[count++] = repository->common;
		if (strcmp(repository->own, repository->common) != 0)
			ret_places[count++] = repository->own;
	}
	ret_places[count] = NULL;
	return r < 0 || !ret_places[0] ? -ENOMEM : 0;
}

int work_tree_places(
	struct arena *arena, const char *directory, const char *ret_places[WORK_TREE_PLACES + 1])
{
	struct repository repository;
	char path[PATH_MAX];
	size_t len = strlen(directory);
	ret_places[0] = NULL;
	if (directory[0] != '/' || len >= sizeof(path))
		return 0;
	memcpy(path, directory, len + 1);
	int r;
	do {
		r = repository_at(arena, path, &repository);
	} while (r == 0 && work_tree_go_up(path));
	return r > 0 ? work_tree_add(arena, &repository, path, ret_places) : r;
}

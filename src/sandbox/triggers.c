/* In a project: what git would execute later. Its configuration names programs (core.fsmonitor,
 * filters, pagers), its hooks are programs; and a file `commondir` in a directory of git's says
 * that both are to be looked for somewhere else. */
#include "sandbox/triggers.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"

enum {
	TRIGGERS_MAX = 256, /* beyond, directories as a whole: each costs a mount */
	MODULE_DEPTH = 8,   /* names of submodules have slashes in them */
	GIT_FILE_MAX = PATH_MAX + 16,
};

static const char *const of_a_repository[] = { "hooks", "config", "config.worktree", "commondir",
	NULL };
static const char *const of_a_worktree[] = { "config.worktree", "commondir", NULL };

static bool is_directory(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Without memory, everything fails: what is not found must not go unprotected. */
static bool has(struct path_list *protect, const char *directory, const char *name)
{
	_cleanup_free_ char *path = str_join(directory, "/", name, NULL);
	struct stat info;
	protect->failed |= !path;
	return path && stat(path, &info) == 0;
}

static void add_all(struct path_list *protect, const char *directory, const char *const *names)
{
	for (; *names; names++)
		path_list_add_below(protect, directory, *names);
}

/* ---- what a repository holds of others ------------------------------------- */

static void add_repository(struct path_list *protect, const char *directory, unsigned depth);

static void add_worktree(struct path_list *protect, const char *directory, unsigned depth)
{
	(void)depth;
	add_all(protect, directory, of_a_worktree);
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Calls `add` for each directory in this one. What is too much is added as one. */
static void add_each(struct path_list *protect, const char *directory,
	void (*add)(struct path_list *protect, const char *directory, unsigned depth), unsigned depth)
{
	DIR *listing = opendir(directory);
	const struct dirent *item;
	while (listing && !protect->failed && (item = readdir(listing))) {
		if (is_dots(item->d_name))
			continue;
		if (protect->count > TRIGGERS_MAX || depth == 0) {
			path_list_add_below(protect, directory, "");
			break;
		}
		_cleanup_free_ char *one = str_join(directory, "/", item->d_name, NULL);
		protect->failed |= !one;
		if (one && is_directory(one))
			add(protect, one, depth - 1);
	}
	if (listing)
		closedir(listing);
}

/* The same for "directory/name". */
static void add_each_in(struct path_list *protect, const char *directory, const char *name,
	void (*add)(struct path_list *protect, const char *directory, unsigned depth), unsigned depth)
{
	_cleanup_free_ char *path = str_join(directory, "/", name, NULL);
	protect->failed |= !path;
	if (path)
		add_each(protect, path, add, depth);
}

static void add_module(struct path_list *protect, const char *directory, unsigned depth)
{
	if (has(protect, directory, "HEAD"))
		add_repository(protect, directory, depth);
	else
		add_each(protect, directory, add_module, depth);
}

static void add_repository(struct path_list *protect, const char *directory, unsigned depth)
{
	add_all(protect, directory, of_a_repository);
	add_each_in(protect, directory, "worktrees", add_worktree, MODULE_DEPTH);
	add_each_in(protect, directory, "modules", add_module, depth);
}

/* ---- where repositories are ------------------------------------------------- */

static void add_named(struct path_list *protect, const char *project, struct str name)
{
	_cleanup_free_ char *text = str_dup(name);
	_cleanup_free_ char *path = text
		? str_join(text[0] == '/' ? "" : project, text[0] == '/' ? "" : "/", text, NULL)
		: NULL;
	protect->failed |= !path;
	if (path)
		add_repository(protect, path, MODULE_DEPTH);
}

/* "gitdir: PATH": the repository of a worktree, of a submodule, or one that was put elsewhere. */
static void add_git_file(struct path_list *protect, const char *project, const char *git)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	path_list_add_below(protect, project, ".git");
	int r = file_read(git, GIT_FILE_MAX, &text, NULL);
	protect->failed |= r == -ENOMEM;
	if (r < 0)
		return;
	struct str line = str_trim((struct str){ text.data, text.len });
	if (!str_has_prefix(line, STR("gitdir:")))
		return;
	line = str_trim((struct str){ line.data + strlen("gitdir:"), line.len - strlen("gitdir:") });
	add_named(protect, project, line);
}

void triggers_add(struct path_list *protect, const char *project)
{
	_cleanup_free_ char *git = str_join(project, "/.git", NULL);
	const char *given = getenv("GIT_DIR");
	if (!git) {
		protect->failed = true;
		return;
	}
	if (file_is_link(git))
		path_list_add_below(protect, project, ".git");
	if (is_directory(git))
		add_repository(protect, git, MODULE_DEPTH);
	else if (has(protect, project, ".git"))
		add_git_file(protect, project, git);
	else
		path_list_add_below(protect, project, ".git");
	if (has(protect, project, "HEAD") && has(protect, project, "objects") &&
		has(protect, project, "refs"))
		add_repository(protect, project, MODULE_DEPTH);
	if (given && given[0])
		add_named(protect, project, str_from(given));
}

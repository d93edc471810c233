/* What git would execute later. Its configuration names programs (core.fsmonitor, filters, pagers),
 * its hooks are programs; and a file `commondir` in a directory of git's says that both are to be
 * looked for somewhere else. */
#include "sandbox/git/triggers.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "sandbox/policy/policy.h"
#include "sandbox/policy/way.h"
#include "sandbox/git/repository.h"
#include "sandbox/git/repository_search.h"

static const char *const of_a_repository[] = { "hooks", "config", "config.worktree", "commondir",
	NULL };
static const char *const of_a_worktree[] = { "config.worktree", "commondir", NULL };

struct finder {
	struct triggers *found;
	struct arena *arena;
	struct search_budget modules; /* of all repositories together */
	unsigned depth;               /* of the submodule that is looked at */
	const char *git;              /* whose worktrees are looked at */
};

static int triggers_add_git(struct finder *finder, const char *git);

static int triggers_result(const struct finder *finder)
{
	const struct triggers *found = finder->found;
	bool has_failed = found->protect.failed || found->repositories.failed || found->writable.failed;
	return has_failed ? -ENOMEM : 0;
}

/* ---- one path ------------------------------------------------------------------ */

/* A path that the sandbox cannot write needs no protection; the target of a link counts, too. */
static bool triggers_is_writable(const struct finder *finder, const char *path)
{
	const char *const *writable = finder->found->writable.items;
	char target[PATH_MAX];
	if (policy_is_inside_any(path, writable))
		return true;
	return file_is_link(path) && way_resolve(path, target) &&
		policy_is_inside_any(target, writable);
}

static int triggers_add(struct finder *finder, const char *directory, const char *name)
{
	struct path_list *protect = &finder->found->protect;
	const char *path = arena_join(finder->arena, directory, name[0] ? "/" : "", name, NULL);
	protect->failed |= !path;
	if (path && triggers_is_writable(finder, path) && !list_has(protect->items, path))
		path_list_add(protect, path);
	return protect->failed ? -ENOMEM : 0;
}

static int triggers_add_all(struct finder *finder, const char *directory, const char *const *names)
{
	int r = 0;
	for (; r == 0 && *names; names++)
		r = triggers_add(finder, directory, *names);
	return r;
}

/* ---- what a repository holds of others --------------------------------------------- */

static int triggers_look_at_worktree(void *data, const char *path, unsigned names)
{
	struct finder *finder = data;
	(void)names;
	if (strcmp(path, finder->git) == 0)
		return 1;
	return triggers_add_all(finder, path, of_a_worktree);
}

/* Names of submodules have slashes in them: a directory without a HEAD only leads to some. */
static int triggers_look_at_module(void *data, const char *path, unsigned names)
{
	if (!(names & SEARCH_HEAD))
		return 1;
	return triggers_add_git(data, path);
}

/* Looks through "git/name". If it holds too much, it is protected as a whole. */
static int triggers_look_into(
	struct finder *finder, const char *git, const char *name, search_fn *look)
{
	_cleanup_free_ char *path = str_join(git, "/", name, NULL);
	struct stat info;
	if (!path)
		return -ENOMEM;
	if (lstat(path, &info) < 0)
		return 0;
	if (!S_ISDIR(info.st_mode)) /* a link: it is not followed, nor is it to lead elsewhere */
		return triggers_add(finder, path, "");
	const char *before = finder->git;
	finder->git = path;
	bool was_cut = finder->modules.is_cut;
	finder->modules.is_cut = finder->depth > TRIGGERS_MODULE_DEPTH;
	int r = finder->modules.is_cut ? 0 : search_run(&finder->modules, path, look, finder, NULL);
	finder->git = before;
	if (r == 0 && finder->modules.is_cut) {
		r = triggers_add(finder, path, "");
		if (r == 0 && !finder->found->crowded)
			finder->found->crowded = arena_dup(finder->arena, str_from(path));
	}
	finder->modules.is_cut |= was_cut;
	return r;
}

static bool triggers_touches(const struct finder *finder, const char *directory)
{
	const char *const *writable = finder->found->writable.items;
	bool is_in = policy_is_inside_any(directory, writable);
	for (; !is_in && *writable; writable++)
		is_in = policy_is_inside(*writable, directory);
	return is_in;
}

static int triggers_add_git(struct finder *finder, const char *git)
{
	struct path_list *known = &finder->found->repositories;
	if (list_has(known->items, git))
		return 0;
	if (known->count == TRIGGERS_REPOSITORIES) {
		finder->found->is_cut = true;
		return 0;
	}
	const char *kept = arena_dup(finder->arena, str_from(git));
	known->failed |= !kept;
	path_list_add(known, kept ? kept : "");
	int r = known->failed ? -ENOMEM : triggers_add_all(finder, kept, of_a_repository);
	if (r < 0 || !triggers_touches(finder, git))
		return r;
	finder->depth++;
	r = triggers_look_into(finder, kept, "worktrees", triggers_look_at_worktree);
	if (r == 0)
		r = triggers_look_into(finder, kept, "modules", triggers_look_at_module);
	finder->depth--;
	return r;
}

/* ---- where repositories are --------------------------------------------------------- */

static int triggers_add_repository(struct finder *finder, const struct repository *repository)
{
	int r = repository->is_led ? triggers_add(finder, repository->entry, "") : 0;
	if (r == 0 && repository->own)
		r = triggers_add_git(finder, repository->own);
	if (r == 0 && repository->own)
		r = triggers_add_git(finder, repository->common);
	return r;
}

static int triggers_look_at(struct finder *finder, const char *directory)
{
	struct repository repository;
	int r = repository_at(finder->arena, directory, &repository);
	return r > 0 ? triggers_add_repository(finder, &repository) : r;
}

/* Whether one of the first `count` writable paths is that directory, or below it. */
static bool triggers_was_above(const struct finder *finder, size_t count, const char *directory)
{
	const char *const *writable = finder->found->writable.items;
	for (size_t i = 0; i < count; i++) {
		if (policy_is_inside(writable[i], directory))
			return true;
	}
	return false;
}

/* In the path itself, and in every directory above it: the `.git` there may lead here. Directories
 * above an earlier path were looked at with that path. */
static int triggers_look_above(struct finder *finder, size_t number)
{
	char path[PATH_MAX];
	const char *writable = finder->found->writable.items[number];
	size_t len = strlen(writable);
	if (len >= sizeof(path))
		return 0;
	memcpy(path, writable, len + 1);
	int r = 0;
	do {
		if (triggers_was_above(finder, number, path))
			break;
		r = triggers_look_at(finder, path);
	} while (r == 0 && repository_go_up(path));
	return r;
}

static int triggers_look_below(void *data, const char *path, unsigned names)
{
	bool is_one = names & SEARCH_DOT_GIT || search_is_git(names);
	int r = is_one ? triggers_look_at(data, path) : 0;
	return r < 0 ? r : 1;
}

/* Where there is no repository, none must be made unnoticed. */
static int triggers_look_through(
	struct finder *finder, const char *writable, const struct search_memory **ret_seen)
{
	struct search_budget budget = { TRIGGERS_DIRECTORIES, TRIGGERS_NAMES, false };
	struct stat info;
	if (stat(writable, &info) < 0 || !S_ISDIR(info.st_mode))
		return 0;
	_cleanup_free_ char *git = str_join(strcmp(writable, "/") == 0 ? "" : writable, "/.git", NULL);
	int r = git ? 0 : -ENOMEM;
	if (r == 0 && lstat(git, &info) < 0)
		r = triggers_add(finder, git, "");
	if (r == 0)
		r = search_run_first(
			&budget, writable, triggers_look_below, finder, finder->arena, ret_seen);
	finder->found->is_cut |= budget.is_cut;
	return r;
}

/* The environment may name a repository for every git that runs here. */
static int triggers_look_at_given(struct finder *finder)
{
	struct repository repository;
	const char *given = getenv("GIT_DIR");
	int r = given && given[0] ? repository_inside(finder->arena, given, &repository) : 0;
	return r > 0 ? triggers_add_repository(finder, &repository) : r;
}

/* A path that lies in another one is left out. */
static void triggers_resolve(struct finder *finder, const char *const *write)
{
	struct path_list *writable = &finder->found->writable;
	for (; write && *write && !writable->failed; write++) {
		char resolved[PATH_MAX];
		if (!way_resolve(*write, resolved)) {
			writable->failed |= errno == ENOMEM;
			continue;
		}
		if (policy_is_inside_any(resolved, writable->items))
			continue;
		const char *kept = arena_dup(finder->arena, str_from(resolved));
		writable->failed |= !kept;
		path_list_add(writable, kept ? kept : "");
	}
}

static int triggers_look_through_all(struct finder *finder)
{
	const struct path_list *writable = &finder->found->writable;
	size_t size = (writable->count + 1) * sizeof(*finder->found->seen);
	finder->found->seen = arena_alloc(finder->arena, size);
	if (!finder->found->seen)
		return -ENOMEM;
	memset(finder->found->seen, 0, size);
	int r = 0;
	for (size_t i = 0; r == 0 && i < writable->count; i++)
		r = triggers_look_through(finder, writable->items[i], &finder->found->seen[i]);
	return r;
}

int triggers_find(struct arena *arena, const char *const *write, struct triggers *ret_triggers)
{
	struct triggers found = { 0 };
	struct finder finder = {
		.found = &found,
		.arena = arena,
		.modules = { TRIGGERS_MODULES, TRIGGERS_NAMES, false },
	};
	path_list_begin(&found.writable, arena, NULL);
	path_list_begin(&found.protect, arena, NULL);
	path_list_begin(&found.repositories, arena, NULL);
	triggers_resolve(&finder, write);
	int r = triggers_result(&finder);
	for (size_t i = 0; r == 0 && i < found.writable.count; i++)
		r = triggers_look_above(&finder, i);
	if (r == 0 && found.writable.count)
		r = triggers_look_at_given(&finder);
	if (r == 0)
		r = triggers_look_through_all(&finder);
	if (r == 0)
		*ret_triggers = found;
	return r;
}

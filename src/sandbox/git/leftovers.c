/* What a run has left for git to execute: a repository that was not there before, and that
 * holds more than git itself puts into a new one. Looked for when every process in the sandbox
 * is gone. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/linux_calls.h"
#include "base/listing.h"
#include "base/log.h"
#include "base/macros.h"
#include "base/regular.h"
#include "base/shell_word.h"
#include "base/tree.h"
#include "proc/host.h"
#include "sandbox/git/git_plain.h"
#include "sandbox/git/repository.h"
#include "sandbox/layers/open_path.h"
#include "sandbox/sandbox_parts.h"
#include "sandbox/git/repository_search.h"

enum {
	LEFT_DIRECTORIES = 32768, /* looked through below each path that could be written */
	LEFT_NAMES = 1024 * 1024,
	LEFT_NOTED = 256, /* repositories; of more only that there are more */
};

struct left {
	struct sandbox *sandbox;
	struct arena arena;
	struct path_list paths;       /* what is to be told of */
	struct path_list harms;       /* and why, each */
	struct search_budget modules; /* of all repositories together */
	bool is_crowd;                /* there are more */
};

/* ---- what would be executed ------------------------------------------------------ */

static bool leftovers_left_exists(int git, const char *name)
{
	struct stat info;
	return fstatat(git, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A core.worktree outside of the writable paths: a checkout there would write to it. */
static bool leftovers_left_leads_out(
	const struct sandbox *sandbox, const char *path, struct str text)
{
	struct git_plain plain = { .rest = text };
	bool leads_out = false;
	while (!leads_out && git_plain_next(&plain) > 0) {
		if (!git_plain_is(&plain, "core", "worktree"))
			continue;
		char target[PATH_MAX];
		_cleanup_free_ char *value = str_dup(plain.value);
		bool is_whole = value && value[0] == '/';
		_cleanup_free_ char *whole =
			value ? str_join(is_whole ? "" : path, is_whole ? "" : "/", value, NULL) : NULL;
		leads_out = !whole ||
			(realpath(whole, target) &&
				!policy_is_inside_any(target, sandbox->triggers.writable.items));
	}
	return leads_out;
}

static bool leftovers_left_has_config(const struct sandbox *sandbox, int git, const char *path)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct stat info;
	if (fstatat(git, "config", &info, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	if (info.st_nlink > 1) /* by its other name the next run could write it, protected or not */
		return true;
	int r = regular_read(git, "config", O_NOFOLLOW, GIT_PLAIN_MAX, &text);
	const struct str whole = { text.data, text.len };
	return r < 0 || !git_plain_is_harmless(whole) || leftovers_left_leads_out(sandbox, path, whole);
}

/* git leaves examples there, which it does not execute. */
static bool leftovers_left_has_hooks(int git)
{
	if (!leftovers_left_exists(git, "hooks"))
		return false;
	_cleanup_listing_ DIR *listing = listing_open(git, "hooks", O_NOFOLLOW);
	const char *name;
	bool has_any = !listing;
	while (!has_any && (name = listing_next(listing)))
		has_any = !str_has_suffix(str_from(name), STR(".sample"));
	return has_any;
}

/* What in a directory of git's would make git execute a program; NULL = nothing. A file that cannot
 * be read counts, too. A directory that shares all that with a repository known before, as a new
 * worktree does, is not looked at. */
static const char *leftovers_left_harm(
	const struct sandbox *sandbox, const struct repository *repository)
{
	const char *own = repository->own;
	_cleanup_fd_ int fd = fd_directory(AT_FDCWD, own, O_RDONLY | O_NOFOLLOW);
	if (fd < 0)
		return fd == -ENOENT ? NULL : "what cannot be read there";
	if (leftovers_left_exists(fd, "config.worktree"))
		return "its config.worktree";
	if (strcmp(own, repository->common) != 0 &&
		list_has(sandbox->triggers.repositories.items, repository->common))
		return NULL;
	if (leftovers_left_exists(fd, "commondir"))
		return "its commondir";
	if (leftovers_left_has_config(sandbox, fd, own))
		return "its config";
	return leftovers_left_has_hooks(fd) ? "its hooks" : NULL;
}

/* ---- whether the run has made it ---------------------------------------------------- */

bool left_is_since(const struct sandbox *sandbox, int64_t seconds, int64_t nanoseconds)
{
	const struct timespec *started = &sandbox->started;
	return seconds > started->tv_sec ||
		(seconds == started->tv_sec && nanoseconds >= started->tv_nsec);
}

/* Where not everything was seen before, files with an older date count as seen. */
static bool leftovers_left_is_new(const struct sandbox *sandbox, const char *git)
{
	static const struct {
		const char *name;
		unsigned depth; /* a hook may have been written in its place */
	} parts[] = { { "", 0 }, { "/config", 0 }, { "/hooks", 1 }, { "/config.worktree", 0 },
		{ "/commondir", 0 } };
	if (list_has(sandbox->triggers.repositories.items, git))
		return false;
	bool is_new = !sandbox->triggers.is_cut;
	for (size_t i = 0; !is_new && i < COUNT(parts); i++) {
		_cleanup_free_ char *path = str_join(git, parts[i].name, NULL);
		is_new = !path || left_has_changed(sandbox, path, parts[i].depth);
	}
	return is_new;
}

/* What is new since the run began: a repository may have been moved here, and a directory that was
 * there before may have become one. */
static bool leftovers_left_began(const struct sandbox *sandbox, const char *path)
{
	struct statx info;
	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &info) < 0)
		return false;
	if (info.stx_mask & STATX_BTIME)
		return left_is_since(sandbox, info.stx_btime.tv_sec, info.stx_btime.tv_nsec);
	return sandbox->layers.has_room && !sandbox->triggers.is_cut;
}

/* ---- telling --------------------------------------------------------------------------- */

int left_hold(const char *path, char out[LEFT_HELD_MAX])
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *above =
		slash ? str_dup((struct str){ path, (size_t)(slash - path) }) : NULL;
	if (!above || strlen(slash) > NAME_MAX + 1)
		return -1;
	int holder = open_path(AT_FDCWD, above[0] ? above : "/", RESOLVE_NO_SYMLINKS);
	snprintf(out, LEFT_HELD_MAX, "/proc/self/fd/%d%s", holder, slash);
	return holder < 0 ? -1 : holder;
}

void sandbox_tell_path(struct sandbox *sandbox, const char *path, const char *why)
{
	const struct log *log = &sandbox->host->log;
	char shown[FILE_SHOWN_MAX];
	char held[LEFT_HELD_MAX];
	char word[SHELL_WORD_MAX];
	char advice[SHELL_ADVICE_MAX];
	_cleanup_fd_ int holder = left_hold(path, held);
	bool has_begun = holder >= 0 && leftovers_left_began(sandbox, held);
	sandbox->has_told = true;
	file_shown(path, shown);
	if (has_begun && sandbox->removes_left && tree_remove(held) == 0)
		log_warn(log, "%s was made in the sandbox, and %s: it was removed", shown, why);
	else if (!has_begun)
		log_warn(log, "%s was made in the sandbox, or changed there, and %s: look at it first",
			shown, why);
	else
		log_warn(log, "%s was made in the sandbox, and %s: look at it first%s", shown, why,
			shell_advice(advice, shell_word(path, word), "; to remove it: rm -rf %s", word));
}

/* Told when everything was looked at: once a target is removed, the paths that lead to it are found
 * no more. */
static int leftovers_left_note(struct left *left, const char *path, const char *harm)
{
	if (left->paths.count == LEFT_NOTED) {
		left->is_crowd = true;
		return 0;
	}
	if (list_has(left->paths.items, path))
		return 0;
	const char *kept = arena_dup(&left->arena, str_from(path));
	path_list_add(&left->paths, kept ? kept : "");
	path_list_add(&left->harms, harm ? harm : "it");
	return !kept || left->paths.failed || left->harms.failed ? -ENOMEM : 0;
}

static void leftovers_left_tell(struct left *left)
{
	size_t count = left->paths.count < left->harms.count ? left->paths.count : left->harms.count;
	for (size_t i = 0; i < count; i++) {
		char why[96];
		snprintf(why, sizeof(why), "git may execute what %s says", left->harms.items[i]);
		sandbox_tell_path(left->sandbox, left->paths.items[i], why);
	}
	if (left->is_crowd)
		log_warn(&left->sandbox->host->log,
			"more repositories were made in the sandbox, too many to tell of each: git may execute "
			"what they say");
}

/* ---- looking ------------------------------------------------------------------------------ */

/* A directory of git's that was found. 0 or -ENOMEM. */
static int leftovers_left_look_at_git(struct left *left, const char *git)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct repository repository;
	int r =
		leftovers_left_is_new(left->sandbox, git) ? repository_inside(&arena, git, &repository) : 0;
	const char *harm = r > 0 ? leftovers_left_harm(left->sandbox, &repository) : NULL;
	return harm ? leftovers_left_note(left, git, harm) : r < 0 ? r : 0;
}

static int leftovers_left_look_at_module(void *data, const char *path, unsigned names)
{
	struct left *left = data;
	if (!search_is_git(names))
		return 1;
	if (list_has(left->sandbox->triggers.repositories.items, path))
		return 0;
	int r = leftovers_left_look_at_git(left, path);
	return r < 0 ? r : 1;
}

static void leftovers_left_tell_cut(const struct left *left, const char *path)
{
	char shown[FILE_SHOWN_MAX];
	log_warn(&left->sandbox->host->log,
		"not all of %s could be looked through for repositories that were made in the sandbox, "
		"because it is too much, too deep or not to be read: git may execute what they say",
		file_shown(path, shown));
}

/* Told once: thousands of repositories may have the same submodules. */
static int leftovers_left_look_into_modules(struct left *left, const char *git)
{
	_cleanup_free_ char *modules = str_join(git, "/modules", NULL);
	bool was_cut = left->modules.is_cut;
	int r = modules ? search_run(&left->modules, modules, leftovers_left_look_at_module, left, NULL)
					: -ENOMEM;
	if (r == 0 && left->modules.is_cut && !was_cut)
		leftovers_left_tell_cut(left, modules);
	return r;
}

/* A `.git` that leads where we cannot look; one that was there before is protected. */
static int leftovers_left_look_at_entry(struct left *left, const char *entry)
{
	const struct triggers *before = &left->sandbox->triggers;
	bool is_new = !list_has(before->protect.items, entry) &&
		(!before->is_cut || left_has_changed(left->sandbox, entry, 0));
	return is_new ? leftovers_left_note(left, entry, "the place that it names") : 0;
}

/* The `.git` of a work tree, and what it leads to. */
static int leftovers_left_look_at_repository(struct left *left, const struct repository *repository)
{
	const struct sandbox *sandbox = left->sandbox;
	const char *own = repository->own;
	if (!own)
		return leftovers_left_look_at_entry(left, repository->entry);
	if (list_has(sandbox->triggers.repositories.items, own))
		return 0;
	bool is_new = leftovers_left_is_new(sandbox, own);
	const char *harm = is_new ? leftovers_left_harm(sandbox, repository) : NULL;
	bool is_first = is_new && list_has(sandbox->absent, repository->entry);
	int r = harm || is_first ? leftovers_left_note(left, repository->entry, harm) : 0;
	bool is_elsewhere = strcmp(own, repository->entry) != 0;
	if (r == 0 && harm && is_elsewhere &&
		policy_is_inside_any(own, sandbox->triggers.writable.items))
		r = leftovers_left_note(left, own, harm);
	return r < 0 ? r : leftovers_left_look_into_modules(left, own);
}

static int leftovers_left_look_at(void *data, const char *path, unsigned names)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct left *left = data;
	struct repository repository;
	int r = 0;
	if (names & SEARCH_DOT_GIT)
		r = repository_at(&arena, path, &repository);
	if (r > 0)
		r = leftovers_left_look_at_repository(left, &repository);
	if (r == 0 && search_is_git(names))
		r = leftovers_left_look_at_git(left, path);
	return r < 0 ? r : 1;
}

static int leftovers_left_look_into(
	struct left *left, const char *path, const struct search_memory *seen)
{
	struct search_budget budget = { LEFT_DIRECTORIES, LEFT_NAMES, false };
	int r = search_run(&budget, path, leftovers_left_look_at, left, seen);
	if (r == 0 && budget.is_cut)
		leftovers_left_tell_cut(left, path);
	return r;
}

void sandbox_tell_left(struct sandbox *sandbox)
{
	struct left left = {
		.sandbox = sandbox,
		.modules = { LEFT_DIRECTORIES, LEFT_NAMES, false },
	};
	const struct triggers *before = &sandbox->triggers;
	int r = 0;
	path_list_begin(&left.paths, &left.arena, NULL);
	path_list_begin(&left.harms, &left.arena, NULL);
	for (size_t i = 0; r == 0 && i < before->writable.count; i++)
		r = leftovers_left_look_into(&left, before->writable.items[i], before->seen[i]);
	for (size_t i = 0; r == 0 && i < before->repositories.count; i++) {
		if (policy_is_inside_any(before->repositories.items[i], before->writable.items))
			r = leftovers_left_look_into_modules(&left, before->repositories.items[i]);
	}
	leftovers_left_tell(&left);
	if (r < 0)
		log_warn(&sandbox->host->log,
			"what was made in the sandbox could not be looked through for repositories: %s",
			perch_strerror(r));
	arena_free(&left.arena);
}

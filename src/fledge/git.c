/* The repository around a directory, read from its files: where it is, which
 * branch is checked out, what its first remote is.
 *
 * Not looked at, on purpose: GIT_DIR, GIT_WORK_TREE and their like (the question
 * is about the directory), core.worktree (the root is where .git stands; for
 * submodules that is the same) and bare repositories (they have no work tree).
 * A repository of another user does not count, as with git, unless safe.directory names it: a
 * `.git` that another user of the machine has left in /tmp is not the user's. One with reftables
 * does not say its branch in files one can read: it is "HEAD" there, as if
 * detached, and commits are taken for granted. */
#include "base/macros.h"
#include "fledge/context.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "fledge/git_parts.h"

/* Where to go on after one directory was looked at. */
enum found {
	FOUND_NOTHING, /* to the parent */
	FOUND_BROKEN,  /* nowhere: git gives up here too, or sees more in it than we do */
	FOUND_DIRECTORY,
	FOUND_LINK, /* a file that names the git directory */
};

struct place {
	struct git_place at;
	const char *ref; /* what HEAD names; NULL = detached */
	int common_fd;
};

static int git_open_directory(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd_above_stdio(fd);
}

/* One line of a file that names a path: `prefix` is cut off, and line ends
 * behind it. 1, 0 when there is no such line, -ENOMEM. */
static int git_read_path(int directory, const char *name, struct str prefix, const char *base,
	struct arena *arena, const char **ret_path)
{
	_cleanup_(buf_free) struct buf content = { 0 };
	int r = git_file_read(directory, name, PATH_MAX + 16, &content);
	if (r <= 0)
		return r;
	struct str text = { content.data, content.len };
	while (text.len && (text.data[text.len - 1] == '\n' || text.data[text.len - 1] == '\r'))
		text.len--;
	if (text.len <= prefix.len || !str_has_prefix(text, prefix) || memchr(text.data, 0, text.len))
		return 0;
	text.data += prefix.len;
	text.len -= prefix.len;
	*ret_path = git_path_resolve(base, text, arena);
	return *ret_path ? 1 : -ENOMEM;
}

/* What `.git` in this directory is: a git directory, or a file that names one. */
static int find_git_directory(
	const char *root, struct arena *arena, enum found *ret_found, const char **ret_path)
{
	const char *path = git_path_resolve(root, STR(".git"), arena);
	if (!path)
		return -ENOMEM;
	struct stat status;
	*ret_found = FOUND_NOTHING;
	if (stat(path, &status) < 0)
		return 0;
	if (S_ISREG(status.st_mode)) {
		int r = git_read_path(AT_FDCWD, path, STR("gitdir: "), root, arena, ret_path);
		*ret_found = r > 0 ? FOUND_LINK : FOUND_BROKEN;
		return r < 0 ? r : 0;
	}
	if (S_ISDIR(status.st_mode)) {
		*ret_path = path;
		*ret_found = FOUND_DIRECTORY;
	}
	return 0;
}

static bool git_has_directory(int fd, const char *name)
{
	struct stat status;
	return fstatat(fd, name, &status, 0) == 0 && S_ISDIR(status.st_mode) &&
		faccessat(fd, name, X_OK, 0) == 0;
}

static bool git_has_entry(int fd, const char *name)
{
	struct stat status;
	return fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

static int git_find_common_directory(int git_fd, struct place *place, struct arena *arena)
{
	place->at.common_directory = place->at.git_directory;
	if (!git_has_entry(git_fd, "commondir"))
		return 1;
	return git_read_path(
		git_fd, "commondir", STR(""), place->at.git_directory, arena, &place->at.common_directory);
}

/* Makes sure that it is a git directory, by git's own rules. 1, 0, -ENOMEM; on 1 place->common_fd
 * is open. Never more generous than git, and where it is stricter *ret_found is FOUND_BROKEN, so
 * that git is not run in a repository whose config was not read. */
static int git_open_place(struct place *place, struct arena *arena, enum found *ret_found)
{
	_cleanup_fd_ int git_fd = git_open_directory(place->at.git_directory);
	if (*ret_found == FOUND_LINK || (git_fd >= 0 && git_has_entry(git_fd, "HEAD")))
		*ret_found = FOUND_BROKEN;
	else
		*ret_found = FOUND_NOTHING;
	if (git_fd < 0)
		return 0;
	int r = git_head_read(git_fd, arena, &place->ref);
	if (r <= 0)
		return r;
	r = git_find_common_directory(git_fd, place, arena);
	if (r <= 0)
		return r;
	_cleanup_fd_ int common_fd = git_open_directory(place->at.common_directory);
	if (common_fd < 0 || !git_has_directory(common_fd, "objects") ||
		!git_has_directory(common_fd, "refs"))
		return 0;
	place->common_fd = fd_steal(&common_fd);
	*ret_found = FOUND_DIRECTORY;
	return 1;
}

/* A bare repository, or the inside of .git: git may take it for one. Hardly any directory above a
 * project has a HEAD, and one look tells. */
static bool git_is_bare(const char *directory)
{
	char head[PATH_MAX];
	int length = snprintf(head, sizeof(head), "%s/HEAD", directory);
	if (length < (int)sizeof(head) && !git_has_entry(AT_FDCWD, head))
		return false;
	_cleanup_fd_ int fd = git_open_directory(directory);
	return fd >= 0 && git_has_entry(fd, "HEAD") && git_has_entry(fd, "objects") &&
		git_has_entry(fd, "refs");
}

static int git_look_at(
	const char *root, struct arena *arena, enum found *ret_found, struct place *ret_place)
{
	*ret_found = FOUND_NOTHING;
	int r = find_git_directory(root, arena, ret_found, &ret_place->at.git_directory);
	if (r == 0 && *ret_found >= FOUND_DIRECTORY)
		r = git_open_place(ret_place, arena, ret_found);
	if (*ret_found == FOUND_NOTHING && git_is_bare(root))
		*ret_found = FOUND_BROKEN;
	return r < 0 ? r : 0;
}

/* Cuts the last part off a path; false when there is none left, or when the
 * parent is on another file system, where git stops too. `below` is what was last found out of the
 * path, or nothing yet. */
static bool git_go_up(char *path, struct stat *below)
{
	struct stat above = { 0 };
	char *slash = strrchr(path, '/');
	if (!slash || path[1] == '\0' || (!below->st_ino && stat(path, below) < 0))
		return false;
	if (slash == path)
		slash++;
	*slash = '\0';
	bool is_same = stat(path, &above) == 0 && above.st_dev == below->st_dev;
	*below = above;
	return is_same;
}

/* "refs/heads/x" is x; what is no branch keeps more of its name. */
static const char *git_branch_name(const char *ref)
{
	static const char *const prefixes[] = { "refs/heads/", "refs/" };
	for (size_t i = 0; ref && i < COUNT(prefixes); i++)
		if (strncmp(ref, prefixes[i], strlen(prefixes[i])) == 0)
			return ref + strlen(prefixes[i]);
	return "HEAD";
}

/* As git's safe.directory has it: the work tree, its .git, and the repository. */
static bool git_is_owned(const struct git_place *at)
{
	char entry[PATH_MAX];
	int length = snprintf(entry, sizeof(entry), "%s/.git", at->root);
	return length > 0 && (size_t)length < sizeof(entry) && git_user_owns(at->root) &&
		git_user_owns(entry) && git_user_owns(at->git_directory);
}

/* Fills in the facts of the repository at place; none when it is not ours. */
static int git_describe(const struct place *place, struct arena *arena, struct git_context *git)
{
	struct git_settings settings;
	int r = git_settings_read(&place->at, arena, &settings);
	if (r < 0)
		return r;
	if (!git_is_owned(&place->at) && !settings.is_trusted)
		return 0;
	git->root = place->at.root;
	git->branch = settings.has_reftable ? "HEAD" : git_branch_name(place->ref);
	git->remote = settings.remote ? settings.remote : "origin";
	git->remote_url = settings.remote_url ? settings.remote_url : "";
	git->filters = settings.filters;
	git->may_run_code = settings.may_run_code;
	git->is_repository = true;
	if (settings.has_reftable || !place->ref)
		return 0;
	r = git_ref_exists(place->common_fd, place->ref);
	git->is_repository = r > 0;
	return r < 0 ? r : 0;
}

/* The directory without slashes at its end, to be cut shorter. */
static char *git_start_path(const char *directory, struct arena *arena)
{
	struct str path = str_from(directory);
	while (path.len > 1 && path.data[path.len - 1] == '/')
		path.len--;
	return arena_dup(arena, path);
}

int git_read(const char *directory, struct arena *arena, struct git_context *ret_git)
{
	struct git_context git = { .branch = "HEAD", .remote = "origin", .remote_url = "" };
	char *root = git_start_path(directory, arena);
	if (!root)
		return -ENOMEM;
	enum found found;
	struct place place = { .common_fd = -1 };
	struct stat seen = { 0 };
	do {
		int r = git_look_at(root, arena, &found, &place);
		if (r < 0)
			return r;
	} while (found == FOUND_NOTHING && root[0] == '/' && git_go_up(root, &seen));
	if (found == FOUND_DIRECTORY) {
		place.at.root = root;
		int r = git_describe(&place, arena, &git);
		fd_close(place.common_fd);
		if (r < 0)
			return r;
	}
	*ret_git = git;
	return 0;
}

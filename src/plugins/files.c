/* The files of a plugin. A stranger wrote them: links are looked at, never followed, and there may
 * be any number of files. */
#include "plugins/files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/listing.h"
#include "base/str.h"
#include "sandbox/policy/policy.h"

/* ---- all of them ----------------------------------------------------------- */

struct walk {
	const char *directory;
	file_trouble_fn *found;
	void *data;
	size_t seen;
	bool is_incomplete;
	char path[PATH_MAX]; /* relative to the directory */
};

/* One step of the way that a link goes: into `name`, from the resolved `at`. False when it leaves
 * the directory, or climbs behind something that is not there: what will be there decides then
 * where that leads. */
static bool files_step(const char *directory, char at[PATH_MAX], struct str name, bool *is_there)
{
	char next[PATH_MAX];
	char resolved[PATH_MAX];
	if (!name.len || str_is(name, "."))
		return true;
	if (str_is(name, "..")) {
		*strrchr(at, '/') = '\0';
		return *is_there && policy_is_inside(at, directory);
	}
	int len = snprintf(next, sizeof(next), "%s/%.*s", at, (int)name.len, name.data);
	if (len < 0 || (size_t)len >= sizeof(next))
		return false;
	*is_there = *is_there && realpath(next, resolved);
	strcpy(at, *is_there ? resolved : next);
	return policy_is_inside(at, directory);
}

/* Whether a link that leads nowhere would lead out of the plugin. */
static bool files_climbs_out(const char *directory, const char *link)
{
	char target[PATH_MAX];
	char at[PATH_MAX];
	ssize_t len = readlink(link, target, sizeof(target));
	_cleanup_free_ char *above = str_dup((struct str){ link, (size_t)(strrchr(link, '/') - link) });
	if (len <= 0 || len == sizeof(target) || target[0] == '/' || !above || !realpath(above, at))
		return true;
	bool is_there = true;
	bool is_inside = true;
	for (struct str rest = { target, (size_t)len }; rest.len && is_inside;)
		is_inside = files_step(directory, at, str_cut(&rest, '/'), &is_there);
	return !is_inside;
}

static void files_look_at_link(struct walk *walk)
{
	char whole[PATH_MAX * 2];
	char resolved[PATH_MAX];
	snprintf(whole, sizeof(whole), "%s/%s", walk->directory, walk->path);
	bool dangles = !realpath(whole, resolved);
	if (dangles ? files_climbs_out(walk->directory, whole)
				: !policy_is_inside(resolved, walk->directory))
		walk->found(walk->data, FILE_LINK_LEAVES, walk->path);
	else if (dangles)
		walk->found(walk->data, FILE_LINK_DANGLES, walk->path);
}

static void files_walk_directory(struct walk *walk, int fd, size_t path_len, int depth);

static void files_walk_entry(
	struct walk *walk, int above, const char *name, size_t path_len, int depth)
{
	struct stat about;
	if (fstatat(above, name, &about, AT_SYMLINK_NOFOLLOW) < 0) {
		walk->is_incomplete = true;
		return;
	}
	if (S_ISLNK(about.st_mode)) {
		walk->found(walk->data, FILE_PRESENT, walk->path);
		files_look_at_link(walk);
		return;
	}
	if (!S_ISDIR(about.st_mode))
		walk->found(walk->data, FILE_PRESENT, walk->path);
	if (about.st_mode & S_IWOTH && !(about.st_mode & S_ISVTX))
		walk->found(walk->data, FILE_WORLD_WRITABLE, walk->path);
	if (!S_ISDIR(about.st_mode) || (depth == 0 && strcmp(name, ".git") == 0))
		return;
	int fd = fd_directory(above, name, O_RDONLY | O_NOFOLLOW);
	if (fd < 0 || depth == FILES_DEPTH_MAX)
		walk->is_incomplete = true;
	if (fd >= 0 && depth < FILES_DEPTH_MAX)
		files_walk_directory(walk, fd, path_len, depth + 1);
	else
		fd_close(fd);
}

/* Takes the descriptor. */
static void files_walk_directory(struct walk *walk, int fd, size_t path_len, int depth)
{
	_cleanup_listing_ DIR *listing = listing_take(fd);
	walk->is_incomplete |= !listing;
	for (const char *file; (file = listing_next(listing));) {
		size_t len = strlen(file);
		if (walk->seen == FILES_WALKED_MAX || path_len + len + 2 > sizeof(walk->path)) {
			walk->is_incomplete = true;
			break;
		}
		walk->seen++;
		size_t slash = path_len ? 1 : 0;
		walk->path[path_len] = '/';
		memcpy(walk->path + path_len + slash, file, len + 1);
		files_walk_entry(walk, dirfd(listing), file, path_len + slash + len, depth);
	}
}

int files_walk(const char *directory, file_trouble_fn *found, void *data)
{
	struct walk walk = { .directory = directory, .found = found, .data = data };
	int fd = fd_directory(AT_FDCWD, directory, O_RDONLY);
	if (fd < 0)
		return 1;
	files_walk_directory(&walk, fd, 0, 0);
	return walk.is_incomplete;
}

/* ---- one program ------------------------------------------------------------ */

/* Finds the errors that exec would report only later, in words that do not help. A binary that we
 * do not know may be known to the kernel (binfmt_misc); a text without #! cannot be executed. */
static const char *files_content_problem(const char *path, enum program_state *ret_state)
{
	char head[256] = { 0 };
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, head, sizeof(head) - 1);
	bool is_script = strncmp(head, "#!", 2) == 0;
	const char *end = strchr(head, '\n');
	*ret_state = PROGRAM_WRONG;
	if (len == 0)
		return "is empty";
	if (is_script && end && end[-1] == '\r')
		return "has Windows line ends: its interpreter cannot be found";
	if (len > 0 && !is_script && strlen(head) == (size_t)len)
		return "is a text that does not begin with #!, so nothing can start it: name its "
			   "interpreter in the first line (#!/bin/sh)";
	*ret_state = PROGRAM_ODD;
	if (len > 0 && !is_script && memcmp(head, "\177ELF", 4) != 0)
		return "is neither a program of this system nor a script that begins with #!";
	*ret_state = PROGRAM_FINE;
	return NULL;
}

enum program_state files_program(const char *directory, const char *path, const char **ret_problem)
{
	char whole[PATH_MAX * 2];
	char resolved[PATH_MAX];
	struct stat about;
	snprintf(whole, sizeof(whole), "%s/%s", directory, path);
	*ret_problem = "is not there";
	if (lstat(whole, &about) < 0)
		return PROGRAM_MISSING;
	*ret_problem = "is a link to nothing";
	if (!realpath(whole, resolved))
		return PROGRAM_MISSING;
	*ret_problem = "leads out of the plugin";
	if (!policy_is_inside(resolved, directory))
		return PROGRAM_OUTSIDE;
	*ret_problem = "is not a regular file";
	if (stat(resolved, &about) < 0 || !S_ISREG(about.st_mode))
		return PROGRAM_WRONG;
	*ret_problem = "is not executable";
	if (!(about.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)))
		return PROGRAM_NOT_EXECUTABLE;
	enum program_state state;
	*ret_problem = files_content_problem(resolved, &state);
	return state;
}

const char *files_remedy(enum program_state state, const char *directory, const char *path,
	char out[static FILES_REMEDY_MAX])
{
	char full[PATH_MAX];
	char word[SHELL_WORD_MAX] = "";
	if (state == PROGRAM_MISSING) {
		snprintf(out, FILES_REMEDY_MAX, ": make it, or name another one (binary in plugin.toml)");
		return out;
	}
	int len = snprintf(full, sizeof(full), "%s/%s", directory, path);
	if (state == PROGRAM_NOT_EXECUTABLE && len < PATH_MAX)
		shell_word(full, word);
	return shell_advice(out, word, ": chmod +x %s", word);
}

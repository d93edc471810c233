/* The files behind a store. */
#include "fledge/store_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/linux_calls.h"
#include "base/regular.h"
#include "base/replace.h"
#include "base/stamp.h"
#include "fledge/store.h"

#define STATE_NAME "state.json"
#define LOCK_NAME "state.json.lock"

int store_files_open(struct store_files *files, const char *directory)
{
	if (files->directory >= 0)
		return 0;
	int fd = fd_directory(AT_FDCWD, directory, O_PATH);
	if (fd < 0)
		return fd;
	files->directory = fd;
	return 0;
}

void store_files_close(struct store_files *files)
{
	files->known = fd_close(files->known);
	files->directory = fd_close(files->directory);
}

int store_files_lock(const struct store_files *files, enum lock_kind kind)
{
	return lock_try(files->directory, LOCK_NAME, kind);
}

int store_files_read(const struct store_files *files, struct buf *out)
{
	return regular_read(files->directory, STATE_NAME, O_NOFOLLOW, STORE_FILE_MAX, out);
}

/* The directory is looked at first: a file that is made behind that changes its times. */
void store_files_remember(struct store_files *files)
{
	struct stat directory;
	store_files_forget(files);
	bool is_seen = fstat(files->directory, &directory) == 0;
	int fd = openat(files->directory, STATE_NAME, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && is_seen) {
		files->stamp = directory;
		files->is_missing = stamp_is_settled(&directory);
	}
	if (fd < 0)
		return;
	files->known = fd_above_stdio(fd);
	if (files->known >= 0 &&
		(fstat(files->known, &files->stamp) < 0 || !stamp_is_settled(&files->stamp)))
		files->known = fd_close(files->known);
}

void store_files_forget(struct store_files *files)
{
	files->known = fd_close(files->known);
	files->is_missing = false;
}

/* By descriptor, which is quicker than by name: a process that replaces, moves or writes the file
 * leaves a new time of change on it. */
bool store_files_is_known(const struct store_files *files)
{
	struct stat now;
	const struct stat *then = &files->stamp;
	int fd = files->is_missing ? files->directory : files->known;
	if (fd < 0 || fstat(fd, &now) < 0)
		return false;
	return now.st_nlink > 0 && now.st_size == then->st_size && stamp_is_same(&now, then);
}

/* Renames unless the new name is taken; by hand where the file system cannot. */
static int store_file_rename_to_free(int directory, const char *from, const char *to)
{
	if (renameat2(directory, from, directory, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	struct stat status;
	if (fstatat(directory, to, &status, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(directory, from, directory, to) < 0 ? -errno : 0;
}

int store_files_set_aside(const struct store_files *files, char ret_name[STORE_NAME_MAX])
{
	for (int n = 1; n <= STORE_ASIDE_MAX; n++) {
		char name[STORE_NAME_MAX];
		snprintf(name, sizeof(name), STATE_NAME ".corrupt-%d", n);
		int r = store_file_rename_to_free(files->directory, STATE_NAME, name);
		if (r == -EEXIST)
			continue;
		if (r == 0)
			memcpy(ret_name, name, sizeof(name));
		return r;
	}
	return -EEXIST;
}

/* Temporary files are made under the write lock only: the process that
 * holds it knows that no other process uses those it finds. */
int store_files_replace(struct store_files *files, struct str text)
{
	if (!files->is_swept)
		replace_sweep(files->directory, STATE_NAME);
	files->is_swept = true;
	return replace_file(files->directory, STATE_NAME, text);
}

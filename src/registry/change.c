/* Changing a TOML file that other programs and people write too. */
#include "registry/change.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/paths.h"
#include "base/replace.h"

static int change_fail(perch_err *err, int code, const char *path)
{
	char shown[FILE_SHOWN_MAX];
	if (code == -EAGAIN)
		return err_set(err, code, "another program has been changing %s for too long: try again",
			file_shown(path, shown));
	return err_set(
		err, code, "cannot change %s: %s", file_shown(path, shown), perch_strerror(code));
}

/* The target of a link is replaced, not the link; a dangling link is a mistake. */
static int change_replace_target(const char *path, struct str text)
{
	char target[PATH_MAX];
	if (!realpath(path, target)) {
		struct stat status;
		if (errno != ENOENT || lstat(path, &status) == 0 || strlen(path) >= sizeof(target))
			return -errno;
		memcpy(target, path, strlen(path) + 1);
	}
	return replace_path(target, text);
}

/* Under the lock. */
static int change_text(const char *path, size_t most, change_fn *change, void *data, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	_cleanup_(buf_free) struct buf changed = { 0 };
	perch_err inner = { 0 };
	int r = file_read(path, most, &text, &inner);
	if (r < 0 && r != -ENOENT)
		return err_set(err, r, "%s", inner.text);
	inner = (perch_err){ 0 };
	r = change((struct str){ text.data, text.len }, data, &changed, &inner);
	if (r < 0)
		return inner.code ? file_blame(err, path, &inner) : err_no_memory(err);
	if (r == 0)
		return 0;
	r = change_replace_target(path, (struct str){ changed.data, changed.len });
	return r < 0 ? change_fail(err, r, path) : 1;
}

int change_file(const char *directory, const char *name, size_t most, change_fn *change, void *data,
	perch_err *err)
{
	_cleanup_free_ char *path = str_join(directory, "/", name, NULL);
	_cleanup_free_ char *lock_name = str_join(name, ".lock", NULL);
	if (!path || !lock_name)
		return err_no_memory(err);
	int r = paths_make(directory, err);
	if (r < 0)
		return r;
	_cleanup_fd_ int opened = fd_directory(AT_FDCWD, directory, O_PATH);
	if (opened < 0)
		return change_fail(err, opened, directory);
	_cleanup_fd_ int lock = lock_wait(opened, lock_name, CHANGE_LOCK_WAIT_NS);
	if (lock < 0)
		return change_fail(err, lock, path);
	replace_sweep(opened, name);
	return change_text(path, most, change, data, err);
}

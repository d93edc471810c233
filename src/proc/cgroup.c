/* A cgroup for the processes of one run. */
#include "proc/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/str.h"
#include "proc/pidfd.h"

struct cgroup {
	const struct cgroup_tree *tree;
	char *path;
	int directory;
	int entrance; /* its cgroup.procs */
	int killer;   /* its cgroup.kill */
	bool limits_memory;
	bool limits_processes;
};

/* "perch-PID-NUMBER": the name tells which host made it, as its own namespace counts. Another one
 * may have that number too, and takes the next. */
static const char leaf_prefix[] = "perch-";

enum { LEAF_TRIES = 16 };

static bool cgroup_is_marked_as_delegated(const char *path)
{
	char mark[1];
	return getxattr(path, "user.delegate", mark, sizeof(mark)) == 1 && mark[0] == '1';
}

const struct cgroup_tree cgroup_kernel_tree = {
	.mountinfo = "/proc/self/mountinfo",
	.membership = "/proc/self/cgroup",
	.usual_point = "/sys/fs/cgroup",
	.make = mkdir,
	.remove = rmdir,
	.is_delegated = cgroup_is_marked_as_delegated,
};

/* ---- the files in it --------------------------------------------------------- */

static int cgroup_open_file(int directory, const char *name, int flags)
{
	int fd = openat(directory, name, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd_above_stdio(fd);
}

static int cgroup_write_file(int directory, const char *name, const char *text)
{
	_cleanup_fd_ int fd = cgroup_open_file(directory, name, O_WRONLY);
	return fd < 0 ? fd : fd_write_all(fd, text, strlen(text));
}

/* Whether a word stands in the file, as a controller does in cgroup.controllers. */
static bool cgroup_file_has_word(int directory, const char *name, const char *word)
{
	char text[4096];
	_cleanup_fd_ int fd = cgroup_open_file(directory, name, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	struct str rest = str_trim((struct str){ text, n < 0 ? 0 : (size_t)n });
	while (rest.len) {
		if (str_is(str_cut(&rest, ' '), word))
			return true;
	}
	return false;
}

/* ---- limits ------------------------------------------------------------------ */

/* Enables a controller that the parent cgroup has and does not delegate yet. The kernel usually
 * refuses, because that cgroup has processes of its own. */
static void cgroup_enable_controller(const char *above, const char *controller)
{
	_cleanup_fd_ int directory = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char request[32];
	snprintf(request, sizeof(request), "+%s", controller);
	if (directory >= 0)
		cgroup_write_file(directory, "cgroup.subtree_control", request);
}

static bool cgroup_set_limit(const struct cgroup *cgroup, const char *above, const char *controller,
	const char *file, uint64_t limit)
{
	if (!limit)
		return false;
	if (!cgroup_file_has_word(cgroup->directory, "cgroup.controllers", controller))
		cgroup_enable_controller(above, controller);
	char text[32];
	snprintf(text, sizeof(text), "%llu", (unsigned long long)limit);
	return cgroup_write_file(cgroup->directory, file, text) == 0;
}

static void cgroup_set_limits(
	struct cgroup *cgroup, const char *above, const struct cgroup_limits *limits)
{
	cgroup->limits_memory = cgroup_set_limit(cgroup, above, "memory", "memory.max", limits->memory);
	cgroup->limits_processes =
		cgroup_set_limit(cgroup, above, "pids", "pids.max", limits->processes);
	/* Memory that is swapped out would not count. */
	if (cgroup->limits_memory)
		cgroup_write_file(cgroup->directory, "memory.swap.max", "0");
}

/* ---- making one -------------------------------------------------------------- */

/* A host holds a lock on its own: it may live where we cannot see it, and nobody be in it yet. */
static bool cgroup_is_abandoned(const char *path)
{
	_cleanup_fd_ int directory = cgroup_open_file(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
	return directory >= 0 && flock(directory, LOCK_EX | LOCK_NB) == 0;
}

/* Removes cgroups of hosts that were killed; one that is in use cannot be removed. */
static void cgroup_sweep(const struct cgroup_tree *tree, const char *above)
{
	DIR *directory = opendir(above);
	const struct dirent *entry;
	while (directory && (entry = readdir(directory))) {
		if (strncmp(entry->d_name, leaf_prefix, strlen(leaf_prefix)) != 0)
			continue;
		long maker = strtol(entry->d_name + strlen(leaf_prefix), NULL, 10);
		if (maker <= 0 || kill((pid_t)maker, 0) == 0 || errno != ESRCH)
			continue;
		_cleanup_free_ char *path = str_join(above, "/", entry->d_name, NULL);
		if (path && cgroup_is_abandoned(path))
			tree->remove(path);
	}
	if (directory)
		closedir(directory);
}

static int cgroup_make_leaf(struct cgroup *cgroup, const char *above)
{
	static atomic_uint number;
	char name[64];
	snprintf(
		name, sizeof(name), "/%s%d-%u", leaf_prefix, (int)getpid(), atomic_fetch_add(&number, 1));
	char *path = str_join(above, name, NULL);
	if (!path)
		return -ENOMEM;
	if (cgroup->tree->make(path, 0755) < 0) {
		free(path);
		return -errno;
	}
	cgroup->path = path;
	return 0;
}

/* -EAGAIN: a host that sweeps was sooner than our lock. */
static int cgroup_open_leaf(struct cgroup *cgroup)
{
	cgroup->directory = cgroup_open_file(AT_FDCWD, cgroup->path, O_RDONLY | O_DIRECTORY);
	if (cgroup->directory == -ENOENT)
		return -EAGAIN;
	if (cgroup->directory < 0)
		return cgroup->directory;
	bool is_ours = flock(cgroup->directory, LOCK_SH | LOCK_NB) == 0;
	if (!is_ours || access(cgroup->path, F_OK) < 0)
		return -EAGAIN;
	cgroup->entrance = cgroup_open_file(cgroup->directory, "cgroup.procs", O_WRONLY);
	cgroup->killer = cgroup_open_file(cgroup->directory, "cgroup.kill", O_WRONLY);
	return cgroup->entrance < 0 ? cgroup->entrance : cgroup->killer < 0 ? cgroup->killer : 0;
}

static void free_cgroup(struct cgroup *cgroup)
{
	if (cgroup->path)
		cgroup->tree->remove(cgroup->path);
	fd_close(cgroup->entrance);
	fd_close(cgroup->killer);
	fd_close(cgroup->directory);
	free(cgroup->path);
	free(cgroup);
}

/* What the directory above does not have, one in it cannot get. Making and removing one takes as
 * long as a hundred other calls. */
static bool cgroup_can_limit(const char *above, const struct cgroup_limits *limits)
{
	_cleanup_fd_ int directory = cgroup_open_file(AT_FDCWD, above, O_RDONLY | O_DIRECTORY);
	return (limits->memory && cgroup_file_has_word(directory, "cgroup.controllers", "memory")) ||
		(limits->processes && cgroup_file_has_word(directory, "cgroup.controllers", "pids"));
}

static int cgroup_try(const struct cgroup_tree *tree, const char *above, struct cgroup **ret_cgroup)
{
	struct cgroup *cgroup = malloc(sizeof(*cgroup));
	if (!cgroup)
		return -ENOMEM;
	*cgroup = (struct cgroup){ .tree = tree, .directory = -1, .entrance = -1, .killer = -1 };
	int r = cgroup_make_leaf(cgroup, above);
	if (r == 0)
		r = cgroup_open_leaf(cgroup);
	if (r < 0) {
		free_cgroup(cgroup);
		return r;
	}
	*ret_cgroup = cgroup;
	return 0;
}

static int cgroup_make_below(const struct cgroup_tree *tree, const char *above,
	const struct cgroup_limits *limits, struct cgroup **ret_cgroup)
{
	if (limits->or_none && !cgroup_can_limit(above, limits))
		return -ENOTSUP;
	cgroup_sweep(tree, above);
	int r = -EAGAIN;
	for (int i = 0; i < LEAF_TRIES && (r == -EAGAIN || r == -EEXIST); i++)
		r = cgroup_try(tree, above, ret_cgroup);
	if (r == 0)
		cgroup_set_limits(*ret_cgroup, above, limits);
	return r;
}

int cgroup_open(const struct cgroup_tree *tree, const struct cgroup_limits *limits,
	struct cgroup **ret_cgroup, perch_err *err)
{
	struct cgroup_place place;
	int r = cgroup_find(tree, limits, &place, err);
	if (r < 0)
		return r;
	_cleanup_free_ char *own = place.directory;
	_cleanup_free_ char *above = str_dup(str_from(own));
	if (!above)
		return err_no_memory(err);
	*strrchr(above, '/') = '\0';
	r = -ENOENT;
	if (!place.is_top && tree->is_delegated(above))
		r = cgroup_make_below(tree, above, limits, ret_cgroup);
	if (r < 0)
		r = cgroup_make_below(tree, own, limits, ret_cgroup);
	if (r == -ENOMEM)
		return err_no_memory(err);
	char shown[FILE_SHOWN_MAX];
	if (r == -ENOTSUP && limits->or_none)
		return err_set(err, r, "a cgroup in '%s' could limit nothing", file_shown(own, shown));
	return r < 0 ? err_set(err, PERCH_ESANDBOX, "no cgroup can be made in '%s': %s",
					   file_shown(own, shown), perch_strerror(r))
				 : 0;
}

bool cgroup_limits_memory(const struct cgroup *cgroup)
{
	return cgroup->limits_memory;
}

bool cgroup_limits_processes(const struct cgroup *cgroup)
{
	return cgroup->limits_processes;
}

const char *cgroup_path(const struct cgroup *cgroup)
{
	return cgroup->path;
}

int cgroup_entrance(const struct cgroup *cgroup)
{
	return cgroup->entrance;
}

/* ---- its end ----------------------------------------------------------------- */

/* "populated 0" is reported by an event; polling is for the case that the event came before we
 * looked. */
static void cgroup_await_empty(const struct cgroup *cgroup)
{
	_cleanup_fd_ int fd = cgroup_open_file(cgroup->directory, "cgroup.events", O_RDONLY);
	uint64_t deadline = clock_after(clock_now_ns(), DEATH_WAIT_MS * NSEC_PER_MSEC);
	while (fd >= 0 && clock_now_ns() < deadline) {
		char text[256];
		ssize_t n = pread(fd, text, sizeof(text), 0);
		if (n <= 0 || !memmem(text, (size_t)n, "populated 1", strlen("populated 1")))
			return;
		struct pollfd event = { .fd = fd, .events = POLLPRI };
		poll(&event, 1, DEATH_WAIT_MS);
	}
}

void cgroup_close(struct cgroup *cgroup)
{
	if (!cgroup)
		return;
	(void)!write(cgroup->killer, "1", 1);
	cgroup_await_empty(cgroup);
	free_cgroup(cgroup);
}

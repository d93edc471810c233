/* Cgroups: on a tree of plain files, where every layout can be had; and on the
 * kernel's, where one can be made. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/proc.h"
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/cgroup.h"
#include "proc/confine.h"
#include "proc/room.h"

/* ---- a tree of plain files ------------------------------------------------------ */

static char last_made[8192];
static const char *lent = ""; /* the controllers of a new cgroup */

static void put(const char *directory, const char *name, const char *text)
{
	char path[8320];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *file = fopen(path, "we");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

/* What the kernel does when a directory is made. */
static int make_fake(const char *path, mode_t mode)
{
	if (mkdir(path, mode) < 0)
		return -1;
	snprintf(last_made, sizeof(last_made), "%s", path);
	put(path, "cgroup.procs", "");
	put(path, "cgroup.kill", "");
	put(path, "cgroup.events", "populated 0\nfrozen 0\n");
	put(path, "cgroup.controllers", lent);
	if (strstr(lent, "memory"))
		put(path, "memory.max", ""), put(path, "memory.swap.max", "");
	if (strstr(lent, "pids"))
		put(path, "pids.max", "");
	return 0;
}

/* Keeps it, to be looked at. */
static int remove_fake(const char *path)
{
	char away[8320];
	snprintf(away, sizeof(away), "%s.removed", path);
	return rename(path, away);
}

static bool never(const char *path)
{
	(void)path;
	return false;
}

static bool always(const char *path)
{
	(void)path;
	return true;
}

/* A tree below the folder, mounted at "tree point" (with a blank in it). */
static struct cgroup_tree fake(
	const char *member, const char *root, bool (*is_delegated)(const char *))
{
	static char mountinfo[8192];
	static char membership[8192];
	char text[16384];
	folder_new();
	snprintf(text, sizeof(text),
		"21 20 0:19 / /sys rw - sysfs sysfs rw\n"
		"30 21 0:26 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
		"31 21 0:27 %s %s rw,nosuid shared:9 - cgroup2 cgroup2 rw\n",
		root, folder_path("tree\\040point"));
	folder_write("mountinfo", text);
	snprintf(text, sizeof(text), "12:pids:/elsewhere\n0::%s\n", member);
	folder_write("membership", text);
	snprintf(mountinfo, sizeof(mountinfo), "%s", folder_path("mountinfo"));
	snprintf(membership, sizeof(membership), "%s", folder_path("membership"));
	folder_write("tree point/cgroup.subtree_control", "");
	folder_write("tree point/user/scope/cgroup.subtree_control", "");
	return (
		struct cgroup_tree){ mountinfo, membership, NULL, make_fake, remove_fake, is_delegated };
}

static struct cgroup *open_fake(const struct cgroup_tree *tree, uint64_t memory, uint64_t processes)
{
	const struct cgroup_limits limits = { .memory = memory, .processes = processes };
	struct cgroup *cgroup = NULL;
	perch_err err = { 0 };
	ck_assert_msg(cgroup_open(tree, &limits, &cgroup, &err) == 0, "%s", err.text);
	return cgroup;
}

static void assert_removed_with(const char *name, const char *text)
{
	char path[8320];
	snprintf(path, sizeof(path), "%s.removed/%s", last_made, name);
	char *content = folder_read(path);
	ck_assert_str_eq(content, text);
	free(content);
}

/* Whether the last one was made in this directory of the tree. */
static void assert_made_in(const char *directory)
{
	char start[8320];
	snprintf(start, sizeof(start), "%s/perch-%d-", folder_path("%s", directory), (int)getpid());
	ck_assert_msg(
		strncmp(last_made, start, strlen(start)) == 0, "%s is not in %s", last_made, start);
}

START_TEST(limits_that_are_lent_hold)
{
	struct cgroup_tree tree = fake("/user/scope", "/", never);
	lent = "cpu memory pids\n";
	struct cgroup *cgroup = open_fake(&tree, 1 << 30, 64);
	assert_made_in("tree point/user/scope");
	ck_assert_str_eq(cgroup_path(cgroup), last_made);
	ck_assert(cgroup_limits_memory(cgroup) && cgroup_limits_processes(cgroup));
	ck_assert_int_eq(write(cgroup_entrance(cgroup), "0", 1), 1);
	cgroup_close(cgroup);
	assert_removed_with("memory.max", "1073741824");
	assert_removed_with("memory.swap.max", "0");
	assert_removed_with("pids.max", "64");
	assert_removed_with("cgroup.procs", "0");
	assert_removed_with("cgroup.kill", "1");
}
END_TEST

START_TEST(limits_that_are_not_lent_do_not_hold)
{
	struct cgroup_tree tree = fake("/user/scope", "/", never);
	lent = "cpu pids\n";
	struct cgroup *cgroup = open_fake(&tree, 1 << 30, 64);
	ck_assert(!cgroup_limits_memory(cgroup) && cgroup_limits_processes(cgroup));
	cgroup_close(cgroup);
	/* It was asked for. */
	char *asked = folder_read(folder_path("tree point/user/scope/cgroup.subtree_control"));
	ck_assert_str_eq(asked, "+memory");
	free(asked);
}
END_TEST

/* Where the directory above lacks what is asked for, none is made for its limits alone. */
START_TEST(none_is_made_that_could_limit_nothing)
{
	struct cgroup_tree tree = fake("/user/scope", "/", never);
	const struct cgroup_limits limits = { .memory = 1 << 30, .processes = 64, .or_none = true };
	struct cgroup *cgroup = NULL;
	last_made[0] = '\0';
	lent = "pids\n";
	folder_write("tree point/user/scope/cgroup.controllers", "cpu io\n");
	ck_assert_int_eq(cgroup_open(&tree, &limits, &cgroup, NULL), -ENOTSUP);
	ck_assert_str_eq(last_made, "");
	folder_write("tree point/user/scope/cgroup.controllers", "cpu pids\n");
	ck_assert_int_eq(cgroup_open(&tree, &limits, &cgroup, NULL), 0);
	ck_assert(!cgroup_limits_memory(cgroup) && cgroup_limits_processes(cgroup));
	cgroup_close(cgroup);
	/* Version 1 has the controllers: then nothing more is looked at. */
	folder_write("membership", "12:cpu,pids:/elsewhere\n4:memory:/\n0::/user/scope\n");
	tree.mountinfo = "/nowhere";
	ck_assert_int_eq(cgroup_open(&tree, &limits, &cgroup, NULL), -ENOTSUP);
	folder_write("membership", "4:memory:/\n3:pidsx:/\n0::/user/scope\n");
	ck_assert_int_eq(cgroup_open(&tree, &limits, &cgroup, NULL), PERCH_ESANDBOX);
}
END_TEST

START_TEST(limits_that_nobody_wants_are_not_set)
{
	struct cgroup_tree tree = fake("/user/scope", "/", never);
	lent = "memory pids\n";
	struct cgroup *cgroup = open_fake(&tree, 0, 0);
	ck_assert(!cgroup_limits_memory(cgroup) && !cgroup_limits_processes(cgroup));
	cgroup_close(cgroup);
	assert_removed_with("memory.max", "");
}
END_TEST

START_TEST(what_is_above_is_used_where_it_was_delegated)
{
	struct cgroup_tree tree = fake("/user/scope", "/", always);
	cgroup_close(open_fake(&tree, 0, 0));
	assert_made_in("tree point/user");
	/* But not what lies above the mount. */
	tree = fake("/", "/", always);
	cgroup_close(open_fake(&tree, 0, 0));
	assert_made_in("tree point");
}
END_TEST

START_TEST(a_mount_may_show_a_part_of_the_tree)
{
	struct cgroup_tree tree = fake("/machine/box/user/scope", "/machine/box", never);
	cgroup_close(open_fake(&tree, 0, 0));
	assert_made_in("tree point/user/scope");
	tree = fake("/machine/box", "/machine/box", never);
	cgroup_close(open_fake(&tree, 0, 0));
	assert_made_in("tree point");
}
END_TEST

static void assert_refused(const struct cgroup_tree *tree, const char *words)
{
	unsigned fds = proc_open_fds();
	struct cgroup *cgroup = NULL;
	perch_err err = { 0 };
	const struct cgroup_limits limits = { 0 };
	ck_assert_int_eq(cgroup_open(tree, &limits, &cgroup, &err), PERCH_ESANDBOX);
	ck_assert_msg(strstr(err.text, words) != NULL, "'%s' does not say '%s'", err.text, words);
	ck_assert_ptr_null(cgroup);
	ck_assert_uint_eq(proc_open_fds(), fds);
}

static int make_without_kill(const char *path, mode_t mode)
{
	char file[8320];
	snprintf(file, sizeof(file), "%s/cgroup.kill", path);
	return make_fake(path, mode) < 0 ? -1 : unlink(file);
}

START_TEST(where_none_can_be_made_that_is_said)
{
	struct cgroup_tree tree = fake("/no/such", "/", never);
	assert_refused(&tree, "No such file");
	tree = fake("/../outside", "/", never);
	assert_refused(&tree, "in no cgroup of version 2");
	tree = fake("/other/place", "/machine", never);
	assert_refused(&tree, "is mounted");
	tree.mountinfo = "/no/such/table";
	assert_refused(&tree, "/no/such/table");
	tree = fake("/", "/", never);
	folder_write("membership", "1:name=systemd:/x\n");
	assert_refused(&tree, "in no cgroup of version 2");
	/* Before Linux 5.14 its end would not reach everybody. Nothing stays. */
	tree = fake("/", "/", never);
	tree.make = make_without_kill;
	assert_refused(&tree, "No such file");
	ck_assert_int_ne(access(last_made, F_OK), 0);
}
END_TEST

static pid_t one_that_has_died(void)
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

START_TEST(what_killed_hosts_left_is_swept)
{
	struct cgroup_tree tree = fake("/user/scope", "/", never);
	pid_t dead = one_that_has_died();
	char left[64];
	char living[64];
	snprintf(left, sizeof(left), "tree point/user/scope/perch-%d-0", (int)dead);
	snprintf(living, sizeof(living), "tree point/user/scope/perch-%d-7", (int)getppid());
	ck_assert_int_eq(mkdir(folder_path("%s", left), 0755), 0);
	ck_assert_int_eq(mkdir(folder_path("%s", living), 0755), 0);
	ck_assert_int_eq(mkdir(folder_path("tree point/user/scope/perch-x"), 0755), 0);
	ck_assert_int_eq(mkdir(folder_path("tree point/user/scope/other"), 0755), 0);
	cgroup_close(open_fake(&tree, 0, 0));
	ck_assert_int_ne(access(folder_path("%s", left), F_OK), 0);
	ck_assert_int_eq(access(folder_path("%s", living), F_OK), 0);
	ck_assert_int_eq(access(folder_path("tree point/user/scope/perch-x"), F_OK), 0);
	ck_assert_int_eq(access(folder_path("tree point/user/scope/other"), F_OK), 0);
}
END_TEST

/* A host in another namespace of processes: nobody has its number here. */
START_TEST(what_is_held_is_not_swept)
{
	struct cgroup_tree tree = fake("/user/scope", "/", never);
	pid_t dead = one_that_has_died();
	char held[64];
	snprintf(held, sizeof(held), "tree point/user/scope/perch-%d-0", (int)dead);
	ck_assert_int_eq(mkdir(folder_path("%s", held), 0755), 0);
	int fd = open(folder_path("%s", held), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(flock(fd, LOCK_SH | LOCK_NB), 0);
	cgroup_close(open_fake(&tree, 0, 0));
	ck_assert_int_eq(access(folder_path("%s", held), F_OK), 0);
	close(fd);
	cgroup_close(open_fake(&tree, 0, 0));
	ck_assert_int_ne(access(folder_path("%s", held), F_OK), 0);
}
END_TEST

/* Ours is held from the beginning on. */
START_TEST(an_open_one_is_held)
{
	struct cgroup_tree tree = fake("/user/scope", "/", never);
	struct cgroup *cgroup = open_fake(&tree, 0, 0);
	int fd = open(cgroup_path(cgroup), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_lt(flock(fd, LOCK_EX | LOCK_NB), 0);
	close(fd);
	cgroup_close(cgroup);
}
END_TEST

static unsigned makings_left;

/* The name is taken, or the new one is swept before it is held. */
static int make_late(const char *path, mode_t mode)
{
	if (makings_left == 2)
		mkdir(path, mode);
	int r = make_fake(path, mode);
	if (makings_left && --makings_left == 0)
		remove_fake(path);
	return r;
}

START_TEST(a_name_that_is_taken_is_not_the_last)
{
	struct cgroup_tree tree = fake("/user/scope", "/", never);
	tree.make = make_late;
	makings_left = 2;
	struct cgroup *cgroup = open_fake(&tree, 0, 0);
	ck_assert_uint_eq(makings_left, 0);
	ck_assert_str_eq(cgroup_path(cgroup), last_made);
	ck_assert_int_eq(access(last_made, F_OK), 0);
	cgroup_close(cgroup);
}
END_TEST

static int open_and_close(void *data)
{
	const struct cgroup_limits limits = { .memory = 1 << 20, .processes = 10 };
	struct cgroup *cgroup = NULL;
	perch_err err = { 0 };
	int r = cgroup_open(data, &limits, &cgroup, &err);
	if (r < 0)
		ck_assert_int_eq(r, -ENOMEM);
	cgroup_close(cgroup);
	return r;
}

START_TEST(without_memory_there_is_none)
{
	struct cgroup_tree tree = fake("/user/scope", "/", never);
	lent = "memory pids\n";
	unsigned fds = proc_open_fds();
	ck_assert_uint_gt(oom_every(open_and_close, &tree), 5);
	ck_assert_uint_eq(proc_open_fds(), fds);
}
END_TEST

/* ---- the kernel's ------------------------------------------------------------------ */

static struct cgroup *open_real(uint64_t memory, uint64_t processes)
{
	const struct cgroup_limits limits = { .memory = memory, .processes = processes };
	struct cgroup *cgroup = NULL;
	perch_err err = { 0 };
	if (cgroup_open(&cgroup_kernel_tree, &limits, &cgroup, &err) < 0)
		suite_skip(err.text);
	return cgroup;
}

static void run_in(perch_host *host, const struct perch_confine *confine, const char *const *argv,
	int stderr_fd, struct record *record)
{
	perch_child_spec spec = proc_spec(argv, record);
	spec.confine = confine;
	spec.stderr_mode = stderr_fd < 0 ? PERCH_OUTPUT_LINES : PERCH_OUTPUT_FD;
	spec.stderr_fd = stderr_fd;
	spec.background = PERCH_BACKGROUND_KEEP; /* for the cgroup to end */
	proc_start(host, &spec, record);
	proc_until(host, &record->ended);
	perch_child_free(record->child);
	record->child = NULL;
}

/* Somebody who left its group is in it all the same, and its end is told by a pipe
 * that it holds. */
static void everybody_dies_with_it(perch_host *host, struct room *room, perch_reach reach)
{
	struct cgroup *cgroup = open_real(0, 0);
	const struct perch_confine confine = { .landlock_fd = -1, .room = room, .cgroup = cgroup };
	int ends[2];
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	struct record record = { 0 };
	run_in(host, &confine, SHELL("sed -n 's/^0:://p' /proc/self/cgroup"), -1, &record);
	const char *name = strrchr(cgroup_path(cgroup), '/');
	ck_assert_msg(strstr(record_out(&record), name) != NULL, "%s: %s", name, record_out(&record));
	ck_assert_int_eq(record.result.reach, reach);
	record_free(&record);
	run_in(host, &confine, CHILD("leave-escaped"), ends[1], &record);
	record_free(&record);
	close(ends[1]);
	struct pollfd held = { .fd = ends[0] };
	ck_assert_int_eq(poll(&held, 1, 0), 0);
	char path[4096];
	snprintf(path, sizeof(path), "%s", cgroup_path(cgroup));
	cgroup_close(cgroup);
	ck_assert_int_eq(poll(&held, 1, 60000), 1);
	ck_assert_int_ne(access(path, F_OK), 0);
	close(ends[0]);
}

START_TEST(everybody_in_it_dies_with_it)
{
	perch_host *host = proc_host();
	everybody_dies_with_it(host, NULL, PERCH_REACH_CGROUP);
	ck_assert_str_eq(perch_reach_name(PERCH_REACH_CGROUP), "cgroup");
	perch_host_free(host);
}
END_TEST

START_TEST(a_child_can_be_in_a_room_and_in_a_cgroup)
{
	perch_host *host = proc_host();
	struct room *room = NULL;
	perch_err err = { 0 };
	if (room_open(host, NULL, 0, &room, &err) < 0)
		suite_skip(err.text);
	everybody_dies_with_it(host, room, PERCH_REACH_PIDNS);
	room_close(room);
	perch_host_free(host);
}
END_TEST

static bool is_lent(const struct cgroup *cgroup, const char *controller)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/cgroup.controllers", cgroup_path(cgroup));
	char *controllers = folder_read(path);
	bool is = strstr(controllers, controller) != NULL;
	free(controllers);
	return is;
}

START_TEST(processes_are_limited_where_that_is_said)
{
	struct cgroup *cgroup = open_real(1 << 30, 8);
	ck_assert_int_eq(cgroup_limits_memory(cgroup), is_lent(cgroup, "memory"));
	ck_assert_int_eq(cgroup_limits_processes(cgroup), is_lent(cgroup, "pids"));
	if (cgroup_limits_processes(cgroup)) {
		perch_host *host = proc_host();
		const struct perch_confine confine = { .landlock_fd = -1, .cgroup = cgroup };
		struct record record = { 0 };
		run_in(host, &confine, SHELL("for i in 1 2 3 4 5 6 7 8 9; do sleep 9 & done"), -1, &record);
		ck_assert_int_ne(record.result.exit_code, 0);
		record_free(&record);
		perch_host_free(host);
	}
	cgroup_close(cgroup);
}
END_TEST

SUITE_MAIN("cgroup", limits_that_are_lent_hold, limits_that_are_not_lent_do_not_hold,
	none_is_made_that_could_limit_nothing, limits_that_nobody_wants_are_not_set,
	what_is_above_is_used_where_it_was_delegated, a_mount_may_show_a_part_of_the_tree,
	where_none_can_be_made_that_is_said, what_killed_hosts_left_is_swept, what_is_held_is_not_swept,
	an_open_one_is_held, a_name_that_is_taken_is_not_the_last, without_memory_there_is_none,
	everybody_in_it_dies_with_it, a_child_can_be_in_a_room_and_in_a_cgroup,
	processes_are_limited_where_that_is_said)

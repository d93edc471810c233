/* Rooms that cannot be opened: refused with words, and nothing is left. Every test
 * runs as root and as a normal user. */
#include "harness/oom.h"
#include "harness/quarters.h"
#include "harness/suite.h"

#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void check_refused(
	perch_host *host, const struct room_mount *mounts, size_t count, int code, const char *words)
{
	unsigned fds = proc_open_fds();
	unsigned children = proc_children();
	struct room *room = NULL;
	perch_err err = { 0 };
	int r = room_open(host, mounts, count, &room, &err);
	ck_assert_msg(
		r == code, "user %u: %d instead of %d: %s", (unsigned)geteuid(), r, code, err.text);
	ck_assert_msg(strstr(err.text, words) != NULL, "'%s' does not say '%s'", err.text, words);
	ck_assert_ptr_null(room);
	ck_assert_uint_eq(proc_open_fds(), fds);
	ck_assert_uint_eq(proc_children(), children);
}

QUARTERS_TEST(without_its_program_there_is_no_room)
{
	perch_host *host = proc_host_with((perch_host_options){ .guard_path = "/no/such/guard" });
	check_refused(host, NULL, 0, PERCH_ESANDBOX, "'/no/such/guard': there is no such file");
	perch_host_free(host);
	quarters_prepare("echo text >text; chmod +x text");
	host = proc_host_with((perch_host_options){ .guard_path = "text" });
	check_refused(host, NULL, 0, PERCH_ESANDBOX, "neither a program for this machine");
	perch_host_free(host);
}

/* That shows when somebody enters, at the latest when the room is closed. */
QUARTERS_TEST(a_program_that_is_no_guard_keeps_no_room)
{
	perch_host *host = proc_host_with((perch_host_options){ .guard_path = "/bin/true" });
	struct room *room = quarters_open(host, NULL, 0);
	const struct perch_confine confine = { .landlock_fd = -1, .room = room };
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(SHELL("while :; do sleep 1; done"), &record);
	spec.confine = &confine;
	perch_err err = { 0 };
	int r = perch_child_start(host, &spec, &record.child, &err);
	if (r == 0) {
		proc_until(host, &record.ended);
		ck_assert_int_eq(record.result.signal, SIGKILL);
	} else {
		ck_assert_int_eq(r, PERCH_ESANDBOX);
	}
	record_free(&record);
	room_close(room);
	perch_host_free(host);
	ck_assert_uint_eq(proc_children(), 0);
}

QUARTERS_TEST(paths_must_be_absolute_and_below_the_root)
{
	static const char *const wrong[] = { "relative", "/", "//", "" };
	perch_host *host = quarters_host();
	for (size_t i = 0; i < COUNT(wrong); i++) {
		const struct room_mount mount = { ROOM_HIDE, wrong[i], 0, 0 };
		check_refused(host, &mount, 1, -EINVAL, "no absolute path below the root");
	}
	perch_host_free(host);
}

QUARTERS_TEST(what_cannot_be_changed_is_named)
{
	quarters_prepare("echo text >file");
	const struct room_mount mounts[] = {
		{ ROOM_TMP, quarters_path("missing"), 0, 0 },
		{ ROOM_TMP, quarters_path("file"), 0, 0 },
	};
	perch_host *host = quarters_host();
	for (size_t i = 0; i < COUNT(mounts); i++)
		check_refused(host, &mounts[i], 1, PERCH_ESANDBOX, mounts[i].path);
	perch_host_free(host);
}

QUARTERS_TEST(nobody_enters_by_a_plain_fork)
{
	perch_host *host =
		proc_host_with((perch_host_options){ .guard_path = quarters_guard(), .plain_fork = true });
	check_refused(host, NULL, 0, PERCH_ESANDBOX, "plain_fork");
	perch_host_free(host);
}

/* As a daemon is that has given up being root. */
QUARTERS_TEST(who_cannot_be_looked_into_is_told)
{
	perch_host *host = quarters_host();
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 0), 0);
	if (geteuid() != 0)
		check_refused(host, NULL, 0, PERCH_ESANDBOX, "prctl(PR_SET_DUMPABLE, 1)");
	else
		room_close(quarters_open(host, NULL, 0));
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1), 0);
	perch_host_free(host);
}

/* ---- a kernel that forbids something ------------------------------------------- */

/* Answers a system call with an error, if its first argument has one of these
 * bits (0 = in any case). */
static void forbid(unsigned number, unsigned bits, unsigned error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		bits ? (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1)
			 : (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JA, 0, 0, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { COUNT(code), code };
	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* In a process of its own: a filter stays. */
static void refused_without(unsigned number, unsigned bits, unsigned error, const char *words)
{
	quarters_prepare("mkdir -p secret tmp");
	const struct room_mount mounts[] = {
		{ ROOM_HIDE, quarters_path("secret"), 0, 0 },
		{ ROOM_READ_ONLY, quarters_path("secret"), 0, 0 },
		{ ROOM_TMP, quarters_path("tmp"), 0, 0 },
	};
	pid_t pid = fork();
	if (pid == 0) {
		perch_host *host = quarters_host();
		forbid(number, bits, error);
		check_refused(host, mounts, COUNT(mounts), PERCH_ESANDBOX, words);
		perch_host_free(host);
		_exit(0);
	}
	int status;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

QUARTERS_TEST(where_the_kernel_forbids_it_that_is_said)
{
	refused_without(SYS_clone, CLONE_NEWUSER, EPERM, "namespaces are not allowed here");
	refused_without(SYS_clone, CLONE_NEWUSER, ENOSPC, "user.max_user_namespaces");
	/* As AppArmor does it. */
	refused_without(SYS_mount, 0, EACCES, "its mounts are not allowed here");
	refused_without(SYS_fsopen, 0, ENOSYS, "its mounts are not allowed here");
	refused_without(SYS_open_tree, 0, ENOSYS, "secret");
	refused_without(SYS_mount_setattr, 0, ENOSYS, "secret");
	refused_without(SYS_move_mount, 0, EPERM, "its mounts are not allowed here");
	refused_without(SYS_fspick, 0, ENOSYS, "its mounts are not allowed here");
	refused_without(SYS_execveat, 0, EACCES, "perch-guard");
	refused_without(SYS_capset, 0, EPERM, "no room for the sandbox");
}

static void enters_not(unsigned number, unsigned bits, const char *stage)
{
	pid_t pid = fork();
	if (pid == 0) {
		perch_host *host = quarters_host();
		struct room *room = quarters_open(host, NULL, 0);
		const struct perch_confine confine = { .landlock_fd = -1, .room = room };
		perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
		spec.argv = SHELL("true");
		spec.confine = &confine;
		forbid(number, bits, EPERM);
		unsigned fds = proc_open_fds();
		perch_child *child;
		perch_err err = { 0 };
		ck_assert_int_eq(perch_child_start(host, &spec, &child, &err), PERCH_ESANDBOX);
		ck_assert_str_eq(err.stage, stage);
		ck_assert_uint_eq(proc_open_fds(), fds);
		ck_assert_uint_eq(proc_children(), 1);
		room_close(room);
		perch_host_free(host);
		_exit(0);
	}
	int status;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

QUARTERS_TEST(who_cannot_enter_is_not_born)
{
	enters_not(SYS_setns, 0, "room");
	enters_not(SYS_clone, CLONE_PARENT, "room");
	enters_not(SYS_capset, 0, "privileges");
}

/* As in a container: then a new /proc is not allowed, and the old one stays. */
QUARTERS_TEST(a_covered_proc_stays_and_is_reported)
{
	if (geteuid() == 0)
		ck_assert_int_eq(mount("none", "/proc/tty", "tmpfs", 0, NULL), 0);
	else if (access("/proc/tty/drivers", F_OK) == 0)
		suite_skip("only root can cover a part of /proc");
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	ck_assert(!room_has_own_proc(room));
	quarters_expect(host, room, "readlink /proc/self/exe >/dev/null && echo works", "works\n");
	room_close(room);
	quarters_prepare("mkdir -p hidden replaced; touch hidden/file replaced/file");
	char hidden[PATH_MAX];
	char replaced[PATH_MAX];
	ck_assert_ptr_nonnull(realpath("hidden", hidden));
	ck_assert_ptr_nonnull(realpath("replaced", replaced));
	const struct room_mount mounts[] = { { .kind = ROOM_HIDE, .path = hidden },
		{ .kind = ROOM_TMP, .path = replaced } };
	room = quarters_open(host, mounts, COUNT(mounts));
	quarters_expect(host, room,
		"ls hidden replaced; touch replaced/made && ls replaced; ls -d /proc/self /usr",
		"hidden:\n\nreplaced:\nmade\n/proc/self\n/usr\n");
	room_close(room);
	perch_host_free(host);
}

/* ---- too little of something ------------------------------------------------------ */

QUARTERS_TEST(without_descriptors_there_is_no_room)
{
	perch_host *host = quarters_host();
	unsigned fds = proc_open_fds();
	struct rlimit before;
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	unsigned refused = 0;
	for (rlim_t most = 4;; most++) {
		const struct rlimit few = { most, before.rlim_max };
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
		struct room *room = NULL;
		perch_err err = { 0 };
		int r = room_open(host, NULL, 0, &room, &err);
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
		room_close(room);
		ck_assert_uint_eq(proc_open_fds(), fds);
		ck_assert_uint_eq(proc_children(), 0);
		if (r == 0)
			break;
		ck_assert_str_ne(err.text, "");
		refused++;
	}
	ck_assert_uint_gt(refused, 4);
	perch_host_free(host);
}

QUARTERS_TEST(without_processes_there_is_no_room)
{
	if (geteuid() == 0)
		return; /* it has no such limit */
	perch_host *host = quarters_host();
	struct rlimit before;
	ck_assert_int_eq(getrlimit(RLIMIT_NPROC, &before), 0);
	const struct rlimit none = { 1, before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NPROC, &none), 0);
	check_refused(host, NULL, 0, -EAGAIN, "temporarily unavailable");
	ck_assert_int_eq(setrlimit(RLIMIT_NPROC, &before), 0);
	struct room *room = quarters_open(host, NULL, 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NPROC, &none), 0);
	const struct perch_confine confine = { .landlock_fd = -1, .room = room };
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = SHELL("true");
	spec.confine = &confine;
	perch_child *child;
	ck_assert_int_eq(perch_child_start(host, &spec, &child, NULL), -EAGAIN);
	ck_assert_int_eq(setrlimit(RLIMIT_NPROC, &before), 0);
	room_close(room);
	perch_host_free(host);
}

static int open_and_close(void *data)
{
	const struct room_mount mounts[] = {
		{ ROOM_HIDE, quarters_path("secret"), 0, 0 },
		{ ROOM_REVEAL, quarters_path("secret/shown"), 0, 0 },
	};
	perch_host *host = data;
	struct room *room = NULL;
	perch_err err = { 0 };
	int r = room_open(host, mounts, COUNT(mounts), &room, &err);
	if (r < 0)
		ck_assert_int_eq(r, -ENOMEM);
	room_close(room);
	return r;
}

QUARTERS_TEST(without_memory_there_is_no_room)
{
	quarters_prepare("mkdir -p secret/shown");
	perch_host *host = quarters_host();
	unsigned fds = proc_open_fds();
	ck_assert_uint_ge(oom_every(open_and_close, host), 4);
	ck_assert_uint_eq(proc_open_fds(), fds);
	perch_host_free(host);
}

SUITE_MAIN("room-faults", without_its_program_there_is_no_room,
	a_program_that_is_no_guard_keeps_no_room, paths_must_be_absolute_and_below_the_root,
	what_cannot_be_changed_is_named, nobody_enters_by_a_plain_fork,
	who_cannot_be_looked_into_is_told, where_the_kernel_forbids_it_that_is_said,
	who_cannot_enter_is_not_born, a_covered_proc_stays_and_is_reported,
	without_descriptors_there_is_no_room, without_processes_there_is_no_room,
	without_memory_there_is_no_room)

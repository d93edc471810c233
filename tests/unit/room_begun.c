/* Rooms that are begun before they are wanted. Every test runs as root and as a normal user. */
#include "harness/quarters.h"
#include "harness/suite.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"

static int find_nothing(
	void *data, const struct room_mount **ret_mounts, size_t *ret_count, perch_err *err)
{
	(void)err;
	*ret_mounts = data;
	*ret_count = 0;
	return 0;
}

static int find_one(
	void *data, const struct room_mount **ret_mounts, size_t *ret_count, perch_err *err)
{
	(void)err;
	*ret_mounts = data;
	*ret_count = 1;
	return 0;
}

/* Also by a host that closes what it has, opens other files and starts others meanwhile. */
QUARTERS_TEST(a_room_that_was_begun_is_taken)
{
	struct room *room;
	perch_host *host = quarters_host();
	const struct room_wish wish = { .find = find_nothing, .is_usual = true };
	struct record record = { 0 };
	quarters_exec(host, NULL, QUARTERS_CHILD("exit", "0"), &record);
	record_free(&record);
	unsigned fds = proc_open_fds();
	room_begin(host, NULL);
	room_begin(host, NULL);
	quarters_exec(host, NULL, QUARTERS_CHILD("exit", "7"), &record);
	ck_assert_int_eq(record.result.exit_code, 7);
	record_free(&record);
	ck_assert_int_eq(room_open_with(host, &wish, &room, NULL), 0);
	ck_assert_uint_eq(proc_children(), 2); /* its init, and the guard of those children */
	quarters_expect(host, room, "echo $$", "2\n");
	room_close(room);
	ck_assert_int_eq(room_open_with(host, &wish, &room, NULL), 0);
	room_close(room);
	ck_assert_uint_eq(proc_open_fds(), fds);
	perch_host_free(host);
	ck_assert_uint_eq(proc_children(), 0);
}

QUARTERS_TEST(a_room_that_was_begun_in_vain_is_gone)
{
	struct room *room;
	unsigned fds = proc_open_fds();
	const struct room_wish another = { .find = find_nothing };
	for (int is_taken = 0; is_taken < 2; is_taken++) {
		perch_host *host = quarters_host();
		room_begin(host, NULL);
		if (is_taken) {
			ck_assert_int_eq(room_open_with(host, &another, &room, NULL), 0);
			quarters_expect(host, room, "echo $$", "2\n");
			ck_assert_uint_eq(proc_children(), 1);
			room_close(room);
		}
		perch_host_free(host);
		ck_assert_uint_eq(proc_children(), 0);
		ck_assert_uint_eq(proc_open_fds(), fds);
	}
}

static int refuse(
	void *data, const struct room_mount **ret_mounts, size_t *ret_count, perch_err *err)
{
	(void)data, (void)ret_mounts, (void)ret_count;
	return err_set(err, -EINVAL, "no");
}

QUARTERS_TEST(a_room_that_was_begun_is_called_off)
{
	struct room *room;
	const struct room_wish wish = { .find = refuse, .is_usual = true };
	perch_host *host = quarters_host();
	room_begin(host, NULL);
	ck_assert_int_eq(room_open_with(host, &wish, &room, NULL), -EINVAL);
	ck_assert_uint_eq(proc_children(), 0);
	perch_host_free(host);
}

/* ---- a child that is born before it is known what it executes --------------------- */

/* Directories are not made. */
static struct sock_filter code[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdirat, 1, 0),
#ifdef SYS_mkdir
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdir, 0, 1),
#else
	BPF_STMT(BPF_JMP | BPF_JA, 1),
#endif
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
static const struct sock_fprog no_directories = { COUNT(code), code };
static const struct sock_fprog everything = { 1, code + COUNT(code) - 1 };

static const struct sock_fprog *know_filter(void *data)
{
	(void)data;
	return &no_directories;
}

static const struct room_wish with_newcomer = {
	.find = find_nothing,
	.meanwhile = know_filter,
	.is_usual = true,
};

static void expect_filtered(perch_host *host, struct room *room, const struct sock_fprog *filter)
{
	const struct perch_confine confine = {
		.landlock_fd = -1, .room = room, .filter = filter, .no_capabilities = true
	};
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(
		SHELL("mkdir made && rmdir made; grep -E 'CapBnd|CapEff|NoNewPrivs' /proc/self/status"),
		&record);
	spec.confine = &confine;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	buf_terminate(&record.err);
	ck_assert_int_eq(
		strstr(record.err.data, "Invalid cross-device link") != NULL, filter == &no_directories);
	ck_assert_str_eq(record_out(&record),
		"CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\n");
	record_free(&record);
}

/* The first child of the room, and those behind it. */
QUARTERS_TEST(a_newcomer_is_confined_as_every_other)
{
	struct room *room;
	unsigned fds = proc_open_fds();
	perch_host *host = quarters_host();
	ck_assert_int_eq(room_open_with(host, &with_newcomer, &room, NULL), 0);
	ck_assert_uint_ge(proc_children(), 2); /* it is there, and its guide perhaps */
	expect_filtered(host, room, &no_directories);
	ck_assert_uint_eq(proc_children(), 1);
	expect_filtered(host, room, &no_directories);
	room_close(room);
	perch_host_free(host);
	ck_assert_uint_eq(proc_open_fds(), fds);
}

QUARTERS_TEST(a_newcomer_makes_place_for_another)
{
	struct room *room;
	perch_host *host = quarters_host();
	ck_assert_int_eq(room_open_with(host, &with_newcomer, &room, NULL), 0);
	expect_filtered(host, room, &everything);
	ck_assert_uint_eq(proc_children(), 1);
	room_close(room);
	perch_host_free(host);
	ck_assert_uint_eq(proc_children(), 0);
}

QUARTERS_TEST(a_newcomer_that_nobody_needs_is_gone)
{
	struct room *room;
	perch_host *host = quarters_host();
	struct room_wish wish = with_newcomer;
	ck_assert_int_eq(room_open_with(host, &wish, &room, NULL), 0);
	room_close(room);
	ck_assert_uint_eq(proc_children(), 0);
	/* And where there is no room in the end. */
	static const struct room_mount impossible = { ROOM_TMP, "/no/such/directory", 0, 0 };
	wish.find = find_one;
	wish.data = (void *)&impossible;
	ck_assert_int_eq(room_open_with(host, &wish, &room, NULL), PERCH_ESANDBOX);
	ck_assert_uint_eq(proc_children(), 0);
	perch_host_free(host);
}

enum { COVERED_ROOMS = 20 };

/* There the room's own file systems lie on its root for a while: who came in then would see them
 * instead. */
QUARTERS_TEST(a_newcomer_sees_all_where_proc_is_covered)
{
	if (geteuid() == 0)
		ck_assert_int_eq(mount("none", "/proc/tty", "tmpfs", 0, NULL), 0);
	else if (access("/proc/tty/drivers", F_OK) == 0)
		suite_skip("only root can cover a part of /proc");
	char hidden[PATH_MAX];
	quarters_prepare("mkdir hidden");
	ck_assert_ptr_nonnull(realpath("hidden", hidden));
	const struct room_mount mount = { .kind = ROOM_HIDE, .path = hidden };
	struct room_wish wish = with_newcomer;
	wish.find = find_one;
	wish.data = (void *)&mount;
	perch_host *host = quarters_host();
	for (int i = 0; i < COVERED_ROOMS; i++) {
		struct room *room;
		room_begin(host, NULL);
		ck_assert_int_eq(room_open_with(host, &wish, &room, NULL), 0);
		expect_filtered(host, room, &no_directories);
		room_close(room);
	}
	perch_host_free(host);
	quarters_prepare("rmdir hidden");
}

/* What it becomes is not there: told as of every child. */
QUARTERS_TEST(a_newcomer_that_fails_is_told)
{
	struct room *room;
	perch_host *host = quarters_host();
	ck_assert_int_eq(room_open_with(host, &with_newcomer, &room, NULL), 0);
	const struct perch_confine confine = {
		.landlock_fd = -1, .room = room, .filter = &no_directories
	};
	struct record record = { 0 };
	perch_err err = { 0 };
	quarters_prepare("echo text >text; chmod +x text");
	perch_child_spec spec = proc_spec(((const char *const[]){ "./text", NULL }), &record);
	spec.confine = &confine;
	spec.cwd = "/no/such/directory";
	ck_assert_int_lt(perch_child_start(host, &spec, &record.child, &err), 0);
	ck_assert_str_eq(err.stage, "chdir");
	ck_assert_uint_eq(proc_children(), 1);
	expect_filtered(host, room, &no_directories);
	record_free(&record);
	room_close(room);
	perch_host_free(host);
}

/* ---- streams that are closed ------------------------------------------------------- */

/* A descriptor of the host's own in their place would be taken for one of them. */
static void expect_closed_streams(void)
{
	for (int fd = 0; fd <= 1; fd++)
		ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
}

QUARTERS_TEST(a_closed_stream_stays_closed)
{
	struct room *room;
	const int kept[] = { fcntl(0, F_DUPFD_CLOEXEC, 3), fcntl(1, F_DUPFD_CLOEXEC, 3) };
	perch_host *host = quarters_host();
	close(0);
	close(1);
	room_begin(host, NULL);
	expect_closed_streams();
	ck_assert_int_eq(room_open_with(host, &with_newcomer, &room, NULL), 0);
	expect_closed_streams();
	expect_filtered(host, room, &no_directories);
	expect_closed_streams();
	room_close(room);
	perch_host_free(host);
	dup2(kept[0], 0);
	dup2(kept[1], 1);
	close(kept[0]);
	close(kept[1]);
}

/* ---- a host that is killed ---------------------------------------------------------- */

enum { KILLS = 125 };

/* At random moments of: begun, opened with a newcomer that waits, closed. */
QUARTERS_TEST(a_host_that_is_killed_leaves_no_newcomer)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int i = 0; i < KILLS; i++) {
		int ready[2];
		ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
		pid_t pid = fork();
		if (pid == 0) {
			struct room *room;
			perch_host *host = quarters_host();
			(void)!write(ready[1], "", 1);
			for (int round = 0;; round++) {
				room_begin(host, NULL);
				if (room_open_with(host, &with_newcomer, &room, NULL) < 0)
					_exit(1);
				if (round == i % 8)
					pause();
				room_close(room);
			}
		}
		char byte;
		ck_assert_int_eq(read(ready[0], &byte, 1), 1);
		usleep((useconds_t)(i * 4999 % 6000));
		kill(pid, SIGKILL);
		close(ready[0]);
		close(ready[1]);
		quarters_expect_no_heirs();
	}
}

SUITE_MAIN("room-begun", a_room_that_was_begun_is_taken, a_room_that_was_begun_in_vain_is_gone,
	a_room_that_was_begun_is_called_off, a_newcomer_is_confined_as_every_other,
	a_newcomer_makes_place_for_another, a_newcomer_that_nobody_needs_is_gone,
	a_newcomer_sees_all_where_proc_is_covered, a_newcomer_that_fails_is_told,
	a_closed_stream_stays_closed, a_host_that_is_killed_leaves_no_newcomer)

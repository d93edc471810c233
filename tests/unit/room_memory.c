/* The host's memory, which a newborn works with until its exec, while others in the room can see
 * it. Every test runs as root and as a normal user. */
#include "harness/quarters.h"
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/birth.h"

enum { NEWBORNS = 200 };

/* In the memory of the host, where a newborn could be asked for it. */
static const char secret[] = "perch's secret";

QUARTERS_TEST(nobody_in_it_sees_the_hosts_memory)
{
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	char address[32];
	snprintf(address, sizeof(address), "%ld", (long)(uintptr_t)secret);
	struct record hostile = { 0 };
	quarters_start(host, room, QUARTERS_CHILD("peek", address), &hostile);
	proc_until_lines(host, &hostile, 1);
	for (int i = 0; i < NEWBORNS; i++) {
		struct record record = { 0 };
		quarters_exec(host, room, QUARTERS_CHILD("exit", "0"), &record);
		record_free(&record);
	}
	perch_child_close_stdin(hostile.child);
	proc_until(host, &hostile.ended);
	ck_assert_str_eq(record_out(&hostile), "ready\nsafe\n");
	record_free(&hostile);
	room_close(room);
	perch_host_free(host);
}

/* The kernel compares no memories for this process and its children. */
static void forbid_comparing(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kcmp, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { COUNT(code), code };
	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

/* By either way: the memories are compared, or /proc tells. In this process's view alone, that
 * shows nobody. */
QUARTERS_TEST(while_a_newborn_is_not_seen_to_leave_the_memory_stays_private)
{
	if (geteuid() != 0)
		return;
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	struct record records[4] = { 0 };
	for (size_t way = 0; way < COUNT(records); way++) {
		bool has_proc = way % 2 == 0;
		if (way == 2)
			forbid_comparing();
		if (!has_proc)
			ck_assert_int_eq(mount("none", "/proc", "tmpfs", 0, ""), 0);
		quarters_start(host, room, QUARTERS_CHILD("ignore-term"), &records[way]);
		if (!has_proc)
			ck_assert_int_eq(umount("/proc"), 0);
		ck_assert_int_eq(prctl(PR_GET_DUMPABLE), way < 3);
	}
	room_close(room);
	for (size_t way = 0; way < COUNT(records); way++) {
		proc_until(host, &records[way].ended);
		record_free(&records[way]);
	}
	perch_host_free(host);
}

static char stack[64 * 1024] __attribute__((aligned(16)));

static int sleep_for_ever(void *data)
{
	(void)data;
	for (;;)
		pause();
	return 0;
}

/* A zombie of ours in the namespace of that init. */
static pid_t leave_zombie(int init)
{
	int own = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(setns(init, CLONE_NEWPID), 0);
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	ck_assert_int_eq(setns(own, CLONE_NEWPID), 0);
	close(own);
	siginfo_t info;
	ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	return child;
}

/* Its namespace does not let it go before all in there were reaped. */
QUARTERS_TEST(an_init_that_is_killed_has_left)
{
	if (geteuid() != 0)
		return;
	int pidfd;
	pid_t init = clone(sleep_for_ever, stack + sizeof(stack),
		CLONE_VM | CLONE_PIDFD | CLONE_NEWPID | SIGCHLD, NULL, &pidfd);
	ck_assert_int_gt(init, 0);
	pid_t child = leave_zombie(pidfd);
	kill(init, SIGKILL);
	ck_assert(room_birth_await_leaving(init, pidfd));
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert_int_eq(waitpid(init, NULL, 0), init);
	close(pidfd);
}

SUITE_MAIN("room-memory", an_init_that_is_killed_has_left, nobody_in_it_sees_the_hosts_memory,
	while_a_newborn_is_not_seen_to_leave_the_memory_stays_private)

/* For tests of rooms. */
#include "harness/quarters.h"

#include <check.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/folder.h"
#include "harness/suite.h"

/* An unused user id, so that nobody else's processes count. */
enum { NORMAL_USER = 54321 };

static char directory[4096];
static char guard[8192];
static char child[8192];

const char *quarters_directory(void)
{
	return directory;
}

const char *quarters_path(const char *name)
{
	static char paths[32][8192];
	static unsigned next;
	char *path = paths[next++ % COUNT(paths)];
	snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

const char *quarters_guard(void)
{
	return guard;
}

const char *quarters_child(void)
{
	return child;
}

/* What root has built, in its own home maybe, a normal user may not reach: both
 * meet on a file system that only this process sees. */
static void make_common_place(void)
{
	char command[32768];
	const char *child_path = proc_child_path();
	const char *guard_path = proc_guard_path();
	ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
	ck_assert_int_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	ck_assert_int_eq(mount("none", "/mnt", "tmpfs", 0, "mode=755"), 0);
	snprintf(command, sizeof(command), "cp '%s' '%s' /mnt && mkdir -m 1777 /mnt/place", child_path,
		guard_path);
	ck_assert_int_eq(system(command), 0);
	strcpy(directory, "/mnt/place");
	strcpy(guard, "/mnt/perch-guard");
	strcpy(child, "/mnt/child");
}

static void make_own_place(void)
{
	strcpy(directory, folder_new());
	strcpy(guard, proc_guard_path());
	strcpy(child, proc_child_path());
}

static void empty_place(void)
{
	ck_assert_int_eq(chdir(directory), 0);
	ck_assert_int_eq(system("rm -rf ./*"), 0);
}

static void become_a_normal_user(void)
{
	ck_assert_int_eq(setgroups(0, NULL), 0);
	ck_assert_int_eq(setresgid(NORMAL_USER, NORMAL_USER, NORMAL_USER), 0);
	ck_assert_int_eq(setresuid(NORMAL_USER, NORMAL_USER, NORMAL_USER), 0);
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1), 0);
}

/* The answer of the kernel, not of what is tested. */
static bool has_namespaces(void)
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) < 0);
	int status;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status == 0;
}

void quarters_run(void (*test)(void))
{
	if (!has_namespaces())
		suite_skip("namespaces are not allowed here");
	bool is_root = geteuid() == 0;
	if (is_root)
		make_common_place();
	else
		make_own_place();
	empty_place();
	test();
	if (!is_root)
		return;
	empty_place();
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		become_a_normal_user();
		test();
		exit(0);
	}
	int status;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(status == 0, "as a normal user");
}

perch_host *quarters_host(void)
{
	return proc_host_with((perch_host_options){ .guard_path = guard });
}

void quarters_prepare(const char *script)
{
	ck_assert_msg(system(script) == 0, "%s", script);
}

struct room *quarters_open(perch_host *host, const struct room_mount *mounts, size_t count)
{
	struct room *room = NULL;
	perch_err err = { 0 };
	ck_assert_msg(room_open(host, mounts, count, &room, &err) == 0, "%s", err.text);
	return room;
}

void quarters_start(
	perch_host *host, struct room *room, const char *const *argv, struct record *record)
{
	const struct perch_confine confine = { .landlock_fd = -1, .room = room };
	perch_child_spec spec = proc_spec(argv, record);
	spec.confine = &confine;
	spec.stdin_mode = PERCH_STDIN_PIPE;
	proc_start(host, &spec, record);
}

void quarters_exec(
	perch_host *host, struct room *room, const char *const *argv, struct record *record)
{
	quarters_start(host, room, argv, record);
	perch_child_close_stdin(record->child);
	proc_until(host, &record->ended);
	perch_child_free(record->child);
	record->child = NULL;
}

void quarters_expect(perch_host *host, struct room *room, const char *script, const char *output)
{
	struct record record = { 0 };
	quarters_exec(host, room, SHELL(script), &record);
	buf_terminate(&record.err);
	ck_assert_msg(strcmp(record_out(&record), output) == 0 && record.result.exit_code == 0,
		"user %u: %s\nprinted: %s\ninstead of: %s\nstderr: %s", (unsigned)geteuid(), script,
		record_out(&record), output, record.err.data);
	record_free(&record);
}

pid_t quarters_reap_one(void)
{
	pid_t pid = 0;
	for (int waited_ms = 0; pid == 0 && waited_ms < 20000; waited_ms++) {
		pid = waitpid(-1, NULL, WNOHANG);
		if (pid == 0)
			usleep(1000);
	}
	return pid;
}

void quarters_expect_no_heirs(void)
{
	pid_t pid;
	do
		pid = quarters_reap_one();
	while (pid > 0);
	if (pid == 0)
		kill(proc_first_child(), SIGKILL);
	ck_assert_msg(pid < 0, "a room's init has outlived its host");
}

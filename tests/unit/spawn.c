/* Starting a child: what can go wrong, and how it is told. */
#include "harness/proc.h"
#include "harness/suite.h"

#include <errno.h>
#include <grp.h>
#include <linux/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/folder.h"
#include "proc/confine.h"
#include "proc/host.h"

/* Starting `program` must fail with this code, stage and words; and leave
 * neither a process nor a descriptor behind. */
static void check_failure(
	perch_host *host, const perch_child_spec *spec, int code, const char *stage, const char *words)
{
	unsigned fds = proc_open_fds();
	unsigned children = proc_children();
	perch_child *child = NULL;
	perch_err err = { 0 };
	int r = perch_child_start(host, spec, &child, &err);
	ck_assert_msg(r == code && err.code == code, "%s: %d instead of %d: %s", spec->argv[0], r, code,
		err.text);
	ck_assert_str_eq(err.stage, stage);
	ck_assert_msg(strstr(err.text, words) != NULL, "'%s' does not say '%s'", err.text, words);
	ck_assert_ptr_null(child);
	ck_assert_uint_eq(proc_open_fds(), fds);
	ck_assert_uint_eq(proc_children(), children);
}

static void check_program(
	perch_host *host, const char *program, int code, const char *stage, const char *words)
{
	const char *const argv[] = { program, "x", NULL };
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = argv;
	spec.stdin_mode = PERCH_STDIN_PIPE;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	check_failure(host, &spec, code, stage, words);
}

/* The guard is started with the first child; it must not be counted as left. */
static perch_host *host_with_guard_running(void)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	proc_run(host, SHELL("true"), &record);
	record_free(&record);
	return host;
}

/* Whatever was going on between the decision and the birth. */
START_TEST(what_is_late_is_not_born)
{
	const char *const argv[] = { "/bin/sh", "-c", "echo x >>ran", NULL };
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	perch_host *host = host_with_guard_running();
	ck_assert_int_eq(chdir(folder_new()), 0);
	spec.argv = argv;
	host->births_until_ns = clock_now_ns();
	check_failure(host, &spec, -ETIME, "time", "too late");
	ck_assert_int_ne(access("ran", F_OK), 0);
	host->births_until_ns = clock_after(clock_now_ns(), NEVER);
	struct record record = { 0 };
	proc_run(host, argv, &record);
	record_free(&record);
	ck_assert_int_eq(access("ran", F_OK), 0);
	perch_host_free(host);
}
END_TEST

START_TEST(every_failure_names_its_stage_and_reason)
{
	perch_host *host = host_with_guard_running();
	ck_assert_int_eq(chdir(folder_new()), 0);
	folder_write_mode("plain", "#!/bin/sh\n", 0600);
	folder_write_mode("lost", "#!/no/such/interpreter -x\necho\n", 0700);
	folder_write_mode("dos", "#!/bin/sh\r\necho\r\n", 0700);
	folder_write_mode("text", "just text\n", 0700);
	folder_write_mode("empty", "", 0700);
	check_program(host, "perch-no-such-command", -ENOENT, "lookup", "no such command on PATH");
	check_program(host, "", -ENOENT, "lookup", "empty");
	check_program(host, "./missing", -ENOENT, "exec", "there is no such file");
	check_program(host, "/", -EACCES, "exec", "it is a directory");
	check_program(host, "./plain", -EACCES, "exec", "chmod +x ./plain");
	check_program(host, "./lost", PERCH_EINTERPRETER, "exec", "'/no/such/interpreter'");
	check_program(host, "./dos", PERCH_EINTERPRETER, "exec", "DOS line endings");
	check_program(host, "./text", -ENOEXEC, "exec", "#! line");
	check_program(host, "./empty", -ENOEXEC, "exec", "#! line");
	check_program(host, "./plain/below", -ENOTDIR, "exec", "Not a directory");
	perch_host_free(host);
}
END_TEST

START_TEST(too_large_arguments_are_explained)
{
	perch_host *host = host_with_guard_running();
	char *large = malloc(300000);
	memset(large, 'x', 299999);
	large[299999] = '\0';
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = (const char *const[]){ "true", large, NULL };
	check_failure(host, &spec, -E2BIG, "exec", "too large");
	free(large);
	perch_host_free(host);
}
END_TEST

START_TEST(a_missing_directory_is_named)
{
	perch_host *host = host_with_guard_running();
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = SHELL("true");
	spec.cwd = "/no/such/place";
	check_failure(host, &spec, -ENOENT, "chdir", "/no/such/place");
	perch_host_free(host);
}
END_TEST

START_TEST(a_command_on_path_that_is_not_executable)
{
	perch_host *host = host_with_guard_running();
	ck_assert_int_eq(chdir(folder_new()), 0);
	folder_write_mode("thing", "#!/bin/sh\n", 0600);
	char path[8192];
	snprintf(path, sizeof(path), "PATH=%s", folder_path("."));
	const char *const env[] = { path, NULL };
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = (const char *const[]){ "thing", NULL };
	spec.env = env;
	check_failure(host, &spec, -EACCES, "lookup", "not executable");
	perch_host_free(host);
}
END_TEST

/* An unused user id, so that nobody else's processes count. */
enum { LONELY_USER = 54321 };

/* A user who may not be able to read the build directory, if that is root's. */
static void become_a_normal_user(void)
{
	proc_guard_path();
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(setgroups(0, NULL), 0);
	ck_assert_int_eq(setresgid(LONELY_USER, LONELY_USER, LONELY_USER), 0);
	ck_assert_int_eq(setresuid(LONELY_USER, LONELY_USER, LONELY_USER), 0);
}

/* As when root's PATH was handed to somebody else. */
START_TEST(a_directory_on_path_that_is_not_for_us_holds_nothing)
{
	ck_assert_int_eq(chdir(folder_new()), 0);
	ck_assert_int_eq(chmod(".", 0755), 0);
	ck_assert_int_eq(mkdir("closed", 0000), 0);
	char path[8192];
	snprintf(path, sizeof(path), "PATH=%s", folder_path("closed"));
	const char *const env[] = { path, NULL };
	pid_t pid = fork();
	if (pid == 0) {
		become_a_normal_user();
		perch_host *host = proc_host_with((perch_host_options){ .guard = PERCH_GUARD_OFF });
		perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
		spec.argv = (const char *const[]){ "thing", NULL };
		spec.env = env;
		check_failure(host, &spec, -ENOENT, "lookup", "no such command on PATH");
		perch_host_free(host);
		_exit(0);
	}
	int status;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(too_many_processes_are_explained)
{
	become_a_normal_user();
	perch_host *host = proc_host_with((perch_host_options){ .guard = PERCH_GUARD_OFF });
	struct rlimit before;
	ck_assert_int_eq(getrlimit(RLIMIT_NPROC, &before), 0);
	const struct rlimit none = { 1, before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NPROC, &none), 0);
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = SHELL("true");
	check_failure(host, &spec, -EAGAIN, "birth", "limit of processes");
	perch_host_free(host);
	ck_assert_int_eq(setrlimit(RLIMIT_NPROC, &before), 0);
}
END_TEST

START_TEST(too_many_descriptors_are_explained)
{
	perch_host *host = host_with_guard_running();
	unsigned before = proc_open_fds();
	int free_number = dup(0);
	close(free_number);
	const struct rlimit few = { (rlim_t)free_number + 1, 1024 };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = SHELL("true");
	spec.stdin_mode = PERCH_STDIN_PIPE;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	perch_child *child = NULL;
	perch_err err = { 0 };
	ck_assert_int_eq(perch_child_start(host, &spec, &child, &err), -EMFILE);
	ck_assert_str_eq(err.stage, "pipe");
	const struct rlimit many = { 1024, 1024 };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &many), 0);
	ck_assert_uint_eq(proc_open_fds(), before);
	perch_host_free(host);
}
END_TEST

START_TEST(a_spec_needs_an_argv)
{
	perch_host *host = proc_host();
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	perch_child *child = NULL;
	ck_assert_int_eq(perch_child_start(host, &spec, &child, NULL), -EINVAL);
	spec.argv = (const char *const[]){ NULL };
	ck_assert_int_eq(perch_child_start(host, &spec, &child, NULL), -EINVAL);
	perch_host_free(host);
}
END_TEST

START_TEST(a_confinement_that_fails_starts_nothing)
{
	perch_host *host = host_with_guard_running();
	struct sock_filter code[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 1) }; /* no return */
	const struct sock_fprog filter = { .len = COUNT(code), .filter = code };
	const struct perch_confine confine = {
		.no_new_privs = true,
		.landlock_fd = -1,
		.filter = &filter,
	};
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = SHELL("true");
	spec.confine = &confine;
	check_failure(host, &spec, PERCH_ESANDBOX, "seccomp", "sandbox");
	perch_host_free(host);
}
END_TEST

SUITE_MAIN("spawn", what_is_late_is_not_born, every_failure_names_its_stage_and_reason,
	too_large_arguments_are_explained, a_missing_directory_is_named,
	a_command_on_path_that_is_not_executable, a_directory_on_path_that_is_not_for_us_holds_nothing,
	too_many_processes_are_explained, too_many_descriptors_are_explained, a_spec_needs_an_argv,
	a_confinement_that_fails_starts_nothing)

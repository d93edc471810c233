/* Starting a child: what can go wrong, and what it inherits. */
#include "harness/proc.h"
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/confine.h"

static char directory[64];

static void enter_directory(void)
{
	strcpy(directory, "/tmp/perch-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
}

static void leave_directory(void)
{
	char command[128];
	ck_assert_int_eq(chdir("/"), 0);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
}

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

START_TEST(every_failure_names_its_stage_and_reason)
{
	perch_host *host = host_with_guard_running();
	enter_directory();
	write_file("plain", "#!/bin/sh\n", 0600);
	write_file("lost", "#!/no/such/interpreter -x\necho\n", 0700);
	write_file("dos", "#!/bin/sh\r\necho\r\n", 0700);
	write_file("text", "just text\n", 0700);
	write_file("empty", "", 0700);
	check_program(host, "perch-no-such-command", -ENOENT, "lookup", "no such command on PATH");
	check_program(host, "", -ENOENT, "lookup", "empty");
	check_program(host, "./missing", -ENOENT, "exec", "there is no such file");
	check_program(host, "/", -EACCES, "exec", "it is a directory");
	check_program(host, "./plain", -EACCES, "exec", "chmod +x './plain'");
	check_program(host, "./lost", PERCH_EINTERPRETER, "exec", "'/no/such/interpreter'");
	check_program(host, "./dos", PERCH_EINTERPRETER, "exec", "DOS line endings");
	check_program(host, "./text", -ENOEXEC, "exec", "#! line");
	check_program(host, "./empty", -ENOEXEC, "exec", "#! line");
	check_program(host, "./plain/below", -ENOTDIR, "exec", "Not a directory");
	leave_directory();
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
	enter_directory();
	write_file("thing", "#!/bin/sh\n", 0600);
	char path[128];
	snprintf(path, sizeof(path), "PATH=%s", directory);
	const char *const env[] = { path, NULL };
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = (const char *const[]){ "thing", NULL };
	spec.env = env;
	check_failure(host, &spec, -EACCES, "lookup", "not executable");
	leave_directory();
	perch_host_free(host);
}
END_TEST

/* An unused user id, so that nobody else's processes count. */
enum { LONELY_USER = 54321 };

/* Who may not be able to read the build directory, if that is root's. */
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
	enter_directory();
	ck_assert_int_eq(chmod(directory, 0755), 0);
	ck_assert_int_eq(mkdir("closed", 0000), 0);
	char path[128];
	snprintf(path, sizeof(path), "PATH=%s/closed", directory);
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
	leave_directory();
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

START_TEST(the_program_may_differ_from_argv_0)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	const char *const argv[] = { "a name", "-c", "echo $0 $PWD $X", NULL };
	const char *const env[] = { "PATH=/usr/bin:/bin", "X=y", NULL };
	perch_child_spec spec = proc_spec(argv, &record);
	spec.program = "sh";
	spec.env = env;
	spec.cwd = "/usr";
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	ck_assert_str_eq(record_out(&record), "a name /usr y\n");
	record_free(&record);
	perch_host_free(host);
}
END_TEST

/* What a child finds: three descriptors, no ignored or blocked signal, a
 * session of its own; whatever mess the parent is in. */
static void check_inherited(void)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	proc_run(host, CHILD("inherited"), &record);
	ck_assert_str_eq(record_out(&record), "fd 0\nfd 1\nfd 2\nsession own\n");
	record_free(&record);
	perch_host_free(host);
}

START_TEST(a_child_inherits_nothing_but_its_streams)
{
	ck_assert_int_ge(open("/dev/null", O_RDONLY), 0); /* no CLOEXEC */
	ck_assert_int_ge(fcntl(0, F_DUPFD, 100), 0);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	check_inherited();
}
END_TEST

START_TEST(a_parent_without_stdio_works)
{
	close(0);
	close(1);
	close(2);
	check_inherited();
	/* Streams that are to be ours, and are closed here. */
	perch_host *host = proc_host();
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(SHELL("readlink /proc/self/fd/0 /proc/self/fd/2"), &record);
	spec.stdin_mode = PERCH_STDIN_INHERIT;
	spec.stderr_mode = PERCH_OUTPUT_INHERIT;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	ck_assert_str_eq(record_out(&record), "/dev/null\n/dev/null\n");
	for (int fd = 0; fd <= 2; fd++)
		ck_assert_int_lt(fcntl(fd, F_GETFD), 0);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

START_TEST(five_thousand_descriptors_do_not_leak_into_a_child)
{
	const struct rlimit many = { 6000, 6000 };
	if (setrlimit(RLIMIT_NOFILE, &many) < 0)
		suite_skip("the limit of open files is below 6000");
	perch_host *host = proc_host();
	for (int i = 0; i < 5000; i++)
		ck_assert_int_ge(open("/dev/null", O_RDONLY), 0);
	struct record record = { 0 };
	proc_run(host, CHILD("inherited"), &record);
	ck_assert_str_eq(record_out(&record), "fd 0\nfd 1\nfd 2\nsession own\n");
	record_free(&record);
	perch_host_free(host);
	/* A host that comes late has no low descriptors: slower, not wrong. */
	check_inherited();
}
END_TEST

START_TEST(a_parent_with_four_gigabytes_can_spawn)
{
	/* Mapped and touched sparsely: page tables for 4 GiB, memory for 16 MiB. */
	size_t size = (size_t)4 << 30;
	char *memory = mmap(
		NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	for (size_t i = 0; i < size; i += (size_t)1 << 20)
		memory[i] = 1;
	check_inherited();
	munmap(memory, size);
}
END_TEST

START_TEST(given_descriptors_are_used_and_stay_ours)
{
	perch_host *host = proc_host();
	enter_directory();
	write_file("in", "input\n", 0600);
	int in = open("in", O_RDONLY | O_CLOEXEC);
	int out = open("out", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(SHELL("cat; echo to stderr >&2"), &record);
	spec.stdin_mode = PERCH_STDIN_FD;
	spec.stdin_fd = in;
	spec.stdout_mode = PERCH_OUTPUT_FD;
	spec.stdout_fd = out;
	spec.stderr_mode = PERCH_OUTPUT_FD;
	spec.stderr_fd = out;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	char text[64] = { 0 };
	ck_assert_int_gt(pread(out, text, sizeof(text) - 1, 0), 0);
	ck_assert_str_eq(text, "input\nto stderr\n");
	close(in);
	close(out);
	record_free(&record);
	leave_directory();
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

/* The confinement arrives as plain data; each kind must bind. */
static void run_confined(const struct perch_confine *confine, const char *script, const char *out)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(SHELL(script), &record);
	spec.confine = confine;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	ck_assert_str_eq(record_out(&record), out);
	record_free(&record);
	perch_host_free(host);
}

START_TEST(limits_bind)
{
	const struct confine_limit limits[] = {
		{ RLIMIT_NOFILE, { 20, 20 } },
		{ RLIMIT_CORE, { 0, 0 } },
	};
	const struct perch_confine confine = {
		.limits = limits,
		.limit_count = COUNT(limits),
		.landlock_fd = -1,
	};
	run_confined(&confine, "ulimit -n; ulimit -c", "20\n0\n");
}
END_TEST

START_TEST(no_new_privs_binds)
{
	const struct perch_confine confine = { .no_new_privs = true, .landlock_fd = -1 };
	run_confined(&confine, "grep NoNewPrivs /proc/self/status | tr -dc 0-9; echo", "1\n");
}
END_TEST

START_TEST(a_landlock_ruleset_binds)
{
	const struct landlock_ruleset_attr rules = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_MAKE_REG,
	};
	int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);
	if (fd < 0)
		suite_skip("this kernel has no Landlock");
	const struct perch_confine confine = { .no_new_privs = true, .landlock_fd = fd };
	enter_directory();
	run_confined(&confine, "echo x > file || echo denied; ls", "denied\n");
	leave_directory();
	close(fd);
}
END_TEST

START_TEST(a_seccomp_filter_binds)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_chdir, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { .len = COUNT(code), .filter = code };
	const struct perch_confine confine = {
		.no_new_privs = true,
		.landlock_fd = -1,
		.filter = &filter,
	};
	run_confined(&confine, "cd /tmp 2>/dev/null && echo allowed || echo denied", "denied\n");
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

/* Hashed through a descriptor, executed through it: the path may lead elsewhere. */
START_TEST(an_open_program_is_executed_whatever_its_path)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	int fd = open(proc_child_path(), O_RDONLY | O_CLOEXEC);
	ck_assert_int_gt(fd, 2);
	const char *const argv[] = { "/bin/false", "inherited", NULL };
	perch_child_spec spec = proc_spec(argv, &record);
	spec.program_fd = fd;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	ck_assert_str_eq(record_out(&record), "fd 0\nfd 1\nfd 2\nsession own\n");
	close(fd);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

SUITE_MAIN("spawn", every_failure_names_its_stage_and_reason, too_large_arguments_are_explained,
	a_missing_directory_is_named, a_command_on_path_that_is_not_executable,
	a_directory_on_path_that_is_not_for_us_holds_nothing, too_many_processes_are_explained,
	too_many_descriptors_are_explained, the_program_may_differ_from_argv_0,
	a_child_inherits_nothing_but_its_streams, a_parent_without_stdio_works,
	five_thousand_descriptors_do_not_leak_into_a_child, a_parent_with_four_gigabytes_can_spawn,
	given_descriptors_are_used_and_stay_ours, a_spec_needs_an_argv, limits_bind, no_new_privs_binds,
	a_landlock_ruleset_binds, a_seccomp_filter_binds, a_confinement_that_fails_starts_nothing,
	an_open_program_is_executed_whatever_its_path)

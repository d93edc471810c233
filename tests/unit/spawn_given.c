/* What a child is given: its program, streams and session, nothing else of ours, and the
 * confinement that it starts in. */
#include "harness/proc.h"
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/folder.h"
#include "proc/confine.h"
#include "proc/host.h"

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

static void check_later_signals(bool is_command, int other)
{
	perch_host *host = proc_host();
	host->spawner.owns_signals = is_command;
	for (int round = 0; round < 2; round++) {
		struct record record = { 0 };
		proc_run(host, CHILD("inherited"), &record);
		ck_assert_str_eq(record_out(&record), "fd 0\nfd 1\nfd 2\nsession own\n");
		record_free(&record);
		signal(SIGPIPE, SIG_IGN);
		signal(SIGXFSZ, SIG_IGN);
		signal(SIGINT, SIG_IGN);
		signal(other, SIG_IGN);
	}
	bool knows = is_command && !host->spawner.plain_fork;
	ck_assert_uint_eq(host->spawner.settled_signals & SIGNALS_CHANGED, 0);
	ck_assert_uint_eq(
		host->spawner.settled_signals & SIGNAL_BIT(SIGUSR1), knows ? SIGNAL_BIT(SIGUSR1) : 0);
	perch_host_free(host);
}

/* A command of ours changes some of them alone, and a newborn looks at those alone; another program
 * may do with its signals what it likes, whenever it likes. */
START_TEST(signals_that_are_ignored_later_are_reset)
{
	check_later_signals(true, SIGQUIT);
	check_later_signals(false, SIGUSR1);
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
	ck_assert_int_eq(chdir(folder_new()), 0);
	folder_write_mode("in", "input\n", 0600);
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
	ck_assert_int_eq(chdir(folder_new()), 0);
	run_confined(&confine, "echo x > file || echo denied; ls", "denied\n");
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

SUITE_MAIN("spawn-given", the_program_may_differ_from_argv_0,
	a_child_inherits_nothing_but_its_streams, signals_that_are_ignored_later_are_reset,
	a_parent_without_stdio_works, five_thousand_descriptors_do_not_leak_into_a_child,
	a_parent_with_four_gigabytes_can_spawn, given_descriptors_are_used_and_stay_ours, limits_bind,
	no_new_privs_binds, a_landlock_ruleset_binds, a_seccomp_filter_binds,
	an_open_program_is_executed_whatever_its_path)

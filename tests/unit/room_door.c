/* Doorkeepers: who bears the children of a room that is used again. A child of one is as any other;
 * nobody in the room meets it; whatever happens to it, the next child is born all the same. Every
 * test runs as root and as a normal user. */
#include "harness/quarters.h"
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard/door_page.h"
#include "proc/host.h"
#include "proc/room_parts.h"
#include "sandbox/layers/seccomp.h"

/* ---- a room whose children a doorkeeper bears -------------------------------------- */

static const struct confine_limit limits[] = { { RLIMIT_CORE, { 0, 0 } },
	{ RLIMIT_NOFILE, { 77, 77 } } };
static struct sock_fprog filter;
static struct sock_fprog seal;

static void make_filters(void)
{
	const struct seccomp_needs needs = { .is_sealed = true };
	struct bpf bpf;
	if (filter.filter)
		return;
	ck_assert_int_eq(seccomp_filter(&needs, &bpf), 0);
	filter = (struct sock_fprog){ (unsigned short)bpf.count, bpf.code };
	ck_assert_int_eq(seccomp_seal(&bpf), 0);
	seal = (struct sock_fprog){ (unsigned short)bpf.count, bpf.code };
}

static struct perch_confine confine_to(struct room *room)
{
	make_filters();
	return (struct perch_confine){
		.limits = limits,
		.limit_count = COUNT(limits),
		.no_new_privs = true,
		.no_capabilities = true,
		.landlock_fd = -1,
		.filter = &filter,
		.seal = &seal,
		.room = room,
	};
}

static void start(perch_host *host, struct room *room, perch_child_spec spec, struct record *record)
{
	const struct perch_confine confine = confine_to(room);
	spec.confine = &confine;
	spec.stdin_mode = PERCH_STDIN_PIPE;
	proc_start(host, &spec, record);
}

static void run(perch_host *host, struct room *room, perch_child_spec spec, struct record *record)
{
	start(host, room, spec, record);
	perch_child_close_stdin(record->child);
	proc_until(host, &record->ended);
}

static void expect(perch_host *host, struct room *room, const char *script, const char *output)
{
	struct record record = { 0 };
	run(host, room, proc_spec(SHELL(script), &record), &record);
	buf_terminate(&record.err);
	ck_assert_msg(strcmp(record_out(&record), output) == 0 && record.result.exit_code == 0,
		"user %u: %s\nprinted: %s\ninstead of: %s\nstderr: %s", (unsigned)geteuid(), script,
		record_out(&record), output, record.err.data);
	record_free(&record);
}

/* 0 = there is none. */
static pid_t keeper_of(struct room *room)
{
	const struct door *door = room_door(room);
	return door->orders >= 0 ? door->pid : 0;
}

/* The first child of a room is born without one. */
static struct room *open_room(perch_host *host)
{
	struct room *room = quarters_open(host, NULL, 0);
	expect(host, room, "echo first", "first\n");
	ck_assert_int_eq(keeper_of(room), 0);
	expect(host, room, "echo second", "second\n");
	ck_assert_int_gt(keeper_of(room), 0);
	return room;
}

static void close_all(perch_host *host, struct room *room)
{
	room_close(room);
	perch_host_free(host);
	ck_assert_uint_eq(proc_children(), 0);
}

/* ---- a child is as any other ------------------------------------------------------------ */

QUARTERS_TEST(its_children_are_as_any_other)
{
	perch_host *host = quarters_host();
	struct room *room = open_room(host);
	pid_t keeper = keeper_of(room);
	struct record record = { 0 };
	run(host, room, proc_spec(QUARTERS_CHILD("exit", "7"), &record), &record);
	ck_assert(record.result.status_known && record.result.exit_code == 7);
	ck_assert_int_eq(record.result.reach, PERCH_REACH_PIDNS);
	record_free(&record);
	run(host, room, proc_spec(QUARTERS_CHILD("die-of", "11"), &record), &record);
	ck_assert_int_eq(record.result.signal, SIGSEGV);
	record_free(&record);

	const char *const env[] = { "ONE=1", "TWO=", NULL };
	const char *const argv[] = { "sh", "-c", "pwd; echo \"$ONE:$TWO:$0:$1\"; ulimit -n", "zero", "",
		NULL };
	perch_child_spec spec = proc_spec(argv, &record);
	spec.env = env;
	spec.cwd = "/dev";
	run(host, room, spec, &record);
	ck_assert_str_eq(record_out(&record), "/dev\n1::zero:\n77\n");
	record_free(&record);
	ck_assert_int_eq(keeper_of(room), keeper);
	close_all(host, room);
}

QUARTERS_TEST(they_have_no_rights_and_no_descriptors_but_theirs)
{
	perch_host *host = quarters_host();
	struct room *room = open_room(host);
	expect(host, room,
		"while read -r name value; do case $name in\n"
		"Cap*:) [ \"$value\" = 0000000000000000 ] || echo $name $value;;\n"
		"NoNewPrivs:|Seccomp:|Seccomp_filters:) echo $name $value;;\n"
		"SigBlk:|SigIgn:) [ \"$value\" = 0000000000000000 ] || echo $name $value;;\n"
		"esac; done </proc/self/status",
		"NoNewPrivs: 1\nSeccomp: 2\nSeccomp_filters: 2\n");
	expect(host, room, "cd /proc/self/fd; for fd in *; do [ ! -e $fd ] || echo $fd; done",
		"0\n1\n2\n");
	struct record record = { 0 };
	run(host, room, proc_spec(QUARTERS_CHILD("bear-for-parent"), &record), &record);
	ck_assert_str_eq(record_out(&record), "Operation not permitted\n");
	record_free(&record);
	close_all(host, room);
}

/* The processes of the room are its init and the child; the doorkeeper is in no list, cannot be
 * signalled by its number, and a signal to everybody does not reach it. */
QUARTERS_TEST(nobody_in_the_room_meets_it)
{
	perch_host *host = quarters_host();
	struct room *room = open_room(host);
	pid_t keeper = keeper_of(room);
	expect(host, room, "cd /proc; set -- [0-9]*; echo $#", "2\n");
	char script[200];
	snprintf(script, sizeof(script), "kill -0 %d 2>/dev/null && echo met; true", (int)keeper);
	expect(host, room, script, "");
	expect(
		host, room, "kill -STOP -1 2>/dev/null; kill -KILL -1 2>/dev/null; echo alive", "alive\n");
	expect(host, room, "trap '' TERM; kill -TERM -1; echo alive", "alive\n");
	ck_assert_int_eq(keeper_of(room), keeper);
	ck_assert(proc_is_alive(keeper));
	close_all(host, room);
}

static void check_failure(perch_host *host, struct room *room, perch_child_spec spec, int code,
	const char *stage, const char *words)
{
	const struct perch_confine confine = confine_to(room);
	spec.confine = &confine;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	unsigned fds = proc_open_fds();
	unsigned children = proc_children();
	perch_child *child = NULL;
	perch_err err = { 0 };
	int r = perch_child_start(host, &spec, &child, &err);
	ck_assert_msg(r == code, "%d instead of %d: %s", r, code, err.text);
	ck_assert_str_eq(err.stage, stage);
	ck_assert_msg(strstr(err.text, words) != NULL, "'%s' does not say '%s'", err.text, words);
	ck_assert_uint_eq(proc_open_fds(), fds);
	ck_assert_uint_eq(proc_children(), children);
}

QUARTERS_TEST(failures_are_told_as_by_any_other)
{
	quarters_prepare("printf '#!/no/such\\n' >lost; echo text >text; chmod +x lost text");
	perch_host *host = quarters_host();
	struct room *room = open_room(host);
	pid_t keeper = keeper_of(room);
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = (const char *const[]){ "./missing", NULL };
	check_failure(host, room, spec, -ENOENT, "exec", "there is no such file");
	spec.argv = (const char *const[]){ "./lost", NULL };
	check_failure(host, room, spec, PERCH_EINTERPRETER, "exec", "'/no/such'");
	spec.argv = (const char *const[]){ "./text", NULL };
	check_failure(host, room, spec, -ENOEXEC, "exec", "#! line");
	spec.argv = SHELL("true");
	spec.cwd = "/no/such";
	check_failure(host, room, spec, -ENOENT, "chdir", "/no/such");
	host->births_until_ns = 1;
	spec.cwd = NULL;
	check_failure(host, room, spec, -ETIME, "time", "");
	host->births_until_ns = 0;
	expect(host, room, "echo works", "works\n");
	ck_assert_int_eq(keeper_of(room), keeper);
	close_all(host, room);
}

/* ---- whatever happens to it ------------------------------------------------------------- */

QUARTERS_TEST(one_that_has_died_is_replaced)
{
	perch_host *host = quarters_host();
	struct room *room = open_room(host);
	pid_t keeper = keeper_of(room);
	kill(keeper, SIGKILL);
	expect(host, room, "echo born", "born\n");
	expect(host, room, "echo again", "again\n");
	ck_assert_int_ne(keeper_of(room), keeper);
	ck_assert_int_gt(keeper_of(room), 0);
	ck_assert_uint_eq(proc_children(), 2); /* the init, and the new one */
	close_all(host, room);
}

QUARTERS_TEST(one_that_is_stopped_is_woken)
{
	perch_host *host = quarters_host();
	struct room *room = open_room(host);
	pid_t keeper = keeper_of(room);
	kill(keeper, SIGSTOP);
	expect(host, room, "echo born", "born\n");
	ck_assert_int_eq(keeper_of(room), keeper);
	kill(keeper, SIGSTOP);
	close_all(host, room);
}

/* At any moment of a birth. */
QUARTERS_TEST(kills_and_stops_during_births_hang_nobody)
{
	enum { ROUNDS = 60 };
	perch_host *host = quarters_host();
	struct room *room = open_room(host);
	unsigned born = 0;
	for (int i = 0; i < ROUNDS; i++) {
		pid_t keeper = keeper_of(room);
		pid_t other = fork();
		if (other == 0) {
			const struct timespec moment = { .tv_nsec = 10000L * i };
			nanosleep(&moment, NULL);
			kill(keeper, i % 2 ? SIGKILL : SIGSTOP);
			_exit(0);
		}
		const struct perch_confine confine = confine_to(room);
		struct record record = { 0 };
		perch_child_spec spec = proc_spec(SHELL("echo born"), &record);
		spec.confine = &confine;
		perch_err err = { 0 };
		int r = perch_child_start(host, &spec, &record.child, &err);
		if (r == 0) {
			proc_until(host, &record.ended);
			ck_assert_str_eq(record_out(&record), "born\n");
			born++;
		} else {
			ck_assert_msg(r == PERCH_ESANDBOX || r == -EINTR, "%d: %s", r, err.text);
		}
		record_free(&record);
		ck_assert_int_eq(waitpid(other, NULL, 0), other);
		if (keeper_of(room) == 0)
			expect(host, room, "echo born", "born\n");
	}
	ck_assert_uint_ge(born, ROUNDS / 2);
	close_all(host, room);
}

/* Waits until it is born. */
static pid_t call_ahead(struct room *room)
{
	room_expect_child(room);
	const struct door *door = room_door(room);
	ck_assert(door->has_newborn);
	while (!atomic_load(&door->page->pid))
		sched_yield();
	return atomic_load(&door->page->pid);
}

/* A host that is killed leaves nobody: not even a doorkeeper that is stopped, while a fork of the
 * host holds its socket. */
static void kill_host(bool is_stopped)
{
	int ready[2];
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid_t pid = fork();
	if (pid == 0) {
		perch_host *host = quarters_host();
		struct room *room = open_room(host);
		call_ahead(room);
		pid_t pids[2] = { keeper_of(room), fork() };
		if (!pids[1])
			for (;;)
				pause();
		if (is_stopped)
			kill(pids[0], SIGSTOP);
		(void)!write(ready[1], pids, sizeof(pids));
		for (;;)
			pause();
	}
	pid_t pids[2] = { 0 };
	ck_assert_int_eq(read(ready[0], pids, sizeof(pids)), sizeof(pids));
	ck_assert(proc_is_alive(pids[0]));
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	proc_wait_gone(pids[0]);
	kill(pids[1], SIGKILL);
	quarters_expect_no_heirs();
	close(ready[0]);
	close(ready[1]);
}

QUARTERS_TEST(it_dies_with_its_host)
{
	kill_host(false);
	kill_host(true);
}

/* ---- a child that waits -------------------------------------------------------------------- */

QUARTERS_TEST(a_child_that_was_born_before_it_was_wanted_is_the_next_one)
{
	perch_host *host = quarters_host();
	struct room *room = open_room(host);
	ck_assert(room_is_empty(room));
	pid_t born = call_ahead(room);
	ck_assert(room_is_empty(room)); /* who waits has not been in there yet */
	room_expect_child(room);
	ck_assert_int_eq(atomic_load(&room_door(room)->page->pid), born);
	struct record record = { 0 };
	start(host, room, proc_spec(QUARTERS_CHILD("echo"), &record), &record);
	ck_assert_int_eq(perch_child_pid(record.child), born);
	perch_child_close_stdin(record.child);
	proc_until(host, &record.ended);
	ck_assert_int_eq(record.result.exit_code, 0);
	record_free(&record);
	call_ahead(room);
	expect(host, room, "cd /proc; set -- [0-9]*; echo $#", "2\n");
	close_all(host, room);
}

QUARTERS_TEST(one_that_waits_goes_with_its_room)
{
	perch_host *host = quarters_host();
	struct room *room = open_room(host);
	pid_t born = call_ahead(room);
	room_close(room);
	ck_assert(!proc_is_alive(born));
	ck_assert_uint_eq(proc_children(), 0);
	room = open_room(host);
	born = call_ahead(room);
	kill(born, SIGSTOP);
	close_all(host, room);
	ck_assert(!proc_is_alive(born));
}

QUARTERS_TEST(one_that_was_killed_or_stopped_while_it_waited_hangs_nobody)
{
	perch_host *host = quarters_host();
	struct room *room = open_room(host);
	pid_t born = call_ahead(room);
	kill(born, SIGSTOP);
	expect(host, room, "echo woken", "woken\n");
	born = call_ahead(room);
	kill(born, SIGKILL);
	while (atomic_load(&room_door(room)->page->is_awaited))
		sched_yield();
	expect(host, room, "echo another", "another\n");
	pid_t keeper = keeper_of(room);
	if (!keeper)
		expect(host, room, "echo opens", "opens\n");
	call_ahead(room);
	kill(keeper_of(room), SIGKILL);
	struct record record = { 0 };
	const struct perch_confine confine = confine_to(room);
	perch_child_spec spec = proc_spec(SHELL("echo born"), &record);
	spec.confine = &confine;
	if (perch_child_start(host, &spec, &record.child, NULL) == 0)
		proc_until(host, &record.ended);
	record_free(&record);
	expect(host, room, "echo at last", "at last\n");
	close_all(host, room);
}

/* ---- when there is none ------------------------------------------------------------------- */

static void expect_guided(
	perch_host *host, struct room *room, const char *script, const char *output)
{
	enum { HUGE_SIZE = 100 * 1000 };
	static char huge[HUGE_SIZE];
	memset(huge, 'x', HUGE_SIZE - 1);
	memcpy(huge, "HUGE=", 5);
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(SHELL(script), &record);
	spec.env = (const char *const[]){ huge, NULL };
	run(host, room, spec, &record);
	ck_assert_str_eq(record_out(&record), output);
	record_free(&record);
}

QUARTERS_TEST(what_it_cannot_do_is_done_without_it)
{
	perch_host *host = quarters_host();
	struct room *room = open_room(host);
	pid_t keeper = keeper_of(room);
	expect_guided(host, room, "echo ${#HUGE}", "99994\n");
	ck_assert_int_eq(keeper_of(room), keeper);
	expect(host, room, "echo works", "works\n");
	close_all(host, room);
}

/* It could stop it, or take its priority and its processors, which the next call would have. */
QUARTERS_TEST(who_is_born_without_it_meets_nobody_that_waits)
{
	perch_host *host = quarters_host();
	struct room *room = open_room(host);
	pid_t born = call_ahead(room);
	expect_guided(host, room, "cd /proc; set -- [0-9]*; echo $#", "2\n");
	ck_assert(!proc_is_alive(born));
	expect(host, room, "echo works", "works\n");
	ck_assert_int_gt(keeper_of(room), 0);
	close_all(host, room);
}

/* Its children would have what it has inherited. */
QUARTERS_TEST(a_host_that_has_changed_gets_another_one)
{
	perch_host *host = quarters_host();
	struct room *room = open_room(host);
	pid_t keeper = keeper_of(room);
	struct rlimit before;
	ck_assert_int_eq(getrlimit(RLIMIT_STACK, &before), 0);
	struct rlimit now = { 4096 * 1024, before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_STACK, &now), 0);
	expect(host, room, "ulimit -s", "4096\n");
	ck_assert_int_ne(keeper_of(room), keeper);
	ck_assert_int_eq(setrlimit(RLIMIT_STACK, &before), 0);
	close_all(host, room);
}

static void expect_scheduler(perch_host *host, struct room *room, int scheduler, const char *number)
{
	const struct sched_param none = { 0 };
	/* Not by the C library: musl's does nothing. */
	ck_assert_int_eq(syscall(SYS_sched_setscheduler, 0, scheduler, &none), 0);
	expect(host, room, "cut -d' ' -f41 /proc/self/stat", number);
}

QUARTERS_TEST(a_child_has_scheduler_and_processors_of_its_host)
{
	perch_host *host = quarters_host();
	struct room *room = open_room(host);
	cpu_set_t before;
	ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	expect_scheduler(host, room, SCHED_BATCH, "3\n");
	expect_scheduler(host, room, SCHED_OTHER, "0\n");
	size_t last = CPU_SETSIZE - 1;
	while (!CPU_ISSET(last, &before))
		last--;
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(last, &one);
	char line[32];
	snprintf(line, sizeof(line), "%zu\n", last);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	expect(host, room,
		"while read -r name value; do [ $name != Cpus_allowed_list: ] || echo $value; done "
		"</proc/self/status",
		line);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(before), &before), 0);
	close_all(host, room);
}

/* On one processor, a child that ends at once has often ended before its host goes on. */
QUARTERS_TEST(a_child_that_is_reaped_elsewhere_is_born_all_the_same)
{
	enum { ROUNDS = 60 };
	perch_host *host = quarters_host();
	struct room *room = open_room(host);
	cpu_set_t before;
	cpu_set_t one;
	ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < ROUNDS; i++) {
		if (i % 2)
			room_expect_child(room);
		struct record record = { 0 };
		run(host, room, proc_spec(QUARTERS_CHILD("exit", "3"), &record), &record);
		ck_assert(!record.result.status_known || record.result.exit_code == 3);
		record_free(&record);
	}
	signal(SIGCHLD, SIG_DFL);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(before), &before), 0);
	close_all(host, room);
}

/* They are rights: a host may have given them up. */
QUARTERS_TEST(a_child_has_the_groups_of_its_host)
{
	if (geteuid() != 0)
		return;
	const gid_t groups[] = { 54321 };
	gid_t before[64];
	int count = getgroups(COUNT(before), before);
	ck_assert_int_ge(count, 0);
	ck_assert_int_eq(setgroups(COUNT(groups), groups), 0);
	perch_host *host = quarters_host();
	struct room *room = open_room(host);
	pid_t keeper = keeper_of(room);
	ck_assert_int_eq(setgroups(0, NULL), 0);
	expect(host, room, "id -G", "0\n");
	ck_assert_int_ne(keeper_of(room), keeper);
	ck_assert_int_eq(setgroups((size_t)count, before), 0);
	close_all(host, room);
}

QUARTERS_TEST(a_room_whose_init_is_dead_bears_nobody)
{
	perch_host *host = quarters_host();
	struct room *room = open_room(host);
	const struct perch_confine confine = confine_to(room);
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", room_entrance(room));
	FILE *file = fopen(path, "re");
	int init = 0;
	for (char line[100]; fgets(line, sizeof(line), file);)
		(void)!sscanf(line, "Pid: %d", &init);
	fclose(file);
	ck_assert_int_gt(init, 1);
	kill(init, SIGKILL);
	proc_wait_gone(init);
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = SHELL("true");
	spec.confine = &confine;
	perch_child *child = NULL;
	ck_assert_int_lt(perch_child_start(host, &spec, &child, NULL), 0);
	close_all(host, room);
}

SUITE_MAIN("room-door", its_children_are_as_any_other,
	they_have_no_rights_and_no_descriptors_but_theirs, nobody_in_the_room_meets_it,
	failures_are_told_as_by_any_other, one_that_has_died_is_replaced, one_that_is_stopped_is_woken,
	kills_and_stops_during_births_hang_nobody,
	a_child_that_was_born_before_it_was_wanted_is_the_next_one, one_that_waits_goes_with_its_room,
	one_that_was_killed_or_stopped_while_it_waited_hangs_nobody, it_dies_with_its_host,
	what_it_cannot_do_is_done_without_it, who_is_born_without_it_meets_nobody_that_waits,
	a_host_that_has_changed_gets_another_one, a_child_has_scheduler_and_processors_of_its_host,
	a_child_that_is_reaped_elsewhere_is_born_all_the_same, a_child_has_the_groups_of_its_host,
	a_room_whose_init_is_dead_bears_nobody)

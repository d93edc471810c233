/* The tree of a child: what has left its group, its session, its parent and its environment ends
 * with it all the same; and nobody else does. */
#include "harness/proc.h"
#include "harness/quarters.h"
#include "harness/suite.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "proc/child.h"

enum { DAEMONS = 5, STORM_LOOKS = 15, ANOTHER_USER = 54321, HOST_KILLS = 25 };

/* In quarters, or where we are. */
static perch_host *tree_host(void)
{
	return quarters_child()[0] ? quarters_host() : proc_host();
}

static const char *tree_child(void)
{
	return quarters_child()[0] ? quarters_child() : proc_child_path();
}

#define TREE_CHILD(...) ((const char *const[]){ tree_child(), __VA_ARGS__, NULL })

/* ---- daemons ------------------------------------------------------------------- */

static void read_daemons(struct record *record, pid_t ids[DAEMONS])
{
	const char *at = record_out(record);
	for (int i = 0; i < DAEMONS; i++) {
		char *end;
		ids[i] = (pid_t)strtol(at, &end, 10);
		ck_assert_int_gt(ids[i], 0);
		at = end;
	}
}

static void assert_dead(const pid_t ids[DAEMONS])
{
	for (int i = 0; i < DAEMONS; i++)
		ck_assert(!proc_is_alive(ids[i]));
}

/* Nobody is waited for here: at the end they are dead. */
QUARTERS_TEST(daemons_end_with_a_child_that_has_exited)
{
	perch_host *host = tree_host();
	struct record record = { 0 };
	pid_t ids[DAEMONS];
	proc_run(host, TREE_CHILD("leave-daemons"), &record);
	read_daemons(&record, ids);
	assert_dead(ids);
	ck_assert_int_eq(record.result.reach, PERCH_REACH_TREE);
	ck_assert_int_eq(record.result.exit_code, 0);
	ck_assert_uint_eq(record.result.background.ended, DAEMONS);
	ck_assert_uint_eq(record.result.background.left, 0);
	record_free(&record);
	perch_host_free(host);
}

static void start_daemons(perch_host *host, struct record *record, pid_t ids[DAEMONS])
{
	perch_child_spec spec = proc_spec(TREE_CHILD("leave-daemons", "1"), record);
	static const perch_step steps[] = {
		{ PERCH_STEP_TERM, .after_ns = 0 },
		{ PERCH_STEP_KILL, .after_ns = 50 * NSEC_PER_MSEC },
	};
	spec.ladder = steps;
	spec.ladder_len = 2;
	proc_start(host, &spec, record);
	proc_until_lines(host, record, DAEMONS);
	read_daemons(record, ids);
	for (int i = 0; i < DAEMONS; i++)
		ck_assert(proc_is_alive(ids[i]));
}

QUARTERS_TEST(daemons_end_with_a_child_that_is_stopped)
{
	perch_host *host = tree_host();
	struct record record = { 0 };
	pid_t ids[DAEMONS];
	start_daemons(host, &record, ids);
	perch_child_stop(record.child);
	proc_until(host, &record.ended);
	assert_dead(ids);
	ck_assert_int_eq(record.result.signal, SIGKILL);
	ck_assert_uint_ge(record.result.background.ended, DAEMONS);
	record_free(&record);
	perch_host_free(host);
}

/* The end of the host waits for them. */
START_TEST(daemons_end_with_a_child_that_is_given_back)
{
	for (int is_freed = 0; is_freed <= 1; is_freed++) {
		perch_host *host = tree_host();
		struct record record = { 0 };
		pid_t ids[DAEMONS];
		start_daemons(host, &record, ids);
		if (is_freed)
			record_free(&record);
		perch_host_free(host);
		assert_dead(ids);
		record.child = NULL;
		record_free(&record);
	}
}
END_TEST

/* Beside it another child, which has a tree of its own. */
START_TEST(the_tree_of_another_child_lives_on)
{
	perch_host *host = tree_host();
	struct record other = { 0 };
	struct record record = { 0 };
	pid_t ids[DAEMONS];
	start_daemons(host, &other, ids);
	proc_run(host, TREE_CHILD("leave-daemons"), &record);
	ck_assert_uint_eq(record.result.background.ended, DAEMONS);
	for (int i = 0; i < DAEMONS; i++)
		ck_assert(proc_is_alive(ids[i]));
	record_free(&other);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

/* Our own process is as it was, and so are its other children, and theirs. */
START_TEST(the_embedder_is_left_alone)
{
	struct rlimit before;
	struct rlimit after;
	int is_reaper = -1;
	ck_assert_int_eq(getrlimit(RLIMIT_LOCKS, &before), 0);
	pid_t own = fork();
	if (own == 0)
		for (;;)
			pause();
	perch_host *host = tree_host();
	struct record record = { 0 };
	proc_run(host, TREE_CHILD("leave-daemons"), &record);
	perch_host_free(host);
	ck_assert_int_eq(getrlimit(RLIMIT_LOCKS, &after), 0);
	ck_assert(before.rlim_cur == after.rlim_cur && before.rlim_max == after.rlim_max);
	ck_assert_int_eq(prctl(PR_GET_CHILD_SUBREAPER, &is_reaper), 0);
	ck_assert_int_eq(is_reaper, 0);
	ck_assert(proc_is_alive(own));
	kill(own, SIGKILL);
	waitpid(own, NULL, 0);
	record.child = NULL;
	record_free(&record);
}
END_TEST

/* What is in the group, too; but a child that is stopped takes that with it. */
START_TEST(background_that_is_kept_lives_on)
{
	perch_host *host = tree_host();
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(SHELL("sleep 300 >/dev/null 2>&1 & echo $!"), &record);
	spec.background = PERCH_BACKGROUND_KEEP;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	pid_t kept = atoi(record_out(&record));
	ck_assert_int_eq(record.result.reach, PERCH_REACH_GROUP);
	ck_assert_uint_eq(record.result.background.ended, 0);
	record_free(&record);
	perch_host_free(host);
	ck_assert(proc_is_alive(kept));
	kill(kept, SIGKILL);
}
END_TEST

/* After 33 million children their numbers come again; not that of one that lives. */
START_TEST(no_two_children_have_the_same_mark)
{
	perch_host *host = tree_host();
	struct record old = { 0 };
	struct record record = { 0 };
	pid_t ids[DAEMONS];
	start_daemons(host, &old, ids);
	host->trees.next_child = 1u << MARK_CHILD_BITS;
	proc_run(host, TREE_CHILD("leave-daemons"), &record);
	ck_assert_uint_eq(record.result.background.ended, DAEMONS);
	for (int i = 0; i < DAEMONS; i++)
		ck_assert(proc_is_alive(ids[i]));
	record_free(&old);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

/* Long turns do not try the numbers since their birth, but look at everybody. */
START_TEST(an_old_tree_is_found_as_well)
{
	perch_host *host = tree_host();
	struct record record = { 0 };
	pid_t ids[DAEMONS];
	start_daemons(host, &record, ids);
	host->children->born_ns = 1;
	perch_child_stop(record.child);
	proc_until(host, &record.ended);
	assert_dead(ids);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

/* ---- a storm ------------------------------------------------------------------- */

/* How many processes of this name are alive, in one look. */
static unsigned count_named(const char *name)
{
	unsigned count = 0;
	DIR *directory = opendir("/proc");
	for (const struct dirent *entry; (entry = readdir(directory));) {
		char path[300];
		char text[512] = "";
		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		FILE *file = entry->d_name[0] <= '9' ? fopen(path, "r") : NULL;
		if (!file)
			continue;
		(void)!fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
		const char *end = strrchr(text, ')');
		count += strstr(text, name) && end && !strchr("ZX", end[2]);
	}
	closedir(directory);
	return count;
}

/* Somebody who forks all the time may be missed in one look, not in many. */
static void assert_calm(const char *name)
{
	for (int i = 0; i < STORM_LOOKS; i++) {
		ck_assert_uint_eq(count_named(name), 0);
		usleep(1000);
	}
}

static void start_storm(perch_host *host, struct record *record, int number)
{
	char text[16];
	snprintf(text, sizeof(text), "%d", number);
	perch_child_spec spec = proc_spec(TREE_CHILD("storm", text), record);
	proc_start(host, &spec, record);
	proc_until_lines(host, record, 1);
}

QUARTERS_TEST(a_storm_of_forks_ends)
{
	for (int round = 0; round < 3; round++) {
		char name[16];
		int number = (int)getpid() * 10 + round;
		snprintf(name, sizeof(name), "(storm%d)", number);
		perch_host *host = tree_host();
		struct record record = { 0 };
		start_storm(host, &record, number);
		ck_assert_uint_gt(count_named(name), 0);
		perch_child_signal(record.child, SIGKILL);
		proc_until(host, &record.ended);
		assert_calm(name);
		record_free(&record);
		perch_host_free(host);
	}
}

/* ---- the death of the host -------------------------------------------------------- */

_Noreturn static void be_a_host(int number, int out)
{
	perch_host *host = tree_host();
	struct record daemons = { 0 };
	struct record storm = { 0 };
	pid_t ids[DAEMONS];
	start_daemons(host, &daemons, ids);
	start_storm(host, &storm, number);
	(void)!write(out, ids, sizeof(ids));
	for (;;)
		perch_host_wait(host, -1);
}

static void wait_calm(const char *name)
{
	for (int i = 0; i < 10000 && count_named(name); i++)
		usleep(1000);
	assert_calm(name);
}

QUARTERS_TEST(daemons_and_storms_end_with_a_host_that_is_killed)
{
	int ends[2];
	char name[16];
	pid_t ids[DAEMONS];
	snprintf(name, sizeof(name), "(storm%d9)", (int)getpid());
	ck_assert_int_eq(pipe(ends), 0);
	pid_t host = fork();
	if (host == 0)
		be_a_host((int)getppid() * 10 + 9, ends[1]);
	close(ends[1]);
	ck_assert_int_eq(read(ends[0], ids, sizeof(ids)), sizeof(ids));
	close(ends[0]);
	kill(host, SIGKILL);
	waitpid(host, NULL, 0);
	for (int i = 0; i < DAEMONS; i++)
		proc_wait_gone(ids[i]);
	wait_calm(name);
}

/* At any moment of the life of daemons, their birth included. They are known by their argument. */
_Noreturn static void leave_sleepers(const char *seconds)
{
	char script[128];
	snprintf(script, sizeof(script),
		"setsid sleep %s & (env -i setsid sleep %s &) ; sleep %s >/dev/null 2>&1 &", seconds,
		seconds, seconds);
	perch_host *host = tree_host();
	for (;;) {
		struct record record = { 0 };
		perch_child_spec spec = proc_spec(SHELL(script), &record);
		spec.linger_ns = 0;
		proc_start(host, &spec, &record);
		proc_until(host, &record.ended);
		record_free(&record);
	}
}

static unsigned count_sleepers(const char *seconds)
{
	char command[128];
	snprintf(
		command, sizeof(command), "grep -zlxs '[6]%s' /proc/[0-9]*/cmdline | wc -l", seconds + 1);
	FILE *out = popen(command, "r");
	unsigned count = 0;
	ck_assert_int_eq(fscanf(out, "%u", &count), 1);
	pclose(out);
	return count;
}

START_TEST(hosts_that_are_killed_leave_nobody)
{
	const char *kills = getenv("PERCH_TREE_KILLS");
	char seconds[32];
	snprintf(seconds, sizeof(seconds), "600.%d", (int)getpid());
	for (int round = kills ? atoi(kills) : HOST_KILLS; round > 0; round--) {
		pid_t host = fork();
		if (host == 0)
			leave_sleepers(seconds);
		usleep((useconds_t)(random() % 20000));
		kill(host, SIGKILL);
		waitpid(host, NULL, 0);
	}
	for (int i = 0; i < 200 && count_sleepers(seconds); i++)
		usleep(50 * 1000);
	ck_assert_uint_eq(count_sleepers(seconds), 0);
}
END_TEST

/* ---- processes that are not ours to kill ---------------------------------------------- */

static void make_set_user_id_child(const char *path)
{
	char command[256];
	snprintf(command, sizeof(command), "cp %s %s && chmod 4755 %s", quarters_child(), path, path);
	ck_assert_int_eq(system(command), 0);
}

/* A set-user-id program that has become root for good cannot be killed by who has started it. Only
 * root can make one. */
QUARTERS_TEST(who_has_become_another_user_is_told)
{
	static const char program[] = "/mnt/another";
	if (geteuid() == 0) {
		make_set_user_id_child(program);
		return;
	}
	if (access(program, X_OK) < 0)
		suite_skip("only root can make a set-user-id program");
	perch_host *host = quarters_host();
	struct record record = { 0 };
	const char *const argv[] = { program, "become-root", NULL };
	proc_run(host, argv, &record);
	ck_assert_uint_eq(record.result.background.left, 1);
	ck_assert_uint_eq(record.result.background.ended, 0);
	pid_t left = atoi(record_out(&record));
	ck_assert(proc_is_alive(left));
	record_free(&record);
	perch_host_free(host);
	proc_wait_gone(left);
}

SUITE_MAIN("process-tree", daemons_end_with_a_child_that_has_exited,
	daemons_end_with_a_child_that_is_stopped, daemons_end_with_a_child_that_is_given_back,
	the_tree_of_another_child_lives_on, the_embedder_is_left_alone,
	background_that_is_kept_lives_on, no_two_children_have_the_same_mark,
	an_old_tree_is_found_as_well, a_storm_of_forks_ends,
	daemons_and_storms_end_with_a_host_that_is_killed, hosts_that_are_killed_leave_nobody,
	who_has_become_another_user_is_told)

/* Sandboxes that are used again: only who left everything as it was made has a successor in
 * the same room, and nobody notices that there was a predecessor. */
#include "harness/folder.h"
#include "harness/locked.h"
#include "harness/oom.h"
#include "harness/quarters.h"
#include "harness/suite.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "sandbox/sandbox.h"

enum { ANOTHER_USER = 54321 };

static perch_host *host;
static struct arena arena;

/* The policy of a tool whose user has a home, here. */
static struct sandbox_policy tool_policy(void)
{
	const struct policy_tool tool = {
		.home = quarters_path("home"),
		.directory = quarters_directory(),
	};
	struct sandbox_policy policy;
	ck_assert_int_eq(policy_for_tool(&arena, &tool, &policy), 0);
	return policy;
}

static void begin(void)
{
	setenv("PERCH_SANDBOX_NO_ROOM", "0", 1);
	quarters_prepare("mkdir home");
	host = quarters_host();
}

static void end(void)
{
	perch_host_free(host);
	ck_assert_uint_eq(proc_children(), 0);
	arena_free(&arena);
}

static struct sandbox *open_with(const struct sandbox_policy *policy)
{
	struct sandbox *sandbox;
	perch_err err = { 0 };
	ck_assert_msg(sandbox_open(host, policy, &sandbox, &err) == 0, "%s", err.text);
	return sandbox;
}

/* What a script prints in it. */
static char *say_in(const struct sandbox *sandbox, const char *script)
{
	struct record record = { 0 };
	perch_child_spec spec = proc_spec((const char *const[]){ "sh", "-c", script, NULL }, &record);
	spec.confine = sandbox_confine(sandbox);
	spec.cwd = "/";
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	char *said = strdup(record_out(&record));
	record_free(&record);
	return said;
}

/* What a run of the policy says, behind a line with its process id: nobody but the first
 * process in a room has this one. */
enum { FIRST = 2 };

static char *run_with(const struct sandbox_policy *policy, const char *script)
{
	char whole[5000];
	snprintf(whole, sizeof(whole), "echo $$; %s", script);
	struct sandbox *sandbox = open_with(policy);
	char *said = say_in(sandbox, whole);
	sandbox_close(sandbox);
	return said;
}

static char *run_once(const char *script)
{
	struct sandbox_policy policy = tool_policy();
	return run_with(&policy, script);
}

/* Whether who said it was in a room of its own; and what it said. */
static void assert_said(char *said, bool is_new, const char *expected)
{
	ck_assert_int_ge(atol(said), FIRST);
	ck_assert_str_eq(strchr(said, '\n') + 1, expected);
	ck_assert_msg((atol(said) == FIRST) == is_new, "%s", is_new ? "used again" : "not used again");
	free(said);
}

/* Runs a script, does something outside, looks again with another script. */
static void check(
	const char *first, const char *outside, const char *second, const char *expected, bool is_new)
{
	begin();
	assert_said(run_once(":"), true, "");
	for (int i = 0; i < 3; i++)
		assert_said(run_once(":"), false, "");
	assert_said(run_once(first), false, "");
	quarters_prepare(outside);
	assert_said(run_once(second), is_new, expected);
	end();
}

QUARTERS_TEST(who_leaves_it_as_it_was_has_a_successor)
{
	check("cat /etc/passwd >/dev/null", ":", "ls -A /var/tmp", "", false);
}

QUARTERS_TEST(a_file_that_is_left_is_not_found)
{
	check("echo secret >/tmp/left", ":", "cat /tmp/left 2>/dev/null", "", true);
}

QUARTERS_TEST(a_file_that_came_and_went_leaves_no_trace)
{
	check("echo secret >/tmp/left; rm /tmp/left", ":", "cat /tmp/left 2>/dev/null", "", true);
}

QUARTERS_TEST(a_directory_that_was_locked_is_open)
{
	check("chmod 0 /var/tmp", ":", "stat -c %a /var/tmp", "1777\n", true);
}

QUARTERS_TEST(a_process_that_is_left_is_gone)
{
	check("setsid sleep 1000 >/dev/null 2>&1 & until grep -q sleep /proc/$!/comm; do :; done", ":",
		"grep -l sleep /proc/[0-9]*/comm", "", false);
}

/* It takes the mark off by which it would be found: a room with somebody in it is not used again.
 */
QUARTERS_TEST(a_process_that_hides_in_it_is_gone)
{
	check("bash -c 'ulimit -x 5; exec setsid sleep 1000' >/dev/null 2>&1 &"
		  "until grep -q sleep /proc/$!/comm; do :; done",
		":", "grep -l sleep /proc/[0-9]*/comm", "", true);
}

QUARTERS_TEST(a_secret_that_was_made_meanwhile_is_hidden)
{
	char script[4096];
	snprintf(script, sizeof(script), "ls -A %s/.ssh", quarters_path("home"));
	check(":", "mkdir home/.ssh; echo key >home/.ssh/id", script, "", true);
}

/* What covered it went away with it. */
QUARTERS_TEST(a_secret_that_was_replaced_meanwhile_is_hidden)
{
	char script[4096];
	begin();
	quarters_prepare("echo old >home/.netrc");
	snprintf(script, sizeof(script), "cat %s/.netrc", quarters_path("home"));
	struct sandbox_policy policy = tool_policy();
	/* The last one is where x86_64 has its dynamic loader, and aarch64 nothing. */
	policy.read = (const char *const[]){ "/bin", "/lib", "/proc", "/usr", quarters_directory(),
		access("/lib64", F_OK) == 0 ? "/lib64" : NULL, NULL };
	assert_said(run_with(&policy, script), true, "");
	assert_said(run_with(&policy, script), false, "");
	quarters_prepare("echo new >home/other; mv home/other home/.netrc");
	assert_said(run_with(&policy, script), true, "");
	end();
}

/* A reader of everything here but secrets, in a room that is used again; then something is moved
 * outside, with what covered it in the room. */
static void check_moved(const char *before, const char *outside, const char *script)
{
	begin();
	quarters_prepare(before);
	struct sandbox_policy policy = tool_policy();
	policy.read = (const char *const[]){ "/bin", "/lib", "/lib64", "/proc", "/usr",
		quarters_directory(), NULL };
	char whole[4096];
	snprintf(whole, sizeof(whole), "cd '%s' && %s 2>/dev/null", quarters_directory(), script);
	assert_said(run_with(&policy, whole), true, "");
	assert_said(run_with(&policy, whole), false, "");
	assert_said(run_with(&policy, whole), false, "");
	quarters_prepare(outside);
	assert_said(run_with(&policy, whole), true, "");
	end();
}

QUARTERS_TEST(a_secret_that_another_took_the_place_of_is_hidden)
{
	check_moved("echo old >home/.netrc", "mv home/.netrc home/.netrc.old; echo new >home/.netrc",
		"cat home/.netrc");
}

QUARTERS_TEST(a_secret_below_what_was_moved_is_hidden)
{
	check_moved("mkdir -p home/.config/gh; echo old >home/.config/gh/hosts",
		"mv home/.config home/moved; mkdir -p home/.config/gh; echo new >home/.config/gh/hosts",
		"cat home/.config/gh/hosts");
}

/* The same file, by another name, without what protects it. */
QUARTERS_TEST(what_is_protected_is_so_where_the_same_file_was_linked)
{
	begin();
	quarters_prepare("mkdir work; echo old >work/config");
	char script[4096];
	snprintf(script, sizeof(script), "cd '%s' && (echo new >config) 2>/dev/null; cat config",
		quarters_path("work"));
	struct sandbox_policy policy = tool_policy();
	policy.write = (const char *const[]){ quarters_path("work"), NULL };
	policy.protect = (const char *const[]){ quarters_path("work/config"), NULL };
	assert_said(run_with(&policy, script), true, "old\n");
	assert_said(run_with(&policy, script), false, "old\n");
	quarters_prepare("mv work/config work/moved; ln work/moved work/config");
	assert_said(run_with(&policy, script), true, "old\n");
	end();
}

/* Nobody is told of names that can be read since there is a key, and no time changes. */
QUARTERS_TEST(a_secret_that_a_key_brings_to_light_is_hidden)
{
	begin();
	if (locked_can_be()) {
		quarters_prepare("echo key >keys/own/secret");
		locked_lock();
		const time_t locked = time(NULL);
		while (time(NULL) < locked + 4) /* until the times of what was made show every change */
			usleep(100 * 1000);
		struct sandbox_policy policy = tool_policy();
		policy.read = (const char *const[]){ "/bin", "/lib", "/lib64", "/proc", "/usr",
			quarters_path("keys"), NULL };
		policy.hide = (const char *const[]){ quarters_path("keys/own/secret"), NULL };
		char script[4096];
		snprintf(script, sizeof(script), "cat '%s' 2>/dev/null", policy.hide[0]);
		assert_said(run_with(&policy, script), true, "");
		for (int i = 0; i < 3; i++)
			assert_said(run_with(&policy, script), false, "");
		locked_unlock();
		assert_said(run_with(&policy, script), true, "");
	}
	end();
	locked_end();
}

QUARTERS_TEST(another_policy_has_another_room)
{
	begin();
	struct sandbox_policy policy = tool_policy();
	free(run_with(&policy, "ulimit -n"));
	policy.limits.files = 32;
	assert_said(run_with(&policy, "ulimit -n"), true, "32\n");
	end();
}

QUARTERS_TEST(whoever_is_still_in_it_is_alone)
{
	begin();
	struct sandbox_policy policy = tool_policy();
	struct sandbox *first = open_with(&policy);
	struct sandbox *second = open_with(&policy);
	assert_said(say_in(first, "echo $$"), true, "");
	assert_said(say_in(second, "echo $$"), true, "");
	sandbox_close(first);
	sandbox_close(second);
	end();
}

/* They would outlive the process that made them. */
QUARTERS_TEST(there_is_no_memory_to_be_shared)
{
	begin();
	assert_said(run_once("ipcmk -M 100 2>/dev/null || echo refused"), true, "refused\n");
	end();
}

QUARTERS_TEST(nobody_asks_for_it_and_it_goes)
{
	begin();
	free(run_once(":"));
	size_t with_it = proc_children();
	while (proc_children() == with_it)
		perch_host_wait(host, 1000);
	ck_assert_uint_eq(proc_children(), with_it - 1);
	end();
}

static void assert_succeeds(pid_t process)
{
	int status;
	ck_assert_int_eq(waitpid(process, &status, 0), process);
	ck_assert_int_eq(status, 0);
}

/* As a daemon that was root when it ran its first tool. Such a one may not kill the room. */
QUARTERS_TEST(a_host_that_has_become_another_user_leaves_no_room)
{
	if (geteuid() != 0)
		return;
	pid_t daemon_pid = fork();
	if (daemon_pid == 0) {
		begin();
		free(run_once(":"));
		bool is_other = setresuid(ANOTHER_USER, ANOTHER_USER, ANOTHER_USER) == 0;
		perch_host_free(host);
		_exit(is_other && waitpid(-1, NULL, WNOHANG) < 0 ? 0 : 1);
	}
	assert_succeeds(daemon_pid);
}

/* What a fork of ours does with a copy of our host: a room of its own is all that it gets. */
static void fork_runs(void)
{
	pid_t fork_pid = fork();
	if (fork_pid == 0)
		_exit(atol(run_once(":")) == FIRST ? 0 : 1);
	assert_succeeds(fork_pid);
}

QUARTERS_TEST(a_fork_has_no_room_of_ours_and_leaves_us_those_that_we_have)
{
	begin();
	assert_said(run_once(":"), true, "");
	assert_said(run_once(":"), false, "");
	fork_runs();
	assert_said(run_once(":"), false, "");
	end();
}

/* More than the pool holds: those from before have to go. */
enum { MANY = 20 };

static void open_many(void)
{
	struct sandbox_policy policy = tool_policy();
	struct sandbox *sandboxes[MANY];
	for (size_t i = 0; i < MANY; i++)
		sandboxes[i] = open_with(&policy);
	for (size_t i = 0; i < MANY; i++)
		sandbox_close(sandboxes[i]);
}

/* We are in a room that was in the pool when the fork was made. */
QUARTERS_TEST(a_fork_does_not_end_a_room_that_we_are_in)
{
	begin();
	assert_said(run_once(":"), true, "");
	int go[2];
	ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
	pid_t fork_pid = fork();
	if (fork_pid == 0) {
		char byte;
		close(go[1]);
		(void)!read(go[0], &byte, 1);
		open_many();
		_exit(0);
	}
	struct sandbox_policy policy = tool_policy();
	struct sandbox *sandbox = open_with(&policy);
	close(go[0]);
	close(go[1]);
	assert_succeeds(fork_pid);
	assert_said(say_in(sandbox, "echo $$"), false, "");
	sandbox_close(sandbox);
	end();
}

QUARTERS_TEST(no_more_than_some_are_kept)
{
	enum { SOME = 8 };
	begin();
	free(run_once(":"));
	size_t with_one = proc_children();
	open_many();
	ck_assert_uint_eq(proc_children(), with_one - 1 + SOME);
	end();
}

/* A process in a room does not see what is mounted outside meanwhile. So that room is not used
 * again, also when another call has seen the mount first. */
QUARTERS_TEST(a_room_with_old_mounts_is_not_used_again)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0)
		return;
	begin();
	quarters_prepare("mount --make-rprivate / && mkdir inside && touch inside/old");
	char script[4096];
	snprintf(script, sizeof(script), "ls %s", quarters_path("inside"));
	struct sandbox_policy policy = tool_policy();
	struct sandbox *first = open_with(&policy);
	assert_said(say_in(first, "echo $$"), true, "");
	quarters_prepare("mount -t tmpfs tmpfs inside && touch inside/new");
	assert_said(run_with(&policy, script), true, "new\n");
	sandbox_close(first);
	for (int i = 0; i < 3; i++)
		assert_said(run_with(&policy, script), false, "new\n");
	end();
	quarters_prepare("umount inside");
}

/* Rooms as they are before something is mounted, and how they would be behind it. */
static void begin_with_mounts(char *script, size_t size)
{
	begin();
	quarters_prepare("mount --make-rprivate / && mkdir inside && touch inside/old");
	snprintf(script, size, "ls %s", quarters_path("inside"));
	assert_said(run_once(script), true, "old\n");
	for (int i = 0; i < 3; i++)
		assert_said(run_once(script), false, "old\n");
}

/* The kernel tells of a mount once to all who share an open file. */
QUARTERS_TEST(a_mount_that_a_fork_has_heard_of_is_heard_of_here)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0)
		return;
	char script[4096];
	begin_with_mounts(script, sizeof(script));
	quarters_prepare("mount -t tmpfs tmpfs inside && touch inside/new");
	fork_runs();
	assert_said(run_once(script), true, "new\n");
	end();
	quarters_prepare("umount inside");
}

QUARTERS_TEST(who_has_moved_to_other_mounts_has_other_rooms)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0)
		return;
	char script[4096];
	begin_with_mounts(script, sizeof(script));
	ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
	assert_said(run_once(script), true, "old\n");
	assert_said(run_once(script), false, "old\n");
	quarters_prepare("mount -t tmpfs tmpfs inside && touch inside/new");
	assert_said(run_once(script), true, "new\n");
	end();
	quarters_prepare("umount inside");
}

/* Where it may write in a repository, what is protected there belongs to what is the same. */
QUARTERS_TEST(what_git_would_execute_is_looked_for_every_time)
{
	begin();
	quarters_prepare("git init -q work && rm -r work/.git/hooks");
	struct sandbox_policy policy = tool_policy();
	const char *const write[] = { quarters_path("work"), NULL };
	policy.write = write;
	char script[4096];
	snprintf(script, sizeof(script), "cd '%s'; (>.git/hooks/x) 2>&- && echo made", write[0]);
	folder_settle("work"); /* from then on, ways are not looked up again */
	assert_said(run_with(&policy, script), true, "");
	for (int i = 0; i < 3; i++)
		assert_said(run_with(&policy, script), false, "");
	quarters_prepare("mkdir work/.git/hooks");
	assert_said(run_with(&policy, script), true, "");
	assert_said(run_with(&policy, script), false, "");
	snprintf(script, sizeof(script), "cd '%s'; cp -r .git nest; >nest/config.worktree", write[0]);
	assert_said(run_with(&policy, script), false, "");
	assert_said(run_with(&policy, ":"), true, "");
	end();
}

/* A host that opens one, and again: the third time, it knows the way. */
static int open_thrice(void *data)
{
	const struct sandbox_policy *policy = data;
	perch_host_options options = PERCH_HOST_OPTIONS_INIT;
	options.guard_path = quarters_guard();
	perch_host *made = NULL;
	int r = perch_host_new(&options, &made, NULL);
	for (int i = 0; r == 0 && i < 3; i++) {
		struct sandbox *sandbox;
		r = sandbox_open(made, policy, &sandbox, NULL);
		if (r == 0)
			sandbox_close(sandbox);
	}
	perch_host_free(made);
	return r;
}

QUARTERS_TEST(without_memory_nothing_is_kept_that_is_not_whole)
{
	begin();
	struct sandbox_policy policy = tool_policy();
	ck_assert_uint_gt(oom_every(open_thrice, &policy), 10);
	end();
}

SUITE_MAIN("sandbox-reuse-pool", who_leaves_it_as_it_was_has_a_successor,
	a_file_that_is_left_is_not_found, a_file_that_came_and_went_leaves_no_trace,
	a_directory_that_was_locked_is_open, a_process_that_is_left_is_gone,
	a_process_that_hides_in_it_is_gone, a_secret_that_was_made_meanwhile_is_hidden,
	a_secret_that_was_replaced_meanwhile_is_hidden,
	a_secret_that_another_took_the_place_of_is_hidden, a_secret_below_what_was_moved_is_hidden,
	what_is_protected_is_so_where_the_same_file_was_linked,
	a_secret_that_a_key_brings_to_light_is_hidden, another_policy_has_another_room,
	whoever_is_still_in_it_is_alone, there_is_no_memory_to_be_shared,
	nobody_asks_for_it_and_it_goes, no_more_than_some_are_kept,
	a_host_that_has_become_another_user_leaves_no_room,
	a_fork_has_no_room_of_ours_and_leaves_us_those_that_we_have,
	a_fork_does_not_end_a_room_that_we_are_in, a_room_with_old_mounts_is_not_used_again,
	a_mount_that_a_fork_has_heard_of_is_heard_of_here,
	who_has_moved_to_other_mounts_has_other_rooms, what_git_would_execute_is_looked_for_every_time,
	without_memory_nothing_is_kept_that_is_not_whole)

/* Policies that are remembered: whatever decides one changes between two calls, and the second call
 * has the new one. */
#include "harness/folder.h"
#include "harness/locked.h"
#include "harness/oom.h"
#include "harness/quarters.h"
#include "harness/suite.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"
#include "sandbox/reuse/policy_memory.h"
#include "tool/tool_confinement.h"
#include "tool/tool_launch.h"

static perch_host *host;
static const char *reads[4]; /* what the tool may read beside its own */

static void begin(void)
{
	setenv("PERCH_SANDBOX_NO_ROOM", "0", 1);
	static const char *const moved[] = { "KUBECONFIG", "NETRC", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
		"XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "TMUX_TMPDIR" };
	for (size_t i = 0; i < COUNT(moved); i++)
		unsetenv(moved[i]);
	quarters_prepare("mkdir -p tmp up/home/.config up/home/keys up/home/others && "
					 "echo key >up/home/kept && echo key >up/home/keys/id && "
					 "echo key >up/home/others/id && ln -s keys up/home/.ssh");
	setenv("HOME", quarters_path("up/home"), 1);
	/* One that our user may read: another is judged by its times, once they are old enough. */
	setenv("TMPDIR", quarters_path("tmp"), 1);
	reads[0] = quarters_path("up");
	reads[1] = NULL;
	host = quarters_host();
}

static void end(void)
{
	perch_host_free(host);
	ck_assert_uint_eq(proc_children(), 0);
}

static struct tool_binding bind_to(const char *const *args)
{
	struct tool_binding binding = tool_binding_default();
	binding.name = "remembered";
	binding.command = "/bin/sh";
	binding.directory = "/";
	binding.args = args;
	binding.widening.read = reads;
	return binding;
}

/* What a shell says in the sandbox of a call; *ret_is_remembered = its policy was not made anew. */
static char *say(const char *script, bool *ret_is_remembered)
{
	const char *const args[] = { "-c", script, NULL };
	const struct tool_binding binding = bind_to(args);
	struct record record = { 0 };
	struct launch launch = { 0 };
	perch_err err = { 0 };
	perch_child_spec spec = proc_spec(NULL, &record);
	int r = launch_prepare(&launch, host, &binding, &spec, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	*ret_is_remembered = launch.remembered;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	char *said = strdup(record_out(&record));
	perch_child_free(record.child);
	record.child = NULL;
	record_free(&record);
	launch_close(&launch);
	return said;
}

static bool is_remembered(void)
{
	bool is = false;
	free(say(":", &is));
	return is;
}

/* Below an overlay, say, nothing is remembered. */
static bool can_be_watched(void)
{
	struct statfs info;
	ck_assert_int_eq(statfs(quarters_path("up"), &info), 0);
	return info.f_type == EXT4_SUPER_MAGIC || info.f_type == TMPFS_MAGIC ||
		info.f_type == BTRFS_SUPER_MAGIC || info.f_type == 0x58465342;
}

/* What others do in directories of the whole machine may delay it. */
static void wait_for_memory(void)
{
	int calls = 0;
	while (!is_remembered())
		ck_assert_int_lt(++calls, 20);
}

static bool begin_with_memory(void)
{
	begin();
	if (!can_be_watched())
		return false;
	for (int i = 0; i < 3; i++)
		ck_assert(!is_remembered());
	wait_for_memory();
	return true;
}

static void assert_says(const char *script, const char *expected, bool is_known)
{
	bool is = false;
	char *said = say(script, &is);
	ck_assert_str_eq(said, expected);
	ck_assert_int_eq(is, is_known);
	free(said);
}

/* Something changes: the next call has another policy, and after some more it is remembered. */
static void check(const char *outside, const char *inside)
{
	char script[5000];
	if (begin_with_memory()) {
		quarters_prepare(outside);
		snprintf(script, sizeof(script), "cd '%s'; cat %s 2>&-; :", quarters_path("up"), inside);
		assert_says(script, "", false);
		wait_for_memory();
		assert_says(script, "", true);
	}
	end();
}

QUARTERS_TEST(what_does_not_matter_does_not_count)
{
	if (begin_with_memory()) {
		quarters_prepare("touch up/home/file up/home/.other; mkdir up/home/.config/program; "
						 "mv up/home/kept up/home/moved; chmod 700 up/home");
		ck_assert(is_remembered());
	}
	end();
}

QUARTERS_TEST(a_secret_that_was_made_is_hidden)
{
	check("echo key >up/home/.netrc", "home/.netrc");
}

QUARTERS_TEST(a_secret_that_was_made_in_capitals_is_seen)
{
	if (begin_with_memory()) {
		quarters_prepare("echo key >up/home/.NETRC");
		ck_assert(!is_remembered());
	}
	end();
}

QUARTERS_TEST(a_secret_further_down_is_hidden)
{
	check("mkdir up/home/.config/gh; echo key >up/home/.config/gh/hosts.yml",
		"home/.config/gh/hosts.yml");
}

QUARTERS_TEST(a_secret_that_was_moved_there_is_hidden)
{
	check("mv up/home/others up/home/.aws", "home/.aws/id");
}

QUARTERS_TEST(where_another_link_leads_is_hidden)
{
	check("ln -sfn others up/home/.ssh", "home/others/id");
}

QUARTERS_TEST(what_lies_under_another_name_further_up_counts)
{
	check("mv up away; mkdir -p up/home; echo key >up/home/.netrc", "home/.netrc");
}

/* The variable was there before. */
QUARTERS_TEST(what_a_variable_names_is_hidden_when_it_is_made)
{
	setenv("NETRC", quarters_path("up/home/secret"), 1);
	begin();
	setenv("NETRC", quarters_path("up/home/secret"), 1);
	char script[5000];
	if (can_be_watched()) {
		while (!is_remembered())
			;
		quarters_prepare("echo key >up/home/secret");
		snprintf(script, sizeof(script), "cat '%s' 2>&-; :", quarters_path("up/home/secret"));
		assert_says(script, "", false);
	}
	end();
}

QUARTERS_TEST(another_environment_has_another_policy)
{
	char script[5000];
	if (begin_with_memory()) {
		snprintf(script, sizeof(script), "cat '%s' 2>&-; :", quarters_path("up/home/kept"));
		assert_says(script, "key\n", true);
		setenv("NETRC", quarters_path("up/home/kept"), 1);
		assert_says(script, "", false);
		unsetenv("NETRC");
		assert_says(script, "key\n", true);
	}
	end();
}

QUARTERS_TEST(another_grant_has_another_policy)
{
	char script[5000];
	if (begin_with_memory()) {
		snprintf(script, sizeof(script), "cat '%s' 2>&-; :", quarters_path("up/home/.ssh/id"));
		assert_says(script, "", true);
		reads[1] = quarters_path("up/home/.ssh");
		reads[2] = NULL;
		assert_says(script, "key\n", false);
	}
	end();
}

/* What may be written decides what git would execute, which is looked for every time. */
QUARTERS_TEST(who_may_write_is_not_remembered)
{
	begin();
	const char *const args[] = { "-c", ":", NULL };
	struct tool_binding binding = bind_to(args);
	const char *const writes[] = { quarters_path("up/home/others"), NULL };
	binding.widening.write = writes;
	for (int i = 0; i < 6; i++) {
		struct launch launch = { 0 };
		perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
		ck_assert_int_eq(launch_prepare(&launch, host, &binding, &spec, NULL), 0);
		ck_assert_ptr_null(launch.remembered);
		launch_close(&launch);
	}
	end();
}

QUARTERS_TEST(what_is_mounted_there_counts)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0)
		return;
	quarters_prepare("mount --make-rprivate /");
	check("mount -t tmpfs tmpfs up/home && echo key >up/home/.netrc", "home/.netrc");
	quarters_prepare("umount up/home");
}

QUARTERS_TEST(a_socket_of_the_system_that_was_made_counts)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0)
		return;
	quarters_prepare("mount --make-rprivate / && mount -t tmpfs tmpfs /run");
	if (begin_with_memory()) {
		quarters_prepare("touch /run/other");
		ck_assert(is_remembered());
		quarters_prepare("touch /run/docker.sock");
		ck_assert(!is_remembered());
	}
	end();
	quarters_prepare("umount /run");
}

/* The home directory of the account is another one by now. */
QUARTERS_TEST(what_the_file_of_accounts_says_counts)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0)
		return;
	begin();
	quarters_prepare("mount --make-rprivate / && mkdir -p up/root && echo key >up/root/.netrc && "
					 "echo \"root:x:0:0::$PWD/up/home:/bin/sh\" >passwd && "
					 "mount --bind passwd /etc/passwd");
	struct stat info;
	do { /* until its times show every change */
		usleep(100 * 1000);
		ck_assert_int_eq(stat("/etc/passwd", &info), 0);
	} while (info.st_ctim.tv_sec + 3 >= time(NULL));
	char script[5000];
	snprintf(script, sizeof(script), "cat '%s' 2>&-; :", quarters_path("up/root/.netrc"));
	if (can_be_watched()) {
		while (!is_remembered())
			;
		assert_says(script, "key\n", true);
		quarters_prepare("echo \"root:x:0:0::$PWD/up/root:/bin/sh\" >/etc/passwd");
		assert_says(script, "", false);
	}
	quarters_prepare("umount /etc/passwd");
	end();
}

/* Nobody is told of names that can be read since there is a key. */
QUARTERS_TEST(a_secret_in_a_home_that_was_locked_is_hidden)
{
	begin();
	if (locked_can_be()) {
		setenv("HOME", quarters_path("keys/own"), 1);
		reads[0] = quarters_path("keys");
		quarters_prepare("echo key >keys/own/.netrc");
		locked_lock();
		for (int i = 0; i < 6; i++)
			is_remembered();
		locked_unlock();
		char script[5000];
		snprintf(script, sizeof(script), "cat '%s/.netrc' 2>&-; :", getenv("HOME"));
		assert_says(script, "", false);
	}
	end();
	locked_end();
}

static long events_max(void)
{
	char *text = folder_read("/proc/sys/fs/inotify/max_queued_events");
	long max = atol(text);
	free(text);
	return max;
}

/* More has happened than the kernel tells of. */
QUARTERS_TEST(events_that_were_lost_count)
{
	enum { TOO_MANY = 40000 };
	long max = events_max();
	if (max > TOO_MANY)
		return;
	char script[256];
	snprintf(script, sizeof(script),
		"cd up/home && seq %ld | xargs touch && echo key >.netrc && seq %ld | xargs rm", max + 10,
		max + 10);
	check(script, "home/.netrc");
}

/* A fork has a copy of the host, and shares its events. */
QUARTERS_TEST(what_a_fork_has_heard_of_is_heard_of_here)
{
	char script[5000];
	if (begin_with_memory()) {
		quarters_prepare("echo key >up/home/.netrc");
		pid_t fork_pid = fork();
		if (fork_pid == 0)
			_exit(is_remembered() || is_remembered());
		int status;
		ck_assert_int_eq(waitpid(fork_pid, &status, 0), fork_pid);
		ck_assert_int_eq(status, 0);
		snprintf(script, sizeof(script), "cat '%s' 2>&-; :", quarters_path("up/home/.netrc"));
		assert_says(script, "", false);
	}
	end();
}

QUARTERS_TEST(a_fork_does_not_end_the_watching)
{
	if (begin_with_memory()) {
		pid_t fork_pid = fork();
		if (fork_pid == 0) {
			policy_memory_rest(host);
			_exit(is_remembered());
		}
		int status;
		ck_assert_int_eq(waitpid(fork_pid, &status, 0), fork_pid);
		ck_assert_int_eq(status, 0);
		ck_assert(is_remembered());
		quarters_prepare("echo key >up/home/.netrc");
		ck_assert(!is_remembered());
	}
	end();
}

QUARTERS_TEST(nobody_calls_and_it_is_forgotten)
{
	if (begin_with_memory()) {
		policy_memory_rest(host);
		ck_assert(!is_remembered());
	}
	end();
}

/* A policy that somebody holds stays what it was. */
QUARTERS_TEST(who_has_taken_a_policy_keeps_it)
{
	if (begin_with_memory()) {
		const char *const args[] = { "-c", ":", NULL };
		const struct tool_binding binding = bind_to(args);
		struct launch launch = { 0 };
		perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
		ck_assert_int_eq(launch_prepare(&launch, host, &binding, &spec, NULL), 0);
		ck_assert_ptr_nonnull(launch.remembered);
		quarters_prepare("echo key >up/home/.netrc");
		while (!is_remembered())
			;
		policy_memory_rest(host);
		ck_assert_str_eq(launch.policy.read[0], "/bin");
		launch_close(&launch);
	}
	end();
}

/* A host that makes a policy so often that it is remembered. */
static int remember(void *data)
{
	const struct tool_binding *binding = data;
	perch_host *made = NULL;
	struct arena arena = { 0 };
	struct buf cause = { 0 };
	int r = perch_host_new(NULL, &made, NULL);
	if (r == 0)
		r = tool_confinement_cause(binding, &cause);
	for (int i = 0; r == 0 && i < 5; i++) {
		struct sandbox_policy policy;
		struct remembered *taken = policy_memory_take(made, &cause);
		r = taken ? 0 : tool_confinement_policy(binding, &arena, &policy, NULL);
		struct remembered *considered =
			taken || r < 0 ? NULL : policy_memory_consider(made, &cause, &policy);
		const char *const *looked_up =
			considered ? tool_confinement_looked_up(binding, &arena) : NULL;
		if (looked_up)
			policy_memory_note(made, considered, &policy, looked_up);
		remembered_release(taken);
	}
	buf_free(&cause);
	arena_free(&arena);
	perch_host_free(made);
	return r;
}

/* Without memory it is made again, as it was before. */
QUARTERS_TEST(without_memory_nothing_is_remembered_by_halves)
{
	begin();
	const char *const args[] = { "-c", ":", NULL };
	struct tool_binding binding = bind_to(args);
	ck_assert_uint_gt(oom_every(remember, &binding), 10);
	end();
}

SUITE_MAIN("tool-remembered", what_does_not_matter_does_not_count, a_secret_that_was_made_is_hidden,
	a_secret_that_was_made_in_capitals_is_seen, a_secret_further_down_is_hidden,
	a_secret_that_was_moved_there_is_hidden, where_another_link_leads_is_hidden,
	what_lies_under_another_name_further_up_counts, what_a_variable_names_is_hidden_when_it_is_made,
	another_environment_has_another_policy, another_grant_has_another_policy,
	who_may_write_is_not_remembered, what_is_mounted_there_counts,
	a_socket_of_the_system_that_was_made_counts, what_the_file_of_accounts_says_counts,
	a_secret_in_a_home_that_was_locked_is_hidden, events_that_were_lost_count,
	what_a_fork_has_heard_of_is_heard_of_here, a_fork_does_not_end_the_watching,
	nobody_calls_and_it_is_forgotten, who_has_taken_a_policy_keeps_it,
	without_memory_nothing_is_remembered_by_halves)

/* Sandboxes as a program makes them: the parent stays as it is, memory may run out,
 * nothing is left. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/proc.h"
#include "harness/suite.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/sandbox.h"
#include "sandbox/layers/landlock.h"
#include "sandbox/layers/scratch.h"

static const char *const nothing[] = { NULL };
static const char *writable[2];

static struct sandbox_policy policy(void)
{
	writable[0] = folder_path("project");
	return (struct sandbox_policy){
		.reads_everything = true,
		.read = nothing,
		.write = writable,
		.hide = nothing,
		.net = SANDBOX_NET_NONE,
		.has_private_tmp = true,
		.limits = { .files = 64 },
	};
}

static void begin(bool has_room)
{
	folder_new();
	folder_write("project/file", "");
	mkdir(folder_path("perch-%u", (unsigned)geteuid()), 0700);
	setenv("TMPDIR", folder_path("."), 1);
	setenv("PERCH_SANDBOX_NO_ROOM", has_room ? "0" : "1", 1);
}

/* A line of /proc/thread-self/status. */
static char *status_of(const char *name)
{
	static char line[256];
	FILE *file = fopen("/proc/thread-self/status", "r");
	while (fgets(line, sizeof(line), file) && strncmp(line, name, strlen(name)) != 0)
		;
	fclose(file);
	return line;
}

static void assert_unrestricted(const char *capabilities)
{
	ck_assert_str_eq(status_of("NoNewPrivs"), "NoNewPrivs:\t0\n");
	ck_assert_str_eq(status_of("Seccomp:"), "Seccomp:\t0\n");
	ck_assert_str_eq(status_of("CapEff"), capabilities);
	folder_write("outside", "written");
}

static void *in_a_thread(void *capabilities)
{
	assert_unrestricted(capabilities);
	return NULL;
}

static void run_in(
	perch_host *host, const struct sandbox *sandbox, const char *script, const char *expected)
{
	const char *const argv[] = { "sh", "-c", script, NULL };
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(argv, &record);
	spec.confine = sandbox_confine(sandbox);
	spec.cwd = folder_path("project");
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	ck_assert_str_eq(record_out(&record), expected);
	record_free(&record);
}

static void check_parent(bool has_room)
{
	begin(has_room);
	char capabilities[256];
	strcpy(capabilities, status_of("CapEff"));
	struct sandbox_policy asked = policy();
	perch_host *host = proc_host();
	run_in(host, NULL, "echo the guard runs", "the guard runs\n");
	struct sandbox *sandbox;
	perch_err err = { 0 };
	ck_assert_msg(sandbox_open(host, &asked, &sandbox, &err) == 0, "%s", err.text);
	sandbox_close(sandbox);
	unsigned before = proc_open_fds(); /* with what the host keeps */
	ck_assert_msg(sandbox_open(host, &asked, &sandbox, &err) == 0, "%s", err.text);
	run_in(host, sandbox,
		"grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status; ulimit -n; ulimit -c",
		"CapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n64\n0\n");
	assert_unrestricted(capabilities);
	pthread_t thread;
	ck_assert_int_eq(pthread_create(&thread, NULL, in_a_thread, capabilities), 0);
	pthread_join(thread, NULL);
	sandbox_close(sandbox);
	ck_assert_uint_eq(proc_open_fds(), before);
	ck_assert_uint_eq(folder_count(folder_path("perch-%u", (unsigned)geteuid()), "run-"), 0);
	perch_host_free(host);
	ck_assert_uint_eq(proc_children(), 0);
}

START_TEST(the_parent_and_its_threads_stay_unrestricted)
{
	check_parent(false);
}
END_TEST

START_TEST(the_parent_of_a_room_stays_unrestricted)
{
	check_parent(true);
}
END_TEST

START_TEST(one_sandbox_serves_many_children)
{
	begin(true);
	struct sandbox_policy asked = policy();
	perch_host *host = proc_host();
	struct sandbox *sandbox;
	ck_assert_int_eq(sandbox_open(host, &asked, &sandbox, NULL), 0);
	char script[4096];
	snprintf(script, sizeof(script), "echo shared >%s/file", sandbox_tmp(sandbox));
	run_in(host, sandbox, script, "");
	snprintf(script, sizeof(script), "cat %s/file", sandbox_tmp(sandbox));
	run_in(host, sandbox, script, "shared\n");
	sandbox_close(sandbox);
	perch_host_free(host);
}
END_TEST

/* A resident host looks once at what lies beside a hidden path, and again when
 * that has changed. */
START_TEST(what_is_beside_a_hidden_path_is_kept_as_long_as_it_stays)
{
	begin(false);
	folder_write("home/.ssh/id", "hidden");
	folder_write("home/beside", "shown\n");
	folder_settle("home"); /* what has just changed is not kept */
	struct sandbox_policy asked = policy();
	const char *const hide[] = { folder_path("home/.ssh"), NULL };
	const char *const read[] = { folder_path("home"), NULL };
	asked.hide = hide;
	asked.read = read;
	perch_host *host = proc_host();
	run_in(host, NULL, "true", "");
	unsigned before = proc_open_fds();
	char script[4096];
	snprintf(
		script, sizeof(script), "cd %s; cat beside later .ssh/id 2>/dev/null", folder_path("home"));
	struct sandbox *sandbox;
	ck_assert_int_eq(sandbox_open(host, &asked, &sandbox, NULL), 0);
	sandbox_close(sandbox);
	unsigned kept = proc_open_fds();
	ck_assert_uint_gt(kept, before);
	ck_assert_int_eq(sandbox_open(host, &asked, &sandbox, NULL), 0);
	run_in(host, sandbox, script, "shown\n");
	sandbox_close(sandbox);
	ck_assert_uint_eq(proc_open_fds(), kept);
	folder_write("home/later", "seen\n");
	ck_assert_int_eq(sandbox_open(host, &asked, &sandbox, NULL), 0);
	run_in(host, sandbox, script, "shown\nseen\n");
	sandbox_close(sandbox);
	perch_host_free(host);
}
END_TEST

START_TEST(what_is_refused_is_named)
{
	begin(false);
	struct sandbox_policy asked = policy();
	const char *const protect[] = { folder_path("project/file"), NULL };
	asked.protect = protect;
	asked.refuses_unsupported = true;
	perch_host *host = proc_host();
	struct sandbox *sandbox = NULL;
	perch_err err = { 0 };
	ck_assert_int_eq(sandbox_open(host, &asked, &sandbox, &err), PERCH_ESANDBOX);
	/* The first of them; before Landlock 3 (Linux 6.2) nothing keeps a file from being cut short.
	 */
	const char *first = landlock_abi() < 3 ? "(truncate)" : "(protect)";
	ck_assert_msg(strstr(err.text, first), "%s", err.text);
	ck_assert_ptr_nonnull(strstr(err.text, "switched off for a test"));
	asked.refuses_unsupported = false;
	ck_assert_int_eq(sandbox_open(host, &asked, &sandbox, &err), 0);
	const char *const *warnings = sandbox_warnings(sandbox);
	bool is_told = false;
	for (; *warnings; warnings++)
		is_told |= strstr(*warnings, "protected paths") != NULL;
	ck_assert(is_told);
	sandbox_close(sandbox);
	writable[0] = folder_path("missing");
	ck_assert_int_eq(sandbox_open(host, &asked, &sandbox, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.text, "missing"));
	perch_host_free(host);
}
END_TEST

static int open_once(void *data)
{
	(void)data;
	perch_host_options options = PERCH_HOST_OPTIONS_INIT;
	options.guard_path = proc_guard_path();
	struct sandbox_policy asked = policy();
	perch_host *host;
	struct sandbox *sandbox = NULL;
	int r = perch_host_new(&options, &host, NULL);
	if (r < 0)
		return r;
	r = sandbox_open(host, &asked, &sandbox, NULL);
	sandbox_close(sandbox);
	perch_host_free(host);
	return r;
}

static void check_memory(bool has_room)
{
	begin(has_room);
	unsigned before = proc_open_fds();
	ck_assert_uint_gt(oom_every(open_once, NULL), 0);
	ck_assert_uint_eq(proc_open_fds(), before);
	ck_assert_uint_eq(folder_count(folder_path("perch-%u", (unsigned)geteuid()), "run-"), 0);
}

START_TEST(every_failed_allocation_is_reported)
{
	check_memory(false);
}
END_TEST

START_TEST(every_failed_allocation_is_reported_in_a_room)
{
	check_memory(true);
}
END_TEST

/* ---- the private directory --------------------------------------------------- */

START_TEST(a_scratch_directory_is_ours_alone)
{
	begin(false);
	struct scratch scratch;
	perch_err err = { 0 };
	ck_assert_int_eq(scratch_open(&scratch, &err), 0);
	struct stat info;
	ck_assert_int_eq(stat(scratch.path, &info), 0);
	ck_assert_uint_eq(info.st_mode & 07777, 0700);
	char *kept = strdup(scratch.path);
	/* Another one does not sweep it: it is locked. */
	struct scratch second;
	ck_assert_int_eq(scratch_open(&second, &err), 0);
	ck_assert_int_eq(access(kept, F_OK), 0);
	scratch_close(&second);
	free(folder_run(
		"cd '%s' && mkdir -p a/b && touch a/b/c && ln -s / a/link && chmod 0 a/b a", scratch.path));
	scratch_close(&scratch);
	ck_assert_int_eq(access(kept, F_OK), -1);
	ck_assert_int_eq(access("/etc/passwd", F_OK), 0);
	free(kept);
	scratch_close(&scratch);
}
END_TEST

START_TEST(what_a_dead_host_left_is_swept)
{
	begin(false);
	struct scratch scratch;
	ck_assert_int_eq(scratch_open(&scratch, NULL), 0);
	char *left = folder_run("mkdir -p '%s/../run-0123/deep' && cd '%s/../run-0123' && pwd -P",
		scratch.path, scratch.path);
	struct scratch next;
	ck_assert_int_eq(scratch_open(&next, NULL), 0);
	ck_assert_int_eq(access(left, F_OK), -1);
	ck_assert_int_eq(access(scratch.path, F_OK), 0);
	free(left);
	scratch_close(&next);
	scratch_close(&scratch);
}
END_TEST

START_TEST(a_directory_that_others_may_use_is_refused)
{
	static const char *const obstacles[] = { "mkdir -m 755 '%s'", "ln -s /tmp '%s'", "touch '%s'" };
	for (size_t i = 0; i < COUNT(obstacles); i++) {
		begin(false);
		char command[4096];
		snprintf(command, sizeof(command), "rm -rf perch-%u; ", (unsigned)geteuid());
		snprintf(command + strlen(command), sizeof(command) - strlen(command), obstacles[i],
			folder_path("perch-%u", (unsigned)geteuid()));
		free(folder_run("%s", command));
		struct scratch scratch;
		perch_err err = { 0 };
		ck_assert_int_lt(scratch_open(&scratch, &err), 0);
		ck_assert_ptr_nonnull(strstr(err.text, "perch-"));
	}
}
END_TEST

SUITE_MAIN("sandbox", the_parent_and_its_threads_stay_unrestricted,
	the_parent_of_a_room_stays_unrestricted, one_sandbox_serves_many_children,
	what_is_beside_a_hidden_path_is_kept_as_long_as_it_stays, what_is_refused_is_named,
	every_failed_allocation_is_reported, every_failed_allocation_is_reported_in_a_room,
	a_scratch_directory_is_ours_alone, what_a_dead_host_left_is_swept,
	a_directory_that_others_may_use_is_refused)

/* For tests with real child processes. */
#include "harness/proc.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"

#define PATIENCE_NS (60 * NSEC_PER_SEC)

/* Until when a test waits that would otherwise hang; no test measures with it. A machine that is
 * slow says so to Check. */
static uint64_t end_of_patience(void)
{
	const char *times = getenv("CK_TIMEOUT_MULTIPLIER");
	double factor = times ? strtod(times, NULL) : 0;
	return clock_now_ns() + (uint64_t)((factor > 1 ? factor : 1) * (double)PATIENCE_NS);
}

static void on_line(perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	(void)child;
	struct record *record = data;
	if (stream == PERCH_STDERR) {
		buf_append(&record->err, line->data, line->len);
		buf_append_char(&record->err, '\n');
		return;
	}
	record->lines++;
	/* Not ck_assert, which is slow even when it holds. */
	if (line->data[line->len] != '\0' || line->number != record->lines)
		ck_abort_msg("line %u is wrong", record->lines);
	record->last_flags = line->flags;
	if (line->len > record->longest)
		record->longest = line->len;
	if (record->discard)
		return;
	buf_append(&record->out, line->data, line->len);
	buf_append_char(&record->out, '\n');
}

static void on_closed(perch_child *child, void *data, perch_stream stream)
{
	(void)child;
	struct record *record = data;
	if (stream == PERCH_STDOUT)
		record->closed = true;
}

static void on_drained(perch_child *child, void *data)
{
	(void)child;
	((struct record *)data)->drained++;
}

static void on_asked(perch_child *child, void *data)
{
	(void)child;
	((struct record *)data)->asked++;
}

static void on_exited(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct record *record = data;
	ck_assert(!record->exited && !record->ended);
	record->exited = true;
	record->result = *result;
}

static void on_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct record *record = data;
	ck_assert(record->exited && !record->ended);
	record->ended = true;
	record->result = *result;
}

const perch_child_events record_events = {
	.size = sizeof(record_events),
	.line = on_line,
	.closed = on_closed,
	.drained = on_drained,
	.asked = on_asked,
	.exited = on_exited,
	.ended = on_ended,
};

const char *proc_in_build(const char *name, char *path, size_t size)
{
	char self[4096] = { 0 };
	ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
	*strrchr(self, '/') = '\0';
	snprintf(path, size, "%s/%s", self, name);
	ck_assert_msg(access(path, X_OK) == 0, "%s is not there", path);
	return path;
}

/* Threads have a host each. */
const char *proc_child_path(void)
{
	static _Thread_local char path[8192];
	return path[0] ? path : proc_in_build("child", path, sizeof(path));
}

const char *proc_guard_path(void)
{
	static _Thread_local char path[8192];
	return path[0] ? path : proc_in_build("../perch-guard", path, sizeof(path));
}

perch_host *proc_host_with(perch_host_options options)
{
	options.size = sizeof(options);
	if (!options.guard_path)
		options.guard_path = proc_guard_path();
	if (strstr(program_invocation_short_name, "-plain"))
		options.plain_fork = true;
	perch_host *host = NULL;
	perch_err err = { 0 };
	ck_assert_msg(perch_host_new(&options, &host, &err) == 0, "%s", err.text);
	return host;
}

perch_host *proc_host(void)
{
	return proc_host_with((perch_host_options){ 0 });
}

perch_child_spec proc_spec(const char *const *argv, struct record *record)
{
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = argv;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	spec.stderr_mode = PERCH_OUTPUT_LINES;
	spec.events = &record_events;
	spec.data = record;
	return spec;
}

void proc_start(perch_host *host, const perch_child_spec *spec, struct record *record)
{
	perch_err err = { 0 };
	int r = perch_child_start(host, spec, &record->child, &err);
	ck_assert_msg(r == 0, "%s", err.text);
}

void proc_start_piped(perch_host *host, const char *const *argv, struct record *record)
{
	perch_child_spec spec = proc_spec(argv, record);
	spec.stdin_mode = PERCH_STDIN_PIPE;
	proc_start(host, &spec, record);
}

static void run_until(perch_host *host, const bool *flag, const unsigned *lines, unsigned wanted)
{
	uint64_t deadline = end_of_patience();
	while (flag ? !*flag : *lines < wanted) {
		ck_assert_msg(clock_now_ns() < deadline, "it did not happen");
		ck_assert_int_ge(perch_host_wait(host, 1000), 0);
	}
}

void proc_until(perch_host *host, const bool *flag)
{
	run_until(host, flag, NULL, 0);
}

void proc_until_lines(perch_host *host, const struct record *record, unsigned lines)
{
	run_until(host, NULL, &record->lines, lines);
}

void proc_run(perch_host *host, const char *const *argv, struct record *record)
{
	perch_child_spec spec = proc_spec(argv, record);
	proc_start(host, &spec, record);
	proc_until(host, &record->ended);
	perch_child_free(record->child);
	record->child = NULL;
}

const char *record_out(struct record *record)
{
	buf_terminate(&record->out);
	return record->out.data;
}

void record_free(struct record *record)
{
	perch_child_free(record->child);
	buf_free(&record->out);
	buf_free(&record->err);
	*record = (struct record){ 0 };
}

/* The state letter of a process, 0 when there is none. */
static char state_of(pid_t pid)
{
	char path[64];
	char line[512] = { 0 };
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return 0;
	bool got = fgets(line, sizeof(line), file) != NULL;
	fclose(file);
	const char *behind_name = got ? strrchr(line, ')') : NULL;
	return behind_name && behind_name[1] == ' ' ? behind_name[2] : 0;
}

bool proc_is_alive(pid_t pid)
{
	char state = state_of(pid);
	return state && state != 'Z' && state != 'X';
}

void proc_wait_gone(pid_t pid)
{
	uint64_t deadline = end_of_patience();
	while (proc_is_alive(pid)) {
		ck_assert_msg(clock_now_ns() < deadline, "process %d is still there", (int)pid);
		usleep(2000);
	}
}

static unsigned count_entries(const char *path)
{
	DIR *dir = opendir(path);
	ck_assert_ptr_nonnull(dir);
	unsigned entries = 0;
	while (readdir(dir))
		entries++;
	closedir(dir);
	return entries;
}

unsigned proc_open_fds(void)
{
	return count_entries("/proc/self/fd");
}

static FILE *open_children(void)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	FILE *file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	return file;
}

unsigned proc_children(void)
{
	char line[65536] = { 0 };
	FILE *file = open_children();
	unsigned children = 0;
	if (fgets(line, sizeof(line), file)) {
		for (char *at = line; *at; at++)
			children += *at == ' ';
	}
	fclose(file);
	return children;
}

long proc_peak_memory_kib(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static long anonymous_kib(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "re");
	ck_assert_ptr_nonnull(file);
	char line[256];
	long kib = -1;
	while (kib < 0 && fgets(line, sizeof(line), file))
		(void)!sscanf(line, "Anonymous: %ld", &kib);
	fclose(file);
	ck_assert_int_gt(kib, 0);
	return kib;
}

struct memory proc_memory(void)
{
	anonymous_kib(); /* the first look costs memory itself */
	return (struct memory){ anonymous_kib(), proc_peak_memory_kib() };
}

void proc_expect_memory(struct memory before)
{
	enum { MOST_KIB = 128 + SANITIZER_SLACK_KIB, LATE_KIB = 1024 };
	struct memory after = proc_memory();
	ck_assert_int_le(after.now_kib, before.now_kib + MOST_KIB);
	ck_assert_int_le(after.peak_kib, before.peak_kib + MOST_KIB + LATE_KIB);
}

pid_t proc_first_child(void)
{
	FILE *file = open_children();
	pid_t pid = 0;
	ck_assert_int_eq(fscanf(file, "%d", &pid), 1);
	fclose(file);
	return pid;
}

void proc_count_warnings(void *data, perch_log_level level, const char *text)
{
	(void)text;
	if (level >= PERCH_LOG_WARN)
		++*(unsigned *)data;
}

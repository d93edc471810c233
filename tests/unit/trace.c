/* trace: what is recorded, and what happens when it cannot be written. */
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/folder.h"
#include "harness/traced.h"

START_TEST(lines_are_recorded)
{
	folder_new();
	struct trace *trace = traced_open(false);
	trace_start(trace, "deploy", (const char *const[]){ "to", "a \"b\"\xFF", NULL });
	traced_put(trace, TRACE_TO_PLUGIN, "{\"type\":\"init\"}\n");
	traced_put(trace, TRACE_FROM_PLUGIN, "not \xC3\xA4 JSON\t");
	traced_put(trace, TRACE_FROM_PLUGIN, "");
	traced_put(trace, TRACE_PLUGIN_ERR, "oops");
	trace_note(trace, "exec %d", 7);
	traced_put(trace, TRACE_FROM_PLUGIN, "\xFF\xFE");
	ck_assert_int_eq(trace_close(trace, NULL), 0);
	const perch_json_value *root;
	perch_json *json = traced_line(0, &root);
	size_t len;
	const char *raw = perch_json_raw(root, &len);
	char expected[200];
	snprintf(expected, sizeof(expected),
		"{\"trace\":1,\"perch\":\"%s\",\"command\":\"deploy\",\"args\":[\"to\",\"a "
		"\\\"b\\\"\xEF\xBF\xBD\"]}",
		perch_version());
	ck_assert_msg(
		len == strlen(expected) && memcmp(raw, expected, len) == 0, "%.*s", (int)len, raw);
	perch_json_free(json);
	traced_expect(1, "in", "line", "{\"type\":\"init\"}", false);
	traced_expect(2, "out", "line", "not \xC3\xA4 JSON\t", false);
	traced_expect(3, "out", "line", "", false);
	traced_expect(4, "err", "line", "oops", false);
	traced_expect(5, "host", "line", "exec 7", false);
	traced_expect(6, "out", "base64", "//4=", false);
}
END_TEST

START_TEST(it_is_written_before_the_host_waits)
{
	folder_new();
	struct trace *trace = traced_open(false);
	traced_put(trace, TRACE_FROM_PLUGIN, "one");
	struct stat about;
	stat(traced_path(), &about);
	ck_assert_int_eq(about.st_size, 0);
	ck_assert_int_eq(trace_flush(trace, NULL), 0);
	traced_expect(0, "out", "line", "one", false);
	char *large = malloc(9 << 20);
	memset(large, 'x', 9 << 20);
	trace_line(trace, TRACE_FROM_PLUGIN, large, 9 << 20);
	stat(traced_path(), &about);
	ck_assert_int_gt(about.st_size, 9 << 20);
	free(large);
	ck_assert_int_eq(trace_close(trace, NULL), 0);
}
END_TEST

START_TEST(the_file_is_private_and_new)
{
	folder_new();
	int fd = open(traced_path(), O_WRONLY | O_CREAT, 0666);
	ck_assert_int_eq(fchmod(fd, 0644), 0);
	ck_assert_int_eq(write(fd, "{\"trace\":1}\n", 12), 12);
	close(fd);
	struct trace *trace = traced_open(false);
	struct stat about;
	ck_assert_int_eq(stat(traced_path(), &about), 0);
	ck_assert_int_eq(about.st_mode & 07777, 0600);
	ck_assert_int_eq(about.st_size, 0);
	ck_assert_int_eq(trace_close(trace, NULL), 0);
	unlink(traced_path());
	umask(0);
	trace_close(traced_open(false), NULL);
	ck_assert_int_eq(stat(traced_path(), &about), 0);
	ck_assert_int_eq(about.st_mode & 07777, 0600);
}
END_TEST

static void expect_refused(const char *where, int code, const char *words)
{
	struct trace *trace = NULL;
	perch_err err = { 0 };
	ck_assert_int_eq(trace_open(where, false, &trace, &err), code);
	ck_assert_ptr_null(trace);
	ck_assert_msg(strstr(err.text, words) != NULL, "%s", err.text);
}

START_TEST(what_is_no_trace_is_left_alone)
{
	folder_new();
	struct stat about;
	folder_write("trace", "precious, and longer than a head");
	expect_refused(traced_path(), -EEXIST, "no trace; name another file");
	folder_write("trace", "short");
	expect_refused(traced_path(), -EEXIST, "no trace; name another file");
	folder_write("trace", "{\"trace\":1}\n");
	const char *other = folder_path("other");
	ck_assert_int_eq(link(traced_path(), other), 0);
	expect_refused(traced_path(), -EEXIST, "it is there already");
	ck_assert_int_eq(stat(other, &about), 0);
	ck_assert_int_eq(about.st_size, 12);
}
END_TEST

START_TEST(links_and_folders_are_refused)
{
	folder_new();
	folder_write("victim", "precious");
	const char *victim = folder_path("victim");
	ck_assert_int_eq(symlink(victim, traced_path()), 0);
	expect_refused(traced_path(), -ELOOP, "it is a link");
	struct stat about;
	ck_assert_int_eq(stat(victim, &about), 0);
	ck_assert_int_eq(about.st_size, 8);
	unlink(victim);
	unlink(traced_path());
	ck_assert_int_eq(mkfifo(traced_path(), 0600), 0);
	char words[8192];
	snprintf(words, sizeof(words), "cannot write the trace to %s", traced_path());
	expect_refused(traced_path(), -ENXIO, words);
	expect_refused(folder_path("."), -EISDIR, "directory");
	expect_refused("/nowhere/trace", -ENOENT, "No such file");
}
END_TEST

enum { ANOTHER_USER = 54321 };

/* Of another user, who waits for what comes: in both directions between root and a normal one. */
START_TEST(what_belongs_to_another_user_is_refused)
{
	if (geteuid() != 0)
		return;
	folder_new();
	ck_assert_int_eq(chmod(folder_path("."), 0755), 0);
	ck_assert_int_eq(mkfifo(traced_path(), 0666), 0);
	ck_assert_int_eq(chmod(traced_path(), 0666), 0);
	int reader = open(traced_path(), O_RDONLY | O_NONBLOCK);
	/* By its name from here: what is above the folder may be closed to the other. */
	ck_assert_int_eq(chdir(folder_path(".")), 0);
	ck_assert_int_eq(seteuid(ANOTHER_USER), 0);
	expect_refused(strrchr(traced_path(), '/') + 1, -EPERM, "it belongs to another user");
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert_int_eq(chown(traced_path(), ANOTHER_USER, ANOTHER_USER), 0);
	expect_refused(traced_path(), -EPERM, "it belongs to another user");
	char heard[8];
	ck_assert_int_le(read(reader, heard, sizeof(heard)), 0);
	close(reader);
	unlink(traced_path());
	folder_write("trace", "");
	ck_assert_int_eq(chown(traced_path(), ANOTHER_USER, ANOTHER_USER), 0);
	expect_refused(traced_path(), -EPERM, "it belongs to another user");
	struct stat about;
	ck_assert_int_eq(stat(traced_path(), &about), 0);
	ck_assert_int_eq(about.st_size, 0);
}
END_TEST

/* The reader goes away: no signal, one error, and the rest is silence. */
START_TEST(a_failing_write_turns_it_off_once)
{
	folder_new();
	ck_assert_int_eq(mkfifo(traced_path(), 0600), 0);
	int reader = open(traced_path(), O_RDONLY | O_NONBLOCK);
	struct trace *trace = traced_open(false);
	traced_put(trace, TRACE_FROM_PLUGIN, "heard");
	ck_assert_int_eq(trace_flush(trace, NULL), 0);
	char start[8] = { 0 };
	ck_assert_int_eq(read(reader, start, 5), 5);
	ck_assert_str_eq(start, "{\"t\":");
	close(reader);
	signal(SIGPIPE, SIG_DFL);
	traced_put(trace, TRACE_FROM_PLUGIN, "lost");
	perch_err err = { 0 };
	ck_assert_int_eq(trace_flush(trace, &err), -EPIPE);
	ck_assert_msg(strstr(err.text, "trace") && strstr(err.text, "Broken pipe"), "%s", err.text);
	traced_put(trace, TRACE_FROM_PLUGIN, "lost too");
	trace_note(trace, "lost too");
	ck_assert_int_eq(trace_flush(trace, &err), 0);
	ck_assert_int_eq(trace_close(trace, &err), 0);
}
END_TEST

START_TEST(a_dash_is_stderr)
{
	folder_new();
	int fd = open(traced_path(), O_RDWR | O_CREAT, 0600);
	int before = dup(STDERR_FILENO);
	dup2(fd, STDERR_FILENO);
	struct trace *trace = NULL;
	ck_assert_int_eq(trace_open("-", false, &trace, NULL), 0);
	traced_put(trace, TRACE_FROM_PLUGIN, "one");
	ck_assert_int_eq(trace_close(trace, NULL), 0);
	ck_assert_int_eq(write(STDERR_FILENO, "", 0), 0); /* still open */
	dup2(before, STDERR_FILENO);
	traced_expect(0, "out", "line", "one", false);
	close(fd);
}
END_TEST

START_TEST(no_trace_is_fine)
{
	trace_start(NULL, "x", NULL);
	trace_line(NULL, TRACE_TO_PLUGIN, "x", 1);
	trace_note(NULL, "x");
	ck_assert_int_eq(trace_flush(NULL, NULL), 0);
	ck_assert_int_eq(trace_close(NULL, NULL), 0);
}
END_TEST

SUITE_MAIN("trace", lines_are_recorded, it_is_written_before_the_host_waits,
	the_file_is_private_and_new, what_is_no_trace_is_left_alone, links_and_folders_are_refused,
	what_belongs_to_another_user_is_refused, a_failing_write_turns_it_off_once, a_dash_is_stderr,
	no_trace_is_fine)

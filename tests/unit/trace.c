/* trace: what is recorded, what is masked, and what happens when it cannot be
 * written. */
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/file.h"
#include "harness/oom.h"
#include "perch/json.h"
#include "trace/mask.h"
#include "trace/trace.h"

static char directory[] = "/tmp/perch-trace-XXXXXX";
static char path[64];

static void begin(void)
{
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/trace", directory);
}

static void end(void)
{
	unlink(path);
	rmdir(directory);
}

static struct trace *open_trace(bool secrets)
{
	struct trace *trace = NULL;
	perch_err err = { 0 };
	ck_assert_msg(trace_open(path, secrets, &trace, &err) == 0, "%s", err.text);
	return trace;
}

static void put(struct trace *trace, enum trace_direction direction, const char *line)
{
	trace_line(trace, direction, line, strlen(line));
}

/* Reads the trace; the n-th line, parsed, in *ret_root. */
static perch_json *read_line(unsigned n, const perch_json_value **ret_root)
{
	static struct buf text; /* the values point into it */
	buf_clear(&text);
	ck_assert_int_eq(file_read(path, 64 << 20, &text, NULL), 0);
	buf_terminate(&text);
	const char *start = text.data;
	for (; n; n--) {
		start = strchr(start, '\n') + 1;
		ck_assert_ptr_ne(start, (const char *)1);
	}
	const char *newline = strchr(start, '\n');
	ck_assert_ptr_nonnull(newline);
	perch_json *json = NULL;
	perch_err err = { 0 };
	const perch_json_options options = { .text_max = 64 << 20 };
	ck_assert_int_eq(perch_json_new(&options, &json), 0);
	int r = perch_json_parse(json, start, (size_t)(newline - start), ret_root, &err);
	ck_assert_msg(r == 0, "%s: %.80s", err.text, start);
	return json;
}

/* The n-th line says exactly this. */
static void expect_line(
	unsigned n, const char *direction, const char *key, const char *line, bool masked)
{
	const perch_json_value *root;
	perch_json *json = read_line(n, &root);
	ck_assert(perch_json_is(perch_json_get(root, "dir"), direction));
	size_t len;
	const char *found = perch_json_string(perch_json_get(root, key), &len);
	ck_assert_msg(found && len == strlen(line) && memcmp(found, line, len) == 0, "%.*s\nis not\n%s",
		(int)len, found ? found : "", line);
	ck_assert_uint_eq(perch_json_count(root), masked ? 4 : 3);
	bool is_masked = false;
	perch_json_bool(perch_json_get(root, "masked"), &is_masked);
	ck_assert(is_masked == masked);
	double seconds = -1;
	ck_assert_int_eq(perch_json_double(perch_json_get(root, "t"), &seconds), 0);
	ck_assert(seconds >= 0);
	const char *t = perch_json_raw(perch_json_get(root, "t"), &len);
	ck_assert_ptr_eq(memchr(t, '.', len), t + len - 7);
	perch_json_free(json);
}

START_TEST(lines_are_recorded)
{
	begin();
	struct trace *trace = open_trace(false);
	trace_start(trace, "deploy", (const char *const[]){ "to", "a \"b\"\xFF", NULL });
	put(trace, TRACE_TO_PLUGIN, "{\"type\":\"init\"}\n");
	put(trace, TRACE_FROM_PLUGIN, "not \xC3\xA4 JSON\t");
	put(trace, TRACE_FROM_PLUGIN, "");
	put(trace, TRACE_PLUGIN_ERR, "oops");
	trace_note(trace, "exec %d", 7);
	put(trace, TRACE_FROM_PLUGIN, "\xFF\xFE");
	ck_assert_int_eq(trace_close(trace, NULL), 0);
	const perch_json_value *root;
	perch_json *json = read_line(0, &root);
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
	expect_line(1, "in", "line", "{\"type\":\"init\"}", false);
	expect_line(2, "out", "line", "not \xC3\xA4 JSON\t", false);
	expect_line(3, "out", "line", "", false);
	expect_line(4, "err", "line", "oops", false);
	expect_line(5, "host", "line", "exec 7", false);
	expect_line(6, "out", "base64", "//4=", false);
	end();
}
END_TEST

#define SET_STORE "{\"type\":\"store\",\"key\":\"k\",\"value\":"
#define LOAD "{\"type\":\"load\",\"id\":\"1\",\"key\":\"k\"}"
#define PROMPT "{\"type\":\"prompt\",\"id\":\"1\",\"message\":\"?\"}"
#define ANSWER "{\"type\":\"response\",\"id\":\"1\",\"value\":\"secret\"}"
#define HIDDEN "{\"type\":\"response\",\"id\":\"1\",\"value\":\"******\"}"
#define ENV(a) "{\"type\":\"response\",\"id\":\"9\",\"value\":{\"env\":" a ",\"git_log\":[\"x\"]}}"

/* One line each; '<' goes to the plugin, '>' comes from it. NULL = not masked. */
static const struct {
	const char *line;
	const char *masked;
} masks[] = {
	{ ">" SET_STORE "\"secret\"}", SET_STORE "\"******\"}" },
	{ ">" SET_STORE "\"s\\n\\u00e4\"}",
		SET_STORE "\"*********\""
				  "}" },
	{ ">" SET_STORE "\"\"}", SET_STORE "\"\"}" },
	{ ">" SET_STORE "12345}", SET_STORE "\"***\"}" },
	{ ">" SET_STORE "7}", SET_STORE "0}" },
	{ ">" SET_STORE "{\"a\": [1]}}", SET_STORE "\"********\"}" },
	{ ">" SET_STORE "null}", NULL },
	{ ">{\"type\":\"store\",\"value\":\"one\",\"value\":\"two\"}",
		"{\"type\":\"store\",\"value\":\"***\",\"value\":\"***\"}" },
	{ ">{\"value\":\"x\",\"type\":\"st\\u006fre\"}", "{\"value\":\"*\",\"type\":\"st\\u006fre\"}" },
	{ ">" SET_STORE "\"secret", "*****************************************" },
	{ ">{\"type\":\"stor\", \"text\"", NULL },
	{ ">{\"type\":\"output\",\"value\":\"x\",\"text\":\"y\"}", NULL },
	{ "<" ENV("{\"HOME\":\"/root\",\"N\":\"\"}"), ENV("{\"HOME\":\"*****\",\"N\":\"\"}") },
	{ "<" ENV("{\"A\":\"1\",\"A\":\"22\"}"), ENV("{\"A\":\"*\",\"A\":\"**\"}") },
	{ "<" ENV("null"), NULL },
	{ "<" ENV("{}"), NULL },
	/* An answer without a load is nobody's secret. */
	{ "<" ANSWER, NULL },
	{ ">" LOAD, NULL },
	{ "<" ANSWER, HIDDEN },
	{ "<" ANSWER, NULL },
	{ ">" PROMPT, NULL },
	{ "<" ANSWER, NULL },
	/* Ids repeat. Whichever comes first, the stored value is hidden. */
	{ ">" PROMPT, NULL },
	{ ">" LOAD, NULL },
	{ "<" ANSWER, HIDDEN },
	{ "<" ANSWER, HIDDEN },
	{ "<" ANSWER, NULL },
	/* A cancel settles a request, too. */
	{ ">" LOAD, NULL },
	{ "<{\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"x\"}", NULL },
	{ ">" PROMPT, NULL },
	{ "<" ANSWER, NULL },
	/* A number is another id than a string, and a string is what it reads. */
	{ ">{\"type\":\"load\",\"id\":1,\"key\":\"k\"}", NULL },
	{ "<" ANSWER, NULL },
	{ "<{\"type\":\"response\",\"id\":1,\"value\":\"secret\"}",
		"{\"type\":\"response\",\"id\":1,\"value\":\"******\"}" },
	{ ">{\"type\":\"load\",\"id\":\"\\u0031\",\"key\":\"k\"}", NULL },
	{ "<" ANSWER, HIDDEN },
	{ ">{\"type\":\"load\",\"id\":\"1\",\"key\":\"\xFF\"}", "base64" },
	{ "<" ANSWER, HIDDEN },
	{ ">[]", NULL },
	{ ">17", NULL },
};

static void record_masks(struct trace *trace)
{
	for (size_t i = 0; i < COUNT(masks); i++)
		put(trace, masks[i].line[0] == '>' ? TRACE_FROM_PLUGIN : TRACE_TO_PLUGIN,
			masks[i].line + 1);
}

START_TEST(secrets_are_masked)
{
	begin();
	struct trace *trace = open_trace(false);
	record_masks(trace);
	ck_assert_int_eq(trace_close(trace, NULL), 0);
	for (unsigned i = 0; i < COUNT(masks); i++) {
		const char *masked = masks[i].masked;
		if (masked && strcmp(masked, "base64") == 0)
			continue;
		expect_line(i, masks[i].line[0] == '>' ? "out" : "in", "line",
			masked ? masked : masks[i].line + 1, masked != NULL);
	}
	end();
}
END_TEST

/* The host's words about a line that it could not read quote it. */
START_TEST(quoted_secrets_are_masked)
{
	begin();
	struct trace *trace = open_trace(false);
	trace_note(trace, "line 1 is not JSON: {\"key\":\"k\",\"value\":\"sec");
	trace_note(trace, "the value");
	ck_assert_int_eq(trace_close(trace, NULL), 0);
	expect_line(0, "host", "line", "line 1 is not JSON: {\"key\":\"k\",************", true);
	expect_line(1, "host", "line", "the value", false);
	end();
}
END_TEST

START_TEST(secrets_are_kept_when_asked_for)
{
	begin();
	struct trace *trace = open_trace(true);
	put(trace, TRACE_FROM_PLUGIN, SET_STORE "\"secret\"}");
	ck_assert_int_eq(trace_close(trace, NULL), 0);
	expect_line(0, "out", "line", SET_STORE "\"secret\"}", false);
	end();
}
END_TEST

START_TEST(too_many_ids_mask_every_answer)
{
	begin();
	struct trace *trace = open_trace(false);
	for (int i = 0; i <= MASK_IDS_MAX; i++) {
		char line[80];
		snprintf(line, sizeof(line), "{\"type\":\"load\",\"id\":\"n%d\",\"key\":\"k\"}", i);
		put(trace, TRACE_FROM_PLUGIN, line);
	}
	put(trace, TRACE_TO_PLUGIN, ANSWER);
	ck_assert_int_eq(trace_close(trace, NULL), 0);
	expect_line(MASK_IDS_MAX + 1, "in", "line", HIDDEN, true);
	end();
}
END_TEST

START_TEST(it_is_written_before_the_host_waits)
{
	begin();
	struct trace *trace = open_trace(false);
	put(trace, TRACE_FROM_PLUGIN, "one");
	struct stat about;
	stat(path, &about);
	ck_assert_int_eq(about.st_size, 0);
	ck_assert_int_eq(trace_flush(trace, NULL), 0);
	expect_line(0, "out", "line", "one", false);
	char *large = malloc(9 << 20);
	memset(large, 'x', 9 << 20);
	trace_line(trace, TRACE_FROM_PLUGIN, large, 9 << 20);
	stat(path, &about);
	ck_assert_int_gt(about.st_size, 9 << 20);
	free(large);
	ck_assert_int_eq(trace_close(trace, NULL), 0);
	end();
}
END_TEST

START_TEST(the_file_is_private_and_new)
{
	begin();
	int fd = open(path, O_WRONLY | O_CREAT, 0666);
	ck_assert_int_eq(fchmod(fd, 0644), 0);
	ck_assert_int_eq(write(fd, "{\"trace\":1}\n", 12), 12);
	close(fd);
	struct trace *trace = open_trace(false);
	struct stat about;
	ck_assert_int_eq(stat(path, &about), 0);
	ck_assert_int_eq(about.st_mode & 07777, 0600);
	ck_assert_int_eq(about.st_size, 0);
	ck_assert_int_eq(trace_close(trace, NULL), 0);
	unlink(path);
	umask(0);
	trace_close(open_trace(false), NULL);
	ck_assert_int_eq(stat(path, &about), 0);
	ck_assert_int_eq(about.st_mode & 07777, 0600);
	end();
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

static void write_file(const char *text)
{
	FILE *file = fopen(path, "w");
	ck_assert(file && fputs(text, file) >= 0);
	fclose(file);
}

START_TEST(what_is_no_trace_is_left_alone)
{
	begin();
	struct stat about;
	write_file("precious, and longer than a head");
	expect_refused(path, -EEXIST, "no trace; name another file");
	write_file("short");
	expect_refused(path, -EEXIST, "no trace; name another file");
	write_file("{\"trace\":1}\n");
	char other[80];
	snprintf(other, sizeof(other), "%s/other", directory);
	ck_assert_int_eq(link(path, other), 0);
	expect_refused(path, -EEXIST, "it is there already");
	ck_assert_int_eq(stat(other, &about), 0);
	ck_assert_int_eq(about.st_size, 12);
	unlink(other);
	end();
}
END_TEST

START_TEST(links_and_folders_are_refused)
{
	begin();
	char victim[80];
	snprintf(victim, sizeof(victim), "%s/victim", directory);
	int fd = open(victim, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(write(fd, "precious", 8), 8);
	close(fd);
	ck_assert_int_eq(symlink(victim, path), 0);
	expect_refused(path, -ELOOP, "it is a link");
	struct stat about;
	ck_assert_int_eq(stat(victim, &about), 0);
	ck_assert_int_eq(about.st_size, 8);
	unlink(victim);
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	expect_refused(path, -ENXIO, "cannot write the trace to /tmp/perch-trace-");
	expect_refused(directory, -EISDIR, "directory");
	expect_refused("/nowhere/trace", -ENOENT, "No such file");
	end();
}
END_TEST

/* The reader goes away: no signal, one error, and the rest is silence. */
START_TEST(a_failing_write_turns_it_off_once)
{
	begin();
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	int reader = open(path, O_RDONLY | O_NONBLOCK);
	struct trace *trace = open_trace(false);
	put(trace, TRACE_FROM_PLUGIN, "heard");
	ck_assert_int_eq(trace_flush(trace, NULL), 0);
	char start[8] = { 0 };
	ck_assert_int_eq(read(reader, start, 5), 5);
	ck_assert_str_eq(start, "{\"t\":");
	close(reader);
	signal(SIGPIPE, SIG_DFL);
	put(trace, TRACE_FROM_PLUGIN, "lost");
	perch_err err = { 0 };
	ck_assert_int_eq(trace_flush(trace, &err), -EPIPE);
	ck_assert_msg(strstr(err.text, "trace") && strstr(err.text, "Broken pipe"), "%s", err.text);
	put(trace, TRACE_FROM_PLUGIN, "lost too");
	trace_note(trace, "lost too");
	ck_assert_int_eq(trace_flush(trace, &err), 0);
	ck_assert_int_eq(trace_close(trace, &err), 0);
	end();
}
END_TEST

START_TEST(a_dash_is_stderr)
{
	begin();
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	int before = dup(STDERR_FILENO);
	dup2(fd, STDERR_FILENO);
	struct trace *trace = NULL;
	ck_assert_int_eq(trace_open("-", false, &trace, NULL), 0);
	put(trace, TRACE_FROM_PLUGIN, "one");
	ck_assert_int_eq(trace_close(trace, NULL), 0);
	ck_assert_int_eq(write(STDERR_FILENO, "", 0), 0); /* still open */
	dup2(before, STDERR_FILENO);
	expect_line(0, "out", "line", "one", false);
	close(fd);
	end();
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

static const struct {
	const char *bytes, *text;
} base64[] = {
	{ "", "" },
	{ "f", "Zg==" },
	{ "fo", "Zm8=" },
	{ "foo", "Zm9v" },
	{ "foob", "Zm9vYg==" },
	{ "fooba", "Zm9vYmE=" },
	{ "foobar", "Zm9vYmFy" },
	{ "\xFF\xEF\xBE", "/+++" },
};

START_TEST(base64_is_as_the_rfc_says)
{
	for (size_t i = 0; i < COUNT(base64); i++) {
		struct buf out = { 0 };
		ck_assert_int_eq(base64_append(&out, base64[i].bytes, strlen(base64[i].bytes)), 0);
		buf_terminate(&out);
		ck_assert_str_eq(out.data, base64[i].text);
		buf_free(&out);
	}
}
END_TEST

static int trace_once(void *data)
{
	(void)data;
	struct trace *trace = NULL;
	int r = trace_open(path, false, &trace, NULL);
	if (r < 0)
		return r;
	trace_start(trace, "deploy", (const char *const[]){ "x", NULL });
	record_masks(trace);
	trace_note(trace, "done");
	return trace_close(trace, NULL);
}

START_TEST(memory_may_run_out)
{
	begin();
	ck_assert_uint_gt(oom_every(trace_once, NULL), 5);
	end();
}
END_TEST

SUITE_MAIN("trace", lines_are_recorded, secrets_are_masked, quoted_secrets_are_masked,
	secrets_are_kept_when_asked_for, too_many_ids_mask_every_answer,
	it_is_written_before_the_host_waits, the_file_is_private_and_new,
	what_is_no_trace_is_left_alone, links_and_folders_are_refused,
	a_failing_write_turns_it_off_once, a_dash_is_stderr, no_trace_is_fine,
	base64_is_as_the_rfc_says, memory_may_run_out)

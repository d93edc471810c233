/* tool/audit: its lines, its files, several writers at once. */
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sha256.h"
#include "data/json.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "tool/audit_log.h"

static const perch_tool_result result = {
	.code = PERCH_TOOL_EXECUTION_ERROR,
	.stage = "response",
	.tool = { "t.x", 3 },
	.plugin_id = { "t.p", 3 },
	.plugin_version = { "1.0", 3 },
	.request_id = { "plugin_req_1", 12 },
	.has_exit_status = true,
	.duration_ns = 12 * NSEC_PER_MSEC,
	.output = { "[1,2]", 5 },
};

static const struct audit_call call = {
	.binding = "local",
	.approval = "binding",
	.input = { "{\"secret\":\"hunter2\"}", 20 },
	.result = &result,
};

static void open_folder(void)
{
	folder_new();
	setenv("XDG_CONFIG_HOME", folder_path("config"), 1);
	setenv("XDG_STATE_HOME", folder_path("state"), 1);
}

static const char *log_path(const char *suffix)
{
	return folder_path("state/perch/audit.jsonl%s", suffix);
}

static struct audit settings(void)
{
	struct audit audit;
	perch_err err = { 0 };
	ck_assert_msg(audit_settings(&audit, &err) == 0, "%s", err.text);
	return audit;
}

static void expect(const perch_json_value *line, const char *name, const char *text)
{
	ck_assert_msg(perch_json_is(perch_json_get(line, name), text), "%s", name);
}

START_TEST(a_line_says_everything_but_the_input)
{
	open_folder();
	struct audit audit = settings();
	perch_err err = { 0 };
	ck_assert_msg(audit_append(&audit, &call, &err) == 0, "%s", err.text);
	_cleanup_free_ char *text = folder_read(log_path(""));
	ck_assert_ptr_null(strstr(text, "hunter2"));
	ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
	perch_json *json;
	const perch_json_value *line;
	ck_assert_int_eq(perch_json_new(NULL, &json), 0);
	ck_assert_int_eq(perch_json_parse(json, text, strlen(text), &line, NULL), 0);
	char hash[SHA256_HEX_SIZE];
	sha256_of(call.input.data, call.input.len, hash);
	expect(line, "binding", "local");
	expect(line, "tool", "t.x");
	expect(line, "plugin_id", "t.p");
	expect(line, "plugin_version", "1.0");
	expect(line, "verdict", "execution_error");
	expect(line, "approval", "binding");
	expect(line, "input_sha256", hash);
	int64_t number;
	ck_assert_int_eq(perch_json_int64(perch_json_get(line, "duration_ms"), &number), 0);
	ck_assert_int_eq(number, 12);
	ck_assert_int_eq(perch_json_int64(perch_json_get(line, "exit_status"), &number), 0);
	ck_assert_int_eq(number, 0);
	ck_assert_int_eq(perch_json_int64(perch_json_get(line, "output_bytes"), &number), 0);
	ck_assert_int_eq(number, 5);
	ck_assert_int_eq(perch_json_type_of(perch_json_get(line, "signal")), PERCH_JSON_NULL);
	size_t len;
	ck_assert_ptr_nonnull(perch_json_string(perch_json_get(line, "time"), &len));
	ck_assert_uint_eq(len, strlen("2026-01-01T00:00:00.000Z"));
	perch_json_free(json);
}
END_TEST

static unsigned mode_of(const char *path)
{
	struct stat status;
	ck_assert_int_eq(stat(path, &status), 0);
	return status.st_mode & 0777;
}

START_TEST(nobody_else_may_read_it)
{
	open_folder();
	struct audit audit = settings();
	umask(0);
	ck_assert_int_eq(audit_append(&audit, &call, NULL), 0);
	ck_assert_uint_eq(mode_of(log_path("")), 0600);
	ck_assert_uint_eq(mode_of(folder_path("state/perch")), 0700);
	ck_assert_int_eq(chmod(log_path(""), 0644), 0);
	ck_assert_int_eq(audit_append(&audit, &call, NULL), 0);
	ck_assert_uint_eq(mode_of(log_path("")), 0600);
}
END_TEST

START_TEST(five_files_are_kept)
{
	open_folder();
	struct audit audit = settings();
	ck_assert_uint_eq(audit.size_max, 10 * 1024 * 1024);
	audit.size_max = 1000;
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(audit_append(&audit, &call, NULL), 0);
	ck_assert_uint_eq(folder_count(folder_path("state/perch"), "audit.jsonl"), AUDIT_FILES);
	static const char *const suffixes[] = { ".1", ".2", ".3", ".4" };
	for (size_t i = 0; i < COUNT(suffixes); i++) {
		_cleanup_free_ char *text = folder_read(log_path(suffixes[i]));
		ck_assert_uint_ge(strlen(text), 1000);
		ck_assert_uint_lt(strlen(text), 2000);
		ck_assert_uint_eq(mode_of(log_path(suffixes[i])), 0600);
	}
}
END_TEST

static unsigned count_lines(const char *text, unsigned *ret_broken)
{
	unsigned lines = 0;
	perch_json *json;
	ck_assert_int_eq(perch_json_new(NULL, &json), 0);
	for (struct str rest = str_from(text); rest.len; lines++) {
		struct str line = str_cut(&rest, '\n');
		const perch_json_value *root;
		*ret_broken += perch_json_parse(json, line.data, line.len, &root, NULL) < 0;
	}
	perch_json_free(json);
	return lines;
}

/* Not more lines than five files of this size hold: none may be lost. */
START_TEST(writers_that_turn_the_files_over_lose_nothing)
{
	enum { WRITERS = 6, LINES = 60 };
	open_folder();
	struct audit audit = settings();
	audit.size_max = 40000;
	pid_t writers[WRITERS];
	for (int i = 0; i < WRITERS; i++) {
		writers[i] = fork();
		for (int n = 0; writers[i] == 0 && n < LINES; n++) {
			if (audit_append(&audit, &call, NULL) < 0)
				_exit(1);
		}
		if (writers[i] == 0)
			_exit(0);
	}
	for (int i = 0; i < WRITERS; i++) {
		int status;
		ck_assert_int_eq(waitpid(writers[i], &status, 0), writers[i]);
		ck_assert_int_eq(status, 0);
	}
	unsigned lines = 0;
	unsigned broken = 0;
	static const char *const suffixes[] = { "", ".1", ".2", ".3", ".4" };
	for (size_t i = 0; i < COUNT(suffixes); i++) {
		if (access(log_path(suffixes[i]), F_OK) < 0)
			continue;
		_cleanup_free_ char *text = folder_read(log_path(suffixes[i]));
		lines += count_lines(text, &broken);
	}
	ck_assert_uint_eq(broken, 0);
	ck_assert_uint_eq(lines, WRITERS * LINES);
}
END_TEST

START_TEST(what_is_no_file_is_not_written_to)
{
	open_folder();
	struct audit audit = settings();
	perch_err err = { 0 };
	ck_assert_int_eq(audit_append(&audit, &call, NULL), 0);
	ck_assert_int_eq(unlink(log_path("")), 0);
	ck_assert_int_eq(symlink("/dev/null", log_path("")), 0);
	ck_assert_int_lt(audit_append(&audit, &call, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.text, "audit.jsonl"));
	ck_assert_int_eq(audit_prepare(&audit, &err), 0);
	audit.is_required = true;
	ck_assert_int_lt(audit_prepare(&audit, &err), 0);
	setenv("XDG_STATE_HOME", folder_path("file"), 1);
	folder_write("file", "");
	ck_assert_int_lt(audit_append(&audit, &call, &err), 0);
	ck_assert_int_lt(audit_prepare(&audit, &err), 0);
}
END_TEST

/* A disk without room, as far as one process can have one: half a line fits. */
START_TEST(a_write_that_fails_is_told_and_leaves_nothing)
{
	open_folder();
	struct audit audit = settings();
	ck_assert_int_eq(audit_append(&audit, &call, NULL), 0);
	_cleanup_free_ char *before = folder_read(log_path(""));
	signal(SIGXFSZ, SIG_IGN);
	struct rlimit limit;
	struct rlimit usual;
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &usual), 0);
	limit = usual;
	limit.rlim_cur = strlen(before) * 3 / 2;
	perch_err err = { 0 };
	setrlimit(RLIMIT_FSIZE, &limit); /* from here on Check cannot write either */
	int appended = audit_append(&audit, &call, &err);
	setrlimit(RLIMIT_FSIZE, &usual);
	ck_assert_int_eq(appended, -ENOSPC);
	ck_assert_ptr_nonnull(strstr(err.text, "cannot write"));
	_cleanup_free_ char *after = folder_read(log_path(""));
	ck_assert_str_eq(after, before);
}
END_TEST

START_TEST(a_full_disk_is_seen_before_the_call)
{
	open_folder();
	struct audit audit = settings();
	audit.is_required = true;
	folder_write("state/marker", "");
	if (!folder_mount(folder_path("state")))
		suite_skip("mounting is not allowed here");
	ck_assert_int_eq(audit_prepare(&audit, NULL), 0);
	_cleanup_free_ char *done =
		folder_run("head -c 1M /dev/zero >state/perch/full 2>/dev/null || echo full");
	ck_assert_str_eq(done, "full");
	perch_err err = { 0 };
	ck_assert_int_eq(audit_append(&audit, &call, NULL), 0); /* the room was reserved */
	for (int i = 0; i < 100; i++)
		audit_append(&audit, &call, NULL);
	ck_assert_int_eq(audit_prepare(&audit, &err), -ENOSPC);
}
END_TEST

START_TEST(the_config_says_whether_it_is_required)
{
	open_folder();
	ck_assert(!settings().is_required);
	folder_write("config/perch/config.toml", "other = 1\n");
	ck_assert(!settings().is_required);
	folder_write("config/perch/config.toml", "audit = 'warn'\n");
	ck_assert(!settings().is_required);
	folder_write("config/perch/config.toml", "audit = 'required'\n");
	ck_assert(settings().is_required);
	struct audit audit = settings();
	ck_assert_int_eq(audit_prepare(&audit, NULL), 0);
	folder_write("config/perch/config.toml", "\naudit = 'requird'\n");
	perch_err err = { 0 };
	ck_assert_int_eq(audit_settings(&audit, &err), PERCH_ESYNTAX);
	ck_assert_ptr_nonnull(strstr(err.text, "config.toml:2:9: `audit` must be \"required\""));
	folder_write("config/perch/config.toml", "audit = true\n");
	ck_assert_int_eq(audit_settings(&audit, &err), PERCH_ESYNTAX);
	folder_write("config/perch/config.toml", "audit = \n");
	ck_assert_int_eq(audit_settings(&audit, &err), PERCH_ESYNTAX);
}
END_TEST

static int append_something(void *data)
{
	struct audit audit;
	int r = audit_settings(&audit, NULL);
	(void)data;
	if (r == 0)
		r = audit_prepare(&audit, NULL);
	return r < 0 ? r : audit_append(&audit, &call, NULL);
}

START_TEST(memory_that_runs_out_is_told)
{
	open_folder();
	folder_write("config/perch/config.toml", "audit = 'required'\n");
	ck_assert_uint_gt(oom_every(append_something, NULL), 5);
}
END_TEST

SUITE_MAIN("tool-audit", a_line_says_everything_but_the_input, nobody_else_may_read_it,
	five_files_are_kept, writers_that_turn_the_files_over_lose_nothing,
	what_is_no_file_is_not_written_to, a_write_that_fails_is_told_and_leaves_nothing,
	a_full_disk_is_seen_before_the_call, the_config_says_whether_it_is_required,
	memory_that_runs_out_is_told)

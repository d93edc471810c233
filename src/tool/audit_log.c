/* The audit log. Every line is one write to a file opened for appending, so lines
 * of several processes do not mix; only turning the files over takes a lock. */
#include "tool/audit_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/paths.h"
#include "base/regular.h"
#include "base/sha256.h"
#include "base/stamp.h"
#include "base/utf8.h"
#include "data/json.h"
#include "data/config.h"
#include "proc/host.h"

#define LOCK_NAME "audit.lock"

/* The process that rotates the files needs a moment; a process that waits longer writes on. */
#define LOCK_TIMEOUT_NS (200 * NSEC_PER_MSEC)

enum {
	TEXT_MAX = 256, /* of a text that the plugin chose */
	RESERVE = 4096, /* on the disk, for a line that must be written */
};

/* ---- settings ------------------------------------------------------------ */

static int audit_log_read_setting(const struct toml_value *root, void *data, perch_err *err)
{
	struct audit *audit = data;
	const char *word;
	int r = toml_get_string(root, "audit", &word, err);
	if (r <= 0)
		return r;
	audit->is_required = strcmp(word, "required") == 0;
	if (audit->is_required || strcmp(word, "warn") == 0)
		return 0;
	const struct toml_value *value = toml_get(root, "audit");
	return err_set_at(err, PERCH_ESYNTAX, value->at.line, value->at.column,
		"`audit` must be \"required\" or \"warn\"");
}

int audit_settings(struct audit *ret_audit, perch_err *err)
{
	struct audit audit = { .size_max = AUDIT_SIZE_MAX };
	int r = config_read_own(audit_log_read_setting, &audit, err);
	if (r < 0)
		return r;
	*ret_audit = audit;
	return 0;
}

/* ---- the files ----------------------------------------------------------- */

static int audit_log_open_folder(perch_err *err)
{
	_cleanup_free_ char *path = NULL;
	int r = paths_user(PATH_STATE, "perch", &path, err);
	int fd = r < 0 ? r : fd_directory(AT_FDCWD, path, O_PATH);
	if (r == 0 && fd == -ENOENT) {
		r = paths_make(path, err);
		fd = r < 0 ? r : fd_directory(AT_FDCWD, path, O_PATH);
	}
	if (r < 0)
		return r;
	char shown[FILE_SHOWN_MAX];
	if (fd < 0)
		return err_set(err, fd, "cannot open %s: %s", file_shown(path, shown), perch_strerror(fd));
	return fd;
}

void audit_file_name(unsigned age, char out[AUDIT_NAME_SIZE])
{
	if (age)
		snprintf(out, AUDIT_NAME_SIZE, AUDIT_NAME ".%u", age);
	else
		memcpy(out, AUDIT_NAME, sizeof(AUDIT_NAME));
}

/* Whether the file that is there now, perhaps already another, is full. */
static bool audit_log_is_full(const struct audit *audit, int folder)
{
	struct stat status;
	return fstatat(folder, AUDIT_NAME, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISREG(status.st_mode) && (size_t)status.st_size >= audit->size_max;
}

/* Only under the lock; without it the line goes into a file that is too long, and is not lost. */
static void audit_log_turn_over(const struct audit *audit, int folder)
{
	_cleanup_fd_ int lock = lock_wait(folder, LOCK_NAME, LOCK_TIMEOUT_NS);
	if (lock < 0 || !audit_log_is_full(audit, folder))
		return;
	for (unsigned age = AUDIT_FILES - 1; age > 0; age--) {
		char from[AUDIT_NAME_SIZE];
		char to[AUDIT_NAME_SIZE];
		audit_file_name(age - 1, from);
		audit_file_name(age, to);
		renameat(folder, from, folder, to);
	}
}

static int audit_log_open_file(int folder, size_t *ret_size, perch_err *err)
{
	struct stat status;
	int fd = regular_open(folder, AUDIT_NAME, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW);
	if (fd < 0)
		return err_set(err, fd, "cannot open " AUDIT_NAME ": %s",
			fd == -ENOTSUP ? "it is no regular file" : perch_strerror(fd));
	bool is_known = fstat(fd, &status) == 0;
	if (is_known && (status.st_mode & 077))
		fchmod(fd, 0600);
	*ret_size = is_known ? (size_t)status.st_size : 0;
	return fd;
}

/* Opens the log for one line, after turning the files over where that is due. */
static int audit_log_open_log(const struct audit *audit, perch_err *err)
{
	size_t size = 0;
	_cleanup_fd_ int folder = audit_log_open_folder(err);
	if (folder < 0)
		return folder;
	int fd = audit_log_open_file(folder, &size, err);
	if (fd < 0 || size < audit->size_max)
		return fd;
	close(fd);
	audit_log_turn_over(audit, folder);
	return audit_log_open_file(folder, &size, err);
}

int audit_prepare(const struct audit *audit, perch_err *err)
{
	if (!audit->is_required)
		return 0;
	_cleanup_fd_ int fd = audit_log_open_log(audit, err);
	if (fd < 0)
		return fd;
	struct stat status;
	if (fstat(fd, &status) < 0)
		return err_set(err, -errno, "cannot use " AUDIT_NAME ": %s", perch_strerror(-errno));
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, status.st_size, RESERVE) < 0 &&
		(errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
		return err_set(err, -errno, "no room in " AUDIT_NAME ": %s", perch_strerror(-errno));
	return 0;
}

/* ---- a line -------------------------------------------------------------- */

static void audit_log_write_text(struct perch_json_writer *out, const char *name, struct str text)
{
	if (text.len > TEXT_MAX)
		text.len = utf8_whole_prefix(text.data, TEXT_MAX);
	json_write_text(out, name, text);
}

static void audit_log_write_number(struct perch_json_writer *out, const char *name, uint64_t number)
{
	perch_json_write_name(out, name);
	perch_json_write_uint64(out, number);
}

/* In UTC, to the millisecond. */
static void audit_log_write_time(struct perch_json_writer *out)
{
	struct timespec now = { 0 };
	char text[CLOCK_UTC_MAX + 8];
	clock_gettime(CLOCK_REALTIME, &now);
	clock_write_utc(text, now.tv_sec);
	size_t len = strlen(text);
	snprintf(text + len, sizeof(text) - len, ".%03ldZ", now.tv_nsec / 1000000);
	audit_log_write_text(out, "time", str_from(text));
}

/* How the process ended; null where it did not end by itself, or was never started. */
static void audit_log_write_exit(struct perch_json_writer *out, const perch_tool_result *result)
{
	perch_json_write_name(out, "exit_status");
	if (result->has_exit_status)
		perch_json_write_int64(out, result->exit_status);
	else
		perch_json_write_null(out);
	perch_json_write_name(out, "signal");
	if (result->signal)
		perch_json_write_int64(out, result->signal);
	else
		perch_json_write_null(out);
}

/* The caller, as far as it is known. */
static void audit_log_write_said(struct perch_json_writer *out, const char *name, const char *text)
{
	if (text)
		audit_log_write_text(out, name, str_from(text));
}

struct audit_input audit_input(struct str input)
{
	struct str given = input.len ? input : STR("{}");
	struct audit_input hashed = { .bytes = given.len };
	sha256_of(given.data, given.len, hashed.sha256);
	return hashed;
}

static void audit_log_write_line(struct buf *line, const struct audit_call *call)
{
	const perch_tool_result *result = call->result;
	const struct audit_input input = call->hashed ? *call->hashed : audit_input(call->input);
	struct perch_json_writer out = json_writer_on(line);
	perch_json_begin_object(&out);
	audit_log_write_time(&out);
	audit_log_write_said(&out, "kind", call->is_exit ? "exit" : call->frontend ? "call" : NULL);
	audit_log_write_text(&out, "binding", str_from(call->binding));
	audit_log_write_text(&out, "tool", str_of(result->tool));
	audit_log_write_text(&out, "plugin_id", str_of(result->plugin_id));
	audit_log_write_text(&out, "plugin_version", str_of(result->plugin_version));
	audit_log_write_text(&out, "verdict",
		str_from(perch_tool_code_name(call->is_exit ? result->exit_verdict : result->code)));
	audit_log_write_text(&out, "request_id", str_of(result->request_id));
	audit_log_write_number(&out, "duration_ms", result->duration_ns / NSEC_PER_MSEC);
	audit_log_write_exit(&out, result);
	audit_log_write_number(&out, "input_bytes", input.bytes);
	audit_log_write_number(&out, "output_bytes", result->output.len);
	audit_log_write_text(&out, "input_sha256", str_from(input.sha256));
	audit_log_write_text(&out, "approval", str_from(call->approval));
	audit_log_write_said(&out, "caller", call->caller);
	audit_log_write_said(&out, "frontend", call->frontend);
	audit_log_write_said(&out, "client", call->client);
	perch_json_end_object(&out);
	buf_append_char(line, '\n');
}

/* A line that found no room on the disk is cut off again: its start would swallow the next line.
 * Unless another process has written behind it. */
static void audit_log_take_back(int fd, ssize_t written)
{
	struct stat status;
	off_t end = lseek(fd, 0, SEEK_CUR);
	if (written > 0 && end >= written && fstat(fd, &status) == 0 && status.st_size == end &&
		ftruncate(fd, end - written) < 0)
		return;
}

static int audit_log_append(const struct audit *audit, const struct buf *line, perch_err *err)
{
	if (line->failed)
		return err_no_memory(err);
	_cleanup_fd_ int fd = audit_log_open_log(audit, err);
	if (fd < 0)
		return fd;
	ssize_t written = write(fd, line->data, line->len);
	if (written == (ssize_t)line->len)
		return 0;
	int code = written < 0 ? -errno : -ENOSPC;
	audit_log_take_back(fd, written);
	return err_set(err, code, "cannot write to " AUDIT_NAME ": %s", perch_strerror(code));
}

int audit_append(const struct audit *audit, const struct audit_call *call, perch_err *err)
{
	_cleanup_(buf_free) struct buf line = { 0 };
	audit_log_write_line(&line, call);
	return audit_log_append(audit, &line, err);
}

int audit_append_job(const struct audit *audit, const struct audit_job *job, perch_err *err)
{
	_cleanup_(buf_free) struct buf line = { 0 };
	struct perch_json_writer out = json_writer_on(&line);
	perch_json_begin_object(&out);
	audit_log_write_time(&out);
	audit_log_write_said(&out, "kind", job->kind);
	audit_log_write_said(&out, "name", job->name);
	audit_log_write_said(&out, "session", job->session);
	json_write_flag(&out, "success", job->success);
	perch_json_write_name(&out, "exit_code");
	perch_json_write_int64(&out, job->exit_code);
	audit_log_write_number(&out, "duration_ms", job->duration_ns / NSEC_PER_MSEC);
	audit_log_write_said(&out, "approval", job->approval);
	audit_log_write_said(&out, "caller", job->caller);
	audit_log_write_said(&out, "frontend", job->frontend);
	audit_log_write_said(&out, "client", job->client);
	perch_json_end_object(&out);
	buf_append_char(&line, '\n');
	return audit_log_append(audit, &line, err);
}

int audit_append_note(const struct audit *audit, const struct audit_note *note, perch_err *err)
{
	_cleanup_(buf_free) struct buf line = { 0 };
	struct perch_json_writer out = json_writer_on(&line);
	perch_json_begin_object(&out);
	audit_log_write_time(&out);
	audit_log_write_said(&out, "kind", note->kind);
	audit_log_write_said(&out, "name", note->name);
	audit_log_write_said(&out, "job", note->job);
	audit_log_write_said(&out, "text", note->text);
	audit_log_write_said(&out, "caller", note->caller);
	audit_log_write_said(&out, "frontend", note->frontend);
	audit_log_write_said(&out, "client", note->client);
	perch_json_end_object(&out);
	buf_append_char(&line, '\n');
	return audit_log_append(audit, &line, err);
}

static struct audit_call audit_log_call(const struct audit_origin *origin, const char *binding,
	const struct audit_input *input, const perch_tool_result *result)
{
	return (struct audit_call){
		.binding = origin->binding ? origin->binding : binding,
		.approval = origin->approval ? origin->approval : "binding",
		.hashed = input,
		.caller = origin->caller,
		.client = origin->client,
		.frontend = origin->frontend,
		.result = result,
	};
}

static void audit_log_record(const struct audit_origin *origin, const struct audit_call *call)
{
	perch_err err = { 0 };
	if (origin->audit && audit_append(origin->audit, call, &err) < 0 && origin->unrecorded)
		origin->unrecorded(origin->data, &err);
}

void audit_record(const struct audit_origin *origin, const char *binding,
	const struct audit_input *input, const perch_tool_result *result)
{
	const struct audit_call call = audit_log_call(origin, binding, input, result);
	audit_log_record(origin, &call);
}

void audit_record_exit(const struct audit_origin *origin, const char *binding,
	const struct audit_input *input, const perch_tool_result *result)
{
	struct audit_call call = audit_log_call(origin, binding, input, result);
	call.is_exit = true;
	audit_log_record(origin, &call);
}

/* ---- of a host ------------------------------------------------------------- */

/* The settings, as long as their file is the same. */
struct audit_guest {
	struct host_guest guest; /* first: the host hands it back */
	struct audit audit;
	struct stat stamp;
	bool is_read;
};

static void audit_log_leave(struct host_guest *guest)
{
	free(guest);
}

int audit_of_host(perch_host *host, const struct audit **ret_audit, perch_err *err)
{
	struct audit_guest *guest = (struct audit_guest *)host_find_guest(host, audit_log_leave);
	if (!guest) {
		guest = calloc(1, sizeof(*guest));
		if (!guest)
			return err_no_memory(err);
		guest->guest.leave = audit_log_leave;
		host_add_guest(host, &guest->guest);
	}
	const struct stat now = config_own_stamp();
	if (!guest->is_read || !stamp_is_unchanged(&now, &guest->stamp)) {
		int r = audit_settings(&guest->audit, err);
		guest->is_read = r == 0;
		guest->stamp = now;
		if (r < 0)
			return r;
	}
	*ret_audit = &guest->audit;
	return 0;
}

/* Recording what host and plugin say to each other. */
#include "trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/utf8.h"
#include "data/json.h"
#include "trace/trace_parts.h"

enum {
	TRACE_BUFFER = 64 * 1024,      /* written when it is that much */
	TRACE_KEEP = 4 * TRACE_BUFFER, /* memory beyond it, for a huge line, is given back */
};

const char *trace_direction_name(enum trace_direction direction)
{
	static const char *const names[] = {
		[TRACE_TO_PLUGIN] = "in",
		[TRACE_FROM_PLUGIN] = "out",
		[TRACE_PLUGIN_ERR] = "err",
		[TRACE_HOST] = "host",
	};
	return names[direction];
}

/* ---- the file -------------------------------------------------------------- */

/* Whether the file may be overwritten: it is empty, or an older trace that has no other name. */
static bool trace_may_be_emptied(int fd, const struct stat *about)
{
	static const char head[] = "{\"trace\":";
	char path[32];
	char begin[sizeof(head) - 1];
	if (about->st_size == 0)
		return true;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	_cleanup_fd_ int reader = open(path, O_RDONLY | O_CLOEXEC);
	return about->st_nlink == 1 && reader >= 0 &&
		read(reader, begin, sizeof(begin)) == (ssize_t)sizeof(begin) &&
		memcmp(begin, head, sizeof(begin)) == 0;
}

/* An old trace is emptied only when it is sure that it is a file, and private. O_NONBLOCK: a FIFO
 * without a reader must not make us wait. */
static int trace_open_private(const char *path, perch_err *err)
{
	char shown[FILE_SHOWN_MAX];
	const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	_cleanup_fd_ int fd = fd_above_stdio(open(path, flags, 0600));
	struct stat about;
	if (fd < 0 || fstat(fd, &about) < 0)
		return err_set(err, -errno, "cannot write the trace to %s: %s", file_shown(path, shown),
			errno == ELOOP ? "it is a link" : perch_strerror(-errno));
	bool is_file = S_ISREG(about.st_mode);
	/* The owner of a file can read it, whatever its mode is. Only root makes devices. */
	if (!S_ISCHR(about.st_mode) && about.st_uid != geteuid())
		return err_set(err, -EPERM,
			"cannot write the trace to %s: it belongs to another user; name another file",
			file_shown(path, shown));
	if (!is_file && !S_ISCHR(about.st_mode) && !S_ISFIFO(about.st_mode))
		return err_set(
			err, -EINVAL, "cannot write the trace to %s: it is no file", file_shown(path, shown));
	if (is_file && !trace_may_be_emptied(fd, &about))
		return err_set(err, -EEXIST,
			"cannot write the trace to %s: it is there already, and no trace; name another file",
			file_shown(path, shown));
	if (is_file && (fchmod(fd, 0600) < 0 || ftruncate(fd, 0) < 0))
		return err_set(err, -errno, "cannot make the trace %s private: %s", file_shown(path, shown),
			perch_strerror(-errno));
	return fd_steal(&fd);
}

static void trace_free(struct trace *trace)
{
	if (!trace)
		return;
	if (!trace->is_stderr)
		fd_close(trace->fd);
	buf_free(&trace->out);
	buf_free(&trace->scratch);
	buf_free(&trace->facts);
	mask_free(&trace->mask);
	free(trace);
}

static struct trace *trace_new(bool secrets)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	if (!trace)
		return NULL;
	trace->fd = -1;
	trace->secrets = secrets;
	trace->start_ns = clock_now_ns();
	if (mask_init(&trace->mask) == 0)
		return trace;
	trace_free(trace);
	return NULL;
}

int trace_open(const char *path, bool secrets, struct trace **ret_trace, perch_err *err)
{
	struct trace *trace = trace_new(secrets);
	if (!trace)
		return err_no_memory(err);
	trace->is_stderr = strcmp(path, "-") == 0;
	int fd = trace->is_stderr ? STDERR_FILENO : trace_open_private(path, err);
	if (fd < 0) {
		trace_free(trace);
		return fd;
	}
	trace->fd = fd;
	*ret_trace = trace;
	return 0;
}

int trace_listen(trace_heard_fn *heard, void *data, struct trace **ret_trace)
{
	struct trace *trace = trace_new(true);
	if (!trace)
		return -ENOMEM;
	trace->heard = heard;
	trace->heard_data = data;
	*ret_trace = trace;
	return 0;
}

/* ---- writing ----------------------------------------------------------------- */

static void trace_turn_off(struct trace *trace, int error)
{
	trace->error = error;
	buf_free(&trace->out);
	buf_free(&trace->scratch);
	buf_free(&trace->facts);
}

bool trace_is_on(const struct trace *trace)
{
	return trace && !(trace->whole ? trace->whole : trace)->error;
}

void trace_empty(struct buf *buf)
{
	if (buf->cap > TRACE_KEEP)
		buf_free(buf);
	else
		buf_clear(buf);
}

static void trace_write_out(struct trace *trace)
{
	int r = trace->out.len ? fd_write_all_quietly(trace->fd, trace->out.data, trace->out.len) : 0;
	trace_empty(&trace->out);
	if (r < 0)
		trace_turn_off(trace, r);
}

void trace_call_when_waiting(struct trace *trace, void (*wants)(void *data), void *data)
{
	trace->wants = wants;
	trace->wants_data = data;
}

/* Ends a line that began at `start`. Half a line is never written. */
static void trace_end_line(struct trace *trace, size_t start)
{
	if (start == 0 && trace->wants)
		trace->wants(trace->wants_data);
	buf_append_char(&trace->out, '\n');
	if (trace->out.failed) {
		trace->out.len = start;
		trace_write_out(trace);
		if (!trace->error)
			trace_turn_off(trace, -ENOMEM);
	} else if (trace->out.len >= TRACE_BUFFER) {
		trace_write_out(trace);
	}
}

static void trace_write_time(perch_json_writer *writer, uint64_t passed_ns)
{
	char text[40];
	int len = snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, passed_ns / NSEC_PER_SEC,
		passed_ns % NSEC_PER_SEC / NSEC_PER_USEC);
	perch_json_write_name(writer, "t");
	perch_json_write_raw(writer, text, (size_t)len);
}

/* JSON cannot carry bytes that are no text. */
static void trace_write_text(struct trace *trace, perch_json_writer *writer, struct str text)
{
	if (utf8_is_valid(text.data, text.len)) {
		json_write_text(writer, "line", text);
		return;
	}
	perch_json_write_name(writer, "base64");
	perch_json_write_raw(writer, "\"", 1);
	base64_append(&trace->out, text.data, text.len);
	buf_append_char(&trace->out, '"');
}

static void trace_write_flag(perch_json_writer *writer, const char *name, bool flag)
{
	if (flag)
		json_write_flag(writer, name, true);
}

static void trace_write_event(perch_json_writer *writer, const struct trace_entry *entry)
{
	if (!entry->event.len)
		return;
	json_write_text(writer, "event", entry->event);
	perch_json_write_name(writer, "facts");
	perch_json_write_raw(writer, entry->facts.data, entry->facts.len);
}

void trace_record_entry(struct trace *trace, const struct trace_entry *entry)
{
	if (trace->whole) {
		trace_record_entry(trace->whole, entry);
		return;
	}
	if (trace->heard) {
		trace->heard(trace->heard_data, entry);
		return;
	}
	size_t start = trace->out.len;
	perch_json_writer writer = json_writer_on(&trace->out);
	perch_json_begin_object(&writer);
	trace_write_time(&writer, clock_now_ns() - trace->start_ns);
	perch_json_write_name(&writer, "dir");
	perch_json_write_string(&writer, trace_direction_name(entry->direction));
	trace_write_event(&writer, entry);
	trace_write_text(trace, &writer, entry->line);
	trace_write_flag(&writer, "masked", entry->is_masked);
	trace_write_flag(&writer, "cut", entry->is_cut);
	trace_write_flag(&writer, "open", entry->is_open);
	perch_json_end_object(&writer);
	trace_end_line(trace, start);
}

void trace_give_up(struct trace *trace)
{
	trace = trace->whole ? trace->whole : trace;
	trace_write_out(trace);
	trace_turn_off(trace, trace->error ? trace->error : -ENOMEM);
}

/* ------------------------------------------------------------------------------ */

struct trace *trace_part(struct trace *trace)
{
	if (!trace_is_on(trace))
		return NULL;
	struct trace *part = trace_new(trace->secrets);
	if (part)
		part->whole = trace;
	else
		trace_give_up(trace);
	return part;
}

void trace_start(struct trace *trace, const char *command, const char *const *args)
{
	if (!trace_is_on(trace) || trace->heard)
		return;
	size_t start = trace->out.len;
	perch_json_writer writer = json_writer_on(&trace->out);
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, "trace");
	perch_json_write_int64(&writer, 1);
	perch_json_write_name(&writer, "perch");
	perch_json_write_string(&writer, perch_version());
	perch_json_write_name(&writer, "command");
	perch_json_write_string(&writer, command);
	perch_json_write_name(&writer, "args");
	perch_json_begin_array(&writer);
	for (; *args; args++)
		perch_json_write_string(&writer, *args);
	perch_json_end_array(&writer);
	perch_json_end_object(&writer);
	trace_end_line(trace, start);
}

void trace_line(struct trace *trace, enum trace_direction direction, const char *data, size_t len)
{
	if (!trace_is_on(trace))
		return;
	struct trace_entry entry = {
		.direction = direction,
		.line = { data, len && data[len - 1] == '\n' ? len - 1 : len },
	};
	trace_record_said(trace, &entry);
}

void trace_child_line(struct trace *trace, enum trace_direction direction, const perch_line *line)
{
	if (!trace_is_on(trace))
		return;
	struct trace_entry entry = {
		.direction = direction,
		.line = { line->data, line->len },
		.is_cut = line->flags & PERCH_LINE_TOO_LONG,
		.is_open = line->flags & PERCH_LINE_UNTERMINATED,
	};
	trace_record_said(trace, &entry);
}

void trace_child_bytes(struct trace *trace, const char *bytes, size_t len)
{
	if (!trace_is_on(trace) || !len)
		return;
	bool is_open = bytes[len - 1] != '\n';
	trace_record_entry(trace,
		&(struct trace_entry){
			.direction = TRACE_PLUGIN_ERR,
			.line = { bytes, is_open ? len : len - 1 },
			.is_open = is_open,
		});
}

int trace_flush(struct trace *trace, perch_err *err)
{
	if (trace_is_on(trace))
		trace_write_out(trace);
	if (!trace || !trace->error || trace->is_error_told)
		return 0;
	trace->is_error_told = true;
	return err_set(err, trace->error, "the trace ends here, it cannot be written: %s",
		perch_strerror(trace->error));
}

int trace_close(struct trace *trace, perch_err *err)
{
	int r = trace_flush(trace, err);
	trace_free(trace);
	return r;
}

/* Running the programs that managing plugins needs. */
#include "plugins/process.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/exit_status.h"
#include "base/utf8.h"
#include "proc/ladder.h"

enum { PROCESS_LOOK_MS = 500 };

struct process {
	struct workshop *workshop;
	const struct process_spec *spec;
	bool has_ended;
	bool is_too_much;
	bool has_too_much;
	perch_result result;
};

static void process_show(struct workshop *workshop, const struct shown *shown)
{
	if (workshop->frontend)
		workshop->frontend->table->show(workshop->frontend, shown);
}

void workshop_tell(struct workshop *workshop, perch_shown_kind kind, const char *format, ...)
{
	char text[2 * PERCH_ERR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	process_show(workshop, &(struct shown){ .kind = kind, .text = str_from(text) });
}

static void process_keep_in_log(struct buf *log, const char *bytes, size_t len)
{
	if (log->len + len > PROCESS_LOG_MAX && log->len)
		buf_consume(log, log->len / 2);
	if (len <= PROCESS_LOG_MAX)
		buf_append(log, bytes, len);
	buf_append_char(log, '\n');
}

static void process_keep_output(struct process *process, perch_child *child, const perch_line *line)
{
	struct buf *output = process->spec->output;
	if (output->len + line->len > PROCESS_OUTPUT_MAX) {
		process->is_too_much = true;
		perch_child_signal(child, SIGKILL);
		return;
	}
	buf_append(output, line->data, line->len);
	buf_append_char(output, '\n');
}

static void process_on_line(
	perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	struct process *process = data;
	const struct process_spec *spec = process->spec;
	if (spec->output && stream == PERCH_STDOUT) {
		process_keep_output(process, child, line);
		return;
	}
	if (spec->log)
		process_keep_in_log(spec->log, line->data, line->len);
	if (!spec->shows_output)
		return;
	_cleanup_(buf_free) struct buf seen = { 0 };
	utf8_append_seen(&seen, line->data, line->len);
	buf_append_char(&seen, '\n');
	if (!seen.failed)
		process_show(process->workshop,
			&(struct shown){ .kind = PERCH_SHOWN_OUTPUT, .text = { seen.data, seen.len } });
}

static void process_on_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct process *process = data;
	process->result = *result;
	process->has_ended = true;
}

static const perch_child_events events = {
	.size = sizeof(events),
	.line = process_on_line,
	.ended = process_on_ended,
};

static void process_look(struct process *process, perch_child *child)
{
	const struct process_spec *spec = process->spec;
	if (!spec->has_too_much || process->has_too_much || !spec->has_too_much(spec->data))
		return;
	process->has_too_much = true;
	perch_child_signal(child, SIGKILL);
}

static int process_wait_for(struct process *process, perch_child *child)
{
	int most_ms = process->spec->has_too_much ? PROCESS_LOOK_MS : -1;
	struct workshop *workshop = process->workshop;
	bool was_stopped = false;
	int r = 0;
	while (!process->has_ended && r >= 0) {
		if (workshop->is_stopped && !was_stopped)
			perch_child_stop(child);
		was_stopped = workshop->is_stopped;
		if (workshop->frontend)
			workshop->frontend->table->flush(workshop->frontend);
		r = perch_host_wait(workshop->host, most_ms);
		if (r >= 0)
			process_look(process, child);
	}
	return r < 0 ? r : 0;
}

static int process_run_child(struct process *process, perch_err *err)
{
	const struct process_spec *spec = process->spec;
	perch_child_spec child_spec = PERCH_CHILD_SPEC_INIT;
	bool shares_terminal = spec->owns_terminal && process->workshop->is_interactive;
	child_spec.argv = spec->argv;
	child_spec.program = spec->program;
	child_spec.program_fd = spec->program_fd;
	child_spec.env = spec->env;
	child_spec.cwd = spec->cwd;
	child_spec.confine = spec->confine;
	child_spec.session = shares_terminal ? PERCH_SESSION_SHARED : PERCH_SESSION_OWN;
	child_spec.stdin_mode = shares_terminal ? PERCH_STDIN_INHERIT : PERCH_STDIN_NULL;
	child_spec.stdout_mode = PERCH_OUTPUT_LINES;
	child_spec.stderr_mode = PERCH_OUTPUT_LINES;
	ending_apply(ENDING_BUILD, &child_spec);
	child_spec.events = &events;
	child_spec.data = process;
	perch_child *child;
	int r = perch_child_start(process->workshop->host, &child_spec, &child, err);
	if (r < 0)
		return r;
	r = process_wait_for(process, child);
	perch_child_free(child);
	return r < 0 ? err_set(err, r, "waiting failed: %s", perch_strerror(r)) : 0;
}

int process_run(struct workshop *workshop, const struct process_spec *spec, perch_err *err)
{
	struct process process = { .workshop = workshop, .spec = spec };
	if (workshop->is_stopped)
		return err_set(err, -ECANCELED, "interrupted");
	if (spec->title)
		workshop_tell(workshop, PERCH_SHOWN_PROGRESS, "%s", spec->title);
	int r = process_run_child(&process, err);
	if (spec->title)
		process_show(workshop, &(struct shown){ .kind = PERCH_SHOWN_PROGRESS_DONE });
	if (r < 0)
		return r;
	if (workshop->is_stopped)
		return err_set(err, -ECANCELED, "interrupted");
	if (process.is_too_much)
		return err_set(err, -EFBIG, "%s says more than it should", spec->argv[0]);
	if (process.has_too_much)
		return err_set(err, -EFBIG, "it takes too much of the disk");
	if ((spec->output && spec->output->failed) || (spec->log && spec->log->failed))
		return err_no_memory(err);
	return exit_status_of(process.result.signal, process.result.exit_code);
}

/* The shell commands that a plugin has the host run. */
#include "fledge/exec.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cleanup.h"
#include "base/exit_status.h"
#include "data/json.h"
#include "proc/capture.h"
#include "proc/program.h"
#include "sandbox/policy/explain.h"
#include "sandbox/policy/policy.h"

/* One command: waiting, running, or done and held for its group. */
struct job {
	struct job *next;
	struct execs *execs;
	uint64_t ticket;
	char *command;
	char *cwd;
	double timeout_seconds;
	bool is_dropped;
	size_t metered;
	struct capture *capture;
};

/* A list with its end, so that order is kept. */
struct jobs {
	struct job *first;
	struct job *last;
	unsigned count;
};

struct execs {
	struct execs_options options;
	struct jobs waiting;
	struct jobs running;
	struct jobs kept;
	enum execs_pace pace;
};

static void exec_append(struct jobs *jobs, struct job *job)
{
	job->next = NULL;
	if (jobs->last)
		jobs->last->next = job;
	else
		jobs->first = job;
	jobs->last = job;
	jobs->count++;
}

static void exec_take_out(struct jobs *jobs, struct job *job)
{
	struct job *before = NULL;
	for (struct job *at = jobs->first; at != job; at = at->next)
		before = at;
	if (before)
		before->next = job->next;
	else
		jobs->first = job->next;
	if (jobs->last == job)
		jobs->last = before;
	jobs->count--;
}

static void exec_free_job(struct job *job)
{
	if (!job)
		return;
	meter_take(job->execs->options.meter, job->metered);
	capture_free(job->capture);
	free(job->command);
	free(job->cwd);
	free(job);
}

static void exec_free_jobs(struct jobs *jobs)
{
	while (jobs->first) {
		struct job *job = jobs->first;
		jobs->first = job->next;
		exec_free_job(job);
	}
}

int execs_new(const struct execs_options *options, struct execs **ret_execs)
{
	struct execs *execs = calloc(1, sizeof(*execs));
	if (!execs)
		return -ENOMEM;
	execs->options = *options;
	*ret_execs = execs;
	return 0;
}

void execs_free(struct execs *execs)
{
	if (!execs)
		return;
	exec_free_jobs(&execs->waiting);
	exec_free_jobs(&execs->running);
	exec_free_jobs(&execs->kept);
	free(execs);
}

/* ---- results ------------------------------------------------------------- */

struct exec_result {
	int code;
	struct str out;
	struct str err;
	bool out_truncated;
	bool err_truncated;
};

enum { EXEC_MEMBERS_SIZE = 128 }; /* of a result, without what was printed */

static void exec_write(struct buf *json, const struct exec_result *result)
{
	struct perch_json_writer writer = json_writer_on(json);
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, "code");
	perch_json_write_int64(&writer, result->code);
	perch_json_write_name(&writer, "stderr");
	perch_json_write_string_n(&writer, result->err.data, result->err.len);
	if (result->err_truncated) {
		perch_json_write_name(&writer, "stderr_truncated");
		perch_json_write_bool(&writer, true);
	}
	perch_json_write_name(&writer, "stdout");
	perch_json_write_string_n(&writer, result->out.data, result->out.len);
	if (result->out_truncated) {
		perch_json_write_name(&writer, "stdout_truncated");
		perch_json_write_bool(&writer, true);
	}
	perch_json_end_object(&writer);
}

static void exec_report(struct execs *execs, uint64_t ticket, const struct buf *json)
{
	struct str text = { json->data, json->len };
	if (json->failed)
		text = STR("{\"code\":1,\"stderr\":\"out of memory\",\"stdout\":\"\"}");
	execs->options.done(execs->options.data, ticket, text);
}

static void exec_report_failure(struct execs *execs, uint64_t ticket, int code, const char *why)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	exec_write(&json, &(struct exec_result){ .code = code, .err = str_from(why) });
	exec_report(execs, ticket, &json);
}

static void exec_explain(const struct job *job)
{
	const struct execs_options *options = &job->execs->options;
	const struct capture *capture = job->capture;
	_cleanup_(buf_free) struct buf text = { 0 };
	const struct str said = { capture->err.data, capture->err.len };
	if (capture_code(capture) == 0)
		return;
	if (options->failed)
		options->failed(
			options->data, job->command, (struct str){ capture->out.data, capture->out.len }, said);
	if (!options->explain)
		return;
	if (explain_failure(options->explain, said, &text) && buf_terminate(&text) == 0)
		options->explained(options->data, text.data);
}

static void exec_report_end(struct job *job)
{
	struct capture *capture = job->capture;
	if (capture->timed_out) {
		bool on_new_line = !capture->err.len || capture->err.data[capture->err.len - 1] == '\n';
		buf_printf(&capture->err, "%scommand timed out after %gs", on_new_line ? "" : "\n",
			job->timeout_seconds);
	}
	_cleanup_(buf_free) struct buf json = { 0 };
	buf_reserve(&json, capture->out_weight + capture->err_weight + EXEC_MEMBERS_SIZE);
	exec_write(&json,
		&(struct exec_result){
			.code = capture_code(capture),
			.out = { capture->out.data, capture->out.len },
			.err = { capture->err.data, capture->err.len },
			.out_truncated = capture->out_truncated,
			.err_truncated = capture->err_truncated,
		});
	capture_forget(capture); /* what was printed is there once, and counted once */
	exec_report(job->execs, job->ticket, &json);
}

/* ---- running ------------------------------------------------------------- */

static void exec_start_waiting(struct execs *execs);

static void exec_keep_group(struct execs *execs, struct job *job)
{
	capture_forget(job->capture);
	exec_append(&execs->kept, job);
	if (execs->kept.count <= EXEC_KEPT_GROUPS)
		return;
	struct job *oldest = execs->kept.first;
	exec_take_out(&execs->kept, oldest);
	exec_free_job(oldest);
}

static void exec_job_done(void *data, struct capture *capture)
{
	(void)capture;
	struct job *job = data;
	struct execs *execs = job->execs;
	exec_take_out(&execs->running, job);
	if (!job->is_dropped) {
		exec_explain(job);
		exec_report_end(job);
	}
	exec_keep_group(execs, job);
	exec_start_waiting(execs);
}

/* The exit status by which a shell tells that a command cannot be started. */
static int exec_code_of(int error)
{
	return error == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static void exec_start(struct execs *execs, struct job *job)
{
	const char *const argv[] = { execs->options.shell, "-c", job->command, NULL };
	const struct capture_spec spec = {
		.argv = argv,
		.program = program_of_shell(execs->options.shell),
		.env = execs->options.env,
		.cwd = job->cwd,
		.confine = execs->options.confine,
		.limit = EXEC_OUTPUT_MAX,
		.weigh = json_written_size,
		.weight_limit = EXEC_WRITTEN_MAX,
		.timeout_ns = clock_from_seconds(job->timeout_seconds),
		.ending = ENDING_EXEC,
		.keep_group = true,
		.meter = execs->options.meter,
		.done = exec_job_done,
		.data = job,
	};
	perch_err err = { 0 };
	int r = capture_start(execs->options.host, &spec, &job->capture, &err);
	if (r < 0) {
		exec_report_failure(execs, job->ticket, exec_code_of(r), err.text);
		exec_free_job(job);
		return;
	}
	exec_append(&execs->running, job);
}

static void execs_read(struct job *job, bool on)
{
	void (*set)(perch_child * child, perch_stream stream) =
		on ? perch_child_resume : perch_child_pause;
	set(job->capture->child, PERCH_STDOUT);
	set(job->capture->child, PERCH_STDERR);
}

static void execs_read_as_paced(struct execs *execs)
{
	for (struct job *job = execs->running.first; job; job = job->next) {
		bool is_oldest = job == execs->running.first;
		execs_read(job, execs->pace == EXECS_ALL || (execs->pace == EXECS_OLDEST && is_oldest));
	}
}

static void exec_start_waiting(struct execs *execs)
{
	const unsigned allowed[] = {
		[EXECS_ALL] = execs->options.parallel,
		[EXECS_OLDEST] = 1,
		[EXECS_NONE] = 0,
	};
	unsigned most = allowed[execs->pace];
	while (execs->waiting.first && execs->running.count < most) {
		struct job *job = execs->waiting.first;
		exec_take_out(&execs->waiting, job);
		exec_start(execs, job);
	}
	if (execs->pace != EXECS_ALL)
		execs_read_as_paced(execs);
}

/* ---- where a command runs ------------------------------------------------ */

/* The directory of a command: inside the project or the plugin, by its resolved path. Returns 0,
 * -ENOMEM, or 1 after having reported why not. */
static int exec_resolve_cwd(
	struct execs *execs, uint64_t ticket, const struct fledge_exec *exec, char **ret_cwd)
{
	const struct execs_options *options = &execs->options;
	_cleanup_free_ char *given = str_dup(exec->has_cwd ? exec->cwd : STR("."));
	if (!given)
		return -ENOMEM;
	bool is_absolute = given[0] == '/';
	_cleanup_free_ char *joined =
		str_join(is_absolute ? "" : options->project_root, is_absolute ? "" : "/", given, NULL);
	if (!joined)
		return -ENOMEM;
	char resolved[PATH_MAX];
	bool is_whole = strlen(given) == (exec->has_cwd ? exec->cwd.len : 1);
	bool is_based = is_absolute || options->project_root[0];
	if (!is_whole || !is_based || !realpath(joined, resolved)) {
		_cleanup_free_ char *why =
			str_join("exec cwd '", given, "' does not exist or is not accessible", NULL);
		exec_report_failure(execs, ticket, 1, why ? why : "out of memory");
		return 1;
	}
	if (!policy_is_inside(resolved, options->project_root) &&
		!policy_is_inside(resolved, options->plugin_dir)) {
		exec_report_failure(execs, ticket, 1, "exec cwd escapes project and plugin directory");
		return 1;
	}
	*ret_cwd = str_dup(str_from(resolved));
	return *ret_cwd ? 0 : -ENOMEM;
}

static double exec_timeout_of(const struct execs *execs, const struct fledge_exec *exec)
{
	double wanted = exec->has_timeout ? exec->timeout_seconds : EXEC_TIMEOUT_DEFAULT;
	return wanted < execs->options.timeout_max ? wanted : execs->options.timeout_max;
}

int execs_run(struct execs *execs, uint64_t ticket, const struct fledge_exec *exec)
{
	if (memchr(exec->command.data, '\0', exec->command.len)) {
		exec_report_failure(execs, ticket, 1, "the command has a NUL byte in it");
		return 0;
	}
	struct job *job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	job->execs = execs;
	job->ticket = ticket;
	job->timeout_seconds = exec_timeout_of(execs, exec);
	job->command = str_dup(exec->command);
	int r = job->command ? exec_resolve_cwd(execs, ticket, exec, &job->cwd) : -ENOMEM;
	if (r) {
		exec_free_job(job);
		return r < 0 ? r : 0;
	}
	exec_append(&execs->waiting, job);
	job->metered = sizeof(*job) + exec->command.len + strlen(job->cwd);
	meter_add(execs->options.meter, job->metered);
	exec_start_waiting(execs);
	return 0;
}

void execs_drop(struct execs *execs)
{
	exec_free_jobs(&execs->waiting);
	execs->waiting = (struct jobs){ 0 };
	execs_pace(execs, EXECS_ALL); /* the end of what is not read does not come */
	for (struct job *job = execs->running.first; job; job = job->next) {
		job->is_dropped = true;
		perch_child_stop(job->capture->child);
	}
}

void execs_pace(struct execs *execs, enum execs_pace pace)
{
	if (execs->pace == pace)
		return;
	execs->pace = pace;
	execs_read_as_paced(execs);
	exec_start_waiting(execs);
}

void execs_signal(struct execs *execs, int signal)
{
	for (struct job *job = execs->running.first; job; job = job->next)
		perch_child_signal(job->capture->child, signal);
	for (struct job *job = execs->kept.first; job; job = job->next)
		perch_child_signal(job->capture->child, signal);
}

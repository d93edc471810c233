/* One case for a host: it is started as a user would start it, with an actor that it takes for a
 * plugin, and both are watched. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/macros.h"
#include "base/regular.h"
#include "conformance/actor.h"
#include "conformance/trial.h"
#include "data/json.h"
#include "proc/capture.h"
#include "proc/host.h"
#include "proc/lines.h"

enum {
	OUTPUT_MAX = 64 * 1024 * 1024, /* of the host; what comes behind is not looked at */
	STATE_MAX = 4 * 1024 * 1024,
	REPORT_LINE_MAX = 8 * 1024 * 1024,
};

struct host_trial {
	struct kit *kit;
	const struct conformance_case *test;
	struct trial_report *report;
	struct scene scene;
	struct capture *capture;
	bool has_ended;
	/* What the actor has told. */
	struct source pipe;
	struct lines lines;
	perch_json *json;
	struct buf started; /* the JSON object; empty = it was not */
	bool is_done;
	bool has_problem;
};

/* ---- hearing the actor ---------------------------------------------------------- */

static void host_trial_hear_report(struct host_trial *trial, const perch_json_value *report)
{
	const perch_json_value *value;
	size_t len;
	int64_t number;
	if ((value = perch_json_get(report, "started"))) {
		const char *raw = perch_json_raw(value, &len);
		buf_clear(&trial->started);
		buf_append(&trial->started, raw, len);
		trial->is_done = false;
	} else if ((value = perch_json_get(report, "heard"))) {
		transcript_add(&trial->report->transcript, TRACE_TO_PLUGIN, json_str(value));
	} else if ((value = perch_json_get(report, "said"))) {
		transcript_add(&trial->report->transcript, TRACE_FROM_PLUGIN, json_str(value));
	} else if (perch_json_int64(perch_json_get(report, "signal"), &number) == 0) {
		perch_child_signal(trial->capture->child, (int)number);
	} else if ((value = perch_json_get(report, "problem"))) {
		struct str text = json_str(value);
		trial->has_problem = true;
		PROBLEM(trial->report, "%.*s", (int)text.len, text.data);
	} else if (perch_json_get(report, "done")) {
		trial->is_done = true;
	}
}

static bool host_trial_take_report(void *data, const perch_line *line)
{
	struct host_trial *trial = data;
	const perch_json_value *root = NULL;
	int r = perch_json_parse(trial->json, line->data, line->len, &root, NULL);
	if (r == -ENOMEM)
		trial->report->findings.failed = true;
	if (r == 0)
		host_trial_hear_report(trial, root);
	return true;
}

static void host_trial_read_pipe(struct host_trial *trial)
{
	char block[16 * 1024 + 1];
	ssize_t n;
	while ((n = read(trial->pipe.fd, block, sizeof(block) - 1)) > 0) {
		if (lines_feed(&trial->lines, block, (size_t)n) < 0)
			trial->report->findings.failed = true;
	}
}

static void host_trial_pipe_ready(struct source *source, uint32_t events)
{
	(void)events;
	struct host_trial *trial = container_of(source, struct host_trial, pipe);
	host_trial_read_pipe(trial);
}

/* ---- the host ------------------------------------------------------------------- */

static void host_ended(void *data, struct capture *capture)
{
	(void)capture;
	((struct host_trial *)data)->has_ended = true;
}

static int host_trial_start_host(struct host_trial *trial, const char *command, perch_err *err)
{
	const struct capture_spec spec = {
		.argv = scene_command(&trial->scene, trial->kit->protocol, command),
		.env = scene_environment(&trial->scene, trial->test),
		.cwd = trial->scene.project,
		.limit = OUTPUT_MAX,
		.timeout_ns = clock_from_seconds(trial_within(trial->kit, trial->test)),
		.ending = ENDING_TESTED_HOST,
		.keep_group = true,
		.done = host_ended,
		.data = trial,
	};
	if (!spec.argv || !spec.env)
		return err_no_memory(err);
	trial->has_ended = false;
	trial->is_done = false;
	buf_clear(&trial->started);
	capture_free(trial->capture);
	trial->capture = NULL;
	return capture_start(trial->kit->host, &spec, &trial->capture, err);
}

/* Edge-triggered: a pipe without a writer would be ready for ever, and a host may start its plugin
 * more than once. */
static int host_trial_run_host(struct host_trial *trial, const char *command, perch_err *err)
{
	struct loop *loop = &trial->kit->host->loop;
	int r = host_trial_start_host(trial, command, err);
	if (r < 0)
		return r;
	r = loop_watch(loop, &trial->pipe, EPOLLIN | EPOLLET);
	while (r >= 0 && !trial->has_ended && !trial->kit->is_stopped)
		r = perch_host_wait(trial->kit->host, -1);
	loop_watch(loop, &trial->pipe, 0);
	if (trial->kit->is_stopped)
		return err_set(err, -ECANCELED, "interrupted");
	if (r < 0)
		return err_set(err, r, "waiting failed: %s", perch_strerror(r));
	host_trial_read_pipe(trial);
	trial->report->duration_ns += trial->capture->result.duration_ns;
	if (!left_behind_nobody(trial->pipe.fd)) {
		PROBLEM(trial->report, "something that the plugin has started outlives the host");
		left_behind_kill(trial->pipe.fd);
	}
	return 0;
}

/* ---- the verdict ---------------------------------------------------------------- */

static void host_trial_judge_actor(struct host_trial *trial)
{
	const struct capture *capture = trial->capture;
	bool was_started = trial->started.len > 0;
	size_t len = capture->err.len < 200 ? capture->err.len : 200;
	if (trial->test->expect.not_started && was_started)
		PROBLEM(trial->report, "the host must not start it, but did");
	else if (!trial->test->expect.not_started && !was_started)
		PROBLEM(trial->report, "the host did not start it; it ended with %d and said: %.*s",
			capture_code(capture), (int)len, len ? capture->err.data : "nothing");
	else if (was_started && !trial->is_done && !trial->has_problem)
		PROBLEM(trial->report, "the host ended it in the middle of its case");
}

static int host_trial_judge_state(struct host_trial *trial)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	_cleanup_free_ char *path = str_join(trial->scene.directory, "/state.json", NULL);
	int r = path ? regular_read(AT_FDCWD, path, O_NOFOLLOW, STATE_MAX, &text) : -ENOMEM;
	if (r == -ENOMEM)
		return r;
	return judge_text("the stored values", trial->test->expect.state, trial->scene.variables,
		r < 0 ? STR("null") : (struct str){ text.data, text.len }, trial->report);
}

static int host_trial_judge(struct host_trial *trial)
{
	const struct capture *capture = trial->capture;
	const struct observed observed = {
		.code = capture_code(capture),
		.output = { capture->out.data, capture->out.len },
		.errors = { capture->err.data, capture->err.len },
		.timed_out = capture->timed_out ? trial_within(trial->kit, trial->test) : 0,
	};
	const struct expectation *expect = &trial->test->expect;
	host_trial_judge_actor(trial);
	if (trial->has_problem)
		return 0;
	int r = judge_outside(trial->test, trial->scene.variables, &observed, trial->report);
	if (r == 0 && expect->started && trial->started.len)
		r = judge_text("how it was started", expect->started, trial->scene.variables,
			(struct str){ trial->started.data, trial->started.len }, trial->report);
	if (r == 0 && expect->state)
		r = host_trial_judge_state(trial);
	return capture->out_of_memory ? -ENOMEM : r;
}

/* ---- a trial -------------------------------------------------------------------- */

static int host_trial_open_pipe(struct host_trial *trial, perch_err *err)
{
	int fd = open(trial->scene.pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	trial->pipe = (struct source){ .fd = fd_above_stdio(fd < 0 ? -errno : fd),
		.ready = host_trial_pipe_ready };
	if (trial->pipe.fd < 0)
		return err_set(err, trial->pipe.fd, "%s cannot be opened: %s", trial->scene.pipe,
			perch_strerror(trial->pipe.fd));
	lines_init(&trial->lines, REPORT_LINE_MAX, host_trial_take_report, trial);
	return perch_json_new(NULL, &trial->json) < 0 ? err_no_memory(err) : 0;
}

static void host_trial_close_trial(struct host_trial *trial)
{
	bool is_broken_off = trial->capture && !trial->has_ended;
	capture_free(trial->capture);
	if (is_broken_off)
		left_behind_kill(trial->pipe.fd);
	fd_close(trial->pipe.fd);
	lines_free(&trial->lines);
	perch_json_free(trial->json);
	buf_free(&trial->started);
	scene_remove(&trial->scene);
}

int trial_of_host(struct kit *kit, const struct library_file *file,
	const struct conformance_case *test, const char *command, struct trial_report *report,
	perch_err *err)
{
	struct host_trial trial = { .kit = kit, .test = test, .report = report, .pipe.fd = -1 };
	const struct scene_spec spec = { kit->self, kit->protocol, file->text, test };
	int r = scene_make(&spec, &trial.scene, err);
	if (r == 0)
		r = host_trial_open_pipe(&trial, err);
	for (int64_t i = 0; r == 0 && i < test->runs; i++)
		r = host_trial_run_host(&trial, command, err);
	if (r == 0 && (host_trial_judge(&trial) < 0 || trial.started.failed))
		r = err_no_memory(err);
	host_trial_close_trial(&trial);
	return r < 0 ? r : judge_end(report, err);
}

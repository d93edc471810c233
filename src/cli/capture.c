/* Running a program and keeping what it says. */
#include "cli/capture.h"

#include <string.h>

#include "base/clock.h"
#include "cli/cli.h"

#define CAPTURE_TIMEOUT_NS (10 * NSEC_PER_SEC)

static const perch_step ladder[] = {
	{ PERCH_STEP_KILL, .after_ns = CAPTURE_TIMEOUT_NS },
};

static void on_line(perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	(void)child;
	(void)stream;
	struct capture *capture = data;
	if (line->number == 1)
		snprintf(capture->text, sizeof(capture->text), "%s", line->data);
}

static void on_ended(perch_child *child, void *data, const perch_result *result)
{
	((struct capture *)data)->result = *result;
	perch_child_free(child);
}

static const perch_child_events events = {
	.size = sizeof(events),
	.line = on_line,
	.ended = on_ended,
};

static int run_in(
	perch_host *host, const char *const *argv, struct capture *capture, perch_err *err)
{
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = argv;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	spec.stderr_mode = PERCH_OUTPUT_NULL;
	spec.ladder = ladder;
	spec.ladder_len = sizeof(ladder) / sizeof(ladder[0]);
	spec.events = &events;
	spec.data = capture;
	perch_child *child;
	int r = perch_child_start(host, &spec, &child, err);
	if (r < 0)
		return r;
	perch_child_stop(child);
	while (perch_host_children(host) && r >= 0)
		r = perch_host_wait(host, -1);
	return r < 0 ? r : 0;
}

int capture_run(
	const char *const *argv, perch_guard_mode guard, struct capture *ret_capture, perch_err *err)
{
	perch_host_options options = PERCH_HOST_OPTIONS_INIT;
	options.guard = guard;
	options.guard_path = cli_guard_path();
	options.die_with_thread = true;
	perch_host *host;
	int r = perch_host_new(&options, &host, err);
	if (r < 0)
		return r;
	struct capture capture = { 0 };
	r = run_in(host, argv, &capture, err);
	perch_host_free(host);
	if (r == 0)
		*ret_capture = capture;
	return r;
}

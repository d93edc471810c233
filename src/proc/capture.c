/* A command whose output is read into memory. */
#include "proc/capture.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/exit_status.h"
#include "base/macros.h"
#include "proc/host.h"

/* As many of the bytes as may be added to what has this weight; *ret_weight is theirs. */
static size_t capture_fitting(
	const struct capture_spec *spec, struct str bytes, size_t before, size_t *ret_weight)
{
	*ret_weight = bytes.len;
	if (!spec->weigh)
		return bytes.len;
	size_t room = spec->weight_limit - before;
	while ((*ret_weight = spec->weigh(bytes)) > room)
		bytes.len /= 2;
	return bytes.len;
}

/* Once something was left out nothing follows: there would be a hole. */
static void capture_keep(
	struct capture *capture, struct buf *buf, size_t *weight, bool *truncated, struct str bytes)
{
	if (*truncated)
		return;
	size_t len = bytes.len;
	size_t more;
	if (bytes.len > capture->spec.limit - buf->len)
		bytes.len = capture->spec.limit - buf->len;
	bytes.len = capture_fitting(&capture->spec, bytes, *weight, &more);
	*truncated = bytes.len < len;
	if (buf_append(buf, bytes.data, bytes.len) < 0) {
		capture->out_of_memory = true;
		return;
	}
	*weight += more;
	capture->metered += more;
	meter_add(capture->spec.meter, more);
}

static void capture_on_bytes(
	perch_child *child, void *data, perch_stream stream, const char *bytes, size_t len)
{
	struct capture *capture = data;
	const struct str more = { bytes, len };
	if (stream == PERCH_STDOUT)
		capture_keep(capture, &capture->out, &capture->out_weight, &capture->out_truncated, more);
	else
		capture_keep(capture, &capture->err, &capture->err_weight, &capture->err_truncated, more);
	if (capture->spec.first_byte)
		perch_child_signal(child, SIGKILL);
}

static void capture_on_exited(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	(void)result;
	struct capture *capture = data;
	timer_cancel(&capture->host->loop.timers, &capture->timer);
}

static void capture_on_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct capture *capture = data;
	capture->result = *result;
	capture->spec.done(capture->spec.data, capture);
}

static const perch_child_events events = {
	.size = sizeof(events),
	.bytes = capture_on_bytes,
	.exited = capture_on_exited,
	.ended = capture_on_ended,
};

static void capture_time_is_up(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct capture *capture = container_of(timer, struct capture, timer);
	capture->timed_out = true;
	perch_child_stop(capture->child);
}

static int capture_start_child(struct capture *capture, perch_err *err)
{
	const struct capture_spec *spec = &capture->spec;
	perch_child_spec child = PERCH_CHILD_SPEC_INIT;
	child.argv = spec->argv;
	child.program = spec->program;
	child.program_fd = spec->program_fd;
	child.env = spec->env;
	child.cwd = spec->cwd;
	child.confine = spec->confine;
	child.stdout_mode = PERCH_OUTPUT_BYTES;
	child.stderr_mode = spec->drop_stderr ? PERCH_OUTPUT_NULL : PERCH_OUTPUT_BYTES;
	ending_apply(spec->ending ? spec->ending : ENDING_COMMAND, &child);
	child.keep_group = spec->keep_group;
	child.events = &events;
	child.data = capture;
	return perch_child_start(capture->host, &child, &capture->child, err);
}

int capture_start(
	perch_host *host, const struct capture_spec *spec, struct capture **ret_capture, perch_err *err)
{
	struct capture *capture = calloc(1, sizeof(*capture));
	if (!capture || timers_promise(&host->loop.timers) < 0) {
		free(capture);
		return err_no_memory(err);
	}
	capture->spec = *spec;
	capture->host = host;
	capture->timer.due = capture_time_is_up;
	int r = capture_start_child(capture, err);
	if (r < 0) {
		capture_free(capture);
		return r;
	}
	if (spec->timeout_ns)
		timer_set(
			&host->loop.timers, &capture->timer, clock_after(clock_now_ns(), spec->timeout_ns));
	*ret_capture = capture;
	return 0;
}

void capture_forget(struct capture *capture)
{
	meter_take(capture->spec.meter, capture->metered);
	capture->metered = 0;
	buf_free(&capture->out);
	buf_free(&capture->err);
}

void capture_free(struct capture *capture)
{
	if (!capture)
		return;
	timer_cancel(&capture->host->loop.timers, &capture->timer);
	timers_release(&capture->host->loop.timers);
	perch_child_free(capture->child);
	capture_forget(capture);
	free(capture);
}

int capture_code(const struct capture *capture)
{
	if (capture->timed_out)
		return EXIT_TIMED_OUT;
	return exit_status_of(capture->result.signal, capture->result.exit_code);
}

/* perch inside a libuv loop: a uv_poll for the descriptor, a uv_timer for the
 * deadlines. Runs a program beside a ticking timer of the application's own and
 * stops it after three ticks.
 *
 *     cc libuv.c $(pkg-config --cflags --libs perch libuv) -o libuv
 *     ./libuv sh -c 'while :; do echo working; sleep 0.1; done' */
#include <perch/perch.h>

#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

struct app {
	perch_host *host;
	perch_child *child;
	uv_poll_t descriptor;
	uv_timer_t deadline;
	uv_timer_t ticker;
	int ticks;
	int status;
};

static void arm_deadline(struct app *app);

/* The one function that connects the two loops. */
static void dispatch(struct app *app)
{
	perch_host_dispatch(app->host);
	arm_deadline(app);
}

static void on_readable(uv_poll_t *handle, int status, int events)
{
	(void)status;
	(void)events;
	dispatch(handle->data);
}

static void on_deadline(uv_timer_t *handle)
{
	dispatch(handle->data);
}

/* Must follow every call into perch: each may have set a deadline. */
static void arm_deadline(struct app *app)
{
	int ms = perch_host_timeout(app->host);
	if (ms < 0)
		uv_timer_stop(&app->deadline);
	else
		uv_timer_start(&app->deadline, on_deadline, (uint64_t)ms, 0);
}

static void on_line(perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	(void)child;
	(void)data;
	(void)stream;
	printf("child: %s\n", line->data);
}

static void on_ended(perch_child *child, void *data, const perch_result *result)
{
	struct app *app = data;
	printf("ended: exit code %d, signal %d\n", result->exit_code, result->signal);
	app->status = result->signal ? 128 + result->signal : result->exit_code;
	perch_child_free(child);
	app->child = NULL;
	uv_stop(app->descriptor.loop);
}

static const perch_child_events events = {
	.size = sizeof(events),
	.line = on_line,
	.ended = on_ended,
};

static void on_tick(uv_timer_t *handle)
{
	struct app *app = handle->data;
	printf("tick %d\n", ++app->ticks);
	if (app->ticks == 3 && app->child)
		perch_child_stop(app->child);
	arm_deadline(app);
}

static int start(struct app *app, char **argv)
{
	perch_err err = { 0 };
	perch_host_options options = PERCH_HOST_OPTIONS_INIT;
	options.guard_path = getenv("PERCH_GUARD"); /* NULL = the installed one */
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = (const char *const *)argv;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	spec.events = &events;
	spec.data = app;
	if (perch_host_new(&options, &app->host, &err) < 0 ||
		perch_child_start(app->host, &spec, &app->child, &err) < 0) {
		fprintf(stderr, "error: %s\n", err.text);
		perch_host_free(app->host);
		return 125;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct app app = { 0 };
	if (argc < 2) {
		fprintf(stderr, "usage: libuv PROGRAM [ARGUMENT…]\n");
		return 64;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	int r = start(&app, argv + 1);
	if (r)
		return r;
	uv_loop_t *loop = uv_default_loop();
	uv_poll_init(loop, &app.descriptor, perch_host_fd(app.host));
	uv_timer_init(loop, &app.deadline);
	uv_timer_init(loop, &app.ticker);
	app.descriptor.data = app.deadline.data = app.ticker.data = &app;
	uv_poll_start(&app.descriptor, UV_READABLE, on_readable);
	uv_timer_start(&app.ticker, on_tick, 200, 200);
	arm_deadline(&app);
	uv_run(loop, UV_RUN_DEFAULT);

	uv_close((uv_handle_t *)&app.descriptor, NULL);
	uv_close((uv_handle_t *)&app.deadline, NULL);
	uv_close((uv_handle_t *)&app.ticker, NULL);
	uv_run(loop, UV_RUN_DEFAULT);
	uv_loop_close(loop);
	perch_host_free(app.host);
	return app.status;
}

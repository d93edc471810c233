/* Lines of perch on stdin, the engine, libcurl, lines for perch on stdout. */
#include "remote/remote_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "perch/host.h"
#include "stdio/client.h"

struct remote_run {
	perch_host *host;
	struct remote *remote;
	struct transfers *transfers;
	struct stdio_input input;
	struct stdio_output output;
	struct stdio_parent parent;
	perch_timer *timer;
	bool is_held;
};

/* ---- the engine ------------------------------------------------------------------- */

static void remote_run_begin(
	void *data, struct remote_exchange *exchange, const struct remote_request *request)
{
	struct remote_run *run = data;
	transfers_begin(run->transfers, exchange, request);
}

static void remote_run_give_up(void *data, struct remote_exchange *exchange)
{
	(void)data;
	transfers_give_up(exchange);
}

/* perch keeps progress and results apart by itself: no gaps between them. */
static void remote_run_write(void *data, struct str line)
{
	struct remote_run *run = data;
	stdio_output_take(&run->output, line, false);
}

static void remote_run_note(void *data, struct str text)
{
	(void)data;
	fprintf(stderr, "perch-remote: %.*s\n", (int)text.len, text.data);
}

static const struct remote_table remote_run_table = {
	.begin = remote_run_begin,
	.give_up = remote_run_give_up,
	.write = remote_run_write,
	.note = remote_run_note,
};

/* ---- the loop ----------------------------------------------------------------------- */

static void remote_run_tick(void *data)
{
	const struct remote_run *run = data;
	remote_tick(run->remote, clock_now_ns());
}

static void remote_run_due(perch_timer *timer, void *data)
{
	(void)timer;
	remote_run_tick(data);
}

static bool remote_run_line(void *data, struct str line, bool is_too_long)
{
	struct remote_run *run = data;
	remote_run_tick(run);
	remote_line(run->remote, line, is_too_long);
	return true;
}

static void remote_run_left(void *data)
{
	struct remote_run *run = data;
	remote_run_tick(run);
	stdio_input_stop(&run->input);
	remote_leave(run->remote);
}

/* What cannot be done in the middle of something else. */
static void remote_run_settle(struct remote_run *run)
{
	size_t waiting = stdio_output_waiting(&run->output);
	bool is_held =
		waiting >= STDIO_OUTPUT_FULL || (run->is_held && waiting > STDIO_OUTPUT_FULL / 2);
	if (run->output.error)
		remote_run_left(run);
	if (is_held != run->is_held) {
		run->is_held = is_held;
		transfers_hold(run->transfers, is_held);
	}
	remote_settle(run->remote);
	uint64_t due_ns = remote_deadline(run->remote), now_ns = clock_now_ns();
	perch_timer_set(run->timer, due_ns == NEVER ? NEVER : due_ns > now_ns ? due_ns - now_ns : 0);
}

/* The last words of a broken one are still to be read. */
static bool remote_run_is_over(const struct remote_run *run)
{
	bool is_said = run->output.error || !stdio_output_waiting(&run->output);
	if (remote_is_broken(run->remote))
		return is_said || run->input.has_ended;
	return run->input.has_ended && remote_is_idle(run->remote);
}

static int remote_run_wait(struct remote_run *run)
{
	int r = 0;
	remote_run_settle(run);
	while (r >= 0 && !remote_run_is_over(run)) {
		r = perch_host_wait(run->host, -1);
		remote_run_settle(run);
	}
	if (r < 0)
		return r;
	return remote_is_broken(run->remote) ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- life ----------------------------------------------------------------------------- */

static int remote_run_open(struct remote_run *run, int input, int output,
	const struct transfers_options *options, const char *const *headers, perch_err *err)
{
	run->input = (struct stdio_input){
		.line_max = MCP_LINE_MAX,
		.take = remote_run_line,
		.ended = remote_run_left,
		.data = run,
	};
	run->parent = (struct stdio_parent){ .fd = -1, .left = remote_run_left, .data = run };
	int r = perch_host_new(NULL, &run->host, err);
	if (r == 0)
		r = perch_timer_new(run->host, remote_run_due, run, &run->timer, err);
	if (r == 0)
		r = transfers_new(run->host, options, remote_run_tick, run, &run->transfers, err);
	if (r == 0 && remote_new(headers, &remote_run_table, run, &run->remote) < 0)
		r = err_no_memory(err);
	if (r == 0)
		r = stdio_output_open(&run->output, run->host, output, err);
	if (r == 0)
		r = stdio_input_open(&run->input, run->host, input, err);
	if (r == 0)
		stdio_parent_watch(&run->parent, run->host);
	return r;
}

static void remote_run_close(struct remote_run *run)
{
	remote_free(run->remote);
	transfers_free(run->transfers);
	stdio_parent_close(&run->parent);
	stdio_input_close(&run->input);
	stdio_output_close(&run->output);
	perch_timer_free(run->timer);
	perch_host_free(run->host);
}

int remote_run(int input, int output, const struct transfers_options *options,
	const char *const *headers, perch_err *err)
{
	struct remote_run run = { 0 };
	int r = remote_run_open(&run, input, output, options, headers, err);
	if (r == 0)
		r = remote_run_wait(&run);
	remote_run_close(&run);
	return r;
}

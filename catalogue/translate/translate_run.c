/* The program that is translated: started, read line by line, its end awaited. */
#include "translate.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#include "perch/host.h"

enum { GOSSIP_MAX = 64 * 1024 };

struct translate_end {
	bool is_over;
	int status;
};

/* What a callback is given. */
struct translate_child {
	struct translation *translation;
	struct translate_end end;
};

static void translate_run_line(
	perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	(void)child, (void)stream;
	struct translate_child *own = data;
	own->translation->format->line(own->translation, (struct str){ line->data, line->len });
}

/* Passed on, for --verbose; and kept, for why it failed. */
static void translate_run_gossip(
	perch_child *child, void *data, perch_stream stream, const char *bytes, size_t len)
{
	(void)child, (void)stream;
	struct translate_child *own = data;
	struct buf *gossip = &own->translation->gossip;
	fwrite(bytes, 1, len, stderr);
	if (gossip->len > GOSSIP_MAX)
		buf_clear(gossip);
	buf_append(gossip, bytes, len);
}

static void translate_run_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct translate_child *own = data;
	own->end.is_over = true;
	own->end.status = result->signal ? 128 + result->signal : result->exit_code;
}

static const perch_child_events translate_events = {
	.size = sizeof(perch_child_events),
	.line = translate_run_line,
	.bytes = translate_run_gossip,
	.ended = translate_run_ended,
};

/* In our process group, so that whoever ends us ends it too. */
static int translate_run_start(
	struct translate_child *own, perch_host *host, perch_child **ret_child, perch_err *err)
{
	const struct buf *input = &own->translation->input;
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = own->translation->argv;
	spec.stdin_mode = input->len ? PERCH_STDIN_PIPE : PERCH_STDIN_NULL;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	spec.stderr_mode = PERCH_OUTPUT_BYTES;
	spec.session = PERCH_SESSION_SHARED;
	spec.write_limit = SIZE_MAX / 2;
	spec.events = &translate_events;
	spec.data = own;
	int r = perch_child_start(host, &spec, ret_child, err);
	if (r == 0 && input->len) {
		perch_child_write(*ret_child, input->data, input->len);
		perch_child_close_stdin(*ret_child);
	}
	return r;
}

int translate_run(struct translation *translation)
{
	struct translate_child own = { .translation = translation };
	perch_host_options options = PERCH_HOST_OPTIONS_INIT;
	perch_host *host = NULL;
	perch_child *child = NULL;
	perch_err err = { 0 };
	options.guard = PERCH_GUARD_OFF; /* perch itself ends all of us */
	options.die_with_thread = true;
	int r = perch_host_new(&options, &host, &err);
	if (r == 0)
		r = translate_run_start(&own, host, &child, &err);
	if (r < 0)
		translate_fail(translation, str_from(err.text));
	while (r >= 0 && !own.end.is_over)
		r = perch_host_wait(host, -1);
	perch_child_free(child);
	perch_host_free(host);
	return r < 0 ? -1 : own.end.status;
}

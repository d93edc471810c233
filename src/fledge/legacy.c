/* A plugin without a protocol. */
#include "fledge/fledge_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exit_status.h"
#include "base/utf8.h"
#include "fledge/denials.h"
#include "proc/ladder.h"
#include "sandbox/policy/explain.h"

struct legacy {
	perch_child *child;
	struct buf said; /* a character whose end is still to come */
	const struct fledge_run_options *options;
	bool tells_output;
};

static void legacy_show(struct legacy *legacy, perch_shown_kind kind, struct str text)
{
	struct frontend *frontend = legacy->options->frontend;
	const struct shown shown = {
		.kind = kind,
		.text = text,
		.plugin = str_from(legacy->options->plugin_name),
	};
	if (text.len)
		frontend->table->show(frontend, &shown);
}

static void legacy_show_said(struct legacy *legacy, size_t len)
{
	legacy_show(legacy, PERCH_SHOWN_OUTPUT, (struct str){ legacy->said.data, len });
	buf_consume(&legacy->said, len);
}

static void legacy_bytes(
	perch_child *child, void *data, perch_stream stream, const char *bytes, size_t len)
{
	(void)child;
	(void)stream;
	struct legacy *legacy = data;
	if (buf_append(&legacy->said, bytes, len) == 0)
		legacy_show_said(legacy, utf8_whole_prefix(legacy->said.data, legacy->said.len));
}

static void legacy_closed(perch_child *child, void *data, perch_stream stream)
{
	(void)child;
	(void)stream;
	struct legacy *legacy = data;
	legacy_show_said(legacy, legacy->said.len);
}

/* Its output was not ours to read. */
static void legacy_explain(struct legacy *legacy)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	_cleanup_(buf_free) struct buf denied = { 0 };
	if (legacy->options->explain)
		explain_end(legacy->options->explain, STR(""), &text);
	legacy_show(legacy, PERCH_SHOWN_DEBUG, (struct str){ text.data, text.len });
	struct denials *kept = denials_new(legacy->options->denials);
	if (denials_say(kept, true, &denied))
		legacy_show(legacy, PERCH_SHOWN_WARNING, (struct str){ denied.data, denied.len });
	denials_free(kept);
}

static void legacy_tell_failure(struct legacy *legacy, int code)
{
	char text[512];
	int len = snprintf(text, sizeof(text), "Plugin '%.400s' exited with code %d",
		legacy->options->plugin_name, code);
	legacy_show(legacy, PERCH_SHOWN_ERROR, (struct str){ text, (size_t)len });
	legacy_explain(legacy);
}

static void legacy_on_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct legacy *legacy = data;
	int code = exit_status_of(result->signal, result->exit_code);
	struct frontend *frontend = legacy->options->frontend;
	const perch_fledge_end outcome = {
		.success = code == 0,
		.exit_code = code,
		.signal = result->signal,
		.duration_ns = result->duration_ns,
		.reach = result->reach,
		.background = result->background,
		.sandbox = legacy->options->layers,
	};
	if (code != 0)
		legacy_tell_failure(legacy, code);
	frontend->table->done(frontend, &outcome);
}

static const perch_child_events events = {
	.size = sizeof(events),
	.bytes = legacy_bytes,
	.closed = legacy_closed,
	.ended = legacy_on_ended,
};

int legacy_start(perch_host *host, const struct fledge_run_options *options, bool tells_output,
	struct legacy **ret_legacy, perch_err *err)
{
	struct legacy *legacy = calloc(1, sizeof(*legacy));
	if (!legacy)
		return err_no_memory(err);
	legacy->options = options;
	legacy->tells_output = tells_output;
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = options->args;
	spec.program = options->path;
	spec.env = options->env;
	spec.confine = options->confine;
	spec.stdin_mode = PERCH_STDIN_INHERIT;
	spec.stdout_mode = tells_output ? PERCH_OUTPUT_BYTES : PERCH_OUTPUT_INHERIT;
	ending_apply(tells_output ? ENDING_LEGACY : ENDING_DEFAULT, &spec);
	spec.session = PERCH_SESSION_SHARED;
	spec.events = &events;
	spec.data = legacy;
	int r = perch_child_start(host, &spec, &legacy->child, err);
	if (r < 0) {
		free(legacy);
		return r;
	}
	*ret_legacy = legacy;
	return 0;
}

void legacy_signal(struct legacy *legacy, int signal)
{
	perch_child_signal(legacy->child, signal);
}

void legacy_hold(struct legacy *legacy, bool is_held)
{
	if (!legacy->tells_output)
		return;
	if (is_held)
		perch_child_pause(legacy->child, PERCH_STDOUT);
	else
		perch_child_resume(legacy->child, PERCH_STDOUT);
}

void legacy_free(struct legacy *legacy)
{
	if (!legacy)
		return;
	perch_child_free(legacy->child);
	buf_free(&legacy->said);
	free(legacy);
}

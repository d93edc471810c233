/* A plugin without a protocol. */
#include "fledge/fledge_run.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/exit_status.h"
#include "base/utf8.h"
#include "proc/ladder.h"

struct legacy {
	perch_child *child;
	struct buf said; /* a character whose end is still to come */
	const struct fledge_run_options *options;
	bool has_ended;
	perch_fledge_end outcome;
};

static void legacy_show(struct legacy *legacy, size_t len)
{
	struct frontend *frontend = legacy->options->frontend;
	if (!len)
		return;
	const struct shown shown = {
		.kind = PERCH_SHOWN_OUTPUT,
		.text = { legacy->said.data, len },
		.plugin = str_from(legacy->options->plugin_name),
	};
	frontend->table->show(frontend, &shown);
	buf_consume(&legacy->said, len);
}

static void legacy_bytes(
	perch_child *child, void *data, perch_stream stream, const char *bytes, size_t len)
{
	(void)child;
	(void)stream;
	struct legacy *legacy = data;
	if (buf_append(&legacy->said, bytes, len) == 0)
		legacy_show(legacy, utf8_whole_prefix(legacy->said.data, legacy->said.len));
}

static void legacy_closed(perch_child *child, void *data, perch_stream stream)
{
	(void)child;
	(void)stream;
	struct legacy *legacy = data;
	legacy_show(legacy, legacy->said.len);
}

static void legacy_on_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct legacy *legacy = data;
	int code = exit_status_of(result->signal, result->exit_code);
	legacy->has_ended = true;
	legacy->outcome = (perch_fledge_end){
		.success = code == 0,
		.exit_code = code,
		.signal = result->signal,
		.duration_ns = result->duration_ns,
		.reach = result->reach,
		.background = result->background,
		.sandbox = legacy->options->layers,
	};
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

const perch_fledge_end *legacy_outcome(const struct legacy *legacy)
{
	return legacy->has_ended ? &legacy->outcome : NULL;
}

void legacy_free(struct legacy *legacy)
{
	if (!legacy)
		return;
	perch_child_free(legacy->child);
	buf_free(&legacy->said);
	free(legacy);
}

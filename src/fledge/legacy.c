/* A plugin without a protocol. */
#include "fledge/legacy.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "proc/tail.h"

#define STDERR_LINGER_NS (100 * NSEC_PER_MSEC)

struct legacy {
	perch_child *child;
	const struct fledge_run_options *options;
	struct tail said; /* on stderr, where that is read */
	bool has_ended;
	struct outcome outcome;
};

static void on_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct legacy *legacy = data;
	int code = result->signal ? 128 + result->signal : result->exit_code;
	legacy->has_ended = true;
	legacy->outcome = (struct outcome){
		.success = code == 0,
		.exit_code = code,
		.signal = result->signal,
		.duration_ns = result->duration_ns,
		.reach = result->reach,
		.sandbox = legacy->options->layers,
	};
}

static void on_bytes(
	perch_child *child, void *data, perch_stream stream, const char *bytes, size_t len)
{
	(void)child;
	(void)stream;
	struct legacy *legacy = data;
	tail_append(&legacy->said, bytes, len);
	legacy->options->stderr_bytes(legacy->options->stderr_data, bytes, len);
}

static const perch_child_events events = {
	.size = sizeof(events),
	.bytes = on_bytes,
	.ended = on_ended,
};

int legacy_start(perch_host *host, const struct fledge_run_options *options,
	struct legacy **ret_legacy, perch_err *err)
{
	struct legacy *legacy = calloc(1, sizeof(*legacy));
	if (!legacy)
		return err_no_memory(err);
	legacy->options = options;
	legacy->said.limit = FLEDGE_SAID_KEPT;
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = options->args;
	spec.program = options->path;
	spec.env = options->env;
	spec.confine = options->confine;
	spec.stdin_mode = PERCH_STDIN_INHERIT;
	spec.session = PERCH_SESSION_SHARED;
	if (options->stderr_bytes) {
		spec.stderr_mode = PERCH_OUTPUT_BYTES;
		spec.linger_ns = STDERR_LINGER_NS;
	}
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

const struct outcome *legacy_outcome(const struct legacy *legacy)
{
	return legacy->has_ended ? &legacy->outcome : NULL;
}

struct str legacy_said(const struct legacy *legacy)
{
	return tail_text(&legacy->said);
}

void legacy_free(struct legacy *legacy)
{
	if (!legacy)
		return;
	perch_child_free(legacy->child);
	buf_free(&legacy->said.kept);
	free(legacy);
}

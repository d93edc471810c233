/* A plugin without a protocol. */
#include "fledge/legacy.h"

#include <stdlib.h>

#include "base/err.h"

struct legacy {
	perch_child *child;
	const struct fledge_run_options *options;
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

static const perch_child_events events = { .size = sizeof(events), .ended = on_ended };

int legacy_start(perch_host *host, const struct fledge_run_options *options,
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

const struct outcome *legacy_outcome(const struct legacy *legacy)
{
	return legacy->has_ended ? &legacy->outcome : NULL;
}

void legacy_free(struct legacy *legacy)
{
	if (!legacy)
		return;
	perch_child_free(legacy->child);
	free(legacy);
}

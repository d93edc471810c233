/* A plugin without a protocol: our streams, our session, our process group, in a sandbox or not. It
 * has the terminal to itself; we only wait. Where stdout is not for people (--json), its output is
 * told by events, so that no line of it passes for an event. */
#ifndef FLEDGE_LEGACY_H
#define FLEDGE_LEGACY_H

#include "fledge/fledge_run.h"

struct legacy;

/* Starts it; options->args begins with its argv[0], and options must outlive it. With
 * tells_output its stdout is shown by options->frontend. Fails as perch_child_start does. */
int legacy_start(perch_host *host, const struct fledge_run_options *options, bool tells_output,
	struct legacy **ret_legacy, perch_err *err);

/* Passes a signal on that was sent to us alone. */
void legacy_signal(struct legacy *legacy, int signal);

/* NULL until it has exited. */
const perch_fledge_end *legacy_outcome(const struct legacy *legacy);

void legacy_free(struct legacy *legacy);

#endif

/* What a trace records of a run: how it began, every input of the engine that was no line of the
 * plugin, how it ended. With the lines, that is all an engine was ever told, so a replay can tell
 * another one the same. The names of the events and their facts are in docs/trace.md. */
#ifndef FLEDGE_FLEDGE_NOTES_H
#define FLEDGE_FLEDGE_NOTES_H

#include "fledge/fledge_run.h"
#include "trace/trace.h"

/* The protocol by its name in a trace. */
#define FLEDGE_TRACE_NAME "fledge-v1"

/* "ask", "defaults", "strict". */
const char *fledge_asking_name(enum fledge_asking asking);

/* Before the process is started. */
void fledge_note_start(struct trace *trace, const struct fledge_run_options *options,
	const struct fledge_engine_options *engine);

/* The user's answer to a question of the plugin. */
void fledge_note_answer(struct trace *trace, const struct answer *answer);

void fledge_note_interrupt(struct trace *trace, int signal);
void fledge_note_exit(struct trace *trace, const perch_result *result);

/* The exit code of a run: interrupted_by (0 = not) comes first, then the signal or the status of
 * the plugin; a run whose questions could not be answered has failed. */
int fledge_exit_code(int interrupted_by, int status, int signal, bool has_failed);

/* The exit code of the whole run, the last event. */
void fledge_note_end(struct trace *trace, int exit_code);

#endif

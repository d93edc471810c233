/* For tests of the fledge-v1 engine: lines go in, and what it does about them is written down. */
#ifndef HARNESS_TRANSCRIPT_H
#define HARNESS_TRANSCRIPT_H

#include "base/buf.h"
#include "fledge/fledge_engine.h"

/* A transcript: one line per effect.
 *   > line         sent to the plugin
 *   show KIND text, ask N KIND, withdraw, store T k=v, load T k, exec T cmd,
 *   metadata T keys, drop T, stop, hold 0|1 */
struct transcript {
	struct buf text;
	struct fledge_engine_options options; /* the engine points to them */
	struct fledge_engine *engine;
	bool answers_at_once; /* load, store and exec get their result in the call */
	uint64_t last_ticket;
	perch_question question; /* the open one */
};

/* What notes it; the data is a transcript. */
extern const struct fledge_effects transcript_effects;

/* A plugin that may do everything, and five questions ("Given text" …) answered beforehand. */
struct fledge_engine_options transcript_options(enum fledge_asking asking);

/* With these options, or with others. */
void transcript_begin(struct transcript *t, enum fledge_asking asking);
void transcript_begin_with(struct transcript *t, struct fledge_engine_options options);
void transcript_end(struct transcript *t);
void transcript_line(struct transcript *t, const char *text);

/* From now on nothing is answered at once, and a command runs whose result is still to come:
 * what is asked behind it waits. Returns its ticket. */
uint64_t transcript_hold_up(struct transcript *t);

/* What was noted since the last time must be this. */
void transcript_expect(struct transcript *t, const char *expected);

/* The same for one case of a table, which is named. */
void transcript_expect_case(struct transcript *t, const char *name, const char *expected);

#endif

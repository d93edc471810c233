/* For tests of plugins through the public API: an embedder, and what it was told of a run. */
#ifndef HARNESS_TOLD_H
#define HARNESS_TOLD_H

#include "harness/embedder.h"

/* The log, in short: "kind:text " for everything but debug. */
struct told {
	struct buf log;
	struct buf err;
	perch_fledge_end end;
	bool has_ended;
	bool has_sandbox;
	unsigned withdrawn;
	void (*answer)(perch_fledge_run *run, const perch_question *question);
	int cancels_by; /* a signal, when something is shown */
	bool frees;     /* the run, at its end */
};

/* What writes it down; the data is a told. */
extern const perch_fledge_events told_events;

/* The embedder, and its end, when no process may be left. */
void told_begin(void);
void told_end(struct told *told);
perch_host *told_host(void);

/* Starts a plugin, or fails the test; told_events are its events unless there are others. */
perch_fledge_run *told_start(const perch_fledge_options *options, struct told *told);

/* Runs one to its end and frees it. Returns the log, with a NUL behind it. */
const char *told_run(const perch_fledge_options *options, struct told *told);

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

#endif

/* Recording what host and plugin say to each other, as NDJSON:
 *
 *     {"trace":1,"perch":"0.1.0","command":"deploy","args":["staging"]}
 *     {"t":0.001042,"dir":"in","line":"{\"type\":\"init\",…"}
 *     {"t":0.020113,"dir":"out","line":"…","masked":true}
 *     {"t":0.020200,"dir":"host","line":"exec: make"}
 *
 * `t` is seconds since the trace was opened. A line that is not UTF-8 stands
 * under "base64" instead of "line". Every function accepts NULL, a trace that
 * nobody wants. */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "perch/base.h"

struct trace;

enum trace_direction {
	TRACE_TO_PLUGIN,   /* "in", as its stdin */
	TRACE_FROM_PLUGIN, /* "out", as its stdout */
	TRACE_PLUGIN_ERR,  /* "err": a line of its stderr, where the host reads that */
	TRACE_HOST,        /* "host": what the host did */
};

/* Opens a file anew, for its owner alone (0600), never through a link; "-" is
 * stderr. Without `secrets`, values that are stored, loaded, or of the
 * environment are masked: stars of the same length, and the line says so.
 * Fails with -ELOOP (a link), -EINVAL (a directory, a socket …), other errnos. */
int trace_open(const char *path, bool secrets, struct trace **ret_trace, perch_err *err);

typedef void trace_heard_fn(void *data, enum trace_direction direction, struct str line);

/* A trace that writes nothing: whoever listens gets every line as it comes, with
 * nothing masked, and the host's notes. -ENOMEM. */
int trace_listen(trace_heard_fn *heard, void *data, struct trace **ret_trace);

/* The first line: what is run. args is NULL-terminated. */
void trace_start(struct trace *trace, const char *command, const char *const *args);

/* A line in one of the directions; a newline at its end does not count. */
void trace_line(struct trace *trace, enum trace_direction direction, const char *data, size_t len);

/* What the host did, in words. */
void trace_note(struct trace *trace, const char *format, ...) PERCH_PRINTF(2, 3);

/* Before the host waits: writes what is recorded. When that failed, now or
 * before, tracing is off from there on and the run goes on: the error is
 * returned once, for a warning; afterwards 0. */
int trace_flush(struct trace *trace, perch_err *err);

/* Flushes (and returns what trace_flush does) and frees. */
int trace_close(struct trace *trace, perch_err *err);

#endif

/* Recording what host and plugin say to each other, as NDJSON:
 *
 *     {"trace":1,"perch":"0.1.0","command":"deploy","args":["staging"]}
 *     {"t":0.001042,"dir":"in","line":"{\"type\":\"init\",…"}
 *     {"t":0.020113,"dir":"out","line":"…","masked":true}
 *     {"t":0.020200,"dir":"host","line":"runs: make"}
 *     {"t":0.310021,"dir":"host","event":"exit","facts":{"status":0},"line":"exited …"}
 *
 * `t` is seconds since the trace was opened. A line that is not UTF-8 stands
 * under "base64" instead of "line". What the host did is a note, in words; where a
 * replay needs it, it is an event with facts. Every function accepts NULL: then nothing
 * is recorded. */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "perch/child.h"
#include "trace/facts.h"

struct trace;

enum trace_direction {
	TRACE_TO_PLUGIN,   /* "in", as its stdin */
	TRACE_FROM_PLUGIN, /* "out", as its stdout */
	TRACE_PLUGIN_ERR,  /* "err": a line of its stderr, where the host reads that */
	TRACE_HOST,        /* "host": what the host did */
};

enum { TRACE_DIRECTIONS = TRACE_HOST + 1 };

/* "in", "out", "err", "host". */
const char *trace_direction_name(enum trace_direction direction);

/* Opens a file anew, for its owner alone (0600), never through a link; "-" is
 * stderr. Without `secrets`, values that are stored, loaded, or of the
 * environment are masked (fledge-v1): stars of the same length, and the line says so.
 * Fails with -ELOOP (a link), -EINVAL (a directory, a socket …), other errnos. */
int trace_open(const char *path, bool secrets, struct trace **ret_trace, perch_err *err);

/* An entry while it is recorded. */
struct trace_entry {
	enum trace_direction direction;
	struct str line;
	bool is_masked;
	bool is_cut;      /* too long: only its start */
	bool is_open;     /* it has no newline at its end */
	struct str event; /* empty = a line, or a note */
	struct str facts; /* of an event: a JSON object */
};

typedef void trace_heard_fn(void *data, const struct trace_entry *entry);

/* A trace that writes nothing: the listener gets every line as it comes, with
 * nothing masked, and the host's notes and events. -ENOMEM. */
int trace_listen(trace_heard_fn *heard, void *data, struct trace **ret_trace);

/* A part of a trace, for one of several that speak at the same time: each is masked by itself. It
 * ends by trace_close, before the whole does. NULL where nothing is recorded; without memory, from
 * here on. */
struct trace *trace_part(struct trace *trace);

/* Masks nothing from here on: a line of another protocol than fledge-v1 neither stores nor loads,
 * even if it looks as if it did. */
void trace_unmask(struct trace *trace);

/* The same, but for the values of variables and headers of the MCP servers that an agent is told
 * of. */
void trace_of_agent(struct trace *trace);

/* What is to be recorded of a line that an agent is told, until the next line is. */
struct str trace_agent_text(struct trace *trace, struct str line);

/* The first line: what is run. args is NULL-terminated. */
void trace_start(struct trace *trace, const char *command, const char *const *args);

/* A line in one of the directions; a newline at its end does not count. */
void trace_line(struct trace *trace, enum trace_direction direction, const char *data, size_t len);

/* A line of a child, as it was read. */
void trace_child_line(struct trace *trace, enum trace_direction direction, const perch_line *line);

/* What came on stderr where the host does not read it by lines: every byte of it. */
void trace_child_bytes(struct trace *trace, const char *bytes, size_t len);

/* What the host did, in words. */
void trace_note(struct trace *trace, const char *format, ...) PERCH_PRINTF(2, 3);

/* The same with facts for a replay (see trace/facts.h). */
void trace_event(struct trace *trace, const char *event, const struct trace_fact *facts,
	const char *format, ...) PERCH_PRINTF(4, 5);

/* The event "failed": why no process was started. */
void trace_failure(struct trace *trace, const char *why);

/* The event "result": the JSON that a request of the plugin will be answered with. Masked like the
 * answer. */
void trace_result(struct trace *trace, uint64_t ticket, struct str json);

/* Has `wants` called whenever something is recorded and nothing was waiting to be written, for
 * callers that flush from a loop. */
void trace_call_when_waiting(struct trace *trace, void (*wants)(void *data), void *data);

/* Before the host waits: writes what is recorded. When that failed, now or
 * before, tracing is off from there on and the run goes on: the error is
 * returned once, for a warning; afterwards 0. */
int trace_flush(struct trace *trace, perch_err *err);

/* Flushes (and returns what trace_flush does) and frees. */
int trace_close(struct trace *trace, perch_err *err);

#endif

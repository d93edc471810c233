/* For tests of the trace: one in a folder of the test's own, and what it says. */
#ifndef HARNESS_TRACED_H
#define HARNESS_TRACED_H

#include "perch/json.h"
#include "trace/trace.h"

/* Where it is, in the folder (folder.h). */
const char *traced_path(void);

/* Opens it; secrets are kept when they are wanted. */
struct trace *traced_open(bool secrets);
void traced_put(struct trace *trace, enum trace_direction direction, const char *line);

/* Reads the trace; the n-th line, parsed, in *ret_root. Valid until the next one is read; the
 * caller frees. */
perch_json *traced_line(unsigned n, const perch_json_value **ret_root);

/* The n-th line says exactly this. */
void traced_expect(
	unsigned n, const char *direction, const char *key, const char *line, bool masked);

#endif

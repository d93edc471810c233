/* For tests with real tool plugins: tests/children/tool and how it is bound. */
#ifndef HARNESS_TOOL_H
#define HARNESS_TOOL_H

#include "base/buf.h"
#include "harness/proc.h"
#include "tool/call.h"

/* A host whose plugins live in a folder of the test's own; and its end, with the
 * proof that no process and no directory was left. */
perch_host *tool_begin(void);
void tool_finish(perch_host *host);

/* Whether this is a part of a text. */
bool tool_says(perch_text text, const char *part);

/* tests/children/tool of this build. */
const char *tool_path(void);

/* A binding of it, with clocks that no slow machine can reach. args end with NULL
 * and must outlive it. */
struct tool_binding tool_bind(const char *const *args);

#define TOOL(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* A call that is waited for. */
struct called {
	struct tool_call *call;
	bool is_done;
	struct buf err; /* what came of stderr */
};

/* Options for it: tool t.x, no input. */
struct tool_call_options tool_options(const struct tool_binding *binding, struct called *called);

/* Starts it, or fails the test. */
void tool_start(perch_host *host, const struct tool_call_options *options, struct called *called);

/* Runs the loop until it is done. */
const perch_tool_result *tool_wait(perch_host *host, struct called *called);

/* Both, with the options of tool_options. */
const perch_tool_result *tool_run(
	perch_host *host, const struct tool_binding *binding, struct called *called);

void tool_end(struct called *called);

#endif

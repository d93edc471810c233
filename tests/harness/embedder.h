/* A program that embeds the library, by its public headers alone: one plugin, one
 * tool and one agent to run, all of them static programs of this build. */
#ifndef HARNESS_EMBEDDER_H
#define HARNESS_EMBEDDER_H

#include "base/buf.h"
#include "perch/perch.h"

struct embedder {
	perch_host *host;
	perch_tool_binding *binding;
	perch_agent_profile *profile;
	bool is_sandboxed; /* the plugin, in its default sandbox */
};

/* Writes the files that all embedders of this process share, and points TMPDIR, HOME
 * and the XDG directories into the test's folder. Once, before any thread. */
void embedder_furnish(void);

/* Makes a host and what it runs, or fails the test. */
struct embedder embedder_open(void);
void embedder_close(struct embedder *embedder);

/* Options for tests/children/plugin, with these arguments; without a sandbox. */
perch_fledge_options embedder_options(const char *const *args);

/* Each runs one to its end and frees it; whether it did what it should. */
bool embedder_run_plugin(const struct embedder *embedder);
bool embedder_run_tool(const struct embedder *embedder);
bool embedder_run_agent(const struct embedder *embedder);

#endif

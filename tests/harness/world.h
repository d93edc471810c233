/* For tests of the agent's engine: it is fed with text, and everything that it wants is written
 * down. */
#ifndef HARNESS_WORLD_H
#define HARNESS_WORLD_H

#include "agent/agent_engine.h"
#include "base/buf.h"

/* Everything that was wanted, in words: p(text), s(id), w(start of it), ?(id),
 * >line, hang, stop. */
struct world {
	struct buf log;
	struct agent_engine *engine;
	bool keeps_raw;
	bool denies;
};

/* Streaming, with the limits that a turn has; and the end of a process that went well. */
struct agent_engine_options world_options(const struct dialect *dialect);
extern const struct agent_exit clean_exit;

void world_open(struct world *world, struct agent_engine_options options);
void world_close(struct world *world);

/* Feeds a text as lines.c would cut it. */
void world_feed(struct world *world, struct str text);

/* What a turn came to, into the log: "#code!error:text…=reply". */
void world_conclude(struct world *world, struct agent_exit exit);
const char *world_log(struct world *world);

/* A line of 0.4 that asks for permission. */
#define WORLD_ASK(id)                                       \
	"{\"type\":\"permission_request\",\"request_id\":\"" id \
	"\",\"tool_name\":\"sh\",\"input\":{ \"c\": 1}}\n"

#endif

/* For tests of agents through the public API: what was heard of a turn. */
#ifndef HARNESS_HEARD_H
#define HARNESS_HEARD_H

#include "base/buf.h"
#include "perch/agent.h"

/* The log: "start p(text) s(id) w !code:text =reply". */
struct heard {
	struct buf log;
	bool has_ended;
	perch_agent_end end;
	bool cancels_at_partial;
	int permits; /* 1 = allow, 0 = deny, -1 = leave open */
	size_t partials;
};

/* With a NUL behind it. The caller frees heard->log. */
const char *heard_log(struct heard *heard);

/* A profile in the test's folder, which is made when there is none. */
perch_agent_profile *heard_load(const char *text);

/* A turn of it that is written down. */
perch_agent_turn_options heard_options(
	const perch_agent_profile *profile, struct heard *heard, const char *message);

/* Starts it, or fails the test. */
perch_agent_turn *heard_start(perch_host *host, const perch_agent_turn_options *options);

/* All of it: a profile, one turn to its end, and nothing left. */
void heard_profile(const char *profile_text, const char *message, struct heard *heard);

#endif

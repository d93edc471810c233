/* For tests of how an agent is started: one launch, from the text of a profile. */
#ifndef HARNESS_ATTEMPT_H
#define HARNESS_ATTEMPT_H

#include "agent/agent_launch.h"

/* A message that must arrive as it is. */
#define HOSTILE "${HOME} {{SESSION_ID}} $& $(id) ; rm -rf"

struct attempt {
	struct arena arena;
	struct agent_profile profile;
	struct agent_turn_options options;
	struct launch launch;
	perch_err err;
};

/* The profile would be /tmp/bot.yaml; the session is s-7, the sender ann, and our own
 * environment a small one with HOME=/home/me and SECRET=s3. */
void attempt_open(struct attempt *attempt, const char *text, const char *message);
int attempt_run(struct attempt *attempt);
void attempt_close(struct attempt *attempt);

/* What the agent's environment has for a name, or NULL; it must not be there twice. */
const char *attempt_variable(const struct attempt *attempt, const char *name);

#endif

/* What a sandboxed agent is confined to. */
#ifndef AGENT_CONFINEMENT_H
#define AGENT_CONFINEMENT_H

#include "agent/launch.h"
#include "sandbox/sandbox.h"

/* Makes the sandbox that the profile asks for, once the agent's directory is
 * known. Reads everything but what is always hidden, writes the agent's directory,
 * the network is open; and then what the profile says. */
int agent_confinement_open(
	perch_host *host, struct launch *launch, struct sandbox **ret_sandbox, perch_err *err);

#endif

/* What the command does with a service beyond include/perch/service.h. */
#ifndef SERVICE_SERVICE_HOOKS_H
#define SERVICE_SERVICE_HOOKS_H

#include "agent/profile.h"
#include "perch/service.h"

struct trace;

struct service_hooks {
	struct trace *trace; /* of tools and turns; NULL = none */
	/* What is so beyond a profile, for each turn anew: changes the turn's own copy; lists go to the
	 * arena. A failure refuses the turn. NULL = agent_profile_grant. */
	int (*amend)(void *data, struct arena *arena, struct agent_profile *profile, perch_err *err);
	void *data;
};

/* Before the first job. */
void service_set_hooks(perch_service *service, const struct service_hooks *hooks);

/* How much each frontend shows: "mcp 3, http 3, acp 3, worker 0 of 5". 1; 0 = there is nothing that
 * could be shown. Fails as reading the configuration does. */
int catalog_exposed(char *words, size_t size, perch_err *err);

/* Opens the sessions of agents now, not with the first turn. Fails as sessions_open does. */
int service_open_sessions(perch_service *service, perch_err *err);

/* The longest time that an agent which runs has between SIGTERM and SIGKILL. */
uint64_t service_grace_ns(const perch_service *service);

/* The result of a tool's job that is over, or that RESULT tells of. */
const perch_tool_result *service_tool_result(const perch_job *job);

#endif

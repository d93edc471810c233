/* What stands behind perch/sessions.h, for a service that has one of its own. */
#ifndef AGENT_SESSIONS_API_H
#define AGENT_SESSIONS_API_H

#include "agent/sessions.h"
#include "perch/sessions.h"

struct perch_sessions {
	struct sessions *sessions;
	struct arena arena; /* of the last list */
};

/* What is inside; {0} is fine. */
void sessions_api_close(perch_sessions *sessions);

#endif

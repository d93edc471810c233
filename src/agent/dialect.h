/* What differs between the protocols of agents (the versions of AgentProc, and ACP), as data: the
 * host asks here how an agent is started, the engine what a line means. */
#ifndef AGENT_DIALECT_H
#define AGENT_DIALECT_H

#include <stdbool.h>

#include "agent/profile.h"
#include "base/str.h"

struct acp_said;
struct agent_engine;

struct dialect {
	const char *version;
	bool splits_command; /* on blanks */
	bool has_message;    /* {{MESSAGE}} means something */
	bool inherits;       /* all of the environment, not the basic part alone */
	bool has_variables;  /* AGENT_* */
	bool has_turn_line; /* what it reads on stdin is JSON; else the message, if the profile wants it
						 */
	bool is_resident;   /* a process serves many turns (agent/resident.h) */
	bool last_session_wins;
	bool reply_needs_silence; /* the body is only sent when no partial was */
	bool (*is_session_id)(struct str id);
	const char *session_id_rule; /* the same in words */
	/* A line of UTF-8 without its end. NULL: its lines are not the engine's. */
	void (*line)(struct agent_engine *engine, struct str line);
};

extern const struct dialect dialect_0_1;
extern const struct dialect dialect_0_4;
extern const struct dialect dialect_acp;

/* Whether the line is an event of 0.4. */
bool dialect_0_4_has_event(struct agent_engine *engine, struct str line);

/* What an agent says in ACP, for the engine of a turn; `bytes` long was its line. */
void dialect_acp_take(struct agent_engine *engine, const struct acp_said *said, size_t bytes);

static inline const struct dialect *dialect_of(enum agent_dialect which)
{
	static const struct dialect *const dialects[] = {
		[AGENT_0_1] = &dialect_0_1,
		[AGENT_0_4] = &dialect_0_4,
		[AGENT_ACP] = &dialect_acp,
	};
	return dialects[which];
}

#endif

/* What differs between the versions of AgentProc, as data: the host asks here
 * how an agent is started, the engine what a line means. */
#ifndef AGENT_DIALECT_H
#define AGENT_DIALECT_H

#include <stdbool.h>

#include "agent/profile.h"
#include "base/str.h"

struct agent_engine;

struct dialect {
	const char *version;
	bool splits_command; /* on blanks */
	bool has_message;    /* {{MESSAGE}} means something */
	bool has_variables;  /* AGENT_*, and the environment is inherited */
	bool has_turn_line;  /* on stdin; else the message, if the profile wants it */
	bool last_session_wins;
	bool reply_needs_silence; /* the body is only sent when no partial was */
	bool (*is_session_id)(struct str id);
	const char *session_id_rule; /* the same in words */
	/* A line of UTF-8 without its end. */
	void (*line)(struct agent_engine *engine, struct str line);
};

extern const struct dialect dialect_0_1;
extern const struct dialect dialect_0_4;

/* Whether the line is an event of 0.4. */
bool dialect_0_4_has_event(struct agent_engine *engine, struct str line);

static inline const struct dialect *dialect_of(enum agent_dialect which)
{
	return which == AGENT_0_4 ? &dialect_0_4 : &dialect_0_1;
}

#endif

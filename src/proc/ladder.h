/* How a child is ended: how long each kind of child may linger and which steps stop it (one table
 * for every caller in the library), and a ladder that is being climbed. Sans I/O: the ladder says
 * which step is due, child.c takes it. */
#ifndef PROC_LADDER_H
#define PROC_LADDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "perch/host.h"

/* The two times of the table that the user is told, or may change. */
#define FLEDGE_TERM_AFTER_NS (5 * NSEC_PER_SEC)
#define AGENT_KILL_AFTER_NS (5 * NSEC_PER_SEC) /* unless its profile says otherwise */

enum ending {
	ENDING_DEFAULT,
	ENDING_COMMAND,        /* a command whose output we read: git, an agent under test */
	ENDING_EXEC,           /* what a plugin has executed */
	ENDING_FLEDGE,         /* a plugin */
	ENDING_CALL,           /* a perch that runs a plugin for another one */
	ENDING_LEGACY,         /* a legacy plugin whose output we read */
	ENDING_BUILD,          /* a build or a hook of a plugin */
	ENDING_TOOL,           /* a tool */
	ENDING_AGENT,          /* a turn of an agent */
	ENDING_RESIDENT,       /* an agent that serves many turns */
	ENDING_MCP_SERVER,     /* an MCP server on stdio */
	ENDING_TESTED_HOST,    /* a host under the conformance kit */
	ENDING_TESTED_PROGRAM, /* a plugin or a tool under the conformance kit */
	ENDING_COUNT,
};

/* Sets the linger time and the ladder of a child. */
void ending_apply(enum ending ending, perch_child_spec *spec);

struct ladder {
	const perch_step *steps;
	size_t count;
	size_t next;     /* the step that comes next */
	uint64_t due_ns; /* and when */
	bool has_begun;
};

/* A NULL list means the default one. */
void ladder_init(struct ladder *ladder, const perch_step *steps, size_t count);

/* Begins; when it has begun already, the next step becomes due at once. */
void ladder_push(struct ladder *ladder, uint64_t now_ns);

/* The step that is due at now_ns, or NULL. Each is returned once. */
const perch_step *ladder_take(struct ladder *ladder, uint64_t now_ns);

/* When the next step is due; NEVER when there is none. */
uint64_t ladder_next(const struct ladder *ladder);

#endif

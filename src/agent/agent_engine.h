/* AgentProc, the protocol: lines of an agent go in, what is to be told and done
 * comes out; at the end, how the turn went. No I/O: it reads no clock, file or
 * descriptor. The contract is docs/agent.md. */
#ifndef AGENT_AGENT_ENGINE_H
#define AGENT_AGENT_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/dialect.h"
#include "agent/turn.h"
#include "base/str.h"

struct agent_engine;

enum {
	AGENT_LINE_LIMIT = 8 * 1024 * 1024,   /* bytes of a line */
	AGENT_TOTAL_LIMIT = 64 * 1024 * 1024, /* bytes of a turn's stdout */
	AGENT_WARNINGS_MAX = 100,             /* of a turn; then one that there are more */
	AGENT_SESSION_ID_MAX = 512,           /* bytes */
};

struct agent_engine_options {
	const struct dialect *dialect;
	struct str session_prefix; /* 0.1 */
	bool is_guessed;           /* the dialect is a guess: a first line of 0.4 refutes it */
	bool is_streaming;
	bool has_permission;    /* 0.4 */
	size_t max_reply_chars; /* 0 = no limit */
	uint64_t max_tokens;    /* that it may say to have used; 0 = no limit */
	struct str truncation_suffix;
	size_t line_limit; /* for words alone: lines come cut */
	size_t total_limit;
};

/* The effects of the engine. Texts are valid during the call. */
struct agent_effects {
	/* raw is JSON: the string (0.1) or the event (0.4). */
	void (*partial)(void *data, struct str text, struct str raw);
	void (*thinking)(void *data, struct str text, struct str raw); /* may be NULL */
	void (*usage)(void *data, struct str json); /* what it says to have used; may be NULL */
	/* What it does, "tool" or "plan", as JSON; may be NULL. */
	void (*activity)(void *data, const char *what, struct str json);
	void (*session)(void *data, struct str id);
	void (*warning)(void *data, struct str text);
	void (*permission)(void *data, const struct agent_permission *permission);
	void (*send)(void *data, struct str line); /* with its '\n' */
	/* The agent has written its last event: nothing more will be sent to it. */
	void (*hang_up)(void *data);
	/* It wrote or used too much: it is to end. Called once. */
	void (*stop)(void *data);
};

/* Options are copied; what they point to, effects and data must outlive it. */
int agent_engine_new(const struct agent_engine_options *options,
	const struct agent_effects *effects, void *data, struct agent_engine **ret_engine);
void agent_engine_free(struct agent_engine *engine);

/* A line without its newline. too_long: only its start. */
void agent_engine_line(struct agent_engine *engine, const char *line, size_t len, bool too_long);

/* Answers the first open request of this id; an unknown id has no effect. */
void agent_engine_permit(
	struct agent_engine *engine, struct str request_id, bool allowed, struct str message);

/* Denies every open request, and all that come later. */
void agent_engine_deny_all(struct agent_engine *engine, struct str message);

/* Whether the agent waits for an answer: then its silence is no fault. */
bool agent_engine_is_asking(const struct agent_engine *engine);

/* Memory ran out: the turn cannot go on truthfully. */
bool agent_engine_is_broken(const struct agent_engine *engine);

/* The session id as it is now, with a NUL behind it; empty = none was said. */
struct str agent_engine_session(const struct agent_engine *engine);

/* Why it has ended its turn, by ACP; with a NUL behind it, or NULL: not said. */
const char *agent_engine_stop_reason(const struct agent_engine *engine);

/* What the agent said to have used so far. */
const perch_agent_usage *agent_engine_usage(const struct agent_engine *engine);

/* ---- turn_verdict.c: the end of a turn ------------------------------------- */

/* Which time was up. */
enum agent_clock {
	AGENT_CLOCK_TURN,    /* that of the turn */
	AGENT_CLOCK_SILENCE, /* it said nothing for so long */
	AGENT_CLOCK_BUDGET,  /* that of all turns of its session */
};

/* What became of the process. */
struct agent_exit {
	enum agent_clock clock;
	uint64_t timeout_ns; /* the time that was up; 0 = it did not time out */
	int cancelled_by;    /* SIGINT, SIGTERM, or 0 */
	int status;          /* -1 = a signal, or unknown */
	int signal;
	bool send_error_reply;
	bool include_stderr;
	struct str stderr_tail;
};

enum { AGENT_ERRORS_MAX = 2 };

struct agent_error {
	const char *code;
	struct str text;
};

/* Texts belong to the engine. */
struct agent_verdict {
	int exit_code;
	struct agent_error errors[AGENT_ERRORS_MAX]; /* for the user */
	size_t error_count;
	bool has_reply;
	struct str reply;
	struct str body; /* all of it, with a NUL behind it */
};

/* Once, behind the last line. */
void agent_engine_conclude(
	struct agent_engine *engine, const struct agent_exit *exit, struct agent_verdict *ret_verdict);

#endif

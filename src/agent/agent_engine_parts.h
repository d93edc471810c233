/* What the parts of the engine know of each other. */
#ifndef AGENT_AGENT_ENGINE_PARTS_H
#define AGENT_AGENT_ENGINE_PARTS_H

#include "agent/agent_engine.h"
#include "base/buf.h"
#include "data/json.h"

enum agent_limit { LIMIT_NONE, LIMIT_LINE, LIMIT_OUTPUT, LIMIT_TOKENS };

/* A request of the agent that is not answered, or stands behind one that is not. */
struct permit {
	struct permit *next;
	struct buf request_id;
	struct buf answer; /* empty = open */
};

struct agent_engine {
	struct agent_engine_options options;
	const struct agent_effects *effects;
	void *data;
	perch_json *json;
	size_t total;
	uint64_t line_number;
	bool is_repaired; /* the line at hand was no UTF-8 */
	bool is_broken;
	unsigned warnings;
	struct buf repaired; /* the line at hand */
	struct buf session;
	bool is_contradicted; /* told that another id is ignored: once */
	struct buf body;
	bool has_body_line; /* 0.1 */
	bool has_result;    /* 0.4 */
	size_t partial_chars;
	bool is_cut; /* the partials are: their suffix was sent */
	bool has_forwarded;
	struct buf cut; /* the partial at hand: text, raw */
	struct buf raw;
	bool has_error;
	struct buf error;
	struct buf stop_reason; /* ACP */
	enum agent_limit limit; /* the one that was crossed */
	perch_agent_usage usage;
	struct permit *first;
	struct permit *last;
	bool denies_all;
	struct buf denial;                 /* why */
	struct buf said[AGENT_ERRORS_MAX]; /* texts of the verdict */
	struct buf reply;
};

/* ---- engine.c -------------------------------------------------------------- */

/* A warning: "what: text", or the text alone. */
void engine_warn(struct agent_engine *engine, const char *what, struct str text);

/* Counts what the agent has written; false = it is too much, and the engine stops it. */
bool engine_count(struct agent_engine *engine, size_t bytes);

/* A warning about the line at hand, with its start behind a colon. */
void engine_warn_of_line(struct agent_engine *engine, struct str line, const char *what);

/* Stores copies; without memory the engine is broken. */
void engine_set(struct agent_engine *engine, struct buf *target, struct str text);

/* The effects of a line, in either dialect. `raw` must be JSON, or empty: then it is made from the
 * text. */
void engine_partial(struct agent_engine *engine, struct str text, struct str raw);
void engine_session(struct agent_engine *engine, struct str id);
void engine_error(struct agent_engine *engine, struct str text);
void engine_usage(struct agent_engine *engine, const perch_json_value *said);

/* The part of a text that is within a number of characters. */
struct str engine_first_chars(struct str text, size_t chars, size_t *ret_taken);

/* Whether it holds a character that no session id may: control characters, '/',
 * '\\'; with_blanks: blanks and ':' too. */
bool session_id_has_bad_character(struct str id, bool with_blanks);
/* The same of control characters alone. */
bool session_id_has_control_character(struct str id);

/* ---- permissions.c ----------------------------------------------------------- */

void permissions_request(struct agent_engine *engine, const struct agent_permission *permission);
void permissions_free(struct agent_engine *engine);

#endif

/* What the parts of the engine know of each other. */
#ifndef FLEDGE_FLEDGE_ENGINE_PARTS_H
#define FLEDGE_FLEDGE_ENGINE_PARTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"
#include "data/json.h"
#include "fledge/fledge_engine.h"
#include "frontend.h"

/* ---- requests.c ---------------------------------------------------------------------- */

/* The requests of a plugin that wait for their answers: a queue, since answers leave in the
 * order in which the requests came, whose members are found by their tickets at once. */

/* A message that gets exactly one response or cancel. */
struct request {
	uint64_t ticket;
	size_t held;             /* bytes, as they were counted last */
	struct buf id;           /* as JSON text */
	struct buf answer;       /* the line to send; empty = not yet known */
	perch_question question; /* its texts live in the arena */
	struct arena arena;
	struct request *next_question; /* in the order in which they are asked */
};

/* A ring. Tickets are given in order and leave in order: they need no search. */
struct requests {
	struct request **ring;
	size_t cap; /* a power of two, or 0 */
	size_t at;  /* of the first */
	size_t count;
	uint64_t next_ticket;  /* from 1 */
	size_t held;           /* bytes that all of them take */
	struct request *spare; /* used up, kept for its memory */
};

void requests_free(struct requests *requests);

/* An empty request that is in no queue yet; NULL without memory. */
struct request *requests_make(struct requests *requests);

/* Takes the request over, or frees it: -ENOMEM. */
int requests_push(struct requests *requests, struct request *request);

/* The one that came first; NULL = none waits. */
struct request *requests_first(const struct requests *requests);

/* The one at this place of the queue, from 0. */
struct request *requests_get(const struct requests *requests, size_t i);

/* NULL when no request has this ticket. */
struct request *requests_find(const struct requests *requests, uint64_t ticket);

/* Takes the first one out. */
void requests_pop(struct requests *requests);

/* Counts again what a request in the queue takes. */
void requests_weigh(struct requests *requests, struct request *request);

/* ---- the engine ---------------------------------------------------------------------- */

enum {
	/* So many requests may wait for their turn before the plugin is no longer read. */
	ENGINE_PENDING_MAX = 16384,
	/* So many unknown types are warned of, each once; the others are told only with -v. */
	ENGINE_UNKNOWN_TYPES_MAX = 8,
	ENGINE_TYPE_SIZE = 64, /* so much of an unknown one is kept */
};

struct fledge_engine {
	const struct fledge_engine_options *options;
	const struct fledge_effects *effects;
	void *data;
	perch_json *json;
	struct buf quick; /* the text of an output message, see quick.c */
	enum fledge_asking asking;
	struct requests requests;
	bool is_holding;
	struct request *open;           /* whose question is being asked */
	struct request *first_question; /* of those that are to be asked behind it */
	struct request *last_question;
	uint64_t question_deadline_ns;
	uint64_t line_number;
	const char *cancel_reason; /* NULL = not cancelled */
	bool has_failed;
	bool is_broken;
	bool warned_of_validator;
	bool told_to_grant[CAPABILITIES_MAX];                           /* by row of capability_table */
	char unknown_types[ENGINE_UNKNOWN_TYPES_MAX][ENGINE_TYPE_SIZE]; /* those warned of */
	size_t unknown_type_count;
};

/* ---- engine.c ------------------------------------------------------------ */

/* Puts a new request into the queue; id may be NULL: then no answer is wanted, and NULL comes back.
 * NULL too when there is no memory (the engine is broken). */
struct request *engine_enqueue(struct fledge_engine *engine, const perch_json_value *id);

/* Answers a request: a response with this JSON value, or a cancel. Answers at the head of the queue
 * are sent. request may be NULL: no answer is wanted. */
void engine_respond(struct fledge_engine *engine, struct request *request, struct str json);
void engine_refuse(struct fledge_engine *engine, struct request *request, const char *reason);

/* Shows the host's own words. */
void engine_say(struct fledge_engine *engine, perch_shown_kind kind, const char *format, ...)
	PERCH_PRINTF(3, 4);

void engine_show(struct fledge_engine *engine, const struct shown *shown);

/* Why a request was answered in this way, for users who want details. */
void engine_note(struct fledge_engine *engine, const char *format, ...) PERCH_PRINTF(2, 3);

/* ---- fledge_message.c ---------------------------------------------------- */

/* Deals with one message, an object. */
void message_handle(struct fledge_engine *engine, const perch_json_value *message, uint64_t now_ns);

/* A load, once its fields are known. */
void message_load(struct fledge_engine *engine, struct request *request, struct str key);

/* ---- question.c ---------------------------------------------------------- */

/* A request whose question is filled in: answered at once, or asked when its
 * turn comes. */
void question_begin(struct fledge_engine *engine, struct request *request, uint64_t now_ns);

/* The open question is over, one way or the other. */
void question_close(struct fledge_engine *engine);

/* ---- quick.c ------------------------------------------------------------------------- */

/* The messages that come in floods, read without a JSON document. A message that is not of their
 * plainest shape is left to the general way, which gives the same result. */

/* If the line is nothing but an `output` message with a text of plain ASCII and
 * simple escapes, puts that text into *text (what was in it is gone) and
 * returns true. */
bool quick_output(const char *line, size_t len, struct buf *text);

/* If the line is nothing but a `load` message whose id and key are plain ASCII
 * without escapes, gives them, the id with its quotes, and returns true. */
bool quick_load(const char *line, size_t len, struct str *ret_id, struct str *ret_key);

/* ---- broken_line.c ------------------------------------------------------------------- */

/* The id of a message that is no JSON as a whole, as its text, with quotes where it is a string;
 * empty when there is none to be read. */
struct str broken_line_id(const char *line, size_t len);

/* Whether it names a type of message that nobody answers. */
bool broken_line_is_told(struct str line);

#endif

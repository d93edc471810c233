/* What the parts of the engine know of each other. */
#ifndef FLEDGE_FLEDGE_ENGINE_PARTS_H
#define FLEDGE_FLEDGE_ENGINE_PARTS_H

#include "base/clock.h"
#include "data/json.h"
#include "fledge/fledge_engine.h"
#include "fledge/requests.h"

enum {
	/* So many requests may wait for their turn before the plugin is no longer read. */
	ENGINE_PENDING_MAX = 16384,
	/* So many unknown types are warned of, each once; the others are for those who debug. */
	ENGINE_UNKNOWN_TYPES_MAX = 8,
	ENGINE_TYPE_SIZE = 64, /* so much of an unknown one is kept */
};

struct fledge_engine {
	const struct fledge_engine_options *options;
	const struct fledge_effects *effects;
	void *data;
	perch_json *json;
	struct buf quick; /* the text of an output message, see quick.h */
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
	char unknown_types[ENGINE_UNKNOWN_TYPES_MAX][ENGINE_TYPE_SIZE]; /* those warned of */
	size_t unknown_type_count;
};

/* ---- engine.c ------------------------------------------------------------ */

/* Puts a new request into the queue; id may be NULL: then nobody waits, and
 * NULL comes back. NULL too when there is no memory (the engine is broken). */
struct request *engine_enqueue(struct fledge_engine *engine, const perch_json_value *id);

/* The same for an id of plain ASCII, as JSON text. */
struct request *engine_enqueue_plain(struct fledge_engine *engine, struct str id);

/* Answers a request: a response with this JSON value, or a cancel. What is
 * first in the queue is sent. request may be NULL: nobody waits. */
void engine_respond(struct fledge_engine *engine, struct request *request, struct str json);
void engine_refuse(struct fledge_engine *engine, struct request *request, const char *reason);

/* Shows the host's own words. */
void engine_say(struct fledge_engine *engine, perch_shown_kind kind, const char *format, ...)
	PERCH_PRINTF(3, 4);

void engine_show(struct fledge_engine *engine, const struct shown *shown);

/* For those who want to know why a request was answered as it was. */
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

/* Asks the next question that waits, if none is open. */
void question_next(struct fledge_engine *engine, uint64_t now_ns);

/* The open question is over, one way or the other. */
void question_close(struct fledge_engine *engine);

#endif

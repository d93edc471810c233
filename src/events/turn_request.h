/* What `perch agent serve` is asked, as a line of JSON: a turn,
 *
 *     {"id":"t1","profile":"P","message":"…","session_name":"…","from":"…","new":true,
 *      "session_id":"…","timeout":60,"env":{"NAME":"…"},"cwd":"…","streaming":false,
 *      "attachments":[{"kind":"image","url":"…","filename":"…"}]}
 *
 * the end of one: {"cancel":"t1"}, or the answer to what its agent asks for:
 *
 *     {"permit":"t1","request_id":"r1","allow":true,"message":"…"}
 *     {"answer":"t1","ask":1,"value":"…"}, or "cancel":true
 *
 * No I/O. */
#ifndef EVENTS_TURN_REQUEST_H
#define EVENTS_TURN_REQUEST_H

#include "base/arena.h"
#include "perch/job.h"
#include "perch/json.h"

enum {
	REQUEST_ID_MAX = 256, /* bytes */
	REQUEST_ATTACHMENTS_MAX = 256,
	REQUEST_ENV_MAX = 1024,
	REQUEST_UNKNOWN_MAX = 32, /* that are told */
};

/* The answer to a permission. */
struct turn_permit {
	const char *turn; /* its id; NULL = this is none */
	const char *request_id;
	bool is_allowed;
	const char *option;  /* of those that were offered; NULL = none */
	const char *message; /* "" = none */
};

/* The answer to a question: a text, true or false, the number of an option, or a list of them. */
struct turn_answer {
	const char *turn; /* its id; NULL = this is none */
	uint64_t ask;
	perch_json_type type; /* of the value; PERCH_JSON_NONE = it is cancelled */
	perch_answer answer;
};

struct turn_request {
	const char *cancel; /* the id of the turn to end; NULL = this is a new one: */
	const char *id;
	struct turn_permit permit;
	struct turn_answer answer;
	perch_job_request turn;
	perch_agent_turn_options options;         /* its session_id and clock; turn.turn is not set */
	const char *unknown[REQUEST_UNKNOWN_MAX]; /* members that mean nothing */
	size_t unknown_count;
};

/* Reads it. The message points into the document, the rest into the arena. Fails
 * with -EINVAL: then `id` is what the answer has to carry. An id that is too long or
 * has a NUL is cut for that, with U+FFFD for the NUL; NULL = there is none. `profile` is
 * what counts when the line names none; NULL = it must. */
int turn_request_read(const perch_json_value *root, const char *profile, struct arena *arena,
	struct turn_request *ret_request, perch_err *err);

/* ---- turn_answer.c --------------------------------------------------------------- */

/* The line of an answer. -EINVAL, -ENOMEM. */
int turn_answer_read(const perch_json_value *root, struct arena *arena,
	struct turn_answer *ret_answer, perch_err *err);

#endif

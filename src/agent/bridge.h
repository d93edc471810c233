/* A resident bridge: many turns at once, one at a time in each session and in the
 * order they came, so many at most run and so many wait. Every turn that was
 * taken ends exactly once. */
#ifndef AGENT_BRIDGE_H
#define AGENT_BRIDGE_H

#include "agent/sessions.h"
#include "agent/turn.h"
#include "perch/json.h"

struct bridge;
struct bridge_turn;

enum {
	BRIDGE_TURNS = 16,   /* running at a time, unless told otherwise */
	BRIDGE_QUEUE = 1024, /* waiting */
};

/* Bytes of memory that the waiting turns may take, all together. */
#define BRIDGE_BYTES_MAX ((size_t)64 * 1024 * 1024)

struct bridge_options {
	perch_host *host;
	struct sessions *sessions; /* must outlive it */
	size_t max_turns;          /* 0 = BRIDGE_TURNS */
	size_t queue;
	/* As of a turn, with `data` being the struct bridge_turn; and the agent_turn
	 * is NULL where none was started. A session id is stored before it is told,
	 * the end of a turn is recorded before `end`; where that fails, a `warning` says
	 * so before. While another process writes to the sessions, that may be a second
	 * later at most, and behind other events of the turn; no other turn waits for it. */
	const struct agent_turn_events *events;
	void *data;
	/* Changes the turn's own copy of the profile, for each turn anew; lists go to the arena. A
	 * failure refuses the turn. NULL = nothing is changed. */
	int (*amend)(void *data, struct arena *arena, struct agent_profile *profile, perch_err *err);
};

int bridge_new(const struct bridge_options *options, struct bridge **ret_bridge, perch_err *err);

/* Ends what is left, without `end`. NULL is fine. */
void bridge_free(struct bridge *bridge);

struct bridge_request {
	const char *id;      /* must not be in use */
	const char *profile; /* a path */
	struct str message;
	const char *session_name; /* NULL = "default" */
	const char *from;         /* NULL = "" */
	bool is_new;              /* forget the stored id: begin a new session */
	const perch_attachment *attachments;
	size_t attachment_count;
	bool no_stream;
	bool allow_shell_message;
};

/* Takes a turn; everything is copied. What becomes of it is told from the loop
 * (or from bridge_cancel). Fails with -EBUSY (no room: try again when one has
 * ended), -EEXIST (the id is in use), or what is wrong with its profile or with the
 * sessions, as far as that is seen at once: err->stage is "profile" or "session" then. */
int bridge_take(struct bridge *bridge, const struct bridge_request *request, perch_err *err);

/* As if the user had sent this signal to it. One that waits ends as soon as that is recorded. False
 * when there is no such turn. */
bool bridge_cancel(struct bridge *bridge, const char *id, int signal);
void bridge_cancel_all(struct bridge *bridge, int signal);

/* Back-pressure: no running turn is read and none is started until it is released (from the loop,
 * not from an event). Clocks and cancelling go on. */
void bridge_hold(struct bridge *bridge, bool is_held);

/* The longest time that an agent which runs has between SIGTERM and SIGKILL. */
uint64_t bridge_grace_ns(const struct bridge *bridge);

/* Whether there is a turn of that id that has not ended. NULL is no id. */
bool bridge_has(const struct bridge *bridge, const char *id);

/* How many have not ended. */
size_t bridge_count(const struct bridge *bridge);

/* The turn that an event is about. */
const char *bridge_turn_id(const struct bridge_turn *turn);
const struct agent_turn_options *bridge_turn_options(const struct bridge_turn *turn);
void *bridge_turn_data(const struct bridge_turn *turn); /* the bridge's */

/* ---- agent_request.c ---------------------------------------------------- */

/* What a bridge is asked, as a line of JSON: a turn,
 *
 *     {"id":"t1","profile":"P","message":"…","session_name":"…","from":"…","new":true,
 *      "attachments":[{"type":"image","url":"…","name":"…"}]}
 *
 * or the end of one: {"cancel":"t1"}. No I/O. */

enum {
	REQUEST_ID_MAX = 256, /* bytes */
	REQUEST_ATTACHMENTS_MAX = 256,
};

struct request {
	const char *cancel; /* the id of the turn to end; NULL = this is a new one: */
	struct bridge_request turn;
	const char *unknown; /* a member that means nothing, or NULL */
};

/* Reads it. The message points into the document, the rest into the arena. Fails
 * with -EINVAL: then turn.id is what the answer has to carry. An id that is too long or
 * has a NUL is cut for that, with U+FFFD for the NUL; NULL = there is none. `profile` is
 * what counts when the line names none; NULL = it must. */
int request_read(const perch_json_value *root, const char *profile, struct arena *arena,
	struct request *ret_request, perch_err *err);

#endif

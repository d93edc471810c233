/* What a bridge is asked, as a line of JSON: a turn,
 *
 *     {"id":"t1","profile":"P","message":"…","session_name":"…","from":"…","new":true,
 *      "attachments":[{"type":"image","url":"…","name":"…"}]}
 *
 * or the end of one: {"cancel":"t1"}. No I/O. */
#ifndef AGENT_AGENT_REQUEST_H
#define AGENT_AGENT_REQUEST_H

#include "agent/bridge.h"
#include "perch/json.h"

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

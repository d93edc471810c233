/* What `perch agent serve` is asked, as a line of JSON: a turn,
 *
 *     {"id":"t1","profile":"P","message":"…","session_name":"…","from":"…","new":true,
 *      "attachments":[{"type":"image","url":"…","name":"…"}]}
 *
 * or the end of one: {"cancel":"t1"}. No I/O. */
#ifndef EVENTS_TURN_REQUEST_H
#define EVENTS_TURN_REQUEST_H

#include "base/arena.h"
#include "perch/job.h"
#include "perch/json.h"

enum {
	REQUEST_ID_MAX = 256, /* bytes */
	REQUEST_ATTACHMENTS_MAX = 256,
};

struct turn_request {
	const char *cancel; /* the id of the turn to end; NULL = this is a new one: */
	const char *id;
	perch_job_request turn;
	const char *unknown; /* a member that means nothing, or NULL */
};

/* Reads it. The message points into the document, the rest into the arena. Fails
 * with -EINVAL: then `id` is what the answer has to carry. An id that is too long or
 * has a NUL is cut for that, with U+FFFD for the NUL; NULL = there is none. `profile` is
 * what counts when the line names none; NULL = it must. */
int turn_request_read(const perch_json_value *root, const char *profile, struct arena *arena,
	struct turn_request *ret_request, perch_err *err);

#endif

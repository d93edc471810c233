/* The body of a request: an object whose members are asked for by name. The first mistake in it
 * answers the exchange; members that were not asked for are listed as warnings. */
#ifndef SERVE_BODY_H
#define SERVE_BODY_H

#include "data/json.h"
#include "serve/serve_exchange.h"

enum { BODY_DEPTH_MAX = 64, BODY_ASKED_MAX = 24 };

struct body {
	struct exchange *exchange; /* NULL as soon as it was answered */
	struct buf text; /* the exchange's: its members point there, also when that was answered */
	perch_json *json;
	const perch_json_value *root;
	const char *asked[BODY_ASKED_MAX];
	size_t asked_count;
};

/* False: it is no object, and the exchange was answered. */
bool body_open(struct body *body, struct exchange *exchange);
void body_close(struct body *body);

/* A member of this type; null counts as absent. NULL: there is none, or it has the wrong type,
 * which was answered. */
const perch_json_value *body_get(struct body *body, const char *name, perch_json_type type);

/* The same, and it must be there. */
const perch_json_value *body_demand(struct body *body, const char *name, perch_json_type type);

/* A number of seconds, more than 0; absent: 0. */
double body_seconds(struct body *body, const char *name);

/* Refuses a text that has a NUL: it cannot be passed on. NULL is fine. */
void body_check_text(struct body *body, const char *name, const perch_json_value *text);

/* Refuses what cannot be the name of an agent's session. */
void body_check_session(struct body *body, struct str session);

/* Answers 400. */
void body_refuse(struct body *body, const char *format, ...) PERCH_PRINTF(2, 3);

static inline bool body_is_good(const struct body *body)
{
	return body->exchange;
}

/* The members that were not asked for, as JSON: a list of sentences. NULL = there are none. */
char *body_warnings(const struct body *body);

#endif

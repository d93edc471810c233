/* The requests of a plugin that wait for their answers: a queue, since answers leave in the
 * order in which the requests came, whose members are found by their tickets at once. */
#ifndef FLEDGE_REQUESTS_H
#define FLEDGE_REQUESTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "frontend.h"

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

/* NULL when nobody waits with this ticket. */
struct request *requests_find(const struct requests *requests, uint64_t ticket);

/* Takes the first one out. */
void requests_pop(struct requests *requests);

/* Counts again what a request in the queue takes. */
void requests_weigh(struct requests *requests, struct request *request);

#endif

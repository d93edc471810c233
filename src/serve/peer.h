/* A connection: bytes in and out, its deadlines, and the exchange that is under way. Changes
 * by callbacks are settled once, before the loop waits again: so nothing is freed while a callback
 * still uses it, and everything that was written in one round is sent together. */
#ifndef SERVE_PEER_H
#define SERVE_PEER_H

#include "base/buf.h"
#include "perch/loop.h"
#include "serve/address.h"
#include "serve/deadlines.h"
#include "wire/http_answer.h"

enum {
	PEER_SCRATCH = 64 * 1024,
	PEER_FULL = 64 * 1024,      /* a stream waits while so many bytes are still to be sent */
	PEER_BODY_STEP_SECONDS = 5, /* a body is looked at so often; or when its time is over */
	PEER_LINGER_SECONDS = 2,
};

struct serve;
struct exchange;
struct identity;

struct peer {
	struct deadline deadline;
	struct link in_all;
	struct link in_holders;
	size_t held; /* bytes that count among those of all; 0 = it is no holder */
	struct peer *next_touched;
	struct serve *serve;
	perch_source *source;
	struct exchange *exchange;
	struct identity *shown; /* whose token was shown last; NULL = nobody's */
	struct http_connection http;
	struct buf in;  /* came behind the request that is answered */
	struct buf out; /* from out_at on */
	size_t out_at;
	uint64_t body_since_ns;
	uint64_t body_bytes;
	struct address address; /* a trusted proxy's client, as soon as that is known */
	int fd;
	unsigned watched;
	bool is_touched : 1;
	bool is_dead : 1;
	bool is_known : 1; /* a valid token was shown */
	bool has_left : 1; /* the client will send nothing more */
	bool is_lingering : 1;
	bool is_exempt : 1; /* from the limit for unknown clients: loopback, unix socket, a trusted
						   proxy */
};

/* Takes a connection, descriptor and all. */
void peer_open(struct serve *serve, int fd, const struct address *address);

/* To be settled in this round. */
void peer_touch(struct peer *peer);

/* As if the connection had broken. */
void peer_kill(struct peer *peer);

static inline size_t peer_waiting(const struct peer *peer)
{
	return peer->out.len - peer->out_at;
}

static inline bool peer_is_full(const struct peer *peer)
{
	return peer_waiting(peer) >= PEER_FULL;
}

/* Takes a deadline that is due. */
void peer_due(void *data, struct deadline *deadline);

/* Settles all that were touched. */
void peers_settle(struct serve *serve);

void peers_free(struct serve *serve);

/* ---- held.c: what all of them hold in memory ---------------------------------------- */

/* Looks how much this one holds now. Over the limit for all, others are killed. */
void held_count(struct peer *peer);

/* It holds nothing any more. */
void held_leave(struct peer *peer);

#endif

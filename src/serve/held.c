/* What connections hold in memory: bodies that are not whole yet, and answers that their clients do
 * not read. Each has a limit, but a client has many connections: over a limit for all of them those
 * that have held something for the longest time are cut. */
#include "base/macros.h"
#include "serve/peer.h"
#include "serve/serve_exchange.h"
#include "serve/serve_parts.h"

enum { HELD_LEAST = 4096 }; /* less is not counted: there are as many connections as they may be */

static size_t held_by(const struct peer *peer)
{
	const struct exchange *exchange = peer->exchange;
	size_t bytes = peer_waiting(peer) + peer->in.len + (exchange ? exchange->body.len : 0);
	return bytes < HELD_LEAST ? 0 : bytes;
}

static void held_set(struct peer *peer, size_t bytes)
{
	struct serve *serve = peer->serve;
	if (!peer->held && bytes)
		list_append(&serve->holders, &peer->in_holders);
	else if (peer->held && !bytes)
		list_remove(&serve->holders, &peer->in_holders);
	serve->held -= peer->held;
	serve->held += bytes;
	peer->held = bytes;
}

void held_leave(struct peer *peer)
{
	held_set(peer, 0);
}

void held_count(struct peer *peer)
{
	struct serve *serve = peer->serve;
	held_set(peer, held_by(peer));
	if (serve->held <= (size_t)serve->settings.buffers_max)
		return;
	struct link *first = list_first(&serve->holders);
	serve->metrics.cut++;
	peer_kill(container_of(first, struct peer, in_holders));
}

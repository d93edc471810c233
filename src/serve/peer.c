/* A connection. */
#include "serve/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/macros.h"
#include "serve/serve_exchange.h"
#include "serve/serve_parts.h"

void peer_touch(struct peer *peer)
{
	if (peer->is_touched)
		return;
	peer->is_touched = true;
	peer->next_touched = peer->serve->touched;
	peer->serve->touched = peer;
}

void peer_kill(struct peer *peer)
{
	peer->is_dead = true;
	peer_touch(peer);
}

/* ---- input ------------------------------------------------------------------- */

static void peer_refuse(struct peer *peer, const struct http_fault *fault)
{
	peer->serve->metrics.refused++;
	if (http_connection_can_answer(&peer->http))
		exchange_refuse(peer, fault->status, fault->text);
	else
		peer_kill(peer);
}

/* Whether there may be more in the input. */
static bool peer_take(struct peer *peer, const struct http_event *event)
{
	switch (event->kind) {
	case HTTP_REQUEST:
		peer->body_since_ns = clock_now_ns();
		peer->body_bytes = 0;
		exchange_begin(peer, event->request);
		return true;
	case HTTP_BODY:
		peer->body_bytes += event->piece.len;
		if (peer->exchange)
			exchange_take(peer->exchange, event->piece);
		return true;
	case HTTP_END:
		if (peer->exchange)
			exchange_handle(peer->exchange);
		return true;
	case HTTP_REFUSED:
		peer_refuse(peer, &event->fault);
		return false;
	default:
		return false;
	}
}

/* Returns what was not taken. */
static struct str peer_feed(struct peer *peer, struct str input)
{
	struct http_event event = { 0 };
	do {
		if (http_connection_read(&peer->http, &input, &event) < 0) {
			peer_kill(peer);
			break;
		}
	} while (peer_take(peer, &event) && !peer->is_dead);
	return input;
}

static void peer_read(struct peer *peer)
{
	char *scratch = peer->serve->scratch;
	ssize_t n = recv(peer->fd, scratch, PEER_SCRATCH, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		peer->has_left = true;
		return;
	}
	peer->serve->metrics.bytes_in += (uint64_t)n;
	if (peer->is_lingering)
		return;
	struct str rest = peer_feed(peer, (struct str){ scratch, (size_t)n });
	if (rest.len && !peer->is_dead && buf_append(&peer->in, rest.data, rest.len) < 0)
		peer_kill(peer);
}

static void peer_feed_rest(struct peer *peer)
{
	struct str rest = peer_feed(peer, (struct str){ peer->in.data, peer->in.len });
	buf_consume(&peer->in, peer->in.len - rest.len);
	if (!peer->in.len)
		buf_free(&peer->in);
}

/* ---- output ------------------------------------------------------------------- */

static void peer_flush(struct peer *peer)
{
	while (peer_waiting(peer) && !peer->is_dead) {
		ssize_t n = send(peer->fd, peer->out.data + peer->out_at, peer_waiting(peer),
			MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n >= 0) {
			peer->out_at += (size_t)n;
			peer->serve->metrics.bytes_out += (uint64_t)n;
			deadline_set(&peer->serve->deadlines, &peer->deadline, DEADLINE_NONE);
		} else if (errno == EAGAIN) {
			break;
		} else if (errno != EINTR) {
			peer_kill(peer);
		}
	}
	if (peer->out.failed)
		peer_kill(peer);
	if (!peer_waiting(peer)) {
		buf_free(&peer->out);
		peer->out_at = 0;
	} else if (peer->out_at > peer->out.len / 2) {
		buf_consume(&peer->out, peer->out_at);
		peer->out_at = 0;
	}
}

/* ---- settling ----------------------------------------------------------------- */

static enum deadline_kind peer_deadline(const struct peer *peer)
{
	if (peer->is_lingering)
		return DEADLINE_LINGER;
	if (peer_waiting(peer))
		return DEADLINE_WRITE;
	switch (http_connection_phase(&peer->http)) {
	case HTTP_PHASE_IDLE:
		return peer->deadline.kind == DEADLINE_HEAD ? DEADLINE_HEAD : DEADLINE_IDLE;
	case HTTP_PHASE_HEAD:
		return DEADLINE_HEAD;
	case HTTP_PHASE_BODY:
		return DEADLINE_BODY;
	default:
		return peer->exchange && peer->exchange->is_stream ? DEADLINE_COMMENT : DEADLINE_NONE;
	}
}

static unsigned peer_wants(const struct peer *peer)
{
	enum http_phase phase = http_connection_phase(&peer->http);
	unsigned events = peer_waiting(peer) ? PERCH_WRITABLE : 0;
	if (!peer->has_left)
		events |= PERCH_PEER_LEFT;
	if (!peer->has_left && !peer->in.len && (phase != HTTP_PHASE_ANSWER || peer->is_lingering))
		events |= PERCH_READABLE;
	return events;
}

static void peer_watch(struct peer *peer)
{
	unsigned events = peer_wants(peer);
	if (events == peer->watched)
		return;
	if (perch_source_watch(peer->source, events) < 0)
		peer_kill(peer);
	peer->watched = events;
}

/* Bytes that a client sends behind a refusal must be read, or the kernel takes the refusal back. */
static void peer_linger(struct peer *peer)
{
	if (peer->is_lingering || peer->has_left) {
		if (peer->has_left)
			peer->is_dead = true;
		return;
	}
	peer->is_lingering = true;
	buf_clear(&peer->in); /* what was read already counts for nothing, and would stop the reading */
	shutdown(peer->fd, SHUT_WR);
}

/* The client has gone: jobs that no other client needs are cancelled. */
static void peer_heed_end(struct peer *peer)
{
	enum http_phase phase = http_connection_phase(&peer->http);
	if (!peer->has_left)
		return;
	if (peer->exchange && phase == HTTP_PHASE_ANSWER && !peer->exchange->ends_with_client)
		http_connection_finish(&peer->http); /* it may still read */
	else if (!peer_waiting(peer) || (peer->exchange && peer->exchange->ends_with_client))
		peer->is_dead = true;
}

static void peer_free(struct peer *peer);

static void peer_settle(struct peer *peer)
{
	for (bool is_moving = true; is_moving && !peer->is_dead;) {
		size_t before = peer->out.len;
		is_moving = false;
		peer_flush(peer);
		if (peer->is_dead || peer_is_full(peer))
			break;
		before = peer->out.len;
		if (peer->exchange && peer->exchange->is_stream)
			exchange_wake(peer->exchange);
		if (!peer->exchange && peer->in.len && !http_connection_is_over(&peer->http))
			peer_feed_rest(peer);
		is_moving = peer->out.len != before;
	}
	if (!peer->is_dead)
		peer_heed_end(peer);
	if (!peer->is_dead && http_connection_is_over(&peer->http) && !peer_waiting(peer))
		peer_linger(peer);
	if (!peer->is_dead) {
		deadline_keep(&peer->serve->deadlines, &peer->deadline, peer_deadline(peer));
		peer_watch(peer);
		held_count(peer);
	}
	if (peer->is_dead)
		peer_free(peer);
}

void peers_settle(struct serve *serve)
{
	struct peer *peer;
	while ((peer = serve->touched)) {
		serve->touched = peer->next_touched;
		peer->is_touched = false;
		peer_settle(peer);
	}
}

/* ---- the loop ----------------------------------------------------------------- */

static void peer_ready(perch_source *source, void *data, unsigned events)
{
	(void)source;
	struct peer *peer = data;
	peer_touch(peer);
	if (peer->is_dead)
		return;
	if (events & PERCH_HANGUP)
		peer->is_dead = true;
	else if (events & PERCH_READABLE)
		peer_read(peer);
	else if (events & PERCH_PEER_LEFT)
		peer->has_left = true;
}

/* A body may take its time, if it comes at all. */
static bool peer_is_slow(const struct peer *peer)
{
	const struct settings *settings = &peer->serve->settings;
	uint64_t seconds = (clock_now_ns() - peer->body_since_ns) / NSEC_PER_SEC;
	return seconds >= (uint64_t)settings->body_seconds ||
		peer->body_bytes < seconds * (uint64_t)settings->body_floor;
}

void peer_due(void *data, struct deadline *deadline)
{
	(void)data;
	struct peer *peer = container_of(deadline, struct peer, deadline);
	enum http_phase phase = http_connection_phase(&peer->http);
	peer_touch(peer);
	if (peer->exchange && peer->exchange->is_stream && !peer_waiting(peer)) {
		exchange_comment(peer->exchange);
	} else if (phase == HTTP_PHASE_BODY && !peer_waiting(peer) && !peer_is_slow(peer)) {
		return; /* settling sets it anew */
	} else if ((phase == HTTP_PHASE_HEAD || phase == HTTP_PHASE_BODY) && !peer_waiting(peer)) {
		http_connection_stop(&peer->http);
		peer_refuse(peer, &(struct http_fault){ 408, "the request took too long" });
	} else {
		peer->is_dead = true;
	}
}

/* ---- life --------------------------------------------------------------------- */

void peer_open(struct serve *serve, int fd, const struct address *address)
{
	struct peer *peer = calloc(1, sizeof(*peer));
	if (!peer) {
		fd_close(fd);
		return;
	}
	peer->serve = serve;
	peer->fd = fd;
	peer->address = *address;
	peer->watched = PERCH_READABLE | PERCH_PEER_LEFT;
	http_connection_init(&peer->http, &serve->limits);
	list_append(&serve->peers, &peer->in_all);
	serve->metrics.connections++;
	peer->is_exempt = address_is_local(address) || serve_trusts(serve, address);
	size_t strangers = peer->is_exempt ? 0 : strangers_enter(&serve->strangers, address);
	if (perch_source_new(serve->host, fd, peer->watched, peer_ready, peer, &peer->source, NULL) < 0)
		peer->is_dead = true;
	if (strangers > (size_t)serve->settings.connections_unknown)
		peer->is_dead = true;
	deadline_set(&serve->deadlines, &peer->deadline, DEADLINE_HEAD);
	peer_touch(peer);
}

/* It was changed again while it was settled. */
static void peer_untouch(struct peer *peer)
{
	struct peer **at = &peer->serve->touched;
	while (peer->is_touched && *at != peer)
		at = &(*at)->next_touched;
	if (peer->is_touched)
		*at = peer->next_touched;
	peer->is_touched = false;
}

static void peer_free(struct peer *peer)
{
	struct serve *serve = peer->serve;
	if (peer->exchange)
		exchange_abandon(peer->exchange);
	if (!peer->is_known && !peer->is_exempt)
		strangers_leave(&serve->strangers, &peer->address);
	held_leave(peer);
	deadline_set(&serve->deadlines, &peer->deadline, DEADLINE_NONE);
	list_remove(&serve->peers, &peer->in_all);
	perch_source_free(peer->source);
	fd_close(peer->fd);
	identity_drop(peer->shown);
	http_connection_free(&peer->http);
	buf_free(&peer->in);
	buf_free(&peer->out);
	peer_untouch(peer); /* last, because ending its exchange may have changed it */
	free(peer);
	serve_resume(serve);
}

void peers_free(struct serve *serve)
{
	for (struct link *link = list_first(&serve->peers); link; link = link->behind)
		peer_kill(container_of(link, struct peer, in_all));
	peers_settle(serve);
}

/* Clients of /mcp, and the messages for them. */
#include "serve/mcp_guests.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macros.h"
#include "base/random.h"
#include "serve/peer.h"
#include "serve/serve_parts.h"

/* ---- visits ---------------------------------------------------------------------- */

static void guest_visit_over(struct mcp_visit *visit)
{
	struct mcp_endpoint *endpoint = &visit->guest->serve->mcp;
	visit->exchange = NULL;
	visit->guest->used_ns = clock_now_ns();
	if (visit->guest->listener == visit)
		visit->guest->listener = NULL;
	if (visit->is_over)
		return;
	visit->is_over = true;
	visit->next_over = endpoint->over;
	endpoint->over = visit;
}

void guest_visit_end(struct mcp_visit *visit)
{
	visit->exchange->keeper = NULL;
	guest_visit_over(visit);
}

static void guest_hold(struct mcp_visit *visit, bool is_held)
{
	if (visit->is_held == is_held)
		return;
	visit->is_held = is_held;
	mcp_front_hold(visit->guest->serve->mcp.front, visit, is_held);
}

static void guest_wake(struct exchange *exchange)
{
	guest_hold(exchange->data, false);
}

static size_t guest_count_lost(const struct mcp_guest *guest)
{
	size_t count = 0;
	for (const struct mcp_visit *visit = list_first(&guest->visits); visit;
		 visit = list_next(visit))
		count += visit->is_lost;
	return count;
}

/* A session outlives the exchange that brought a call, and so does the call: its client may come
 * back for the rest. A modern request ends with its own. */
static void guest_gone(struct exchange *exchange)
{
	struct mcp_visit *visit = exchange->data;
	struct mcp_guest *guest = visit->guest;
	if (visit->stream && exchange->is_stream && guest_count_lost(guest) < GUEST_LOST_MAX &&
		mcp_connection_waits(guest->connection, visit)) {
		visit->exchange = NULL;
		visit->is_lost = true;
		guest->used_ns = clock_now_ns();
		guest_hold(visit, false);
		return;
	}
	guest_visit_over(visit);
	if (!guest->id[0])
		return;
	guest_hold(visit, false);
	mcp_connection_forget_stream(guest->connection, visit);
}

static const struct exchange_keeper guest_keeper = { .wake = guest_wake, .gone = guest_gone };

static void guest_attach(struct mcp_visit *visit, struct exchange *exchange)
{
	visit->exchange = exchange;
	visit->is_lost = false;
	exchange->keeper = &guest_keeper;
	exchange->data = visit;
	exchange->ends_with_client = true;
	visit->guest->used_ns = clock_now_ns();
}

struct mcp_visit *guest_visit(struct mcp_guest *guest, struct exchange *exchange)
{
	struct mcp_visit *visit = calloc(1, sizeof(*visit));
	if (!visit)
		return NULL;
	visit->guest = guest;
	visit->stream = guest->id[0] ? ++guest->last_stream : 0;
	list_append(&guest->visits, visit);
	visit->begun_ns = clock_now_ns();
	guest_attach(visit, exchange);
	return visit;
}

struct mcp_visit *guest_of_stream(const struct mcp_guest *guest, uint64_t stream)
{
	struct mcp_visit *visit = list_first(&guest->visits);
	while (visit && (visit->stream != stream || visit->is_over))
		visit = list_next(visit);
	return visit;
}

void guest_resume(struct mcp_visit *visit, struct exchange *exchange)
{
	struct exchange *old = visit->exchange;
	guest_attach(visit, exchange);
	if (!old) /* else its client has not told yet that it lost the connection */
		return;
	old->keeper = NULL;
	exchange_cut(old);
}

struct exchange *guest_exchange(const struct mcp_caller *caller)
{
	const struct mcp_guest *guest = container_of(caller, struct mcp_guest, caller);
	const struct mcp_visit *visit = guest->visits.last ? (void *)guest->visits.last : NULL;
	return visit ? visit->exchange : NULL;
}

/* ---- messages ---------------------------------------------------------------------- */

/* What the status of an answer is by the code of its error. In a session an error is the answer to
 * a request that was understood. */
static int guest_status(const struct mcp_guest *guest, const struct mcp_outgoing *outgoing)
{
	static const struct {
		int64_t code;
		int status;
		bool in_sessions;
	} statuses[] = {
		{ JSONRPC_PARSE_ERROR, 400, true },
		{ JSONRPC_INVALID_REQUEST, 400, true },
		{ JSONRPC_METHOD_NOT_FOUND, 404, false },
		{ JSONRPC_INVALID_PARAMS, 400, false },
		{ MCP_HEADER_MISMATCH, 400, false },
		{ MCP_MISSING_CAPABILITY, 400, false },
		{ MCP_UNSUPPORTED_VERSION, 400, false },
	};
	for (size_t i = 0; outgoing->kind == JSONRPC_ERROR && i < COUNT(statuses); i++) {
		if (statuses[i].code == outgoing->code && (statuses[i].in_sessions || !guest->id[0]))
			return statuses[i].status;
	}
	return 200;
}

/* An initialize that was understood makes a session of the guest. */
static void guest_settle_in(struct mcp_guest *guest)
{
	if (!guest->id[0] && mcp_connection_version(guest->connection))
		random_hex(guest->id, 2 * GUEST_ID_BYTES);
}

static void guest_answer(struct mcp_visit *visit, const struct mcp_outgoing *outgoing)
{
	struct mcp_guest *guest = visit->guest;
	struct exchange *exchange = visit->exchange;
	bool was_new = !guest->id[0];
	guest_settle_in(guest);
	const struct http_field session = { STR("Mcp-Session-Id"), str_from(guest->id) };
	int status = guest_status(guest, outgoing);
	guest_visit_end(visit);
	exchange_answer(exchange, status, "application/json", outgoing->line, &session,
		was_new && guest->id[0] ? 1 : 0);
}

/* Clients of older versions do not know an event without a message. */
void guest_stream(struct mcp_visit *visit)
{
	const struct mcp_version *version = mcp_connection_version(visit->guest->connection);
	_cleanup_(buf_free) struct buf text = { 0 };
	if (!exchange_stream(visit->exchange) || !version || strcmp(version->name, "2025-11-25") < 0)
		return;
	replay_prime(visit->guest, visit->stream, &text);
	exchange_piece(visit->exchange, (struct str){ text.data, text.len });
}

static void guest_tell(struct mcp_visit *visit, struct str line, bool is_last)
{
	struct exchange *exchange = visit->exchange;
	_cleanup_(buf_free) struct buf text = { 0 };
	replay_write(visit->guest, visit->stream, line, is_last, &text);
	if (!exchange)
		return;
	if (text.failed || peer_waiting(exchange->peer) > GUEST_UNREAD_MAX) {
		exchange_cut(exchange);
		return;
	}
	exchange_piece(exchange, (struct str){ text.data, text.len });
	if (peer_is_full(exchange->peer))
		guest_hold(visit, true);
}

/* The response is the last message of its exchange. A message that belongs to no request goes to
 * the listener, if there is one; a response never does. What nobody is there to read is kept for
 * the client that comes back. */
static void guest_send(struct mcp_caller *caller, const struct mcp_outgoing *outgoing)
{
	struct mcp_guest *guest = container_of(caller, struct mcp_guest, caller);
	bool is_response = outgoing->kind == JSONRPC_RESULT || outgoing->kind == JSONRPC_ERROR;
	struct mcp_visit *visit = outgoing->stream ? outgoing->stream
		: is_response                          ? NULL
											   : guest->listener;
	if (!visit && !is_response && guest->has_listened)
		guest_tell(&(struct mcp_visit){ .guest = guest }, outgoing->line, false);
	if (!visit || (!visit->exchange && !visit->is_lost))
		return;
	if (is_response && visit->exchange && !visit->exchange->is_stream) {
		guest_answer(visit, outgoing);
		return;
	}
	if (visit->exchange && !visit->exchange->is_stream && !exchange_stream(visit->exchange))
		return;
	guest_tell(visit, outgoing->line, is_response);
	if (!is_response)
		return;
	struct exchange *exchange = visit->exchange;
	visit->is_lost = false;
	if (!exchange) {
		guest_visit_over(visit);
		return;
	}
	guest_visit_end(visit);
	exchange_end(exchange);
}

/* ---- guests ------------------------------------------------------------------------ */

static bool guest_allows(const struct mcp_caller *caller, perch_entry_kind kind, const char *name)
{
	const struct mcp_guest *guest = container_of(caller, struct mcp_guest, caller);
	return token_allows(&guest->who->token, kind, name);
}

struct mcp_guest *guest_new(struct serve *serve, struct identity *who)
{
	struct mcp_guest *guest = calloc(1, sizeof(*guest));
	if (!guest)
		return NULL;
	guest->serve = serve;
	guest->who = identity_keep(who);
	guest->used_ns = clock_now_ns();
	guest->caller = (struct mcp_caller){
		.send = guest_send,
		.name = who->token.name,
		.session = guest->id,
		.sees_all = who->token.is_admin,
		.allows = guest_allows,
		.advice = "`approve` in [expose.http] of perch/config.toml lists what need not be asked; "
				  "a call by POST /api/calls waits for an answer of the page or an admin",
	};
	list_append(&serve->mcp.guests, guest);
	if (mcp_front_connect(
			serve->mcp.front, &guest->caller, str_from(who->token.name), &guest->connection) == 0)
		return guest;
	guest_free(guest);
	return NULL;
}

struct mcp_guest *guest_find(struct serve *serve, const struct identity *who, struct str id)
{
	struct mcp_guest *guest = list_first(&serve->mcp.guests);
	for (; guest; guest = list_next(guest)) {
		if (guest->id[0] && str_is(id, guest->id) && guest->who == who)
			return guest;
	}
	return NULL;
}

void guest_free(struct mcp_guest *guest)
{
	struct mcp_endpoint *endpoint = &guest->serve->mcp;
	mcp_front_disconnect(endpoint->front, steal(&guest->connection));
	struct mcp_visit *visit;
	while ((visit = list_first(&guest->visits))) {
		struct exchange *exchange = visit->exchange;
		if (exchange) {
			guest_visit_end(visit);
			exchange->is_stream ? exchange_end(exchange) : exchange_cut(exchange);
		}
		struct mcp_visit **at = &endpoint->over;
		while (*at && *at != visit)
			at = &(*at)->next_over;
		if (*at)
			*at = visit->next_over;
		list_remove(&guest->visits, visit);
		free(visit);
	}
	list_remove(&endpoint->guests, guest);
	replay_forget(guest);
	identity_drop(guest->who);
	free(guest);
}

/* ---- all of them ------------------------------------------------------------------- */

void guests_settle(struct serve *serve)
{
	struct mcp_visit *visit;
	while ((visit = serve->mcp.over)) {
		struct mcp_guest *guest = visit->guest;
		serve->mcp.over = visit->next_over;
		list_remove(&guest->visits, visit);
		free(visit);
		bool is_broken = mcp_connection_is_broken(guest->connection);
		if ((!guest->id[0] && !guest->visits.count) || is_broken)
			guest_free(guest);
	}
	if (serve->mcp.front)
		mcp_front_settle(serve->mcp.front);
}

/* Opens the streams of those that have waited for a while: who stands between must not take them
 * for dead. */
static void guest_stream_all(struct mcp_guest *guest, uint64_t now_ns)
{
	for (struct mcp_visit *visit = list_first(&guest->visits); visit; visit = list_next(visit)) {
		bool is_silent = visit->exchange && !visit->exchange->is_stream;
		if (is_silent && now_ns - visit->begun_ns > GUEST_SILENT_MS * NSEC_PER_MSEC)
			exchange_stream(visit->exchange);
	}
}

/* Whether a client is there: streams that wait for one do not count. */
static bool guest_is_visited(const struct mcp_guest *guest)
{
	return guest->visits.count > guest_count_lost(guest);
}

void guests_sweep(struct serve *serve)
{
	uint64_t idle_ns = (uint64_t)serve->settings.mcp_idle_seconds * NSEC_PER_SEC;
	uint64_t now_ns = clock_now_ns();
	struct mcp_guest *next;
	for (struct mcp_guest *guest = list_first(&serve->mcp.guests); guest; guest = next) {
		next = list_next(guest);
		guest_stream_all(guest, now_ns);
		bool is_old = !guest_is_visited(guest) && now_ns - guest->used_ns > idle_ns;
		if (guest->who->is_revoked || is_old)
			guest_free(guest);
	}
}

bool guests_make_room(struct serve *serve, const struct identity *who)
{
	struct mcp_guest *oldest = NULL;
	int64_t count = 0;
	struct mcp_guest *guest = list_first(&serve->mcp.guests);
	for (; guest; guest = list_next(guest)) {
		if (guest->who != who || !guest->id[0])
			continue;
		count++;
		if (!guest_is_visited(guest) && (!oldest || guest->used_ns < oldest->used_ns))
			oldest = guest;
	}
	if (count < serve->settings.mcp_sessions)
		return true;
	if (oldest)
		guest_free(oldest);
	return oldest;
}

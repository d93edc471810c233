/* The gate. */
#include "serve/serve_exchange.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macros.h"
#include "serve/cookies.h"
#include "serve/peer.h"
#include "serve/routes.h"
#include "serve/serve_parts.h"
#include "wire/http_request.h"

/* ---- the host that is meant ---------------------------------------------------- */

/* "name:80" without the port, which is empty where there is none; brackets stay. */
static struct str gate_host_name(struct str host, struct str *ret_port)
{
	const char *colon = memrchr(host.data, ':', host.len);
	const char *bracket = memrchr(host.data, ']', host.len);
	*ret_port = (struct str){ "", 0 };
	if (!colon || (bracket && colon < bracket))
		return host;
	size_t len = (size_t)(colon - host.data);
	*ret_port = (struct str){ colon + 1, host.len - len - 1 };
	return (struct str){ host.data, len };
}

/* Whether a port is the one that is listened on. A client that names none may be told of it by a
 * proxy, or speak by a unix socket. */
static bool gate_is_own_port(const struct serve *serve, struct str port)
{
	uint64_t number = 0;
	return !port.len || (http_read_number(port, &number) && number == serve->port);
}

static bool gate_knows_host(const struct serve *serve, struct str host)
{
	static const char *const local[] = { "localhost", "127.0.0.1", "[::1]" };
	struct str port, ignored, name = gate_host_name(host, &port);
	for (const char *const *item = serve->settings.allowed_hosts; *item; item++) {
		if (http_same_word(host, str_from(*item)) || http_same_word(name, str_from(*item)))
			return true;
	}
	if (!gate_is_own_port(serve, port))
		return false;
	for (size_t i = 0; i < COUNT(local); i++) {
		if (http_same_word(name, str_from(local[i])))
			return true;
	}
	struct str listening = gate_host_name(str_from(serve->listening), &ignored);
	return listening.len && http_same_word(name, listening);
}

static bool gate_check_host(struct exchange *exchange, const struct http_request *request)
{
	if (request->host.len && gate_knows_host(exchange->peer->serve, request->host))
		return true;
	exchange_error(exchange, 403, "host",
		"allowed_hosts under [serve] of perch/config.toml lists the names that it answers to",
		"this server is not called that");
	return false;
}

/* ---- behind a proxy -------------------------------------------------------------- */

/* The last member of the last field is what the proxy has seen itself: all before it is the
 * client's word. If the proxy gives no address, the client counts as unknown, and so as not on this
 * machine. */
static void gate_heed_client(const struct http_request *request, struct address *ret_address)
{
	struct str last = { 0 };
	for (size_t i = 0; i < request->field_count; i++) {
		struct str member, list = request->fields[i].value;
		if (!http_same_word(request->fields[i].name, STR("X-Forwarded-For")))
			continue;
		while (http_list_next(&list, &member))
			last = http_trim(member);
	}
	if (!address_parse(last, ret_address))
		address_parse(STR("0.0.0.0"), ret_address);
}

static void gate_heed_proxy(struct exchange *exchange, const struct http_request *request)
{
	struct str proto = { 0 };
	if (!serve_trusts(exchange->peer->serve, &exchange->peer->address))
		return;
	gate_heed_client(request, &exchange->address);
	if (http_request_get(request, "X-Forwarded-Proto", &proto) == 1)
		exchange->is_secure = http_same_word(http_trim(proto), STR("https"));
}

/* ---- the page it comes from -------------------------------------------------------- */

static bool gate_is_own_origin(
	const struct exchange *exchange, const struct http_request *request, struct str origin)
{
	struct str scheme = exchange->is_secure ? STR("https://") : STR("http://");
	if (!str_has_prefix(origin, scheme))
		return false;
	struct str rest = { origin.data + scheme.len, origin.len - scheme.len };
	return http_same_word(rest, request->host);
}

static bool gate_check_origin(
	struct exchange *exchange, const struct http_request *request, bool *ret_is_own)
{
	struct str origin = exchange_field(exchange, "Origin");
	*ret_is_own = false;
	struct str any;
	if (!http_request_get(request, "Origin", &any))
		return true;
	*ret_is_own = gate_is_own_origin(exchange, request, origin);
	if (*ret_is_own)
		return true;
	const char *const *allowed = exchange->peer->serve->settings.allowed_origins;
	if (origin.len && list_has_str(allowed, origin)) {
		exchange->origin = str_dup(origin);
		return true;
	}
	exchange_error(exchange, 403, "origin",
		"allowed_origins under [serve] of perch/config.toml lists the sites that may ask",
		"requests of that site are not answered");
	return false;
}

/* ---- the user --------------------------------------------------------------------------- */

/* What the connection has shown before is not hashed again. */
static struct identity *gate_find(struct peer *peer, struct str text)
{
	struct serve *serve = peer->serve;
	int64_t now = (int64_t)time(NULL);
	if (peer->shown && identity_was_shown(peer->shown, text, now))
		return peer->shown;
	struct identity *who = identities_find(&serve->identities, text, now);
	if (!who) {
		serve_tokens_look(serve); /* it may be as new as that */
		who = identities_find(&serve->identities, text, now);
	}
	if (!who)
		return NULL;
	identity_note_shown(who, text);
	identity_drop(peer->shown);
	peer->shown = identity_keep(who);
	return who;
}

static struct identity *gate_bearer(
	struct exchange *exchange, const struct http_request *request, bool *ret_was_given)
{
	struct str value = { 0 };
	*ret_was_given = http_request_get(request, "Authorization", &value) > 0;
	value = exchange_field(exchange, "Authorization");
	if (value.len < 7 || !http_same_word((struct str){ value.data, 7 }, STR("Bearer ")))
		return NULL;
	return gate_find(exchange->peer, http_trim((struct str){ value.data + 7, value.len - 7 }));
}

static void gate_refuse(struct exchange *exchange, bool was_given)
{
	struct serve *serve = exchange->peer->serve;
	uint64_t now_ns = clock_now_ns();
	const struct http_field wait = { STR("Retry-After"), STR("60") };
	const struct http_field ask = { STR("WWW-Authenticate"), STR("Bearer realm=\"perch\"") };
	bool is_blocked = strangers_are_blocked(&serve->strangers, &exchange->address, now_ns);
	if (was_given && !is_blocked)
		serve_note_refusal(exchange, exchange->request->path, "a token that is not valid");
	if (was_given)
		strangers_blame(&serve->strangers, &exchange->address, now_ns);
	serve->metrics.strangers++;
	if (is_blocked)
		exchange_error_with(exchange, 429, "too_many_wrong_tokens", NULL,
			"too many wrong tokens came from there: wait a minute", &wait, 1);
	else
		exchange_error_with(exchange, 401, "token",
			"perch token create NAME makes one; send it as Authorization: Bearer TOKEN",
			was_given ? "that token is not valid" : "this needs a token", &ask, 1);
}

/* Whether a proxy that is not listed as trusted passes on a request of another client: then the
 * peer's address, which may be on this machine, is not the client's. */
static bool gate_is_passed_on(const struct exchange *exchange, const struct http_request *request)
{
	struct str any;
	return !serve_trusts(exchange->peer->serve, &exchange->peer->address) &&
		(http_request_get(request, "X-Forwarded-For", &any) ||
			http_request_get(request, "Forwarded", &any));
}

static struct identity *gate_anonymous(
	const struct exchange *exchange, const struct http_request *request)
{
	const struct serve *serve = exchange->peer->serve;
	if (!serve->options.anonymous || !address_is_local(&exchange->address) ||
		gate_is_passed_on(exchange, request))
		return NULL;
	return identities_named(&serve->identities, serve->options.anonymous);
}

static void gate_welcome(struct exchange *exchange, struct identity *who)
{
	struct peer *peer = exchange->peer;
	exchange->who = identity_keep(who);
	if (!peer->is_known && !peer->is_exempt)
		strangers_leave(&peer->serve->strangers, &peer->address);
	peer->is_known = true;
}

/* Whether the browser says that the request comes from our own page: a form of another site cannot
 * have that. */
static bool gate_check_cookie(
	struct exchange *exchange, const struct http_request *request, bool is_own_origin)
{
	bool is_safe = request->method == HTTP_GET || request->method == HTTP_HEAD;
	if (is_safe || is_own_origin)
		return true;
	exchange_error(exchange, 403, "origin", NULL, "only the page itself may ask for that");
	return false;
}

static bool gate_check_token(
	struct exchange *exchange, const struct http_request *request, bool is_own_origin)
{
	bool was_given;
	struct identity *who = gate_bearer(exchange, request, &was_given);
	enum route_need need = exchange->route ? exchange->route->need : NEED_TOKEN;
	if (!who && !was_given && (who = cookies_find(exchange, request))) {
		if (!gate_check_cookie(exchange, request, is_own_origin))
			return false;
	}
	if (!who && !was_given)
		who = gate_anonymous(exchange, request);
	if (!who && need == NEED_NOTHING && !was_given)
		return true;
	if (!who) {
		gate_refuse(exchange, was_given);
		return false;
	}
	gate_welcome(exchange, who);
	if (need != NEED_ADMIN || who->token.is_admin)
		return true;
	serve_note_refusal(exchange, request->path, "for admins alone");
	exchange_error(exchange, 403, "admin", NULL, "this is for tokens of the role admin");
	return false;
}

bool gate_pass(struct exchange *exchange, const struct http_request *request)
{
	bool is_own_origin;
	gate_heed_proxy(exchange, request);
	if (!gate_check_host(exchange, request))
		return false;
	if (!gate_check_origin(exchange, request, &is_own_origin))
		return false;
	if (request->method == HTTP_OPTIONS && exchange->origin)
		return true; /* a browser asks on behalf of a page, without a token */
	return gate_check_token(exchange, request, is_own_origin);
}

void gate_tell_methods(struct exchange *exchange, unsigned methods)
{
	_cleanup_(buf_free) struct buf allowed = { 0 };
	bool is_question = exchange->request->method == HTTP_OPTIONS;
	if (http_methods_write(&allowed, methods | HTTP_BIT(HTTP_OPTIONS)) < 0) {
		exchange_no_memory(exchange);
		return;
	}
	struct str list = { allowed.data, allowed.len };
	const struct http_field fields[] = {
		{ STR("Allow"), list },
		{ STR("Access-Control-Allow-Methods"), list },
		{ STR("Access-Control-Allow-Headers"),
			STR("authorization, content-type, idempotency-key, last-event-id, x-perch-session, "
				"mcp-session-id, mcp-protocol-version, mcp-method, mcp-name") },
		{ STR("Access-Control-Max-Age"), STR("600") },
	};
	if (is_question)
		exchange_answer(exchange, 204, "text/plain", (struct str){ "", 0 }, fields,
			exchange->origin ? COUNT(fields) : 1);
	else
		exchange_error_with(
			exchange, 405, "method", NULL, "this address has no such method", fields, 1);
}

/* Logging in. */
#include "serve/cookies.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "data/json.h"
#include "serve/body.h"
#include "serve/peer.h"
#include "serve/serve_parts.h"
#include "wire/http_request.h"

static void cookie_remove(struct cookies *cookies, struct cookie *cookie)
{
	list_remove(&cookies->list, cookie);
	identity_drop(cookie->who);
	free(cookie);
}

struct cookie *cookies_add(
	struct cookies *cookies, const char *hash, int64_t until, struct identity *who, bool is_by_link)
{
	struct cookie *cookie = calloc(1, sizeof(*cookie));
	if (!cookie)
		return NULL;
	snprintf(cookie->hash, sizeof(cookie->hash), "%s", hash);
	cookie->until = until;
	cookie->who = identity_keep(who);
	cookie->is_by_link = is_by_link;
	list_append(&cookies->list, cookie);
	return cookie;
}

void cookies_sweep(struct cookies *cookies)
{
	int64_t now = (int64_t)time(NULL);
	struct cookie *next;
	for (struct cookie *cookie = list_first(&cookies->list); cookie; cookie = next) {
		next = list_next(cookie);
		if (cookie->who->is_revoked || now >= cookie->until)
			cookie_remove(cookies, cookie);
	}
}

void cookies_free(struct cookies *cookies)
{
	struct cookie *cookie;
	while ((cookie = list_first(&cookies->list)))
		cookie_remove(cookies, cookie);
}

int cookies_make_once(struct cookies *cookies, char ret_secret[TOKEN_SIZE])
{
	int r = token_make(ret_secret);
	if (r < 0)
		return r;
	token_hash(str_from(ret_secret), cookies->once_hash);
	cookies->once_until_ns = clock_now_ns() + COOKIE_ONCE_SECONDS * NSEC_PER_SEC;
	return 0;
}

/* ---- finding -------------------------------------------------------------------- */

static void cookie_name(const struct serve *serve, char out[32])
{
	snprintf(out, 32, "perch_%u", serve->port);
}

/* The value of the cookie of this name in "a=b; c=d". */
static struct str cookie_value(struct str fields, const char *name)
{
	while (fields.len) {
		struct str pair = str_trim(str_cut(&fields, ';'));
		struct str found = str_cut(&pair, '=');
		if (str_is(found, name))
			return pair;
	}
	return (struct str){ 0 };
}

static struct cookie *cookies_named(struct cookies *cookies, struct str id)
{
	char hash[SHA256_HEX_SIZE];
	struct cookie *found = NULL;
	token_hash(id, hash);
	for (struct cookie *item = list_first(&cookies->list); item; item = list_next(item)) {
		if (hmac_is(item->hash, hash))
			found = item;
	}
	return found;
}

static struct cookie *cookies_of(struct exchange *exchange, const struct http_request *request)
{
	struct serve *serve = exchange->peer->serve;
	struct str fields = { 0 };
	char name[32];
	cookie_name(serve, name);
	if (http_request_get(request, "Cookie", &fields) != 1)
		return NULL;
	struct str id = cookie_value(fields, name);
	struct cookie *cookie = id.len ? cookies_named(&serve->cookies, id) : NULL;
	return cookie && (int64_t)time(NULL) < cookie->until ? cookie : NULL;
}

struct identity *cookies_find(struct exchange *exchange, const struct http_request *request)
{
	struct cookie *cookie = cookies_of(exchange, request);
	const struct token *token = cookie ? &cookie->who->token : NULL;
	bool is_valid = token && (!token->expires || (int64_t)time(NULL) < token->expires);
	exchange->by_cookie = is_valid;
	exchange->by_link = is_valid && cookie->is_by_link;
	return is_valid ? cookie->who : NULL;
}

/* ---- logging in ------------------------------------------------------------------- */

static void cookies_set(struct exchange *exchange, const char *id, int seconds)
{
	struct serve *serve = exchange->peer->serve;
	char name[32];
	char text[256];
	cookie_name(serve, name);
	snprintf(text, sizeof(text), "%s=%s; HttpOnly; SameSite=Strict; Path=/; Max-Age=%d%s", name, id,
		seconds, exchange->is_secure ? "; Secure" : "");
	const struct http_field field = { STR("Set-Cookie"), str_from(text) };
	exchange_answer(exchange, 200, "application/json", STR("{\"ok\":true}"), &field, 1);
}

/* The oldest of a user that has many goes first, and else the oldest of all. */
static void cookies_make_room(struct cookies *cookies, const struct identity *who)
{
	struct cookie *oldest = NULL;
	size_t count = 0;
	for (struct cookie *item = list_first(&cookies->list); item; item = list_next(item)) {
		if (item->who != who)
			continue;
		oldest = oldest ? oldest : item;
		count++;
	}
	if (count >= COOKIES_OF_ONE)
		cookie_remove(cookies, oldest);
	else if (cookies->list.count >= COOKIES_MAX)
		cookie_remove(cookies, list_first(&cookies->list));
}

static void cookies_give(struct exchange *exchange, struct identity *who, bool is_by_link)
{
	struct cookies *cookies = &exchange->peer->serve->cookies;
	char id[TOKEN_SIZE], hash[SHA256_HEX_SIZE];
	cookies_sweep(cookies);
	cookies_make_room(cookies, who);
	bool is_made = token_make(id) == 0;
	token_hash(str_from(is_made ? id : ""), hash);
	int64_t until = (int64_t)time(NULL) + COOKIE_SECONDS;
	if (!is_made || !cookies_add(cookies, hash, until, who, is_by_link)) {
		exchange_no_memory(exchange);
		return;
	}
	cookies_save(cookies);
	cookies_set(exchange, id, COOKIE_SECONDS);
}

/* Good once, for any client. */
static struct identity *cookies_take_once(struct serve *serve, struct str secret)
{
	struct cookies *cookies = &serve->cookies;
	char hash[SHA256_HEX_SIZE];
	token_hash(secret, hash);
	if (!cookies->once_hash[0] || clock_now_ns() >= cookies->once_until_ns ||
		!hmac_is(hash, cookies->once_hash))
		return NULL;
	cookies->once_hash[0] = '\0';
	return serve->local;
}

/* A client that guesses is slowed down, as with any other token. */
static void cookies_refuse(struct exchange *exchange)
{
	struct serve *serve = exchange->peer->serve;
	bool is_blocked = strangers_are_blocked(&serve->strangers, &exchange->address, clock_now_ns());
	strangers_blame(&serve->strangers, &exchange->address, clock_now_ns());
	exchange_error(exchange, is_blocked ? 429 : 401, "login", NULL,
		is_blocked ? "too many wrong tokens came from there: wait a minute"
				   : "that is neither a token nor a link that still works");
}

void cookies_login(struct exchange *exchange)
{
	struct serve *serve = exchange->peer->serve;
	_cleanup_(body_close) struct body body;
	struct identity *who = NULL;
	if (!body_open(&body, exchange))
		return;
	const perch_json_value *token = body_get(&body, "token", PERCH_JSON_STRING);
	const perch_json_value *once = body_get(&body, "once", PERCH_JSON_STRING);
	if (!body_is_good(&body))
		return;
	if (token)
		who = identities_find(&serve->identities, json_str(token), (int64_t)time(NULL));
	else if (once)
		who = cookies_take_once(serve, json_str(once));
	if (who)
		cookies_give(exchange, who, !token);
	else
		cookies_refuse(exchange);
}

/* null: nobody is signed in. It is no 401, because a browser shows its user every 401. */
void cookies_who(struct exchange *exchange)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	const struct token *token = exchange->who ? &exchange->who->token : NULL;
	perch_json_begin_object(&out);
	perch_json_write_name(&out, "user");
	if (token) {
		perch_json_begin_object(&out);
		json_write_text(&out, "name", str_from(token->name));
		json_write_text(&out, "role", token->is_admin ? STR("admin") : STR("user"));
		json_write_flag(&out, "person", exchange->by_link);
		perch_json_end_object(&out);
	} else {
		perch_json_write_null(&out);
	}
	perch_json_end_object(&out);
	exchange_json(exchange, 200, &json);
}

void cookies_logout(struct exchange *exchange)
{
	struct serve *serve = exchange->peer->serve;
	struct cookie *cookie = cookies_of(exchange, exchange->request);
	if (cookie) {
		cookie_remove(&serve->cookies, cookie);
		cookies_save(&serve->cookies);
	}
	cookies_set(exchange, "", 0);
}

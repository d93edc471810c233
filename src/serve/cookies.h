/* Logging in: cookies of browsers, and the link that works once. */
#ifndef SERVE_COOKIES_H
#define SERVE_COOKIES_H

#include "serve/serve_exchange.h"

enum {
	COOKIES_MAX = 1024,
	COOKIES_OF_ONE = 32, /* so that nobody signs others out by signing in */
	COOKIE_SECONDS = 12 * 3600,
	COOKIE_ONCE_SECONDS = 5 * 60,
};

struct cookie {
	struct link link;
	char hash[SHA256_HEX_SIZE];
	int64_t until; /* seconds since 1970 */
	struct identity *who;
	bool is_by_link; /* a person has it: the link is shown only on a terminal */
};

struct cookies {
	struct list list;
	char once_hash[SHA256_HEX_SIZE]; /* "" = there is no link, or it was used */
	uint64_t once_until_ns;
};

struct serve;
struct http_request;

/* Makes the secret of a link; the one before is no longer good. */
int cookies_make_once(struct cookies *cookies, char ret_secret[TOKEN_SIZE]);

/* The owner of the request's cookie; NULL = it has none. Sets by_cookie and by_link. */
struct identity *cookies_find(struct exchange *exchange, const struct http_request *request);

/* Cookies whose tokens were revoked end. */
void cookies_sweep(struct cookies *cookies);
void cookies_free(struct cookies *cookies);

/* NULL without memory. */
struct cookie *cookies_add(struct cookies *cookies, const char *hash, int64_t until,
	struct identity *who, bool is_by_link);

/* cookies_file.c: browsers stay signed in when the server is started again. If the file cannot be
 * read or written, users have to sign in again: no message is needed. */
void cookies_save(const struct cookies *cookies);
void cookies_load(struct serve *serve);

/* GET /api/login: {"user":{"name","role","person"}}; POST /api/login {"token"} or {"once"}, POST
 * /api/logout. */
void cookies_who(struct exchange *exchange);
void cookies_login(struct exchange *exchange);
void cookies_logout(struct exchange *exchange);

#endif

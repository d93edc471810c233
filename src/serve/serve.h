/* The gateway: perch over HTTP. It hosts nothing itself; every turn, call and run is a job of the
 * service (perch/service.h) that was written down before it was accepted. */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "base/str.h"
#include "perch/host.h"

struct serve;
struct buf;
struct redis_url;

/* Options of the command line go before perch/config.toml. NULL, 0 and false = as that says. */
struct serve_options {
	const char *listen;        /* ADDRESS:PORT; port 0 = any */
	const char *socket;        /* a unix socket beside it */
	const char *anonymous;     /* requests without a token belong to this user */
	const char *const *agents; /* files of profiles that are offered too; ends with NULL */
	bool
		is_check; /* only to be described: no file is opened that another process may have locked */
	bool is_durable;
	bool no_store;
	bool mcp_without_prefix; /* names of tools at /mcp */
	bool has_drain;
	int64_t drain_seconds;
	const struct redis_url *queue; /* workers run the jobs; NULL = they run here */
	const char *queue_password;
	unsigned queue_shards;
	const struct buf *queue_key; /* by which workers know us; NULL = none */
	int sockets;                 /* that were handed over, from descriptor 3 on */
	/* A line for people, which may be a warning. */
	void (*say)(void *data, bool is_warning, const char *text);
	void (*note)(void *data, struct str job); /* a job has ended: JSON */
	void *data;
};

/* Opens everything; nothing is answered before serve_run. Fails with words. */
int serve_new(perch_host *host, const struct serve_options *options, struct serve **ret_serve,
	perch_err *err);

/* Serves until it is told to stop and has. Returns 0 or a negative errno. */
int serve_run(struct serve *serve);

/* Reads configuration and tokens again. */
void serve_reload(struct serve *serve);

/* No more jobs; ends when the running ones have, or after the time to drain; again: now. */
void serve_stop(struct serve *serve);

void serve_free(struct serve *serve);

/* "http://127.0.0.1:4747"; NULL = it listens on no port. */
const char *serve_address(const struct serve *serve);

/* The token that was made for its life, because there was none; NULL = there was. */
const char *serve_own_token(const struct serve *serve);

/* A secret for the link that logs a browser in once. */
int serve_make_once(struct serve *serve, const char **ret_secret);

/* Writes what is offered, and to which tokens, for people or as JSON. */
int serve_describe(struct serve *serve, bool as_json, struct buf *out, perch_err *err);

#endif

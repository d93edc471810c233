/* A connection to Redis in the loop of a host, that comes back by itself: what was called and not
 * answered is called again, in order, so every call must be harmless when it is made twice.
 *
 * Before calls are sent it has looked whether this Redis will do (redis_greet.c): its version, that
 * it evicts nothing, our functions, the layout of the keys. */
#ifndef QUEUE_REDIS_LINK_H
#define QUEUE_REDIS_LINK_H

#include <hiredis/hiredis.h>

#include "perch/host.h"
#include "queue/redis_url.h"

enum {
	REDIS_ANSWER_SECONDS = 10, /* a Redis that is silent for so long is called again */
	REDIS_BACKOFF_MS = 50,     /* before the first attempt after a loss; then twice as long */
	REDIS_BACKOFF_MAX_MS = 5000,
	REDIS_ARGUMENTS_MAX = 4096,
};

struct redis_link;

struct redis_link_options {
	perch_host *host;
	const struct redis_url *url; /* outlives the link, as the texts do */
	const char *password;        /* NULL = none */
	const char *shard;           /* the first part of every key: "{perch:0}" */
	unsigned shards;             /* how many there are; 0 = as many as the queue has */
	/* The link will block or listen: only the password is checked. */
	bool is_ear;
	/* The first attempt is not made before redis_link_begin. */
	bool waits;
	/* It answers, now or again: before pending calls are sent. */
	void (*ready)(void *data);
	/* It is away, and will be called again; or, is_final, it will not do and is left alone. Words
	 * say which Redis and why. */
	void (*lost)(void *data, bool is_final, const char *text);
	void *data;
};

/* Fails with -EPERM and words where it is another machine's and needs no password, -ENOMEM. The
 * first attempt is made from the loop. */
int redis_link_open(
	const struct redis_link_options *options, struct redis_link **ret_link, perch_err *err);

void redis_link_begin(struct redis_link *link);

/* How many shards the queue has: known when it is ready. */
unsigned redis_link_shards(const struct redis_link *link);

/* Pending calls are forgotten, their answer is NULL. Not from a callback of the link's. NULL is
 * fine. */
void redis_link_free(struct redis_link *link);

bool redis_link_is_ready(const struct redis_link *link);

/* Calls without an answer yet. */
size_t redis_link_pending(const struct redis_link *link);

/* The answer, which is valid during the call: an error too, if it is not one that passes. NULL =
 * the link is freed, there will be none. */
typedef void redis_answer_fn(void *data, const redisReply *reply);

/* Calls one of our functions (queue/lua). Texts are copied. -ENOMEM, -E2BIG. */
int redis_link_call(struct redis_link *link, const char *function, const struct str *arguments,
	size_t count, redis_answer_fn *answer, void *data);

/* The same for any command. */
int redis_link_command(struct redis_link *link, const struct str *words, size_t count,
	redis_answer_fn *answer, void *data);

/* Listens to a channel from now on, after every loss. Once, on an ear. */
void redis_link_listen(
	struct redis_link *link, const char *channel, redis_answer_fn *heard, void *data);

#endif

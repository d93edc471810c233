/* What the parts of a connection to Redis share. */
#ifndef QUEUE_REDIS_LINK_PARTS_H
#define QUEUE_REDIS_LINK_PARTS_H

#include <hiredis/async.h>

#include "base/list.h"
#include "perch/loop.h"
#include "queue/redis_link.h"

enum redis_link_state {
	REDIS_RESTING,    /* the timer begins the next attempt */
	REDIS_RESOLVING,  /* a thread looks the name up */
	REDIS_CONNECTING, /* the socket is on its way */
	REDIS_GREETING,   /* it is looked whether this Redis will do */
	REDIS_READY,
	REDIS_REFUSED, /* it will not do */
};

struct redis_call {
	struct link link;
	struct redis_link *owner;
	redis_answer_fn *answer;
	void *data;
	const char *function; /* NULL = a command */
	uint64_t sent_ns;     /* 0 = it is to be sent */
	size_t size;
	size_t count;
	struct str words[];
};

enum { REDIS_SHA_SIZE = 41 };

struct redis_resolver;

struct redis_link {
	struct redis_link_options options;
	enum redis_link_state state;
	redisAsyncContext *context;
	perch_source *source;
	unsigned watched;
	perch_timer *timer; /* the next attempt, or what is late */
	uint64_t begun_ns;  /* of the attempt */
	uint64_t looked_ns; /* when it was last looked what is late */
	unsigned attempts;  /* without success */
	struct list calls;
	size_t bytes;
	struct redis_resolver *resolver; /* NULL = no name was to be looked up yet */
	unsigned step;                   /* of the greeting */
	unsigned shards;                 /* as the queue has said */
	bool has_loaded;                 /* the library, during this greeting */
	bool uses_scripts;               /* functions may not be loaded here */
	char sha[REDIS_SHA_SIZE], spare_sha[REDIS_SHA_SIZE];
	const char *channel;
	redis_answer_fn *heard;
	void *heard_data;
	unsigned random;
};

/* The connection is of no use: drops it and tries again later, or not. */
void redis_link_fail(struct redis_link *link, bool is_final, const char *format, ...)
	PERCH_PRINTF(3, 4);

/* Everything is sent from now on. */
void redis_link_become_ready(struct redis_link *link);

/* ---- redis_dial.c ------------------------------------------------------------------ */

/* Begins an attempt. */
void redis_dial(struct redis_link *link);

/* ---- redis_greet.c ----------------------------------------------------------------- */

void redis_greet(struct redis_link *link);

/* The words before the arguments of a call: their count, at most REDIS_PREFIX. */
enum { REDIS_PREFIX = 5 };
size_t redis_greet_prefix(const struct redis_link *link, const char *function,
	struct str ret_words[REDIS_PREFIX], char *name);
enum { REDIS_NAME_SIZE = 64 };

/* Whether an error passes by itself: -LOADING, -READONLY, -NOSCRIPT … */
bool redis_greet_is_passing(const char *error);

/* Whether it would be the same at the next attempt: another node's keys, or too few rights. */
bool redis_greet_is_refusal(const char *error);

/* ---- redis_resolver.c ---------------------------------------------------------------- */

/* Looks a name up in a thread; `done` comes from the loop. At most one at a time. */
int redis_resolver_ask(struct redis_link *link,
	void (*done)(struct redis_link *link, const char *address, const char *problem),
	perch_err *err);
void redis_resolver_free(struct redis_resolver *resolver);

#endif

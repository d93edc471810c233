/* A watcher: a client with an exchange that waits for what a job, or every job of a user, tells.
 * Watchers pull: a slow one holds no other back and stores nothing of its own. */
#ifndef SERVE_WATCHER_H
#define SERVE_WATCHER_H

#include "perch/loop.h"
#include "queue/queue.h"
#include "serve/serve_exchange.h"
#include "serve/record.h"

struct watcher;

struct watcher_kind {
	/* There may be more to tell, and room for it. For a watcher that only waits for the end: it has
	 * come. */
	void (*pump)(struct watcher *watcher);
	/* The client is gone: the watcher is in no list any more, and freed behind this. NULL = nothing
	 * is to be done. */
	void (*left)(struct watcher *watcher);
	void (*free)(struct watcher *watcher); /* what `data` has; NULL = nothing */
	bool is_eager; /* pumps with every event, also before a stream has begun */
};

struct watcher {
	struct link link;
	const struct watcher_kind *kind;
	struct exchange *exchange;
	struct record *record;     /* NULL = every job of the user */
	uint64_t after;            /* the number of the last event that was told */
	const struct logged *last; /* the event itself, as long as none was forgotten behind that */
	uint64_t drops;
	/* The same of each shard of the queue, for every job: events of two shards come in no order. */
	uint64_t told[QUEUE_SHARDS_MAX];
	bool follows;       /* of one job: it waits for what is still to come */
	uint64_t gather_ns; /* of every job: so long a piece waits behind the one before it; 0 = not */
	perch_timer *gathering;
	bool is_gathering;
	void *data;
};

/* Keeps the exchange for it. NULL without memory: the exchange is still the caller's. */
struct watcher *watcher_new(
	struct exchange *exchange, struct record *record, const struct watcher_kind *kind);

/* From now on its events come together in pieces, so far apart at least; the first one comes at
 * once. A negative errno: it stays as it was. */
int watcher_gather(struct watcher *watcher, uint64_t apart_ns);

/* It is told what comes behind this event. */
void watcher_begin(struct watcher *watcher, uint64_t after);

/* The first event of its job that was not told, and that one was. It is found where the last one
 * is: a client that is far behind would have all later events passed by with each of its pieces. */
const struct logged *watcher_next(const struct watcher *watcher);
void watcher_told(struct watcher *watcher, const struct logged *logged);

/* Before its exchange is answered for good. */
void watcher_free(struct watcher *watcher);

/* Something new is there. */
void watchers_touch(struct record *record);

/* Streams of users whose tokens were revoked end; all, when the server ends. */
void watchers_sweep(struct serve *serve);

/* Plain events of a job, of a user. */
extern const struct watcher_kind watcher_events;

#endif

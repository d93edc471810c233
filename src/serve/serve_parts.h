/* What the parts of the gateway share. */
#ifndef SERVE_SERVE_PARTS_H
#define SERVE_SERVE_PARTS_H

#include <sys/stat.h>

#include "perch/json.h"
#include "perch/loop.h"
#include "perch/service.h"
#include "queue/queue.h"
#include "queue/transcripts.h"
#include "serve/address.h"
#include "serve/cookies.h"
#include "serve/deadlines.h"
#include "serve/identity.h"
#include "serve/mcp_guests.h"
#include "serve/metrics.h"
#include "serve/record.h"
#include "serve/serve.h"
#include "serve/serve_settings.h"
#include "wire/http_request.h"

enum {
	SERVE_LISTENERS = 4,
	SERVE_TICK_MS = 500,     /* revoked tokens are noticed */
	SERVE_SERVERS_MS = 5000, /* that MCP servers have to end, when all else has */
	SERVE_TRIM_SECONDS = 10, /* old jobs are forgotten; sooner, where they are kept shorter */
	SERVE_TRIM_TRANSCRIPTS_SECONDS = 600,
	SERVE_REAP_SECONDS = 5, /* jobs of workers that are gone, where no other worker is there */
	SERVE_REAP_WAIT_SECONDS = 15, /* once Redis is there: workers renew their leases first */
};

struct listener {
	struct serve *serve;
	perch_source *source;
	int fd;
	char *path; /* of a unix socket that is ours to remove */
};

struct serve {
	perch_host *host;
	struct serve_options options;
	struct settings settings;
	perch_service *service;
	perch_catalog *catalog; /* NULL = to be asked for */
	bool catalog_is_old;
	struct queue *queue;
	struct transcripts *transcripts; /* NULL = none are kept */
	struct listener listeners[SERVE_LISTENERS];
	size_t listener_count;
	size_t sockets_max; /* for clients, of all descriptors */
	bool is_paused;     /* too many connections, or no descriptor for another */
	char listening[80]; /* "host:port" */
	unsigned port;
	char address[96];
	struct http_limits limits;
	struct list peers;
	struct peer *touched;
	struct list holders; /* peers that hold something, who began first is first */
	size_t held;         /* bytes of it */
	struct deadlines deadlines;
	struct strangers strangers;
	struct identities identities;
	struct identity *local; /* the user of the link that works once */
	struct stat tokens_stamp;
	char own_token[TOKEN_SIZE];
	char once[TOKEN_SIZE];
	struct cookies cookies;
	struct records records;
	struct list watchers; /* of users */
	size_t watcher_count;
	struct list conversations;
	bool has_left; /* a client gave up waiting for its turn: openai_tick looks for it */
	struct mcp_endpoint mcp;
	struct metrics metrics;
	char *scratch; /* what is read from a connection */
	perch_timer *tick;
	perch_timer *drain;
	uint64_t trimmed_ns;
	uint64_t sampled_ns;
	uint64_t transcripts_ns; /* when they are trimmed again */
	uint64_t date_ns;
	char date[HTTP_DATE_SIZE];
	struct metrics_queue shared;  /* the queue, as it was last heard of */
	struct metrics_queue counted; /* what its shards have answered so far */
	unsigned counting;            /* shards whose answer is on its way */
	bool queue_is_away;           /* the one that is shared with workers */
	bool queue_was_away;
	uint64_t queue_reap_ns; /* when it is looked again for workers that are gone */
	bool queue_is_refused;  /* it will not do */
	bool is_draining;
	bool is_late; /* what runs has had its time */
	bool is_over;
};

void serve_warn(struct serve *serve, const char *format, ...) PERCH_PRINTF(2, 3);

/* The value of Date, made once a second. */
struct str serve_date(struct serve *serve);

/* Whether an address is one of trusted_proxies. */
bool serve_trusts(const struct serve *serve, const struct address *address);

/* A connection has gone: there may be room for another one. */
void serve_resume(struct serve *serve);

/* ---- serve_tick.c ---------------------------------------------------------------- */

/* Of the timer `tick`, which it sets again. */
void serve_tick(perch_timer *timer, void *data);

/* ---- listener.c ------------------------------------------------------------------ */

int listeners_open(struct serve *serve, perch_err *err);
void listeners_close(struct serve *serve);

/* ---- serve_tokens.c -------------------------------------------------------------- */

int serve_tokens_read(struct serve *serve, perch_err *err);

/* Reads them again, where the file has changed. */
void serve_tokens_look(struct serve *serve);

/* For identities: a token was revoked. */
void serve_tokens_revoked(void *data);

/* The user of the link; and, where there is no token at all, of one that lives as long as we do. */
int serve_tokens_make_local(struct serve *serve, perch_err *err);

/* ---- what handlers share ------------------------------------------------------------ */

/* Whether the user may see this job. */
bool serve_may_see(const struct exchange *exchange, const struct record *record);

void serve_now(const struct serve *serve, struct metrics_now *ret_now);

/* Writes to the audit log that a request was refused, of a user or without a valid token. */
void serve_note_refusal(const struct exchange *exchange, struct str name, const char *why);

/* A job has ended: its transcript, its conversation. */
void serve_note_end(struct record *record);

#endif

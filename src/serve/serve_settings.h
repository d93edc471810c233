/* [serve] of perch/config.toml. */
#ifndef SERVE_SERVE_SETTINGS_H
#define SERVE_SERVE_SETTINGS_H

#include "base/arena.h"
#include "perch/base.h"

enum {
	SERVE_MAX_JOBS = 16,
	SERVE_QUEUE = 1024,
	SERVE_CONNECTIONS = 20000,
	SERVE_CONNECTIONS_UNKNOWN = 256, /* of one peer, without a valid token */
	SERVE_DRAIN_SECONDS = 30,
	SERVE_KEEP_SECONDS = 3600,
	SERVE_KEEP_TRANSCRIPTS_DAYS = 90,
	SERVE_HEAD_SECONDS = 10,
	SERVE_BODY_SECONDS = 60,
	SERVE_BODY_FLOOR = 1024,       /* bytes a second */
	SERVE_IDLE_SECONDS = 75,       /* of a connection between requests */
	SERVE_WRITE_SECONDS = 30,      /* for which a client may read nothing */
	SERVE_HEARTBEAT_SECONDS = 15,  /* a silent stream says that it is alive */
	SERVE_RETRY_WAIT_SECONDS = 10, /* for a client that gave up waiting for its turn */
	SERVE_MCP_SESSIONS = 256,      /* of one token */
	SERVE_MCP_IDLE_SECONDS = 3600, /* that a session is kept without use */
};
#define SERVE_KEEP_BYTES ((int64_t)64 * 1024 * 1024)
#define SERVE_BUFFERS_MAX ((int64_t)256 * 1024 * 1024)
#define SERVE_LISTEN "127.0.0.1:4747"

/* Lists end with NULL. */
struct settings {
	struct arena arena;
	const char *listen;
	const char *socket; /* NULL = none */
	const char *project;
	const char *const *allowed_hosts;
	const char *const *allowed_origins;
	const char *const *trusted_proxies; /* addresses */
	int64_t max_jobs;
	int64_t queue;
	int64_t connections;
	int64_t connections_unknown;
	int64_t keep_seconds;
	int64_t keep_bytes;
	int64_t keep_transcripts_seconds;
	int64_t drain_seconds;
	int64_t body_max;
	int64_t body_floor;
	int64_t buffers_max; /* bytes of bodies, unread answers and waiting requests in memory */
	int64_t head_seconds, body_seconds, idle_seconds, write_seconds;
	int64_t heartbeat_seconds;
	int64_t retry_wait_seconds;
	int64_t mcp_sessions;
	int64_t mcp_idle_seconds;
	bool is_durable;
};

/* Without a file or a section: the defaults. Fails with PERCH_ESYNTAX (file, line, column; also a
 * key that means nothing) and as reading does. */
int serve_settings_read(struct settings *ret_settings, perch_err *err);
void serve_settings_free(struct settings *settings);

#endif

/* Clients of /mcp. A guest is a connection of the engine: a legacy session, or one modern request.
 * A visit is an exchange of it: a POST that is to be answered, or a GET that listens. */
#ifndef SERVE_MCP_GUESTS_H
#define SERVE_MCP_GUESTS_H

#include "base/list.h"
#include "mcp/front.h"
#include "serve/serve_exchange.h"

struct serve;
struct mcp_guest;

enum {
	GUEST_ID_BYTES = 16,    /* random ones, of a session's name */
	GUEST_SILENT_MS = 1000, /* then a request is answered by a stream, which shows that it lives */
	GUEST_UNREAD_MAX = 8 * 1024 * 1024,   /* bytes that a client has not read: then it is cut off */
	GUEST_KEPT_MAX = 1024 * 1024,         /* bytes of a session's messages, to be told again */
	GUEST_KEPT_ALL_MAX = 8 * 1024 * 1024, /* … of all sessions of a token */
	GUEST_LOST_MAX = 64,                  /* streams of a session that go on without their client */
};

struct mcp_visit {
	struct link link;
	struct mcp_guest *guest;
	struct exchange *exchange; /* NULL: it was answered, or its client is gone */
	uint64_t stream;           /* its number in a session; 0 = what belongs to no request */
	struct mcp_visit *next_over;
	uint64_t begun_ns;
	bool is_over;
	bool is_lost; /* its client is gone, and may come back for what it missed */
	bool is_held; /* the client does not read, so the job's output is not read either */
};

struct mcp_guest {
	struct link link;
	struct mcp_caller caller;
	struct serve *serve;
	struct identity *who;
	struct mcp_connection *connection;
	struct list visits;
	struct mcp_visit *listener; /* the GET, which gets what belongs to no request */
	bool has_listened;          /* such a stream was there, and may be resumed */
	uint64_t last_stream, last_number;
	struct list kept; /* messages that may have been lost with their connection */
	size_t kept_bytes;
	uint64_t used_ns;
	char id[2 * GUEST_ID_BYTES + 1]; /* "": one request alone */
};

/* What /mcp has of the gateway. */
struct mcp_endpoint {
	struct mcp_front *front; /* NULL: two things have one name for clients */
	bool is_stale;           /* … but that may have changed */
	struct list guests;
	struct mcp_visit *over; /* to be freed, outside of the engine */
};

/* NULL without memory. */
struct mcp_guest *guest_new(struct serve *serve, struct identity *who);

/* The session of that name, if it is this user's. */
struct mcp_guest *guest_find(struct serve *serve, const struct identity *who, struct str id);

/* Ends its jobs and its exchanges. Not from the engine. */
void guest_free(struct mcp_guest *guest);

/* The exchange is kept until the engine has answered it. NULL without memory. */
struct mcp_visit *guest_visit(struct mcp_guest *guest, struct exchange *exchange);

/* The stream of a request for which something may still come; NULL: there is none. Another exchange
 * can take it over. */
struct mcp_visit *guest_of_stream(const struct mcp_guest *guest, uint64_t stream);
void guest_resume(struct mcp_visit *visit, struct exchange *exchange);

/* Begins the stream of an exchange of a session. */
void guest_stream(struct mcp_visit *visit);

/* Nothing is to come: the caller answers the exchange. */
void guest_visit_end(struct mcp_visit *visit);

/* The exchange that brings the present request of a caller; NULL: there is none. */
struct exchange *guest_exchange(const struct mcp_caller *caller);

/* ---- mcp_replay.c: messages of sessions, told again behind a Last-Event-ID ------------- */

enum { REPLAY_ID_SIZE = 48 };

/* A message as an event. In a session it is kept; the oldest are forgotten behind the limits. */
void replay_write(
	struct mcp_guest *guest, uint64_t stream, struct str line, bool is_last, struct buf *out);

/* An event without a message, by which a client may ask for the stream before the first message. */
void replay_prime(const struct mcp_guest *guest, uint64_t stream, struct buf *out);

/* Reads the id of an event: its stream, and its number there. */
bool replay_read_id(struct str id, uint64_t *ret_stream, uint64_t *ret_number);

/* Writes what is kept of a stream behind a number; whether its last message is among that, or was
 * told before. */
bool replay_again(const struct mcp_guest *guest, uint64_t stream, uint64_t after, struct buf *out);

void replay_forget(struct mcp_guest *guest);

/* ---- mcp_approval.c: for the front's `keep` and `told` ------------------------------- */

void *mcp_approval_keep(void *data, const struct mcp_kept_call *call);
void mcp_approval_told(void *data, void *kept, perch_job *job, const perch_event *event);

/* Frees visits that are over, and guests with them; sets the engine's timer. Before the loop
 * waits. */
void guests_settle(struct serve *serve);

/* Ends sessions that were not used for long, and those of revoked tokens. */
void guests_sweep(struct serve *serve);

/* Makes room for another session of this user, by ending the one that was unused for the longest
 * time. False: all are in use. */
bool guests_make_room(struct serve *serve, const struct identity *who);

#endif

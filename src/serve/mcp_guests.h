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
	GUEST_UNREAD_MAX = 8 * 1024 * 1024, /* bytes that a client has not read: then it is cut off */
};

struct mcp_visit {
	struct link link;
	struct mcp_guest *guest;
	struct exchange *exchange; /* NULL: it was answered, or its client is gone */
	struct mcp_visit *next_over;
	uint64_t begun_ns;
	bool is_over;
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

/* Nothing is to come: the caller answers the exchange. */
void guest_visit_end(struct mcp_visit *visit);

/* Frees visits that are over, and guests with them; sets the engine's timer. Before the loop
 * waits. */
void guests_settle(struct serve *serve);

/* Ends sessions that were not used for long, and those of revoked tokens. */
void guests_sweep(struct serve *serve);

/* Makes room for another session of this user, by ending the one that was unused for the longest
 * time. False: all are in use. */
bool guests_make_room(struct serve *serve, const struct identity *who);

#endif

/* A remote MCP server without I/O: the client's side of Streamable HTTP, both eras. Lines of
 * perch's client engine (wire/mcp_upstream.h) go in, and requests over HTTP come out; their answers
 * go in, and lines for perch come out. It reads no clock: the time is given.
 *
 * A line is one request over HTTP, an exchange. A legacy server may have a session, which begins
 * with `initialize`, ends with DELETE, is begun again when the server has forgotten it, and has a
 * stream of its own for what the server says unasked. A stream that breaks is resumed where the
 * server numbers its events. */
#ifndef REMOTE_REMOTE_H
#define REMOTE_REMOTE_H

#include "base/str.h"
#include "perch/base.h"
#include "wire/mcp_terms.h"

struct remote;
struct remote_exchange; /* one request over HTTP, and what comes of it */

enum {
	REMOTE_EXCHANGES_MAX = 256,            /* at once */
	REMOTE_WAITING_MAX = 64 * 1024 * 1024, /* bytes that exchanges hold, both directions */
	REMOTE_UNREAD_MAX = 4 * 1024 * 1024, /* bytes that perch has not read: no more is taken then */
	REMOTE_REFUSAL_MAX = 64 * 1024,      /* bytes of a refusal that are looked at */
	REMOTE_SESSION_MAX = 1024,           /* bytes of a session's name, and of an event's */
	REMOTE_RESUMES_MAX = 5,              /* of one answer, without an event between them */
	REMOTE_NOTES_MAX = 100,              /* words about what is odd */
	REMOTE_NOTE_MS = 30 * 1000,          /* for what perch awaits no answer to */
	REMOTE_TUNE_MS = 250,                /* for the session's own stream to begin */
	REMOTE_LINGER_MS = 1000,             /* for a stream to end behind its answer */
	REMOTE_BYE_MS = 700,                 /* for the end of a session */
	REMOTE_RETRY_MS = 1000,              /* before a stream is resumed, if the server has no wish */
	REMOTE_RETRY_MOST_MS = 60 * 1000,
};

/* All of it is valid during the call. */
struct remote_request {
	const char *method;
	struct str headers; /* "Name: value", each with a NUL behind it */
	struct str body;    /* stays as long as the exchange */
};

/* The head of an answer; texts are empty where it says nothing. */
struct remote_head {
	int status;
	struct str type;         /* Content-Type */
	struct str session;      /* Mcp-Session-Id */
	struct str authenticate; /* WWW-Authenticate */
	struct str location;
};

/* None may call back, but that a request which cannot be begun is done at once. */
struct remote_table {
	/* Begins a request, and gives one up: from remote_settle, remote_tick and remote_free alone. */
	void (*begin)(
		void *data, struct remote_exchange *exchange, const struct remote_request *request);
	void (*give_up)(void *data, struct remote_exchange *exchange);
	/* A line for perch. Behind it stands a '\n' that is not counted. */
	void (*write)(void *data, struct str line);
	/* Something odd, for people. */
	void (*note)(void *data, struct str text);
};

/* Headers of the operator's, "Name: value"; the list ends with NULL and stays. -ENOMEM. */
int remote_new(const char *const *headers, const struct remote_table *table, void *data,
	struct remote **ret_remote);
void remote_free(struct remote *remote);

/* Tells the time, by any clock that never goes back, before any other call; and when the next one
 * is needed, UINT64_MAX = never. */
void remote_tick(struct remote *remote, uint64_t now_ns);
uint64_t remote_deadline(const struct remote *remote);

/* A line of perch. */
void remote_line(struct remote *remote, struct str line, bool is_too_long);

/* What comes of an exchange that was begun: a head, pieces of its body, the end. `why` is empty
 * where all of it has come. Returns whether more is wanted. The exchange may be gone behind
 * remote_done. */
void remote_head(struct remote_exchange *exchange, const struct remote_head *head);
bool remote_body(struct remote_exchange *exchange, struct str bytes);
void remote_done(struct remote_exchange *exchange, struct str why);

/* What the owner keeps with an exchange. */
void remote_set_data(struct remote_exchange *exchange, void *data);
void *remote_data(const struct remote_exchange *exchange);

/* Begins and gives up what is due: after everything that it was told. */
void remote_settle(struct remote *remote);

/* Perch is gone: all is given up, the session is ended. */
void remote_leave(struct remote *remote);

/* Whether nothing is under way any more. */
bool remote_is_idle(const struct remote *remote);

/* There is no way on: memory ran out, or the session was lost and there is no other. */
bool remote_is_broken(const struct remote *remote);

#endif

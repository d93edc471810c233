/* What perch hosts, for MCP clients: the engine of src/wire in front of a service. A transport
 * (stdio.c, the gateway's /mcp) brings lines and takes messages away; it hosts nothing. */
#ifndef MCP_FRONT_H
#define MCP_FRONT_H

#include "perch/service.h"
#include "wire/mcp_server.h"

struct mcp_front;

/* The caller of a connection, and how messages reach it: a part of the transport's own data. */
struct mcp_caller {
	/* Must not call back into the engine. */
	void (*send)(struct mcp_caller *caller, const struct mcp_outgoing *outgoing);
	const char *name; /* a user; "" = the operator */
	/* Its session; "" = it has none of its own. What runs for it alone ends with it. */
	const char *session;
	bool sees_all;      /* sessions of every user, and traces */
	bool approves;      /* the user of the client may approve what it calls */
	const char *advice; /* where approval is waived, for people */
	/* Whether it may use this one; NULL = it may use all that is shown. */
	bool (*allows)(const struct mcp_caller *caller, perch_entry_kind kind, const char *name);
};

/* A call has ended; texts are valid during the call. */
struct mcp_call_end {
	perch_entry_kind kind;
	const char *name;
	const char *caller;
	uint64_t took_ns;
	bool success;
	bool was_cancelled;
	bool was_kept; /* its keeper was told already */
};

/* A call that must be approved, and not by its caller. Its job is held. */
struct mcp_kept_call {
	const struct mcp_caller *caller;
	perch_entry_kind kind;
	const char *name;
	struct str arguments; /* JSON; empty = none */
	perch_job *job;
};

/* Zero is the default of every number. */
struct mcp_front_options {
	bool without_prefix;
	size_t page_size;        /* of tools/list; 0 = all at once */
	size_t result_chars_max; /* 0 = 100,000 */
	bool is_public;          /* every caller sees the same */
	/* A sentence for the operator. */
	void (*warn)(void *data, const char *text);
	void (*ended)(void *data, const struct mcp_call_end *end); /* NULL = not wanted */
	/* The client has called something that does not exist, or not for this caller. */
	void (*refused)(void *data, const struct mcp_caller *caller, struct str name);
	/* Who keeps a call releases its job, is told what the job tells, and sees to its approval.
	 * Returns what `told` is to be called with; NULL: the call is refused. NULL = nobody keeps. */
	void *(*keep)(void *data, const struct mcp_kept_call *call);
	void (*told)(void *data, void *kept, perch_job *job, const perch_event *event);
	void *data;
};

/* The service must outlive it, but for its jobs: they are the front's. Fails with -EEXIST (two
 * things have one name for clients: err has both), -EIO, -ENOMEM, and as the service does. */
int mcp_front_new(perch_host *host, perch_service *service, const struct mcp_front_options *options,
	struct mcp_front **ret_front, perch_err *err);

/* For options.changed and options.told of the service. */
void mcp_front_changed(struct mcp_front *front);
void mcp_front_told(struct mcp_front *front, const perch_service_told *told);

/* The caller must outlive the connection. principal: whose parked runs and cut results these are.
 * -ENOMEM. */
int mcp_front_connect(struct mcp_front *front, struct mcp_caller *caller, struct str principal,
	struct mcp_connection **ret_connection);
void mcp_front_line(
	struct mcp_front *front, struct mcp_connection *connection, const struct mcp_line *line);

/* Not from `send`. NULL is fine. */
void mcp_front_disconnect(struct mcp_front *front, struct mcp_connection *connection);

/* Jobs whose messages go to this stream are not read, or are again; NULL = all jobs. */
void mcp_front_hold(struct mcp_front *front, const void *stream, bool is_held);

/* Sets the engine's timer; before the loop waits. */
void mcp_front_settle(struct mcp_front *front);

/* No more calls: what runs goes on, listeners are told goodbye. */
void mcp_front_close(struct mcp_front *front);

/* Calls that have not ended. */
size_t mcp_front_calls(const struct mcp_front *front);

/* The engine goes, and with it every run that is parked; connections must be gone before. Calls
 * that have not ended are cancelled. */
void mcp_front_leave(struct mcp_front *front);

/* To be called after the service is freed, because its jobs report here. NULL is fine. */
void mcp_front_free(struct mcp_front *front);

#endif

/* An exchange: a process of a binding, the engine that judges it, and its
 * clocks. A call has one of its own, or takes over one that has its handshake
 * behind it: a spare. */
#ifndef TOOL_EXCHANGE_H
#define TOOL_EXCHANGE_H

#include "proc/host.h"
#include "proc/tail.h"
#include "tool/tool_engine.h"
#include "tool/tool_launch.h"

struct trace;

/* NEVER = it does not run. */
struct exchange_clocks {
	uint64_t invocation_ns;
	uint64_t handshake_ns;
	uint64_t teardown_ns;
};

/* The owner of an exchange, which is told what becomes of it. From the loop only. */
struct exchange_listener {
	/* The process is gone, and its files are removed. Once; may free the exchange. */
	void (*over)(void *data);
	/* There is a valid response, and the process has still to leave: the engine's verdict says what
	 * it would be if that went well. Once; must not free the exchange. May be NULL; so may: */
	void (*answered)(void *data);
	void (*stderr_bytes)(void *data, const char *bytes, size_t len);
	void *data;
};

struct exchange_options {
	const struct tool_binding *binding;        /* outlives the exchange */
	const struct tool_engine_request *request; /* the same; NULL = later, or never */
	bool handshake_only;
	struct exchange_clocks clocks;
	struct exchange_listener listener;
	struct trace *trace;
};

/* What happens in which state is the table in exchange_life.c. */
enum exchange_state {
	EXCHANGE_HANDSHAKE, /* waits for the handshake */
	EXCHANGE_READY,     /* waits for a request */
	EXCHANGE_RESPONSE,  /* waits for the response */
	EXCHANGE_NAPPING,   /* waits only for the exit: the plugin's streams are not read */
	EXCHANGE_LEAVING,   /* waits for the exit, and reads again */
	EXCHANGE_STOPPING,  /* the verdict is known: the process is being stopped */
	EXCHANGE_KILLED,    /* the process was killed, and is still there */
	EXCHANGE_CLEANING,  /* the process is gone: what it left is being removed */
	EXCHANGE_OVER,      /* the listener knows */
	EXCHANGE_STATES,
};

struct exchange {
	perch_host *host;
	struct exchange_options options;
	struct tool_engine_options engine_options;
	struct tool_engine *engine;
	struct launch launch;
	perch_child *child;
	perch_result result; /* once it has ended */
	struct tail stderr_tail;
	bool left_by_itself; /* the plugin exited by itself, so the exit status is its own; known with
							the result */
	struct timer clock;  /* of the engine; then of the cleaning */
	bool has_timer;
	uint64_t started_ns;
	uint64_t sent_ns; /* the last line; 0 = none yet, as below */
	uint64_t responded_ns;
	enum exchange_state state;
	bool has_answered; /* the listener knows of the response */
};

/* -ENOMEM. */
int exchange_new(
	perch_host *host, const struct exchange_options *options, struct exchange **ret_exchange);

/* Starts the process. Fails as launch_start does; the exchange is to be freed
 * then. */
int exchange_start(struct exchange *exchange, perch_err *err);

/* Whether it waits for a request: the handshake went well, and the plugin has neither said anything
 * nor closed its output since, also where the loop has not heard of it yet. */
bool exchange_is_ready(const struct exchange *exchange);

/* Hands a request to an exchange that is ready, with new clocks and a new
 * listener. -EPIPE when the plugin had hung up before all of it was written, so
 * that it cannot have acted on it: it is to be freed, and another can be asked. */
int exchange_take_over(struct exchange *exchange, const struct exchange_options *options);

/* Ends it with PERCH_TOOL_CANCELLED, unless the verdict is known. `over` comes. */
void exchange_cancel(struct exchange *exchange);

/* Ends what is left, without `over`. NULL is fine. */
void exchange_free(struct exchange *exchange);

/* ---- exchange_life.c, for exchange.c -------------------------------------- */

/* What can happen to an exchange: the engine's stages, and what becomes of the process. */
enum exchange_event {
	ON_READY,     /* the engine has accepted the handshake */
	ON_ASKED,     /* the engine has a request to send */
	ON_RESPONDED, /* the engine has accepted the response */
	ON_DECIDED,   /* the engine has a verdict */
	ON_KILL,      /* the process must go at once: it floods us, or memory ran out */
	ON_STIR,      /* the nap is over, or the process has exited */
	ON_ENDED,     /* the process is gone, everything that it wrote was read */
	ON_CLEANED,   /* nothing is left of it */
	EXCHANGE_EVENTS,
};

/* Returns whether the event counted in this state. After ON_ENDED and ON_CLEANED the exchange may
 * be gone. */
bool exchange_happen(struct exchange *exchange, enum exchange_event event);

/* Removes a part of the files that the process left; the rest in the next turns of the loop. */
void exchange_clean(struct exchange *exchange);

/* A clock with its deadline. */
struct deadline {
	enum tool_clock clock;
	uint64_t when_ns;
};

/* The clock that runs out first in this state; of two at the same moment, that of the
 * invocation. */
struct deadline exchange_next_deadline(const struct exchange *exchange);
void exchange_set_clock(struct exchange *exchange);

#endif

/* Plugins that a plugin calls. Its commands find a socket as descriptor CONFINE_CHANNEL; a perch
 * among them (`fledge sql …`) does not run the other plugin inside of the caller's sandbox but asks
 * for it there, and the host starts a perch of its own, outside, which gives the callee its own
 * grants, sandbox and environment. What the callee prints goes straight to where the asking perch
 * would have printed: nothing of it is in the host's memory. */
#ifndef FLEDGE_CALLS_H
#define FLEDGE_CALLS_H

#include <stddef.h>

#include "base/str.h"
#include "fledge/call_request.h"
#include "perch/host.h"

enum {
	CALLS_PARALLEL = 8,  /* more wait in the socket */
	CALLS_DEPTH_MAX = 8, /* plugins that call each other */
};

struct calls_options {
	const char *program;    /* perch: an absolute path */
	const char *const *env; /* its environment */
};

struct calls;

/* options and what it points to must outlive the calls. Negative errno. */
int calls_new(perch_host *host, const struct calls_options *options, struct calls **ret_calls);

/* The end that commands get. It stays the calls' own. */
int calls_channel(const struct calls *calls);

/* No more calls are taken, and running ones are told to end, once. NULL is fine, here and below. */
void calls_drop(struct calls *calls);

/* The next step to the end of what runs. */
void calls_push(struct calls *calls);

/* Whether something still runs. */
bool calls_are_busy(const struct calls *calls);

/* Signals what runs. */
void calls_signal(struct calls *calls, int signal);

/* Ends what is left. */
void calls_free(struct calls *calls);

#endif

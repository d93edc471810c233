/* A gateway that listens nowhere, writes nothing and offers nothing: bytes in, its answer out. What
 * it reads is below XDG_CONFIG_HOME and XDG_STATE_HOME, which the caller sets. */
#ifndef HARNESS_GATEWAY_H
#define HARNESS_GATEWAY_H

#include "base/buf.h"
#include "base/str.h"

struct gateway {
	struct perch_host *host;
	struct serve *serve;
};

/* Fails as serve_new does. */
int gateway_open(struct gateway *gateway, perch_err *err);
void gateway_close(struct gateway *gateway);

/* The same in a home of its own; both are gone when the process ends. Once. */
int gateway_open_alone(struct gateway *gateway);

/* Says this on a connection of its own, which ends with it, and takes what comes back: nothing,
 * where the server had no memory for more. Fails with -ENOMEM and as sockets do. */
int gateway_say(struct gateway *gateway, struct str bytes, struct buf *answer);

/* A request with a body, by the token that the gateway made for itself (is_known) or by none. */
int gateway_ask(struct gateway *gateway, const char *request_line, bool is_known, struct str body,
	struct buf *answer);

#endif

/* The gate: which user a request comes from, and whether it is meant for us. */
#ifndef SERVE_GATE_H
#define SERVE_GATE_H

#include "serve/serve_exchange.h"

/* Checks Host, Origin and token; false: the exchange was answered. Sets who, by_cookie, is_secure,
 * address. */
bool gate_pass(struct exchange *exchange, const struct http_request *request);

/* Answers OPTIONS, and a method that the address does not have. */
void gate_tell_methods(struct exchange *exchange, unsigned methods);

#endif

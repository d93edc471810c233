/* The catalogue of the gateway: what there is, and which user may use it. */
#ifndef SERVE_SERVE_CATALOG_H
#define SERVE_SERVE_CATALOG_H

#include "perch/catalog.h"
#include "serve/serve_exchange.h"

struct serve;

/* The catalogue as it is now; NULL when it cannot be read and never was. */
const perch_catalog *catalog_get(struct serve *serve);
void catalog_changed(perch_service *service, void *data);

/* Tells the operator what of it cannot be used, and why. */
void catalog_warn(struct serve *serve);

/* Whether this user may use it: exposed, and allowed to the token. */
bool catalog_allows(const struct exchange *exchange, perch_entry_kind kind, const char *name);

/* How often a turn of this agent that was interrupted may be begun again. */
unsigned catalog_retries(struct serve *serve, const char *agent);

/* GET /api/catalog */
void catalog_answer(struct exchange *exchange);

#endif

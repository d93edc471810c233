/* What handlers of jobs share. */
#ifndef SERVE_API_FIND_H
#define SERVE_API_FIND_H

#include "serve/serve_exchange.h"

enum {
	API_JOBS_MAX = 1000,      /* in one answer */
	API_GATHER_MAX_MS = 1000, /* a stream that waits longer looks dead */
};

struct record;

/* The job that the address names. NULL: this user has no such job, which was answered. */
struct record *api_find(struct exchange *exchange);

#endif

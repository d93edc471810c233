/* The addresses of the gateway: one table. */
#ifndef SERVE_ROUTES_H
#define SERVE_ROUTES_H

#include "serve/serve_exchange.h"
#include "wire/http_router.h"

enum route_need {
	NEED_NOTHING,
	NEED_TOKEN,
	NEED_ADMIN,
};

struct route {
	enum route_need need;
	bool is_openai; /* errors are in the words of OpenAI's clients */
	void (*handle)(struct exchange *exchange);
};

/* Row N of the second table says how the address in row N of the first is handled. */
extern const struct http_routes routes;
extern const struct route route_table[];

#endif

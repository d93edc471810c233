/* Which handler a request is for, from a table: a set of methods, a pattern and a number.
 *
 * A pattern is a path whose segments are words as they are, "{}" for any one segment, or,
 * at the end, "{*}" for one or more: "/api/jobs/{}/events". Words are compared as they stand
 * in the request, so that percent signs make no second name that a proxy in front of the server
 * would not know. The first row that fits is taken. GET is HEAD too. */
#ifndef WIRE_HTTP_ROUTER_H
#define WIRE_HTTP_ROUTER_H

#include "wire/http_url.h"
#include "wire/http_words.h"

enum { HTTP_PARAMETERS_MAX = 4 };

struct http_route {
	unsigned methods; /* HTTP_BIT(HTTP_GET) | … */
	const char *pattern;
	int handler;
};

struct http_routes {
	const struct http_route *items;
	size_t count;
};

struct http_match {
	int handler;      /* when status is 200 */
	int status;       /* 200; 404: no such path; 405: not with this method */
	unsigned allowed; /* the methods of this path, for Allow and OPTIONS */
	/* What stood for each "{}" and "{*}", not decoded. */
	struct str parameters[HTTP_PARAMETERS_MAX];
	size_t parameter_count;
};

struct http_match http_route_find(
	const struct http_routes *routes, enum http_method method, struct str path);

/* Whether a table is well formed: patterns that can be matched, with no more parameters than
 * there is room for, and each with methods that no row above takes away from it. */
bool http_routes_are_valid(const struct http_routes *routes);

#endif

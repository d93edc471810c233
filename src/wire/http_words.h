/* Methods and statuses by name, and the date as HTTP writes it. */
#ifndef WIRE_HTTP_WORDS_H
#define WIRE_HTTP_WORDS_H

#include "base/buf.h"
#include "base/str.h"

enum http_method {
	HTTP_GET,
	HTTP_HEAD,
	HTTP_POST,
	HTTP_PUT,
	HTTP_PATCH,
	HTTP_DELETE,
	HTTP_OPTIONS,
	HTTP_METHOD_COUNT,
	HTTP_NO_METHOD = HTTP_METHOD_COUNT,
};

/* For sets of methods. */
#define HTTP_BIT(method) (1u << (method))

/* HTTP_NO_METHOD for one that is not implemented. Case counts. */
enum http_method http_method_find(struct str name);

/* The value of Allow for a set of methods: "GET, HEAD". */
int http_methods_write(struct buf *out, unsigned methods);

/* "Not Found"; "" for a status that has no name here. */
const char *http_status_text(int status);

/* "Sun, 06 Nov 1994 08:49:37 GMT", from seconds since 1970 (up to the year 9999). */
enum { HTTP_DATE_SIZE = 30 };
void http_date_write(char out[HTTP_DATE_SIZE], uint64_t seconds);

#endif

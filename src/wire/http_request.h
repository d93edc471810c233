/* A request as its head says it is: the line, the target, the fields, and how long the body
 * is. Strict: what two readers might understand differently is refused. */
#ifndef WIRE_HTTP_REQUEST_H
#define WIRE_HTTP_REQUEST_H

#include "wire/http_block.h"
#include "wire/http_words.h"

/* What a limit of 0 stands for. */
enum {
	HTTP_HEAD_MAX = 16 * 1024,       /* bytes, the request line too; the same for trailers */
	HTTP_TARGET_MAX = 8 * 1024,      /* bytes of the request's target */
	HTTP_FIELDS_MAX = 100,           /* header fields; the same for trailers */
	HTTP_BODY_MAX = 8 * 1024 * 1024, /* bytes */
	HTTP_EXTENSIONS_MAX = 4 * 1024,  /* bytes of chunk extensions in a body */
};

/* The longest line that can be a request's is that of the target and this. */
enum { HTTP_LINE_EXTRA = sizeof("OPTIONS  HTTP/1.1\r\n") - 1 };

struct http_limits {
	size_t head_max;
	size_t target_max;
	size_t fields_max;
	uint64_t body_max;
	size_t extensions_max;
};

enum http_body_kind {
	HTTP_BODY_NONE,
	HTTP_BODY_SIZED,
	HTTP_BODY_CHUNKED,
};

/* All texts are as they came and valid as long as the request. */
struct http_request {
	enum http_method method;
	unsigned minor;    /* of HTTP/1.x: 0, or 1 for any other */
	struct str target; /* as a whole */
	struct str path;   /* begins with '/'; "*" in OPTIONS * */
	struct str query;  /* behind the '?'; data is NULL when there is none */
	struct str host;   /* "host" or "host:port"; empty in HTTP/1.0 without one */
	const struct http_field *fields;
	size_t field_count;
	enum http_body_kind body;
	uint64_t body_len;   /* sized */
	bool wants_continue; /* the client waits for a 100 before it sends the body */
	bool persists;       /* the client wants to go on with another one */
};

/* The first field of this name and how many there are; what several say is one list. */
size_t http_request_get(
	const struct http_request *request, const char *name, struct str *ret_value);

/* Whether a list, in however many fields, has this word. */
bool http_request_has(const struct http_request *request, const char *name, const char *word);

/* Whether Accept, which it has, allows this type: as it is, or by a star. */
bool http_request_accepts(const struct http_request *request, const char *type);

/* ---- for http_connection.c -------------------------------------------------- */

/* Reads a request line: method, version and target, path and query of *request; host only
 * where the target has one. 0, or PERCH_ESYNTAX with a fault. */
int http_request_read_line(
	struct http_request *request, struct str line, size_t target_max, struct http_fault *fault);

/* Reads what the fields, which are set, say about host, body and connection. The same. */
int http_request_read_fields(
	struct http_request *request, uint64_t body_max, struct http_fault *fault);

/* ---- http_target.c ----------------------------------------------------------- */

/* Takes the target apart. The same. */
int http_target_read(struct http_request *request, struct http_fault *fault);

/* Whether it is "host" or "host:port": a name, an IPv4 or a bracketed IPv6 address.
 * Narrower than RFC 3986: a name has letters, digits, '-', '.' and '_'. */
bool http_is_host(struct str text);

/* Whether a name is one of the fields that say where a message ends or which host it is for, or
 * would be if '_' were '-', as some proxies read it. */
bool http_is_framing_name(struct str name);

#endif

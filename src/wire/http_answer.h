/* Answers as bytes: the head with what frames the body, the body in pieces, the end. The
 * connection knows what may be sent: nothing behind the head for HEAD, no chunks to
 * HTTP/1.0, and whether another request may follow. Everything is appended to a buffer;
 * each function fails with -ENOMEM (the buffer is as before, but failed) or -EINVAL. */
#ifndef WIRE_HTTP_ANSWER_H
#define WIRE_HTTP_ANSWER_H

#include "wire/http_connection.h"

struct http_answer {
	int status; /* 200 to 599 */
	const struct http_field *fields;
	size_t field_count;
	bool is_streamed; /* its length is not known */
	uint64_t length;  /* else: of the body */
	bool closes;      /* no other request after this one */
};

/* "100 Continue" if the client waits for it, once; else nothing. */
int http_answer_continue(struct http_connection *connection, struct buf *out);

/* Begins the answer that is due. An answer before the end of the request closes. -EINVAL: none
 * is due, or a field has a bad name or value or is one that is written here: Connection,
 * Content-Length, Transfer-Encoding. */
int http_answer_begin(
	struct http_connection *connection, struct buf *out, const struct http_answer *answer);

/* A piece of the body; empty ones are nothing. -EINVAL: more than was said. */
int http_answer_piece(struct http_connection *connection, struct buf *out, struct str piece);

/* Ends it. Afterwards the next request can be read, or the connection is over. -EINVAL: fewer
 * bytes than said; the connection is over then, which tells the client. */
int http_answer_end(struct http_connection *connection, struct buf *out);

/* Gives it up, so that the client sees that it is not whole: the connection is over. */
void http_answer_cut(struct http_connection *connection);

#endif

/* The server's side of an HTTP/1.1 connection without I/O: bytes of a client go in, events
 * come out; http_answer.h writes what goes back. One request at a time: the next one is
 * not looked at before the answer to the one before has ended, so a server that stops feeding
 * holds the client back. It reads no clock; its phase says which deadline is in force.
 * Between two requests it holds no memory but this structure. */
#ifndef WIRE_HTTP_CONNECTION_H
#define WIRE_HTTP_CONNECTION_H

#include "wire/http_chunked.h"
#include "wire/http_request.h"

/* When the client's side ends in a head or a body, that request will never be whole. */
enum http_phase {
	HTTP_PHASE_IDLE,   /* between requests, nothing of the next one has come */
	HTTP_PHASE_HEAD,   /* a head has begun */
	HTTP_PHASE_BODY,   /* a body is being read, however far its answer is */
	HTTP_PHASE_ANSWER, /* all of the request was read; its answer has not ended */
	HTTP_PHASE_CLOSED, /* nothing more is read: what comes is thrown away */
};

enum http_event_kind {
	HTTP_WANTS_INPUT, /* all was taken */
	HTTP_REQUEST,     /* request: a head. It is there until the answer ends or it is forgotten */
	HTTP_BODY,        /* piece: a piece of the body, in the input */
	HTTP_END,         /* the request is whole */
	HTTP_WAITS,       /* its answer must end first; nothing was taken */
	HTTP_REFUSED,     /* fault: answer with that status if it can be answered, then close */
};

struct http_event {
	enum http_event_kind kind;
	const struct http_request *request;
	struct str piece;
	struct http_fault fault;
};

struct http_head;

/* Belongs to the caller; nothing in it is for the caller to touch. */
struct http_connection {
	const struct http_limits *limits;
	struct http_head *head;     /* being read, or read and not forgotten */
	struct http_block *trailer; /* while one is read */
	union {
		uint64_t body_left; /* of a sized body */
		struct http_chunked chunked;
	};
	uint64_t answer_left; /* of an answer of known length */
	uint8_t reading;      /* enum http_reading */
	uint8_t answering;    /* enum http_answering */
	bool is_led : 1;      /* an empty line came before the request */
	bool is_head : 1;     /* of the request that is answered: the method is HEAD */
	bool is_old : 1;      /* the same: HTTP/1.0 */
	bool persists : 1;    /* another request may follow */
	bool wants_continue : 1;
};

/* limits stay the caller's and must outlive the connection; zeros in them and NULL stand
 * for the defaults. */
void http_connection_init(struct http_connection *connection, const struct http_limits *limits);
void http_connection_free(struct http_connection *connection);

/* Takes of *input and says what came: to be called again, with an empty input too, until it
 * wants more or waits. Fails with -ENOMEM alone; nothing more is read then. Events are the same
 * however the input was cut, but for the pieces of bodies. */
int http_connection_read(
	struct http_connection *connection, struct str *input, struct http_event *ret_event);

enum http_phase http_connection_phase(const struct http_connection *connection);

/* Frees the head of the request whose answer is still going on, and what the event of it
 * pointed to: for streams that live long. */
void http_connection_forget_request(struct http_connection *connection);

/* The caller's time is up, or its patience: nothing more is read. Whether an answer (408 …)
 * can be written is http_connection_can_answer. */
void http_connection_stop(struct http_connection *connection);

/* No other request is taken after this one: the answer will say so if it has not begun. An
 * idle connection is over at once. */
void http_connection_finish(struct http_connection *connection);

/* Whether an answer is due and has not begun. */
bool http_connection_can_answer(const struct http_connection *connection);

/* Whether the connection is to be closed when what was written is sent. */
bool http_connection_is_over(const struct http_connection *connection);

/* ---- for http_answer.c -------------------------------------------------------- */

enum http_reading {
	HTTP_READ_IDLE,
	HTTP_READ_HEAD,
	HTTP_READ_SIZED,
	HTTP_READ_CHUNKED,
	HTTP_READ_TRAILER,
	HTTP_READ_END, /* the end is to be told */
	HTTP_READ_DONE,
	HTTP_READ_CLOSED,
};

enum http_answering {
	HTTP_ANSWER_NONE, /* no client waits for one */
	HTTP_ANSWER_DUE,
	HTTP_ANSWER_EMPTY, /* these have begun: no body, even if one is given */
	HTTP_ANSWER_SIZED,
	HTTP_ANSWER_CHUNKED,
	HTTP_ANSWER_PLAIN, /* up to the end of the connection */
};

/* The answer has ended: begins anew or closes. */
void http_connection_turn(struct http_connection *connection);

#endif

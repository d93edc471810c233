/* A request and its answer. A handler answers at once, or keeps the exchange and answers later;
 * then it is told if the client leaves first. */
#ifndef SERVE_SERVE_EXCHANGE_H
#define SERVE_SERVE_EXCHANGE_H

#include "base/buf.h"
#include "serve/address.h"
#include "serve/identity.h"
#include "wire/http_block.h"
#include "wire/http_router.h"

struct peer;
struct route;
struct http_request;

enum {
	EXCHANGE_STRANGER_BODY_MAX = 4096,
	EXCHANGE_PARAMETERS = 2,
	EXCHANGE_PARAMETER_SIZE = 80,
};

struct exchange;

/* The handler that answers later. */
struct exchange_keeper {
	void (*wake)(struct exchange *exchange); /* of a stream: there is room to write */
	void (*gone)(struct exchange *exchange); /* it is freed when this returns */
};

struct exchange {
	struct peer *peer;
	const struct route *route;
	const struct http_request *request; /* NULL as soon as a stream has begun */
	struct identity *who;               /* NULL where none is needed */
	const struct exchange_keeper *keeper;
	void *data;
	struct buf body;
	uint64_t begun_ns;
	struct address address;
	bool by_cookie;
	bool by_link;          /* a cookie that was made by the link that works once */
	bool is_secure;        /* https, as a trusted proxy says */
	bool is_stream;        /* its answer is written in pieces */
	bool ends_with_client; /* no other client has use for it */
	bool is_kept;          /* its answer may be kept, and asked for by its ETag again */
	char *origin;          /* of another site that may read the answer; NULL = none */
	char parameters[EXCHANGE_PARAMETERS][EXCHANGE_PARAMETER_SIZE];
};

/* ---- for peer.c ---------------------------------------------------------------- */

void exchange_begin(struct peer *peer, const struct http_request *request);
void exchange_take(struct exchange *exchange, struct str piece);
void exchange_handle(struct exchange *exchange);
void exchange_wake(struct exchange *exchange);
void exchange_comment(struct exchange *exchange);

/* The connection is gone. */
void exchange_abandon(struct exchange *exchange);

/* Answers bytes that are not a request. */
void exchange_refuse(struct peer *peer, int status, const char *text);

/* ---- gate.c: which user a request comes from, and whether it is meant for us --------- */

/* Checks Host, Origin and token; false: it was answered. Sets who, by_cookie, by_link,
 * is_secure, address. */
bool gate_pass(struct exchange *exchange, const struct http_request *request);

/* Answers OPTIONS, and a method that the address does not have. */
void gate_tell_methods(struct exchange *exchange, unsigned methods);

/* ---- for handlers: each of these ends the exchange, which is gone then --------------- */

/* At most EXCHANGE_FIELDS_MAX fields beside those that every answer has. */
enum { EXCHANGE_FIELDS_MAX = 8 };

void exchange_answer(struct exchange *exchange, int status, const char *type, struct str body,
	const struct http_field *fields, size_t field_count);

/* JSON, or 500 where the buffer has failed. */
void exchange_json(struct exchange *exchange, int status, const struct buf *json);

/* An error in the words of the surface that was asked. hint may be NULL. */
void exchange_error(struct exchange *exchange, int status, const char *code, const char *hint,
	const char *format, ...) PERCH_PRINTF(5, 6);
void exchange_no_memory(struct exchange *exchange);

/* The same with fields: Retry-After, x-should-retry. */
void exchange_error_with(struct exchange *exchange, int status, const char *code, const char *hint,
	const char *text, const struct http_field *fields, size_t field_count);

/* ---- streams: these do not ------------------------------------------------------ */

/* Begins an answer of text/event-stream; false: it could not, and the connection is lost. */
bool exchange_stream(struct exchange *exchange);

/* True: nothing but the head of a stream is wanted (HEAD), and it was answered: the exchange is
 * gone. */
bool exchange_stream_head(struct exchange *exchange);
void exchange_piece(struct exchange *exchange, struct str piece);

/* The end of a stream; the exchange is gone. */
void exchange_end(struct exchange *exchange);

/* Closes the connection in the middle of an answer. The handler that keeps the exchange is told. */
void exchange_cut(struct exchange *exchange);

/* ---- what was asked -------------------------------------------------------------- */

/* A field of the request, trimmed; empty when there is none. */
struct str exchange_field(const struct exchange *exchange, const char *name);

/* Whether the client wants a stream of events. */
bool exchange_wants_events(const struct exchange *exchange);

/* The writer of an error object, for streams that have begun. */
void exchange_write_error(const struct exchange *exchange, struct buf *out, int status,
	const char *code, const char *hint, const char *text);

#endif

/* What the parts of the engine of a remote server know of each other. */
#ifndef REMOTE_REMOTE_PARTS_H
#define REMOTE_REMOTE_PARTS_H

#include "base/buf.h"
#include "base/list.h"
#include "base/macros.h"
#include "remote/remote.h"
#include "remote/sse.h"
#include "wire/jsonrpc.h"

/* Whose an exchange is. */
enum remote_use {
	REMOTE_CALL,   /* a request of perch's */
	REMOTE_NOTE,   /* a notification or an answer of perch's */
	REMOTE_LISTEN, /* the session's own stream */
	REMOTE_HELLO,  /* `initialize` again, for a session in the place of one that was lost; */
	REMOTE_READY,  /* and the notification behind it */
	REMOTE_BYE,    /* the end of the session */
};

enum remote_stage {
	REMOTE_HELD,    /* waits for the session */
	REMOTE_PAUSED,  /* waits until it is tried again */
	REMOTE_DUE,     /* is to be begun */
	REMOTE_ASKED,   /* nothing has come yet */
	REMOTE_JSON,    /* the body is a message; */
	REMOTE_STREAM,  /* events; */
	REMOTE_REFUSED, /* why not; */
	REMOTE_SKIPPED, /* of no interest */
	REMOTE_OVER,    /* is to be freed */
};

struct remote_exchange {
	struct link link;
	struct remote *remote;
	void *data;
	enum remote_use use;
	enum remote_stage stage;
	bool is_under_way; /* the owner knows it */
	bool is_modern;
	bool is_initialize; /* perch's own hello */
	bool lists_tools;   /* of a modern server */
	bool settles;       /* the session is ready when it is done */
	bool has_session;   /* it was sent with one */
	bool is_resumed;    /* it asks for the rest of a stream */
	bool is_again;      /* it was sent before, in a session that was lost */
	bool is_answered;
	unsigned resumes;
	uint64_t due_ns;
	int status;
	struct jsonrpc_id id; /* of a call; the text is our own */
	struct buf id_text;
	struct buf line;    /* that is posted */
	struct buf headers; /* that follow from the line */
	struct buf answer;
	struct buf why; /* what the head says of a refusal */
	struct sse_reader events;
};

/* Of a legacy server. */
struct remote_session {
	struct buf hello;   /* perch's initialize; empty = none was said */
	struct buf id;      /* empty = the server has none */
	struct buf version; /* that was agreed on */
	bool is_settling; /* calls are held until the server knows that we are ready, and its own stream
						 is there, on which it may ask; */
	uint64_t tuned_ns; /* … but no longer than this for the stream */
	bool is_opening;   /* the same, until there is a session again */
};

struct remote {
	const struct remote_table *table;
	void *data;
	const char *const *headers;
	uint64_t now_ns;
	struct list exchanges;
	size_t waiting; /* bytes that they hold */
	struct remote_session session;
	struct list wishes; /* of tools: arguments that are to be headers */
	size_t wish_bytes;
	perch_json *schema; /* of the tool that is called */
	perch_json *json;
	struct buf out;
	unsigned notes;
	bool is_leaving;
	bool is_lost;
	bool is_broken; /* memory ran out */
};

/* ---- remote.c ---------------------------------------------------------------- */

/* NULL without memory, which is noted. */
struct remote_exchange *remote_add(
	struct remote *remote, enum remote_use use, enum remote_stage stage, struct str line);

/* Bytes more that an exchange holds; false = there are too many. */
bool remote_hold(struct remote *remote, size_t bytes);

/* Memory ran out, unless r is 0. */
void remote_check(struct remote *remote, int r);

void remote_note(struct remote *remote, const char *format, ...) PERCH_PRINTF(2, 3);
void remote_due_in(struct remote_exchange *exchange, uint64_t ms);

/* Sends what stands in `out` to perch; and an error as the answer to a request of its. */
void remote_write(struct remote *remote);
void remote_write_error(struct remote *remote, const struct jsonrpc_id *id, struct str words);

/* ---- remote_exchange.c --------------------------------------------------------- */

/* Nothing more comes of it. */
void remote_end(struct remote_exchange *exchange);

/* A call fails with these words; a hello of ours takes those along that wait for it. */
void remote_fail(struct remote_exchange *exchange, const char *format, ...) PERCH_PRINTF(2, 3);

/* ---- remote_answer.c ------------------------------------------------------------ */

/* A text of the server: the body of an answer, an event of a stream. Its messages go to perch. */
void remote_answer_take(struct remote_exchange *exchange, struct str text);

/* The body of a refusal may be an error of JSON-RPC: whether it was handed on. */
bool remote_answer_refusal(struct remote_exchange *exchange, struct str text);

/* ---- remote_session.c ------------------------------------------------------------- */

/* perch says hello: what was known of a session is forgotten. */
void remote_session_begin(struct remote *remote, struct str line);
void remote_session_named(struct remote *remote, struct str id);
void remote_session_agreed(struct remote *remote, const perch_json_value *result);

/* The server knows that we are ready; and its own stream has begun, or will not. */
void remote_session_settled(struct remote *remote);
void remote_session_tuned(struct remote *remote);

/* The server has forgotten the session that a call was sent in: it is sent again in a new one. */
void remote_session_lost(struct remote_exchange *exchange);

/* The new hello was answered, or was not. */
void remote_session_greeted(struct remote *remote);
void remote_session_failed(struct remote *remote, struct str why);

/* ---- remote_headers.c ------------------------------------------------------------- */

/* What a modern server wants to hear of every request, and the rest that it wants of its own. */
void remote_headers_name_method(
	struct remote_exchange *exchange, const struct jsonrpc_message *message);
void remote_headers_take(struct remote_exchange *exchange, const struct jsonrpc_message *message);

/* All of them, as they are sent. -ENOMEM. */
int remote_headers_write(const struct remote_exchange *exchange, struct buf *out);

/* Whether HTTP carries it as it is. */
bool remote_headers_is_plain(struct str value);

/* A value that HTTP may not carry is written in base64. */
void remote_headers_add(struct buf *out, const char *name, struct str more, struct str value);

/* ---- remote_params.c -------------------------------------------------------------- */

/* The result of a list of tools: what they wish is remembered. Whether tools are to be left out;
 * then the message without them stands in `out`. */
bool remote_params_learn(const struct remote_exchange *exchange, const perch_json_value *result);

/* The headers that the tool of a call wishes. */
void remote_params_add(
	struct remote *remote, const struct jsonrpc_message *message, struct buf *out);
void remote_params_free(struct remote *remote);

#endif

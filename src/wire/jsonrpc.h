/* JSON-RPC 2.0 without I/O, for either side: a line goes in, messages come out; and the
 * pieces to write a message with. MCP and ACP stand on it. */
#ifndef WIRE_JSONRPC_H
#define WIRE_JSONRPC_H

#include "data/json.h"

enum jsonrpc_code {
	JSONRPC_PARSE_ERROR = -32700,
	JSONRPC_INVALID_REQUEST = -32600,
	JSONRPC_METHOD_NOT_FOUND = -32601,
	JSONRPC_INVALID_PARAMS = -32602,
	JSONRPC_INTERNAL_ERROR = -32603,
	JSONRPC_CANCELLED = -32800, /* of protocols that can */
};

/* The longest id that is a text, in bytes: every request in flight keeps its own. */
enum { JSONRPC_ID_MAX = 512 };

enum jsonrpc_id_kind {
	JSONRPC_ID_NONE, /* is not written */
	JSONRPC_ID_NULL, /* what plain JSON-RPC gives an error whose request could not be read */
	JSONRPC_ID_INTEGER,
	JSONRPC_ID_TEXT,
};

/* What a peer calls a request; MCP's progress tokens are alike. 1, 1.0 and 1e0 are one id. */
struct jsonrpc_id {
	enum jsonrpc_id_kind kind;
	int64_t number;
	struct str text; /* as it reads, however it was escaped */
};

/* What an id must be, for messages. */
#define JSONRPC_ID_WANTED "must be a string of at most 512 bytes or an integer of 64 bits"

/* Whether the value is that. The text belongs to the value. */
bool jsonrpc_id_read(const perch_json_value *value, struct jsonrpc_id *ret_id);
bool jsonrpc_id_eq(const struct jsonrpc_id *a, const struct jsonrpc_id *b);
void jsonrpc_id_write(perch_json_writer *writer, const struct jsonrpc_id *id);

enum jsonrpc_kind {
	JSONRPC_REQUEST,
	JSONRPC_NOTIFICATION,
	JSONRPC_RESULT,
	JSONRPC_ERROR,
	JSONRPC_INVALID, /* to be answered with code and text, if is_answered */
};

/* Everything points into the line and its document. */
struct jsonrpc_message {
	enum jsonrpc_kind kind;
	struct jsonrpc_id id;           /* none: a notification, or it could not be read */
	struct str method;              /* request, notification */
	const perch_json_value *params; /* the same; an object, or NULL */
	const perch_json_value *result; /* result; any type */
	const perch_json_value *data;   /* error */
	int64_t code;                   /* error, invalid */
	struct str text;                /* the same */
	bool is_answered;               /* invalid: it is not known to be a notification or response */
};

/* What a line holds: one message, or as many as the batch has. */
struct jsonrpc_frame {
	bool is_batch;
	size_t count; /* of the batch */
	/* Not for the caller. */
	struct jsonrpc_message only;
	const perch_json_value *root;
	perch_json_iter iter;
	bool is_given;
	char fault[PERCH_ERR_TEXT_MAX];
};

/* Reads a line into the document, which must be left alone as long as the messages are used. A
 * broken line is a message too; fails with -ENOMEM alone. */
int jsonrpc_open(perch_json *json, struct str line, struct jsonrpc_frame *ret_frame);

/* The next message of the frame; false behind the last. */
bool jsonrpc_next(struct jsonrpc_frame *frame, struct jsonrpc_message *ret_message);

/* ---- writing -------------------------------------------------------------- */

/* Begins a message and leaves its object open: the caller writes the value of "result" or
 * the member "params", if there is any, and then jsonrpc_end. */
void jsonrpc_begin_result(perch_json_writer *writer, const struct jsonrpc_id *id);
void jsonrpc_begin_request(
	perch_json_writer *writer, const struct jsonrpc_id *id, const char *method);
void jsonrpc_begin_notification(perch_json_writer *writer, const char *method);
void jsonrpc_end(perch_json_writer *writer);

/* A whole error response. data is JSON, empty = none. */
void jsonrpc_write_error(perch_json_writer *writer, const struct jsonrpc_id *id, int64_t code,
	struct str text, struct str data);

/* ---- jsonrpc_ids.c: what is in flight -------------------------------------- */

/* A request that waits for its answer, a member of what its owner keeps of it. The text of
 * the id belongs to the owner. */
struct jsonrpc_waiting {
	struct jsonrpc_waiting *next; /* of the bucket */
	struct jsonrpc_id id;
};

/* The requests of one direction. `{ .limit = … }` is an empty table. */
struct jsonrpc_ids {
	struct jsonrpc_waiting **buckets;
	size_t bucket_count; /* a power of two */
	size_t count;
	size_t limit;   /* how many may be in flight */
	int64_t issued; /* the last id of our own */
};

/* Fails with -EEXIST (its id is in flight), PERCH_ELIMIT or -ENOMEM. */
int jsonrpc_ids_add(struct jsonrpc_ids *ids, struct jsonrpc_waiting *waiting);

/* Gives it an id of our own, which was never used, and adds it. The same without -EEXIST. */
int jsonrpc_ids_issue(struct jsonrpc_ids *ids, struct jsonrpc_waiting *waiting);

/* NULL when nothing of this id is in flight. */
struct jsonrpc_waiting *jsonrpc_ids_find(
	const struct jsonrpc_ids *ids, const struct jsonrpc_id *id);
void jsonrpc_ids_remove(struct jsonrpc_ids *ids, struct jsonrpc_waiting *waiting);

/* Frees only the table: its entries belong to their owners. */
void jsonrpc_ids_free(struct jsonrpc_ids *ids);

#endif

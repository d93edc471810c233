/* What the parts of the MCP server engine know of each other. */
#ifndef WIRE_MCP_SERVER_PARTS_H
#define WIRE_MCP_SERVER_PARTS_H

#include "base/arena.h"
#include "base/list.h"
#include "base/macros.h"
#include "wire/mcp_results.h"
#include "wire/mcp_server.h"

struct mcp_server {
	struct mcp_server_options options; /* no zeros left; the texts are in the arena */
	struct arena arena;
	const struct mcp_table *table;
	void *data;
	uint64_t now_ns;
	uint64_t handles; /* the last one */
	struct list connections;
	struct list beating; /* jobs whose client wants progress; the longest silent one first */
	struct list parked;  /* jobs that wait without a request */
	bool has_relays;     /* some are not sent yet */
	const struct mcp_job *answered; /* the job that is being told; NULL: it is gone */
	struct mcp_results results;
	struct buf out;       /* the message that is being written */
	perch_json *json;     /* what frontends hand in */
	struct arena scratch; /* of one answer */
};

/* The answers to the requests of one line, which leave together. */
struct mcp_batch {
	struct mcp_connection *connection;
	void *stream;
	struct buf out;
	size_t open; /* requests without an answer, and one for the line itself */
};

/* Where a response goes, and how it is written. */
struct mcp_reply {
	struct mcp_connection *connection;
	void *stream;
	const struct mcp_version *version;
	struct jsonrpc_id id;
	struct mcp_batch *batch; /* NULL = none */
	struct mcp_job *keeper;  /* a job that ended while it was parked: it keeps the response */
};

/* A client's request that is in flight: for a job, or for itself as a listen. */
struct mcp_request {
	struct link link;  /* of `home` */
	struct list *home; /* the connection's running requests, or its listens */
	struct jsonrpc_waiting waiting;
	struct mcp_reply reply; /* its id is that of `waiting` */
	struct jsonrpc_id progress_token;
	enum mcp_level log_level;
	struct mcp_job *job; /* NULL: a listen */
	/* Listens. */
	unsigned wanted; /* bits of enum mcp_list */
	struct list resources;
	char bytes[]; /* the texts of the id and the token */
};

/* A resource that a client wants to hear of. */
struct mcp_subscription {
	struct link link;
	size_t len;
	char uri[];
};

struct mcp_connection {
	struct link link;
	struct mcp_server *server;
	void *data;
	struct str principal;
	perch_json *json;
	struct jsonrpc_ids requests; /* of the client, that are in flight */
	struct jsonrpc_ids asked;    /* of ours: struct mcp_job */
	struct list running;         /* struct mcp_request */
	struct list listens;         /* the same */
	bool is_broken;
	bool is_closing; /* nothing is sent any more */
	/* Legacy. */
	const struct mcp_version *version; /* NULL: there was no initialize */
	bool is_initialized;               /* the client has said that it is ready */
	unsigned abilities;                /* enum mcp_ability */
	enum mcp_level log_level;
	struct list resources; /* struct mcp_subscription */
	char *client_name;
	char *client_version;
	char bytes[]; /* the principal */
};

struct mcp_method;

/* A request of ours to a legacy client: for a question of the job, or one that is relayed. */
struct mcp_asked {
	struct jsonrpc_waiting waiting;
	struct mcp_job *job;
	bool is_relay;
};

struct mcp_relayed {
	struct link link; /* of the job's */
	struct mcp_asked asked;
	uint64_t number;
	const char *method;
	struct str key, params;
	bool is_sent;
	char bytes[];
};

struct mcp_job {
	struct link link;       /* of beating, or of parked */
	struct mcp_asked asked; /* our question (legacy) */
	struct list relays;     /* struct mcp_relayed */
	struct mcp_server *server;
	struct mcp_request *request; /* NULL: parked */
	void *data;
	const struct mcp_method *method;
	uint64_t handle;
	double progress; /* the last one that was sent; < 0 = none */
	uint64_t beat_ns;
	bool is_beating;
	unsigned abilities; /* enum mcp_ability */
	size_t from;        /* lists: where the page begins */
	/* Questions. */
	struct arena arena; /* of the open question */
	struct mcp_question question;
	bool is_asking;
	uint64_t question_number;
	uint64_t expires_ns;
	/* It ended while it was parked; the response without its id. */
	bool is_ended;
	struct buf response;
	enum jsonrpc_kind response_kind;
	int64_t response_code;
	const struct mcp_version *version;
	struct str principal;
	struct str name;
	char digest[SHA256_HEX_SIZE]; /* of the arguments */
	char bytes[];
};

/* ---- a message that was taken in (mcp_server_take.c) ------------------------ */

struct mcp_taking {
	struct mcp_connection *connection;
	const struct mcp_line *line;
	struct mcp_reply reply;
	const perch_json_value *params;
	const perch_json_value *meta;
	struct jsonrpc_id progress_token;
	enum mcp_level log_level;
	unsigned abilities; /* enum mcp_ability */
	struct mcp_client client;
	const struct mcp_method *method;
};

enum mcp_era { MCP_LEGACY = 1, MCP_MODERN = 2, MCP_BOTH = 3 };

struct mcp_method {
	const char *name;
	enum mcp_era eras;
	void (*take)(struct mcp_taking *taking);
	enum mcp_wish_kind wish;
	const char *subject; /* the member of params that names what is wanted */
	bool is_cacheable;   /* its result has ttlMs and cacheScope */
	const char *items;   /* of a list: what its member is called */
	size_t needs;        /* offset of the option that must be set; 0 = none */
};

/* A refusal of the request that is being taken. */
void mcp_refuse(struct mcp_taking *taking, int64_t code, const char *format, ...)
	PERCH_PRINTF(3, 4);

/* The member of params that names what is wanted, a string; else the request is refused. */
bool mcp_take_subject(struct mcp_taking *taking, struct str *ret_name);

/* Puts a request in flight. NULL: it was refused, or memory ran out. */
struct mcp_request *mcp_request_new(struct mcp_taking *taking, struct list *home);

/* The request that an entry of the table is a part of. */
static inline struct mcp_request *mcp_request_of(struct jsonrpc_waiting *waiting)
{
	return container_of(waiting, struct mcp_request, waiting);
}

/* Memory ran out while a request was taken: it will not be answered. */
void mcp_taking_fail(struct mcp_taking *taking);

/* NULL when a client of this version has no such method here. */
const struct mcp_method *mcp_method_find(
	const struct mcp_server *server, struct str name, const struct mcp_version *version);

/* Fills in what the request says of itself, and compares the headers; false: it was refused. */
bool mcp_take_meta(struct mcp_taking *taking, struct str method);
bool mcp_headers_fit(struct mcp_taking *taking, struct str method);
void mcp_take_initialize(struct mcp_taking *taking);

/* Takes it out of flight, without an answer. */
void mcp_request_free(struct mcp_request *request);

/* ---- writing (mcp_server_write.c) ------------------------------------------- */

/* Begins a message in the server's buffer. */
perch_json_writer mcp_write_begin(struct mcp_server *server);

/* Sends what stands in the buffer: a message to the connection that answers nothing … */
void mcp_send(struct mcp_connection *connection, void *stream, enum jsonrpc_kind kind);

/* … or the response that the reply stands for. */
void mcp_reply_send(const struct mcp_reply *reply, enum jsonrpc_kind kind, int64_t code);

/* A result: an object is open behind the first; the second adds what all have and sends. */
perch_json_writer mcp_reply_begin(const struct mcp_reply *reply, const char *result_type);
enum mcp_cache { MCP_NOT_CACHED, MCP_CACHED_LIST, MCP_CACHED_PRIVATE };
void mcp_reply_end(const struct mcp_reply *reply, perch_json_writer *writer, enum mcp_cache cache);

/* What stands in `_meta` of every modern result, the object open and not closed. */
void mcp_meta_begin(perch_json_writer *writer, const struct mcp_server *server);
void mcp_cache_write(
	perch_json_writer *writer, const struct mcp_server *server, enum mcp_cache cache);
void mcp_reply_error(const struct mcp_reply *reply, int64_t code, struct str text, struct str data);
void mcp_server_info_write(
	perch_json_writer *writer, const struct mcp_server *server, const struct mcp_version *version);
void mcp_capabilities_write(
	perch_json_writer *writer, const struct mcp_server *server, const struct mcp_version *version);

/* A reply that will not come: only a batch has to know. */
void mcp_reply_drop(const struct mcp_reply *reply);
void mcp_batch_close(struct mcp_batch *batch);

/* ---- jobs (mcp_server_job.c) and questions (mcp_server_ask.c) ---------------- */

struct mcp_job *mcp_job_new(struct mcp_taking *taking, struct str name);
void mcp_job_free(struct mcp_job *job);

/* Joins a job with a request, or parts them. */
void mcp_job_attach(struct mcp_job *job, struct mcp_request *request);
void mcp_job_detach(struct mcp_job *job);

/* The client does not wait for it: told to the frontend, then freed. */
void mcp_job_cancel(struct mcp_job *job, struct str reason);

/* Answers the request from what the job came to while it was parked, and frees the job. */
void mcp_job_hand_over(struct mcp_job *job);

/* A response of the client to a question of ours. */
void mcp_ask_take(struct mcp_connection *connection, const struct jsonrpc_message *message);

/* What both ask by: a reply that is none yet, a key, a ticket. */
bool mcp_ask_may_park(const struct mcp_job *job);
void mcp_ask_write_ticket(perch_json_writer *writer, const struct mcp_job *job);
void mcp_ask_park(struct mcp_job *job);
bool mcp_ask_unpark(struct mcp_job *job, struct mcp_taking *taking);
void mcp_ask_send_cancel(struct mcp_job *job, const struct jsonrpc_id *id);

/* ---- relays (mcp_server_relay.c) ---------------------------------------------- */

/* The answer of a legacy client. */
void mcp_relay_take(struct mcp_relayed *relay, const struct jsonrpc_message *message);

/* The request of a modern one that has the answers. */
void mcp_relay_resume(struct mcp_job *job, struct mcp_taking *taking);
bool mcp_relay_is_open(const struct mcp_job *job);

/* All are taken back. */
void mcp_relays_drop(struct mcp_job *job);

/* A request that carries a requestState. */
void mcp_ask_resume(struct mcp_taking *taking, struct str name, const perch_json_value *state);
void mcp_ask_tick(struct mcp_server *server);

/* ---- subscriptions (mcp_server_listen.c) ------------------------------------- */

/* The client does not listen any more, or is not to. */
void mcp_listen_end(struct mcp_request *request);
void mcp_take_listen(struct mcp_taking *taking);
void mcp_take_subscribe(struct mcp_taking *taking);
void mcp_take_unsubscribe(struct mcp_taking *taking);
void mcp_subscriptions_free(struct list *subscriptions);
void mcp_subscriptions_end(struct mcp_connection *connection);

#endif

/* MCP's server side without I/O, both eras: lines of clients go in, lines to send and wishes
 * come out; the code that fulfils the wishes reports to jobs. It reads no clock and makes no random
 * numbers: both are given. The frontend never sees which era a client speaks.
 *
 * A server is what a process has once; a connection is a client on stdio, a legacy session
 * over HTTP, or one modern request over HTTP. A job is something a client waits for. */
#ifndef WIRE_MCP_SERVER_H
#define WIRE_MCP_SERVER_H

#include "wire/jsonrpc.h"
#include "wire/mcp_form.h"
#include "wire/mcp_seal.h"
#include "wire/mcp_terms.h"
#include "wire/mcp_version.h"

struct mcp_server;
struct mcp_connection;
struct mcp_job;

/* What an option of 0 stands for. */
enum {
	MCP_IN_FLIGHT_MAX = 16384,     /* requests of a connection */
	MCP_PARKED_MAX = 64,           /* runs that wait for an answer without a request */
	MCP_PARKED_EACH_MAX = 8,       /* the same, of one principal */
	MCP_NAME_BYTES_MAX = 8192,     /* of a tool, prompt or resource that is asked for */
	MCP_LISTENS_MAX = 64,          /* subscriptions/listen of a connection */
	MCP_SUBSCRIPTIONS_MAX = 256,   /* resources of a legacy connection, or of a listen */
	MCP_RESULT_CHARS_MAX = 100000, /* characters of a result; the rest is a resource */
	MCP_RESULTS_BYTES = 64 * 1024 * 1024,
	MCP_RESULTS_KEEP_MS = 10 * 60 * 1000,
	MCP_HEARTBEAT_MS = 20 * 1000,
	MCP_LIST_TTL_MS = 60 * 1000,
	MCP_RELAYS_MAX = 64, /* questions of a server behind us that are open in a job */
};

struct mcp_param_headers;

/* ---- wishes ---------------------------------------------------------------- */

enum mcp_wish_kind {
	/* New jobs. Lists: mcp_job_list; a call: mcp_job_result; the rest: mcp_job_object; or
	 * mcp_job_error, mcp_job_unknown. */
	MCP_LIST_TOOLS,
	MCP_LIST_RESOURCES,
	MCP_LIST_TEMPLATES,
	MCP_LIST_PROMPTS,
	MCP_CALL_TOOL,     /* name, arguments */
	MCP_READ_RESOURCE, /* name: the URI */
	MCP_GET_PROMPT,    /* name, arguments */
	MCP_COMPLETE,      /* params: the whole request */
	/* Of a job. */
	MCP_CANCEL,  /* the client gave it up: end it. The job is gone when this returns. */
	MCP_ANSWER,  /* to mcp_job_ask: answer */
	MCP_RELAYED, /* to mcp_job_relay: number, result; reason where there is none. The job goes on */
	/* Of a connection. */
	MCP_SUBSCRIBE,   /* name: the URI of a resource */
	MCP_UNSUBSCRIBE, /* the same */
	MCP_LOG_LEVEL,   /* level */
};

/* The client, as it describes itself: for the audit, never to decide anything by. */
struct mcp_client {
	struct str name;
	struct str version;
	struct str traceparent;
};

/* Everything is valid during the call. */
struct mcp_wish {
	enum mcp_wish_kind kind;
	struct mcp_connection *connection;
	struct mcp_job *job; /* NULL for those of a connection */
	struct str name;
	const perch_json_value *arguments;       /* an object, or NULL */
	const perch_json_value *params;          /* of new jobs; an object, or NULL */
	const struct mcp_param_headers *headers; /* of a call that has to fit them; else NULL */
	const struct mcp_answer *answer;
	uint64_t number;                /* of a relay */
	const perch_json_value *result; /* the same; an object, or NULL: there is none */
	struct str reason; /* of a cancel, for people: as the client says, or why; may be empty */
	enum mcp_level level;
	unsigned abilities; /* of new jobs: what the client answers (enum mcp_ability) */
	struct mcp_client client;
	const struct mcp_version *version;
};

/* A message to be sent. */
struct mcp_outgoing {
	void *stream;    /* of the line that it answers or belongs to; NULL: it belongs to none */
	struct str line; /* behind it stands a '\n' that is not counted */
	enum jsonrpc_kind kind; /* of a batch: a result */
	int64_t code;           /* error */
};

struct mcp_table {
	/* data is the connection's. Must not call back into the engine. */
	void (*send)(void *data, const struct mcp_outgoing *outgoing);
	/* data is the server's. May report to the job at once, or later; must not close a
	 * connection, nor report to a job that it is told to cancel. */
	void (*wish)(void *data, const struct mcp_wish *wish);
};

/* ---- the server ------------------------------------------------------------ */

/* Texts are copied. Zero is the default of every number. */
struct mcp_server_options {
	struct str name;
	struct str title; /* empty = none */
	struct str version;
	struct str instructions; /* empty = none */
	uint8_t key[MCP_KEY_SIZE];
	bool has_resources; /* else only results that were cut are */
	bool has_prompts;
	bool has_completions;
	bool has_subscriptions; /* of single resources */
	bool is_public;         /* lists are the same for everybody */
	size_t page_size;       /* 0 = all at once */
	size_t result_chars_max;
	size_t results_bytes;
	size_t in_flight_max;
	size_t parked_max;
	size_t parked_each_max;
	uint64_t heartbeat_ns;
	uint64_t list_ttl_ms;
};

/* -ENOMEM. */
int mcp_server_new(const struct mcp_server_options *options, const struct mcp_table *table,
	void *data, struct mcp_server **ret_server);

/* Every connection must be closed before. Runs that are parked are cancelled. */
void mcp_server_free(struct mcp_server *server);

/* Tells the time, by any clock that never goes back: before any other call, when it has
 * changed. Sends heartbeats and ends what has waited too long. */
void mcp_server_tick(struct mcp_server *server, uint64_t now_ns);

/* When the next tick is needed; UINT64_MAX = none. */
uint64_t mcp_server_deadline(const struct mcp_server *server);

/* mcp_connection_finish of every connection. */
void mcp_server_finish(struct mcp_server *server);

/* What there is to be had beside tools, from now on. */
struct mcp_server_offers {
	bool resources, prompts, completions, subscriptions;
};
void mcp_server_offer(struct mcp_server *server, struct mcp_server_offers offers);

/* To every client that wants to know. */
void mcp_server_list_changed(struct mcp_server *server, enum mcp_list list);
void mcp_server_resource_updated(struct mcp_server *server, struct str uri);

/* ---- connections ----------------------------------------------------------- */

/* principal is the caller, empty on stdio: its parked runs and cut results are for it alone.
 * -ENOMEM. */
int mcp_connection_new(struct mcp_server *server, struct str principal, void *data,
	struct mcp_connection **ret_connection);

struct mcp_line {
	struct str text; /* without its newline */
	bool is_too_long;
	void *stream; /* handed to `send` with all that belongs to this line */
	/* What the headers of a modern request over HTTP say: must be what is in the body. No
	 * data = not looked at. */
	struct str header_version, header_method, header_name;
	const struct mcp_param_headers *header_params; /* NULL = not looked at */
};

void mcp_connection_line(struct mcp_connection *connection, const struct mcp_line *line);

/* Memory ran out: what was to be sent is lost. Close it. */
bool mcp_connection_is_broken(const struct mcp_connection *connection);

/* The version that initialize agreed on; NULL = there was none. */
const struct mcp_version *mcp_connection_version(const struct mcp_connection *connection);
void *mcp_connection_data(const struct mcp_connection *connection);

/* A stream is gone while its connection stays (a legacy session over HTTP): its jobs go on,
 * and what belongs to them is sent with no stream. */
void mcp_connection_forget_stream(struct mcp_connection *connection, const void *stream);

/* Whether anything that came with this stream is still to be answered. */
bool mcp_connection_waits(const struct mcp_connection *connection, const void *stream);

/* Says goodbye to listeners: the server ends. */
void mcp_connection_finish(struct mcp_connection *connection);

/* The client is gone: its jobs are cancelled, but for the parked ones. NULL is fine. */
void mcp_connection_close(struct mcp_connection *connection);

/* ---- jobs ------------------------------------------------------------------ */

/* For the frontend. */
void mcp_job_set_data(struct mcp_job *job, void *data);
void *mcp_job_data(const struct mcp_job *job);

/* Of the line that it answers; NULL: none, or it is parked. */
void *mcp_job_stream(const struct mcp_job *job);

/* Every plugin's progress is one message, and rises even where the plugin's does not.
 * total < 0 = not known. Nothing, when the client did not ask for it. */
void mcp_job_progress(struct mcp_job *job, double progress, double total, struct str message);

/* data is JSON. Nothing, when the client did not ask for this level. */
void mcp_job_log(struct mcp_job *job, enum mcp_level level, struct str logger, struct str data);
bool mcp_job_wants_log(const struct mcp_job *job, enum mcp_level level);

/* Asks the user of the client. Fails with -ENOTSUP (the client cannot ask, or not this),
 * -EACCES (the answer would be a secret), -EBUSY (a question is open), PERCH_ELIMIT (too many
 * runs wait) or -ENOMEM; the job goes on then. expires_ns: when a run that waits
 * without a request is cancelled. */
int mcp_job_ask(struct mcp_job *job, const struct mcp_question *question, uint64_t expires_ns);

/* ---- mcp_server_relay.c: what a server behind us asks the client ----------------- */

struct mcp_relay {
	uint64_t number;    /* of the job's own, which comes back with the answer */
	const char *method; /* a constant: elicitation/create, sampling/createMessage, roots/list */
	struct str key;     /* what the server calls it; empty = nothing */
	struct str params;  /* JSON, an object; empty = none */
};

/* Hands a question on, as it is; several may be open. It is sent by mcp_server_relay_all: a modern
 * client gets all of them at once. Fails with -ENOTSUP (the client cannot answer that),
 * PERCH_ELIMIT (too many are open), -ENOMEM. */
int mcp_job_relay(struct mcp_job *job, const struct mcp_relay *relay, uint64_t expires_ns);

/* It is no longer wanted. */
void mcp_job_unrelay(struct mcp_job *job, uint64_t number);

/* When all that is to be asked together was handed in. */
void mcp_server_relay_all(struct mcp_server *server);

/* The open question is no longer wanted; without one, nothing. */
void mcp_job_withdraw(struct mcp_job *job);

/* Each of these ends the job. */

struct mcp_result {
	struct str text;       /* what the model reads; no data = the structured value */
	struct str structured; /* JSON; empty = none */
	struct str content;    /* JSON, an array of blocks instead of text; empty = none */
	bool is_error;
};
void mcp_job_result(struct mcp_job *job, const struct mcp_result *result);

/* Any other result: a JSON object with the members of the method. Members that every result of the
 * client's version has are added, and those that it does not know are left out. */
void mcp_job_object(struct mcp_job *job, struct str object);

/* A list of so many items, of which `write` is asked for those of the client's page. */
struct mcp_page {
	perch_json_writer *writer;
	const struct mcp_version *version;
	perch_json *json; /* to read with */
};
typedef void mcp_item_fn(void *data, size_t item, const struct mcp_page *page);
void mcp_job_list(struct mcp_job *job, size_t count, mcp_item_fn *write, void *data);

/* data is JSON, empty = none. */
void mcp_job_error(struct mcp_job *job, int64_t code, struct str text, struct str data);

/* There is no tool, prompt or resource of that name: the error that the version has for it. */
void mcp_job_unknown(struct mcp_job *job, struct str text);

/* ---- mcp_tool.c: an item of tools/list ------------------------------------- */

struct mcp_tool {
	struct str name;
	struct str title; /* empty = none; so below */
	struct str description;
	struct str input_schema;  /* JSON; none = any object */
	struct str output_schema; /* JSON; none = nothing is promised */
	bool is_read_only;        /* nothing but a private directory can be written */
	bool is_destructive;
	bool is_closed;     /* the sandbox has no network */
	struct str verdict; /* for `_meta`: "response" decides a call; empty = not said */
};

void mcp_tool_write(const struct mcp_page *page, const struct mcp_tool *tool);

#endif

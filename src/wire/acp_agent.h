/* ACP's agent side without I/O: lines of a client (an editor) go in, lines to send and wishes come
 * out; the code that fulfils a wish reports to the request that it came with. It reads no clock.
 *
 * A request is something the client waits for; that of a prompt is a turn. A session has one turn
 * at a time, the others wait in order. */
#ifndef WIRE_ACP_AGENT_H
#define WIRE_ACP_AGENT_H

#include "wire/acp_prompt.h"
#include "wire/jsonrpc.h"
#include "wire/mcp_form.h"

struct acp_agent;
struct acp_session;
struct acp_request;

enum {
	ACP_LINE_MAX = 32 * 1024 * 1024, /* bytes */
	/* What an option of 0 stands for. */
	ACP_IN_FLIGHT_MAX = 1024,             /* requests of the client */
	ACP_SESSIONS_MAX = 256,               /* open at a time */
	ACP_WAITING_MAX = 64,                 /* prompts of a session, behind the one that runs */
	ACP_WAITING_BYTES = 64 * 1024 * 1024, /* of all prompts that wait */
	ACP_ASKS_MAX = 64,                    /* questions that are open at the client */
};

enum acp_code {
	ACP_NOT_FOUND = -32002, /* no such session */
};

/* ---- wishes ---------------------------------------------------------------- */

enum acp_wish_kind {
	/* Requests to be answered, now or later. */
	ACP_WISH_NEW,       /* place: acp_session_open, then acp_request_session */
	ACP_WISH_LOAD,      /* the same with id; before it is answered, what was said is replayed */
	ACP_WISH_RESUME,    /* the same without that */
	ACP_WISH_LIST,      /* place.cwd (empty: any), cursor: acp_request_object */
	ACP_WISH_DELETE,    /* id; it is not open: acp_request_object */
	ACP_WISH_CONFIGURE, /* session; option, value: acp_request_object */
	ACP_WISH_PROMPT,    /* session; blocks: begin the turn, and end it by acp_request_stop */
	/* Others. */
	ACP_WISH_CANCEL, /* request: end this turn soon; it is still to be answered */
	ACP_WISH_ANSWER, /* request: number, answer */
	ACP_WISH_FORGET, /* session: it is closed, and gone when this returns */
};

/* Where a session works. */
struct acp_place {
	struct str cwd;
	struct str directories; /* JSON, a list of absolute paths; empty = none */
	struct str servers;     /* JSON, a list of MCP servers; the same */
};

enum acp_outcome {
	ACP_CHOSEN,   /* permission: option */
	ACP_ANSWERED, /* form: form */
	ACP_DECLINED, /* form: no answer to it */
	ACP_NO_ANSWER /* the user or the client wants none of it */
};

struct acp_answer {
	enum acp_outcome outcome;
	struct str option;
	struct mcp_answer form;
};

/* Everything is valid during the call. */
struct acp_wish {
	enum acp_wish_kind kind;
	struct acp_request *request;
	struct acp_session *session; /* load, resume: NULL where it is not open yet */
	struct str id;
	struct acp_place place;
	struct str cursor;
	struct str option, value;
	const struct acp_block *blocks;
	size_t block_count;
	uint64_t number;
	const struct acp_answer *answer;
};

struct acp_agent_table {
	/* The line has a '\n' behind it that is not counted. Must not call back into the engine. */
	void (*send)(void *data, struct str line, bool is_response);
	/* May report at once. Must not free the agent. */
	void (*wish)(void *data, const struct acp_wish *wish);
};

/* ---- the agent ------------------------------------------------------------- */

/* Texts are copied. Zero is the default of every number. */
struct acp_agent_options {
	struct str name, title, version;
	bool has_store;       /* sessions can be listed, loaded, resumed and deleted */
	bool has_directories; /* further directories are of use */
	bool has_attachments; /* images and sounds are */
	size_t in_flight_max;
	size_t sessions_max;
	size_t waiting_max;
};

/* -ENOMEM. */
int acp_agent_new(const struct acp_agent_options *options, const struct acp_agent_table *table,
	void *data, struct acp_agent **ret_agent);

/* Without a wish. NULL is fine. */
void acp_agent_free(struct acp_agent *agent);

/* A line of the client, without its newline. */
void acp_agent_line(struct acp_agent *agent, struct str line, bool is_too_long);

/* Memory ran out: what was to be sent is lost. */
bool acp_agent_is_broken(const struct acp_agent *agent);

/* "name version" of the client as it calls itself; "" = it did not. */
const char *acp_agent_client(const struct acp_agent *agent);

/* ---- sessions -------------------------------------------------------------- */

/* Fails with PERCH_ELIMIT (too many are open) or -ENOMEM. */
int acp_session_open(
	struct acp_agent *agent, struct str id, void *data, struct acp_session **ret_session);
void *acp_session_data(const struct acp_session *session);
struct str acp_session_id(const struct acp_session *session);

enum acp_chunk { ACP_USER_SAYS, ACP_AGENT_SAYS, ACP_AGENT_THINKS };

/* meta: JSON, an object; empty = none. An empty text is no chunk. */
void acp_session_chunk(
	struct acp_session *session, enum acp_chunk kind, struct str text, struct str meta);

/* Any other update, as JSON: an object with its `sessionUpdate`. */
void acp_session_update(struct acp_session *session, struct str update);

/* ---- requests -------------------------------------------------------------- */

/* For the frontend. */
void acp_request_set_data(struct acp_request *request, void *data);
void *acp_request_data(const struct acp_request *request);

/* One option that the user may choose. */
struct acp_option {
	struct str id, name, kind;
};

struct acp_permission {
	struct str call;  /* the id of the tool call */
	struct str title; /* what is to be done, for people */
	struct str name;  /* of the tool; empty = none */
	struct str input; /* JSON; empty = none */
	const struct acp_option *options;
	size_t option_count;
};

/* Questions of a turn; the answer comes as a wish with that number. -ENOTSUP (the client has no
 * forms), -EACCES (a form for a secret), PERCH_ELIMIT, -ENOMEM. */
int acp_request_permission(
	struct acp_request *request, uint64_t number, const struct acp_permission *permission);
int acp_request_form(
	struct acp_request *request, uint64_t number, const struct mcp_question *question);

/* The question is open no more; if it is not, nothing. */
void acp_request_withdraw(struct acp_request *request, uint64_t number);

/* Each of these ends the request. */

enum acp_stop {
	ACP_END_TURN,
	ACP_STOP_CANCELLED,
	ACP_STOP_REFUSAL,
	ACP_STOP_TOKENS,
	ACP_STOP_REQUESTS,
};

/* config: JSON, the list of the session's options; empty = none. */
void acp_request_session(
	struct acp_request *request, const struct acp_session *session, struct str config);
void acp_request_object(struct acp_request *request, struct str object);
void acp_request_stop(struct acp_request *request, enum acp_stop stop, struct str meta);
/* data: JSON; empty = none. */
void acp_request_fail(struct acp_request *request, int64_t code, struct str text, struct str data);

#endif

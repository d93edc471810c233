/* What the parts of ACP's agent side share. */
#ifndef WIRE_ACP_AGENT_PARTS_H
#define WIRE_ACP_AGENT_PARTS_H

#include "base/list.h"
#include "wire/acp_agent.h"

struct acp_agent {
	struct acp_agent_options options;
	const struct acp_agent_table *table;
	void *data;
	struct arena arena; /* the texts of the options */
	struct arena scratch;
	perch_json *json;
	struct buf out;
	struct jsonrpc_ids owed;  /* requests of the client */
	struct jsonrpc_ids asked; /* ours */
	struct list sessions;
	struct list requests; /* all but prompts */
	struct list asks;
	size_t waiting_bytes; /* of prompts */
	char client[200];
	bool is_greeted;
	bool has_forms;
	bool is_broken;
};

struct acp_session {
	struct link link;
	struct acp_agent *agent;
	void *data;
	struct acp_request *turn;   /* that runs */
	struct list waiting;        /* prompts behind it */
	struct acp_request *ending; /* close, delete: waits for the end of the turn */
	bool is_going;              /* turns are being begun */
	size_t id_len;
	char id[];
};

struct acp_request {
	struct link link;
	struct list *home; /* NULL: it is the turn of its session */
	struct jsonrpc_waiting waiting;
	struct acp_agent *agent;
	struct acp_session *session; /* of a prompt */
	void *data;
	char *prompt; /* JSON */
	size_t prompt_len;
	bool is_cancelled;
	bool is_deletion; /* of session->ending */
	char bytes[];
};

/* A question at the client. */
struct acp_ask {
	struct link link;
	struct jsonrpc_waiting waiting;
	struct acp_request *request;
	uint64_t number;
	bool is_form;
	struct mcp_question question;
	struct arena arena;
};

/* A message while it is taken. */
struct acp_taking {
	struct acp_agent *agent;
	const struct jsonrpc_message *message;
};

/* ---- acp_agent_write.c ----------------------------------------------------- */

perch_json_writer acp_write_begin(struct acp_agent *agent);
void acp_write_send(struct acp_agent *agent, bool is_response);
void acp_write_error(struct acp_agent *agent, const struct jsonrpc_id *id, int64_t code,
	struct str text, struct str data);
/* An error for the request that is being taken. */
void acp_refuse(struct acp_taking *taking, int64_t code, const char *format, ...)
	PERCH_PRINTF(3, 4);

/* ---- acp_agent_request.c --------------------------------------------------- */

/* A request that the client now waits for; NULL: it was refused. */
struct acp_request *acp_request_new(struct acp_taking *taking, struct list *home);
/* Of this id, and a prompt; NULL = none. */
struct acp_request *acp_request_find(struct acp_agent *agent, const struct jsonrpc_id *id);
void acp_request_drop(struct acp_request *request);

/* ---- acp_agent_methods.c --------------------------------------------------- */

void acp_method_take(struct acp_taking *taking);

/* ---- acp_agent_session.c --------------------------------------------------- */

struct acp_session *acp_session_find(struct acp_agent *agent, struct str id);
void acp_session_prompt(struct acp_taking *taking, struct acp_session *session);
/* All that the session was asked to do. */
void acp_session_cancel(struct acp_session *session);
void acp_turn_cancel(struct acp_request *request);
/* Begins the next turn, or ends the session: it may be gone then. */
void acp_session_go_on(struct acp_session *session);
void acp_session_end(struct acp_session *session, struct acp_request *request, bool is_deletion);
void acp_session_free(struct acp_session *session);

/* ---- acp_agent_ask.c ------------------------------------------------------- */

void acp_ask_take(struct acp_agent *agent, const struct jsonrpc_message *message);
/* Those of a turn that ends. */
void acp_ask_withdraw_all(struct acp_request *request);

#endif

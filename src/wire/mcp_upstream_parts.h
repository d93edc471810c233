/* What the parts of the MCP client engine know of each other. */
#ifndef WIRE_MCP_UPSTREAM_PARTS_H
#define WIRE_MCP_UPSTREAM_PARTS_H

#include "base/arena.h"
#include "base/list.h"
#include "base/macros.h"
#include "wire/mcp_upstream.h"

enum mcp_upstream_stage {
	MCP_STAGE_NEW,
	MCP_STAGE_PROBE,
	MCP_STAGE_HELLO,
	MCP_STAGE_OPEN,
	MCP_STAGE_OVER
};

struct mcp_upstream {
	struct mcp_upstream_options options; /* no zeros left; the texts are in the arena */
	const struct mcp_upstream_table *table;
	void *data;
	struct arena arena;
	enum mcp_upstream_stage stage;
	struct mcp_upstream_facts facts;
	const struct mcp_version *version; /* that requests are written in; NULL: hello is not said */
	uint64_t now_ns, due_ns;
	perch_json *json;    /* the line that is being taken */
	perch_json *scratch; /* params of a caller */
	struct buf out;
	struct jsonrpc_ids ids;   /* calls */
	struct jsonrpc_ids asked; /* quizzes of a legacy server */
	struct list calls;
	struct list quizzes; /* of a legacy server */
	size_t quiz_count;   /* of both eras */
	int64_t forgotten[MCP_UPSTREAM_FORGOTTEN];
	size_t forgotten_at;
	bool is_asked_again; /* for its versions */
	bool is_broken;
};

/* Whose a call is. */
enum mcp_call_use {
	MCP_CALL_OF_CALLER,
	MCP_CALL_PROBE,
	MCP_CALL_HELLO,
	MCP_CALL_LISTEN,
	MCP_CALL_REMARK, /* whose answer is of no matter */
};

struct mcp_call {
	struct link link; /* of the upstream's calls */
	struct jsonrpc_waiting waiting;
	struct mcp_upstream *upstream;
	struct mcp_call_options options; /* params and traceparent are copies of ours */
	enum mcp_call_use use;
	unsigned pages, rounds;
	struct buf cursor; /* of the next page, JSON */
	/* Rounds of a modern server. */
	struct buf state;     /* JSON; empty = none */
	struct buf responses; /* members of an object */
	struct list quizzes;  /* that are open */
	bool is_gathering;    /* the questions of a round are being told … */
	bool is_refused;      /* … of which one is not answered, */
	bool is_cancelled;    /* … and its answer is not wanted any more */
	char bytes[];
};

struct mcp_quiz {
	struct link link; /* of the upstream's, or of its call's */
	struct mcp_upstream *upstream;
	struct mcp_call *call;          /* NULL: of a legacy server */
	struct jsonrpc_waiting waiting; /* of a legacy server */
	enum mcp_quiz_kind kind;
	void *data;
	struct str key; /* of a modern server */
	char bytes[];   /* the key, or the text of the id */
};

/* ---- mcp_upstream.c -------------------------------------------------------- */

/* An answer to what the engine itself has asked for; message NULL: there is none. */
void mcp_upstream_opened(
	struct mcp_upstream *upstream, enum mcp_call_use use, const struct jsonrpc_message *message);
void mcp_upstream_tell(struct mcp_upstream *upstream, const struct mcp_told *told);
void mcp_upstream_noise(struct mcp_upstream *upstream, const char *format, ...) PERCH_PRINTF(2, 3);

/* Asks for something of the engine's own; without memory it is broken. */
void mcp_upstream_ask_own(
	struct mcp_upstream *upstream, enum mcp_call_use use, const char *method, struct str params);

/* Our own name and abilities, as both eras write them. */
void mcp_upstream_write_self(perch_json_writer *writer, const struct mcp_upstream_options *options);
void mcp_upstream_write_abilities(perch_json_writer *writer, unsigned abilities);

/* Begins a message in the buffer, and sends it. */
perch_json_writer mcp_upstream_write(struct mcp_upstream *upstream);
void mcp_upstream_send(struct mcp_upstream *upstream);

/* ---- mcp_upstream_call.c --------------------------------------------------- */

int mcp_call_start(struct mcp_upstream *upstream, const struct mcp_call_options *options,
	enum mcp_call_use use, struct mcp_call **ret_call);

/* Sends it again, as a new request: the next page, the next round. Fails as mcp_call_begin. */
int mcp_call_send(struct mcp_call *call);
void mcp_call_take(struct mcp_call *call, const struct jsonrpc_message *message);
void mcp_call_fail(struct mcp_call *call, int64_t code, struct str text);
void mcp_call_free(struct mcp_call *call);

/* What may be asked while it is on its way. */
unsigned mcp_call_abilities(const struct mcp_call *call);

/* ---- mcp_upstream_facts.c -------------------------------------------------- */

/* From its answer to hello. */
void mcp_facts_read(struct mcp_upstream *upstream, const perch_json_value *result);

/* ---- mcp_upstream_watch.c -------------------------------------------------- */

/* Wants to hear of changes of lists, where the options say so. */
void mcp_upstream_listen(struct mcp_upstream *upstream);

/* ---- mcp_upstream_ask.c ---------------------------------------------------- */

/* A request of a legacy server. */
void mcp_quiz_take(struct mcp_upstream *upstream, const struct jsonrpc_message *message);
void mcp_quiz_withdraw(struct mcp_upstream *upstream, const struct jsonrpc_id *id);

/* A result of a modern one that asks first. */
void mcp_quiz_round(struct mcp_call *call, const perch_json_value *result);

/* All of a list are gone; told, or not. */
void mcp_quizzes_withdraw(struct mcp_upstream *upstream, struct list *quizzes);
void mcp_quizzes_drop(struct list *quizzes);

#endif

/* What the parts of ACP's client side share. */
#ifndef WIRE_ACP_CLIENT_PARTS_H
#define WIRE_ACP_CLIENT_PARTS_H

#include "base/list.h"
#include "wire/acp_client.h"

/* What we wait for. */
enum acp_awaited { ACP_AWAITS_HELLO, ACP_AWAITS_SESSION, ACP_AWAITS_OLD_SESSION, ACP_AWAITS_END };

struct acp_call {
	struct link link;
	struct jsonrpc_waiting waiting;
	enum acp_awaited awaited;
	struct acp_talk *talk; /* NULL: of the agent, or its talk is closed */
};

enum acp_quiz_kind {
	ACP_QUIZ_ERRAND,     /* something that we do for it */
	ACP_QUIZ_PERMISSION, /* these two are for the user */
	ACP_QUIZ_FORM,
};

/* A request of the agent that somebody thinks about. */
struct acp_quiz {
	struct link link;
	struct acp_talk *talk;
	uint64_t number;
	enum acp_quiz_kind kind;
	struct jsonrpc_id id;
	char bytes[]; /* its text */
};

struct acp_talk {
	struct link link;
	struct acp_client *client;
	void *data;
	char *cwd, *servers, *directories;
	bool is_open;
	bool is_busy; /* a prompt is under way */
	bool is_cancelled;
	bool is_held;
	size_t id_len;
	char id[ACP_TALK_ID_MAX];
};

struct acp_client {
	const struct acp_client_table *table;
	void *data;
	perch_json *json;
	struct buf out;
	struct jsonrpc_ids asked;
	struct list calls;
	struct list talks;
	struct list quizzes;
	uint64_t numbers;
	size_t held;   /* how many talks are */
	bool is_again; /* the line at hand was kept */
	struct acp_abilities abilities;
	bool offers_files, offers_terminals, offers_forms;
	bool is_ready;
	bool has_failed;
	bool is_broken;
};

/* ---- acp_client.c ---------------------------------------------------------- */

perch_json_writer acp_client_begin(struct acp_client *client);
void acp_client_send(struct acp_client *client);
/* A request of ours: its object is open behind this, for the member `params`. NULL without
 * memory. */
struct acp_call *acp_client_call(struct acp_client *client, enum acp_awaited awaited,
	struct acp_talk *talk, const char *method, perch_json_writer *ret_out);
void acp_call_free(struct acp_client *client, struct acp_call *call);
void acp_client_noise(struct acp_client *client, const char *format, ...) PERCH_PRINTF(2, 3);
void acp_client_fail(struct acp_client *client, const char *text);

/* ---- acp_client_talk.c ----------------------------------------------------- */

struct acp_talk *acp_talk_find(struct acp_client *client, const perch_json_value *params);
/* The answer to a request for a session, or to a prompt. */
void acp_talk_answered(struct acp_call *call, const struct jsonrpc_message *message);

/* ---- acp_client_held.c ------------------------------------------------------- */

/* Whether the message is one of a talk that is held: its line was kept. */
bool acp_client_keeps(
	struct acp_client *client, const struct jsonrpc_message *message, struct str line);

/* ---- acp_client_take.c ----------------------------------------------------- */

void acp_take_update(struct acp_client *client, const perch_json_value *params);
void acp_take_request(struct acp_client *client, const struct jsonrpc_message *message);
void acp_take_cancel(struct acp_client *client, const perch_json_value *params);
/* Answers a permission; empty = cancelled, which a form can be as well. */
void acp_quiz_answer(struct acp_client *client, struct acp_quiz *quiz, struct str option);
/* Nobody answers it: it was taken back, or the prompt is over. */
void acp_quiz_drop(struct acp_client *client, struct acp_quiz *quiz);

#endif

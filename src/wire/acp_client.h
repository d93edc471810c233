/* ACP's client side without I/O: lines of an agent go in, lines to send and what it says come out.
 * It reads no clock. One agent, any number of talks: a talk is a session of it, with one prompt at
 * a time. Nothing that an agent does wrong does more than end a talk: what it may not say is noise.
 */
#ifndef WIRE_ACP_CLIENT_H
#define WIRE_ACP_CLIENT_H

#include "wire/jsonrpc.h"

struct acp_client;
struct acp_talk;

enum {
	ACP_TALKS_MAX = 256,   /* open at a time */
	ACP_OPTIONS_MAX = 16,  /* of a permission */
	ACP_QUIZZES_MAX = 64,  /* requests of the agent that are not answered */
	ACP_TALK_ID_MAX = 512, /* bytes */
};

enum { ACP_CLIENT_LOGIN = -32000 }; /* the code of an error: nobody has logged in */

enum acp_said_kind {
	/* Of the agent, as a whole. */
	ACP_SAID_READY,  /* talks may be opened */
	ACP_SAID_FAILED, /* text: it cannot be talked with */
	ACP_SAID_NOISE,  /* text: what it did wrong, and who is told may wonder */
	/* Of a talk. */
	ACP_SAID_OPEN,       /* text: the id of the session */
	ACP_SAID_ANEW,       /* text: the old session is gone; a new one is being made */
	ACP_SAID_TEXT,       /* text: a piece of its reply */
	ACP_SAID_THOUGHT,    /* text */
	ACP_SAID_TOOL,       /* value: a tool call, or an update of one */
	ACP_SAID_PLAN,       /* value */
	ACP_SAID_USAGE,      /* value */
	ACP_SAID_PERMISSION, /* permission: to be answered by acp_talk_permit */
	ACP_SAID_ASKED,      /* number, text: a method that was offered, value: its params */
	ACP_SAID_FORM,       /* number, value: params of elicitation/create; answered as ASKED is */
	ACP_SAID_WITHDRAWN,  /* number: that is not asked any more */
	ACP_SAID_STOPPED,    /* text: why the prompt has ended, "end_turn", "cancelled" … */
	ACP_SAID_ERROR,      /* code, text: the prompt has failed, or the talk cannot be opened */
};

struct acp_wanted {
	uint64_t number;  /* ours */
	struct str call;  /* the id of the tool call */
	struct str title; /* for people */
	struct str kind;  /* "edit", "execute" …; empty = none */
	struct str input; /* JSON; empty = none */
	struct {
		struct str id, name, kind;
	} options[ACP_OPTIONS_MAX];
	size_t option_count;
};

/* Everything is valid during the call. */
struct acp_said {
	enum acp_said_kind kind;
	struct acp_talk *talk; /* NULL: of the agent */
	struct str text;
	const perch_json_value *value; /* an object */
	const struct acp_wanted *wanted;
	uint64_t number;
	int64_t code;
};

struct acp_client_table {
	/* The line has a '\n' behind it that is not counted. Must not call back into the engine. */
	void (*send)(void *data, struct str line);
	/* May call back, but not free the client, nor the talk that it is told of. */
	void (*said)(void *data, const struct acp_said *said);
	/* A line of a talk that is held, to be given again later. May call back as `said` may. */
	void (*keep)(void *data, struct acp_talk *talk, struct str line);
};

/* What the agent can do, once it is ready. */
struct acp_abilities {
	bool can_load, can_resume, can_close;
	bool takes_images, takes_sounds, takes_resources;
	bool takes_http, takes_sse; /* MCP servers that are reached so; all take programs */
	bool takes_directories;     /* further ones */
};

struct acp_client_options {
	struct str name, version;
	bool offers_files;     /* fs/read_text_file, fs/write_text_file */
	bool offers_terminals; /* terminal/create … */
	bool offers_forms;     /* elicitation/create, of forms and of pages */
};

/* Greets the agent at once. Texts are used in this call alone. -ENOMEM. */
int acp_client_new(const struct acp_client_options *options, const struct acp_client_table *table,
	void *data, struct acp_client **ret_client);

/* NULL is fine. */
void acp_client_free(struct acp_client *client);

/* A line of the agent, without its newline. */
void acp_client_line(struct acp_client *client, struct str line, bool is_too_long);

bool acp_client_is_ready(const struct acp_client *client);
const struct acp_abilities *acp_client_abilities(const struct acp_client *client);

/* Memory ran out: what was to be sent is lost. */
bool acp_client_is_broken(const struct acp_client *client);

/* ---- talks ----------------------------------------------------------------- */

struct acp_talk_options {
	struct str cwd;
	struct str servers;     /* JSON, a list; empty = none */
	struct str directories; /* further ones; the same */
	struct str id;          /* of an earlier session, to be gone on with; empty = a new one */
	void *data;
};

/* Behind ACP_SAID_READY. Opens a session; it tells by OPEN or ERROR. Fails with -EAGAIN (not
 * ready), PERCH_ELIMIT or -ENOMEM. */
int acp_talk_open(
	struct acp_client *client, const struct acp_talk_options *options, struct acp_talk **ret_talk);
void *acp_talk_data(const struct acp_talk *talk);

/* Behind OPEN, and behind the end of the prompt before. blocks: JSON, a list. It tells by STOPPED
 * or ERROR. -EBUSY, -ENOMEM. */
int acp_talk_prompt(struct acp_talk *talk, struct str blocks);

/* The prompt is to end: the agent is asked to, and its questions are answered so. */
void acp_talk_cancel(struct acp_talk *talk);

/* Chooses one of the options; empty = none of them. A number that is not open changes nothing. */
void acp_talk_permit(struct acp_talk *talk, uint64_t number, struct str option);

/* Answers what was ASKED: the result, JSON; or why there is none. A number that is not open changes
 * nothing: the prompt has ended meanwhile. */
void acp_talk_answer(struct acp_talk *talk, uint64_t number, struct str result);
void acp_talk_refuse(struct acp_talk *talk, uint64_t number, int64_t code, struct str text);

/* As long as it is held, its lines are not read but kept: those of other talks go on. */
void acp_talk_hold(struct acp_talk *talk, bool is_held);

/* A line that was kept; the talk is held no more. */
void acp_talk_again(struct acp_talk *talk, struct str line);

/* Nothing more is wanted of it. NULL is fine. */
void acp_talk_close(struct acp_talk *talk);

#endif

/* What the parts of `perch acp` share: an editor, its chats, and their turns as jobs of the
 * service. */
#ifndef ACP_EDITOR_PARTS_H
#define ACP_EDITOR_PARTS_H

#include "acp/acp_editor.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "perch/loop.h"
#include "perch/service.h"
#include "queue/transcripts.h"
#include "stdio/client.h"
#include "wire/acp_agent.h"

enum {
	ACP_SETTLE_MS = 100,             /* an installation writes several files */
	ACP_UNREAD_MAX = 1024 * 1024,    /* bytes that the editor has not read: then jobs are held */
	ACP_REPLY_MAX = 4 * 1024 * 1024, /* bytes of a reply that are kept in the transcripts */
	ACP_NOTES_MAX = 16 * 1024,       /* bytes of what went wrong, of stderr */
	ACP_OPEN_ASKS_MAX = 16,          /* questions of a job that are open at a time */
	ACP_NAME_SIZE = 40,              /* of a chat's name */
};

/* The owner of what is said here, in the transcripts: the user of this machine. */
#define ACP_OWNER "local"

struct acp_editor {
	struct acp_editor_options options;
	perch_host *host;
	perch_service *service;
	perch_catalog *catalog;
	struct transcripts *transcripts; /* NULL = none are kept */
	struct acp_agent *agent;         /* NULL: the editor is gone */
	struct stdio_client client;
	struct arena arena;
	const char **agents;    /* by the names of the catalogue, ends with NULL */
	const char *agent_list; /* ",a,b," */
	struct list chats;
	struct list tasks;
	perch_timer *changes; /* when the catalogue is read again */
};

/* A session of the editor. */
struct acp_chat {
	struct link link;
	struct acp_editor *editor;
	struct acp_session *session;
	const char *agent; /* one of the editor's */
	char *cwd;
	char *context;           /* JSON; NULL = none */
	char **own_ids;          /* of the agents' sessions, where none are kept; NULL = none yet */
	bool has_commands;       /* some were told */
	struct acp_task *parked; /* a command that waits for an answer in the next prompt */
	char name[ACP_NAME_SIZE];
};

/* A question of a job. */
struct acp_open_ask {
	uint64_t number;
	const perch_ask *ask;
};

/* A prompt as a job. */
struct acp_task {
	struct link link;
	struct acp_editor *editor;
	struct acp_chat *chat;       /* NULL: it is closed */
	struct acp_request *request; /* NULL: no request waits for it now */
	perch_job *job;
	bool is_command;
	bool is_declined; /* the user would not answer its question */
	const char *agent;
	char *folder;     /* of its attachments; NULL = none */
	struct buf said;  /* the user's message */
	struct buf reply; /* as much of it as is kept */
	struct buf notes; /* what went wrong, in words */
	struct buf tail;  /* the last lines of stderr */
	struct buf usage; /* JSON */
	struct buf tools; /* the ids of those that the editor knows, a NUL around each */
	char code[32];    /* of the first error */
	struct acp_open_ask asks[ACP_OPEN_ASKS_MAX];
	size_t ask_count;
};

/* ---- acp_editor.c ----------------------------------------------------------- */

void acp_editor_warn(struct acp_editor *editor, const char *text);

/* ---- editor_chat.c ---------------------------------------------------------------- */

void acp_chat_new(struct acp_editor *editor, const struct acp_wish *wish);
void acp_chat_configure(struct acp_editor *editor, const struct acp_wish *wish);
/* The commands of plugins that it may use. */
void acp_chat_tell_commands(struct acp_chat *chat);
/* The session is closed. */
void acp_chat_forget(struct acp_chat *chat);
void acp_chat_free(struct acp_chat *chat);

/* Makes one, which is in the list; NULL without memory. */
struct acp_chat *acp_chat_open(
	struct acp_editor *editor, const struct acp_place *place, struct str name, perch_err *err);
/* Where it works from now on. 0 or -ENOMEM. */
int acp_chat_move(struct acp_chat *chat, const struct acp_place *place);
void acp_chat_answer(struct acp_chat *chat, struct acp_request *request, bool is_new);
/* Where the own id of this agent is kept. */
char **acp_chat_own_id(const struct acp_chat *chat, const char *agent);

/* ---- editor_store.c ---------------------------------------------------------- */

void acp_store_list(struct acp_editor *editor, const struct acp_wish *wish);
void acp_store_reopen(struct acp_editor *editor, const struct acp_wish *wish);
void acp_store_delete(struct acp_editor *editor, const struct acp_wish *wish);
/* A turn that has ended. */
void acp_store_add(const struct acp_task *task);

/* ---- editor_task.c ---------------------------------------------------------------- */

void acp_task_begin(struct acp_editor *editor, const struct acp_wish *wish);
/* The user wants it to end; its request is answered when it has. */
void acp_task_cancel(struct acp_task *task);
void acp_task_say(struct acp_task *task, struct str text);
/* With its memory alone: its job is gone already. */
void acp_task_free(struct acp_task *task);

/* ---- editor_text.c --------------------------------------------------------- */

/* The message that the blocks make, and what is attached to it: files in a folder of the task. */
int acp_text_read(struct acp_task *task, const struct acp_wish *wish, struct arena *arena,
	perch_job_request *request, perch_err *err);

/* ---- editor_end.c ---------------------------------------------------------- */

void acp_task_end(struct acp_task *task, const perch_job_end *end);

/* ---- editor_activity.c ----------------------------------------------------- */

void acp_task_activity(struct acp_task *task, const perch_event *event);

/* ---- editor_ask.c ---------------------------------------------------------- */

void acp_task_ask(struct acp_task *task, const perch_ask *ask);
void acp_task_withdraw(struct acp_task *task, uint64_t number);
void acp_task_answer(struct acp_task *task, uint64_t number, const struct acp_answer *answer);
/* The next prompt of a chat whose command waits for an answer. */
void acp_task_read_answer(struct acp_task *task, struct str text);

/* ---- editor_questions.c ------------------------------------------------------------ */

/* A question as a text with numbers, and the answer that a text is to it. */
void acp_text_ask(const perch_question *question, struct buf *text);
/* -EINVAL and words. chosen has room for every option. */
int acp_text_answer(const perch_question *question, struct str text, perch_answer *answer,
	size_t *chosen, perch_err *err);

#endif

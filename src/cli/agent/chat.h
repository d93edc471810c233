/* The parts of a conversation with an agent: agent_chat.c is the conversation, chat_commands.c the
 * meaning of a line, chat_view.c what a person sees and types, on a terminal or through pipes. */
#ifndef CLI_AGENT_CHAT_H
#define CLI_AGENT_CHAT_H

#include "base/list.h"
#include "cli/agent/agent_commands.h"
#include "cli/agent/agent_ask.h"
#include "cli/ui/signals.h"
#include "perch/service.h"
#include "proc/intake.h"
#include "term/history.h"

struct chat {
	struct cli *cli;
	perch_host *host;
	struct signals signals;
	bool has_signals;
	perch_service *service;
	struct list turns; /* those that have not ended */

	/* The next message. */
	const char *profile;
	const char *from;
	char *session_name;
	bool is_new; /* the next turn begins a new session */
	bool no_stream;
	bool is_leaving;          /* no more are taken */
	int code;                 /* of the last turn that failed; of the signal that ended it */
	int output_error;         /* output can no longer be written */
	struct agent_asker asker; /* without a terminal it denies */

	/* On a terminal. */
	struct frontend *terminal; /* NULL = lines in, text out */
	perch_question prompt;
	bool has_prompt; /* there is a line to type in */
	struct history history;
	struct buf typed;   /* what stood in the line when it was interrupted */
	bool is_warned;     /* one more Ctrl+C, and it is over */
	bool ends_line;     /* the last text ended with a newline */
	bool shows_waiting; /* for the first word of an agent */

	/* Through pipes. */
	struct intake *intake;
	struct outlet outlet; /* stdout, without a terminal: its reader is waited for */
	struct agent_print print;
};

/* ---- agent_chat.c ---------------------------------------------------------------- */

/* A message: its turn begins when those before it are over. */
void chat_send(struct chat *chat, struct str message);

/* Cancels the turn that runs, or will run next; those behind it go on. False if there is none. */
bool chat_stop(struct chat *chat);

/* No turn runs or waits. */
bool chat_is_over(const struct chat *chat);

/* No more turns; what is under way is cancelled, or (patiently) finished. */
void chat_leave(struct chat *chat, bool patiently);

/* ---- chat_commands.c ------------------------------------------------------------- */

/* A line of the user: a message, or a command. */
void chat_line(struct chat *chat, struct str line);

/* ---- chat_view.c ------------------------------------------------------------- */

/* `goes_on`: the session has earlier turns. */
int chat_view_open(struct chat *chat, bool goes_on, perch_err *err);
void chat_view_close(struct chat *chat);

/* A turn begins, writes text, writes whole lines, and is over. */
void chat_view_begin(struct chat *chat);
void chat_view_text(struct chat *chat, struct str text);
void chat_view_reply(struct chat *chat, struct str text);
void chat_view_end(struct chat *chat);

/* "warning", "error", or NULL for a plain line of perch's own. */
void chat_view_note(struct chat *chat, const char *kind, struct str text);

/* May the agent? */
void chat_view_permission(struct chat *chat, perch_job *job, const perch_ask *ask);

/* Writes everything, before the loop waits. */
void chat_view_flush(struct chat *chat);

/* 0, or why the output cannot be written: a negative errno. */
int chat_view_error(const struct chat *chat);

void chat_view_suspend(struct chat *chat);
void chat_view_resized(struct chat *chat);

#endif

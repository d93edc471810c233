/* The parts of a conversation with an agent: agent_chat.c is the conversation, chat_turns.c its
 * turns, chat_attach.c what is attached to them, chat_commands.c the meaning of a line, chat_view.c
 * what a person types, on a terminal or through pipes, chat_show.c what they see. */
#ifndef CLI_AGENT_CHAT_H
#define CLI_AGENT_CHAT_H

#include "base/list.h"
#include "cli/agent/agent_commands.h"
#include "cli/agent/agent_ask.h"
#include "cli/agent/agent_run.h"
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
	struct agent_words words; /* is_new: its turn begins a new session; what is attached to it */
	char *session_name;
	struct arena attached;         /* names of what is attached */
	struct buf last;               /* the last message, and */
	struct buf reply;              /* all of the last reply */
	struct agent_words last_words; /* what was attached to the last message: nothing else of it */
	struct arena last_attached;
	struct arena told; /* warnings that were told: once is enough */
	const char **warnings;
	size_t warning_count;
	size_t warning_cap;
	perch_agent_usage used;   /* by the turns of this conversation */
	bool is_leaving;          /* no more are taken */
	int code;                 /* of the last turn that failed; of the signal that ended it */
	int output_error;         /* output can no longer be written */
	struct agent_asker asker; /* without a terminal it denies */

	/* On a terminal. */
	struct frontend *terminal; /* NULL = lines in, text out */
	perch_question prompt;
	bool has_prompt; /* there is a line to type in */
	struct history history;
	struct buf typed;           /* what stood in the line when it was interrupted */
	struct chat_editor *editor; /* NULL = the user is not in their editor */
	bool is_warned;             /* one more Ctrl+C ends the conversation */
	bool ends_line;             /* the last text ended with a newline */
	bool shows_waiting;         /* for the first word of an agent, or the next */
	enum agent_thinking thinking;

	/* Through pipes. */
	struct intake *intake;
	struct outlet outlet; /* stdout, without a terminal: its reader is waited for */
	struct agent_print print;
};

/* ---- chat_turns.c ---------------------------------------------------------------- */

/* A message: its turn begins when those before it are over. */
void chat_send(struct chat *chat, struct str message);

/* The same, but its turn begins at once: the one that runs is cancelled, those that wait come
 * behind it. */
void chat_send_now(struct chat *chat, struct str message);

/* The last message, to be sent again: what was attached to it is attached to the next one, unless
 * that has something already. Empty = there is none. */
struct str chat_last(struct chat *chat);

/* The stored sessions of this agent, as lines; and what this one has used. */
void chat_list_sessions(struct chat *chat);
void chat_tell_usage(struct chat *chat);

/* While the user is in their editor, nothing is written. */
void chat_hold(struct chat *chat, bool is_held);

/* Cancels the turn that runs, or will run next; those behind it go on. False if there is none. */
bool chat_stop(struct chat *chat);

/* Once the service is gone. */
void chat_free_turns(struct chat *chat);

/* No turn runs or waits. */
bool chat_is_over(const struct chat *chat);

/* No more turns; what is under way is cancelled, or (patiently) finished. */
void chat_leave(struct chat *chat, bool patiently);

/* ---- chat_attach.c --------------------------------------------------------------- */

/* Attaches a file, or what a URL leads to, to the next message; says so, or why not. */
void chat_attach(struct chat *chat, const char *word);

bool chat_attach_any(const struct agent_words *words);

/* Adds to one what another has attached; -ENOMEM. */
int chat_attach_copy(const struct agent_words *from, struct agent_words *to, struct arena *arena);

/* Nothing is attached any more: what was belongs to another by now, or is freed. */
void chat_attach_forget(struct agent_words *words);
void chat_attach_free(struct agent_words *words);

/* ---- chat_commands.c ------------------------------------------------------------- */

/* A line of the user: a message, or a command. */
void chat_line(struct chat *chat, struct str line);

/* ---- chat_view.c ------------------------------------------------------------- */

/* `goes_on`: the session has earlier turns. */
int chat_view_open(struct chat *chat, bool goes_on, perch_err *err);
void chat_view_close(struct chat *chat);

/* May the agent? */
void chat_view_permission(struct chat *chat, perch_job *job, const perch_ask *ask);

/* Writes everything, before the loop waits. */
void chat_view_flush(struct chat *chat);

/* 0, or why the output cannot be written: a negative errno. */
int chat_view_error(const struct chat *chat);

void chat_view_suspend(struct chat *chat);

/* A text in the line to type in, the next time there is one. */
void chat_view_draft(struct chat *chat, struct str text);

/* ---- chat_show.c -------------------------------------------------------------- */

/* A turn begins, writes text, writes whole lines, and is over. */
void chat_show_begin(struct chat *chat);
void chat_show_text(struct chat *chat, struct str text);
void chat_show_reply(struct chat *chat, struct str text);
void chat_show_end(struct chat *chat);

/* With --verbose: what the agent says beside its reply. */
void chat_show_stderr(struct chat *chat, struct str text);

/* "warning", "error", or NULL for a plain line of perch's own. */
void chat_show_note(struct chat *chat, const char *kind, struct str text);

/* The last reply becomes the clipboard of the terminal. */
void chat_show_copy(struct chat *chat, struct str text);

/* What the agent thinks, as --thinking has it. */
void chat_show_thought(struct chat *chat, struct str text);

/* Something else than its text is about to be shown. */
void chat_show_make_way(struct chat *chat);

/* ---- chat_editor.c ------------------------------------------------------------- */

/* The user's editor opens what is typed; what is saved is in the line again behind it. */
void chat_editor_open(struct chat *chat);
void chat_editor_free(struct chat *chat);
void chat_view_resized(struct chat *chat);

#endif

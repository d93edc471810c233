/* What the subcommands of `perch agent` share. */
#ifndef CLI_AGENT_AGENT_COMMANDS_H
#define CLI_AGENT_AGENT_COMMANDS_H

#include "base/buf.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "perch/agent.h"
#include "perch/host.h"
#include "proc/outlet.h"

/* Each subcommand stands at the end of its own file. */
extern const struct command agent_allow_command;
extern const struct command agent_revoke_command;
extern const struct command agent_run_command;
extern const struct command agent_check_command;
extern const struct command agent_chat_command;
extern const struct command agent_serve_command;
extern const struct command agent_sessions_command;

/* After a signal, a slow reader gets as long as an agent that does not end; and a moment where the
 * agent has no grace. */
static inline uint64_t agent_patience_ns(uint64_t kill_grace_ns)
{
	return kill_grace_ns > NSEC_PER_SEC ? kill_grace_ns : NSEC_PER_SEC;
}

/* ---- agentproc.c: what a turn says when perch is called by that name ------------- */

/* To stderr: AGENT_PARTIAL:<json>, or (raw) the event itself. */
void agentproc_partial(const struct cli *cli, struct str text, struct str raw);

/* Stores the first error for the end. */
void agentproc_error(struct buf *error, struct str text);

/* The session's id and the error, on stderr. */
void agentproc_end(const perch_agent_end *end, const struct buf *error);

/* ---- agent_print.c: a turn, as a person sees it --------------------------------- */

struct agent_print {
	bool is_terminal; /* stdout: nothing that moves its cursor is written */
	bool is_utf8;
	bool is_quiet;
	bool ends_line;        /* the last of what was written was a newline */
	struct outlet *outlet; /* of stdout */
	struct buf out;        /* until agent_print_flush */
};

void agent_print_open(struct agent_print *print, const struct cli *cli, struct outlet *outlet);
/* Appends text without characters that could move the cursor of a terminal. */
void agent_print_clean(struct buf *out, bool is_utf8, struct str text);

void agent_print_text(struct agent_print *print, struct str text);
void agent_print_reply(struct agent_print *print, struct str text);

/* "warning: …" on stderr, after the text that was written to stdout. */
void agent_print_note(struct agent_print *print, const char *kind, struct str text);
void agent_print_hint(struct agent_print *print, struct str text);
void agent_print_end(struct agent_print *print);
void agent_print_flush(struct agent_print *print);
/* The same; on a terminal the open line is ended first. */
void agent_print_make_way(struct agent_print *print);
void agent_print_close(struct agent_print *print);

#endif

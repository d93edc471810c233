/* What the subcommands of `perch agent` share. */
#ifndef CLI_AGENT_AGENT_COMMANDS_H
#define CLI_AGENT_AGENT_COMMANDS_H

#include "agent/sessions.h"
#include "agent/turn.h"
#include "base/buf.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "perch/host.h"
#include "proc/outlet.h"
#include "sandbox/sandbox.h"

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

/* ---- agent_session.c: a turn's place in its stored session -------------------- */

struct agent_session {
	struct sessions *sessions; /* NULL = nothing is stored */
	struct session_turn *turn; /* until its end is recorded */
	bool is_ending;
	struct session_key key; /* its texts are the caller's */
	session_done_fn *ended;
	void *data;
};

/* Waits in the queue of the session: `ready` is called from the loop. */
int agent_session_begin(struct agent_session *session, perch_host *host,
	const struct session_key *key, session_ready_fn *ready, void *data, perch_err *err);

/* It was started without the id that the session has: that is forgotten. `done` is called once,
 * mostly before this returns, as with the next two; also where nothing is stored. */
void agent_session_forget(struct agent_session *session, session_done_fn *done, void *data);

/* The agent said its id. */
void agent_session_said(
	struct agent_session *session, struct str id, session_done_fn *done, void *data);

/* The id that the session has now: the caller frees it. NULL = it is not known. */
char *agent_session_id(const struct agent_session *session);

/* The turn is over. */
void agent_session_end(
	struct agent_session *session, bool counts, session_done_fn *done, void *data);

void agent_session_close(struct agent_session *session);

/* ---- agentproc.c: the output of a turn when perch is called by that name --------- */

/* To stderr: AGENT_PARTIAL:<json>, or the event itself. */
void agentproc_partial(
	const struct cli *cli, enum agent_dialect dialect, struct str text, struct str raw);

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

/* ---- agent_program.c ---------------------------------------------------- */

/* Whether the program of an agent could be run, without running it. Looks at the file and at its
 * interpreter. Fails in the words of a start that fails. */
int agent_program_check(const char *path, perch_err *err);

/* The same for a program in a sandbox, from the directory `cwd` (NULL = ours), after the function
 * above; widen_by is the command that shows more, see agent/profile.h. */
int agent_program_check_inside(perch_host *host, const struct sandbox *sandbox, const char *path,
	const char *cwd, const char *widen_by, perch_err *err);

#endif

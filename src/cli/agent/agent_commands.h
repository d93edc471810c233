/* What the subcommands of `perch agent` share. */
#ifndef CLI_AGENT_AGENT_COMMANDS_H
#define CLI_AGENT_AGENT_COMMANDS_H

#include "agent/dialect.h"
#include "agent/profile.h"
#include "base/buf.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "perch/agent.h"
#include "perch/host.h"
#include "perch/json.h"
#include "perch/service.h"
#include "proc/outlet.h"
#include "term/prose.h"

/* Each subcommand stands at the end of its own file. */
extern const struct command agent_add_command;
extern const struct command agent_create_command;
extern const struct command agent_allow_command;
extern const struct command agent_list_command;
extern const struct command agent_remove_command;
extern const struct command agent_revoke_command;
extern const struct command agent_run_command;
extern const struct command agent_check_command;
extern const struct command agent_chat_command;
extern const struct command agent_serve_command;
extern const struct command agent_sessions_command;

/* What to do where nothing can be stored. */
#define AGENT_NO_STORE "--no-store goes on without stored sessions"

/* After a signal, a slow reader gets as long as an agent that does not end; and a moment where the
 * agent has no grace. */
static inline uint64_t agent_patience_ns(uint64_t kill_grace_ns)
{
	return kill_grace_ns > NSEC_PER_SEC ? kill_grace_ns : NSEC_PER_SEC;
}

/* ---- agent_find.c: which profile a user means ------------------------------------ */

/* A name of $XDG_CONFIG_HOME/perch/agents, or a path. -ENOENT: a word that is neither. */
int agent_find_profile(
	const char *word, struct arena *arena, const char **ret_path, perch_err *err);

/* The profile of a turn that may name its own: a name or a path becomes a path. `chosen` is that of
 * the operator (NULL = none), a path; without `takes_any` a turn names no other: -EPERM. */
int agent_find_turn_profile(
	const char *chosen, bool takes_any, struct arena *arena, const char **profile, perch_err *err);

/* Finds a profile and reads it, then applies what counts beside it: --protocol (NULL = not given),
 * the user's grants, --sandbox. */
int agent_open_profile(const struct cli *cli, const char *word, const char *protocol,
	struct arena *arena, struct agent_profile *ret_profile, perch_err *err);

/* Returns 0, or EXIT_USAGE after an error message. NULL is fine. */
int agent_check_protocol(const char *protocol);

/* ---- agent_catalogue.c: the profiles that come with perch ------------------------- */

/* The i-th name, in order; empty behind the last. */
struct str agent_catalogue_name(size_t i);

/* The text of the profile; NULL = there is none of that name. */
const char *agent_catalogue_text(const char *name);

/* What the profile says. A test checks that all of them are valid, so: 0 or -ENOMEM. */
int agent_catalogue_read(const char *name, struct arena *arena, struct agent_profile *ret_profile);

/* ---- agent_guess.c ----------------------------------------------------------------- */

/* The word of argv that is a script which looks like an agent of 0.4, although the profile does not
 * say so; or NULL. */
const char *agent_guess_newer(const struct agent_profile *profile, const char *const *argv);

/* ---- agent_activity.c: tools and plans --------------------------------------------- */

/* In a line; false = it is not worth one. */
bool agent_activity_words(const perch_event *event, struct buf *out);

/* ---- agent_end.c ------------------------------------------------------------------- */

/* Frees a service; agents that serve many turns may leave by themselves, for a while. NULL is
 * fine. */
void agent_end_service(perch_host *host, perch_service *service);

/* ---- agent_needs.c: what an agent needs beside its profile -------------------------- */

/* Whether `cli` names a program. */
bool agent_needs_program(const struct profile_about *about);

/* 0; -ENOENT: it is not on the PATH of env (NULL = ours), err says what to install; -ENOMEM. */
int agent_needs_check(const struct agent_profile *profile, const char *const *env, perch_err *err);

/* The members "title", "description" … of an object that is open. */
void agent_about_write(perch_json_writer *writer, const struct profile_about *about);

/* ---- agentproc.c: what a turn says when perch is called by that name ------------- */

/* On stderr, as the agent's dialect has it, unless --quiet or --raw: AGENT_PARTIAL:<json> and so
 * on, or the event. */
void agentproc_partial(
	const struct cli *cli, enum agent_dialect dialect, struct str text, struct str raw);
void agentproc_session(const struct cli *cli, enum agent_dialect dialect, struct str id);
void agentproc_error(const struct cli *cli, enum agent_dialect dialect, struct str text);

/* Keeps the first error for the end. */
void agentproc_keep_error(struct buf *error, struct str text);

/* The session's id and the error once more, for scripts, in every dialect; not with --raw. */
void agentproc_end(const struct cli *cli, const perch_agent_end *end, const struct buf *error);

/* ---- agentproc_hub.c ------------------------------------------------------------- */

/* agentproc hub WORD …; argv[0] is "hub". */
int agentproc_hub(struct cli *cli, int argc, char **argv);

/* ---- agent_print.c: a turn, as a person sees it --------------------------------- */

struct agent_print {
	bool is_terminal; /* stdout: nothing that moves its cursor is written */
	bool is_utf8;
	bool is_quiet;
	bool ends_line;        /* the last of what was written was a newline */
	struct prose prose;    /* how a reply is drawn */
	struct outlet *outlet; /* of stdout */
	struct buf out;        /* until agent_print_flush */
};

void agent_print_open(struct agent_print *print, const struct cli *cli, struct outlet *outlet);

void agent_print_text(struct agent_print *print, struct str text);
void agent_print_reply(struct agent_print *print, struct str text);

/* "warning: …" on stderr, after the text that was written to stdout. */
/* The last lines that an agent wrote to its stderr, without the blanks around them. */
enum { LAST_LINES = 10 };
struct str agent_last_lines(const perch_agent_end *end);

void agent_print_note(struct agent_print *print, const char *kind, struct str text);
void agent_print_hint(struct agent_print *print, struct str text);
void agent_print_end(struct agent_print *print);
void agent_print_flush(struct agent_print *print);
/* The same; on a terminal the open line is ended first. */
void agent_print_make_way(struct agent_print *print);
void agent_print_close(struct agent_print *print);

/* ---- agent_spent.c --------------------------------------------------------------- */

enum { AGENT_SPENT_MAX = 160 };

/* "21 tokens (15 in, 6 out), $1.5000". False, and "", when nothing is known. */
bool agent_spent_words(const perch_agent_usage *usage, char words[AGENT_SPENT_MAX]);
bool agent_spent_is_known(const perch_agent_usage *usage);
void agent_spent_add(perch_agent_usage *sum, const perch_agent_usage *more);

#endif

/* The parts of perch agent run: its options, how the turn is told, and the turn itself. */
#ifndef CLI_AGENT_AGENT_RUN_H
#define CLI_AGENT_AGENT_RUN_H

#include "cli/agent/agent_ask.h"
#include "cli/agent/agent_commands.h"
#include "cli/ui/signals.h"
#include "cli/ui/stderr_outlet.h"
#include "events/turn_report.h"

/* ---- the options of one turn, as they are given on a command line: agent_words.c --------- */

struct agent_words {
	const char *profile;
	const char *prompt;
	bool from_stdin;
	const char *session;
	const char *session_name;
	bool is_new;
	const char *from;
	struct option_list images, files, audios, videos;
	const char *cwd;
	struct option_list env;
	const char *timeout;
	const char *line_limit;
	const char *output_limit;
	bool no_stream;
	bool no_store;
	bool allow_shell_message;
};

/* Reads them, and the options of every command (--json, -v, -q, --trace …). Returns 0, or an exit
 * code after having said what is wrong. */
int agent_words_read(struct agent_words *words, struct cli *cli, int argc, char **argv);
void agent_words_free(struct agent_words *words);

/* Fills in the options of the turn: message, attachments, environment, limits. Texts live in the
 * arena and in the words. Returns 0; -EINVAL when the words are wrong, other errors when it is not
 * their fault. */
int agent_words_apply(const struct agent_words *words, const struct agent_profile *profile,
	struct arena *arena, struct agent_turn_options *options, perch_err *err);

/* ---- how a turn is told: as events (--json), to people, or as agentproc does: agent_tell.c -- */

struct agent_tell {
	const struct cli *cli;
	struct agent_asker *asker;          /* whose questions stand below what is told */
	struct outlet outlet;               /* stdout; see agent_tell_attach */
	struct stderr_outlet stderr_outlet; /* stderr */
	struct report report;               /* --json */
	struct agent_print print;           /* else */
	struct buf agentproc_error;         /* called by that name: told at the end */
};

/* Must not be moved afterwards. */
void agent_tell_open(struct agent_tell *tell, const struct cli *cli, struct agent_asker *asker);

void agent_tell_start(struct agent_tell *tell, const struct agent_turn_options *options);
void agent_tell_partial(
	struct agent_tell *tell, enum agent_dialect dialect, struct str text, struct str raw);
void agent_tell_session(struct agent_tell *tell, struct str id);
void agent_tell_warning(struct agent_tell *tell, struct str text);
void agent_tell_error(struct agent_tell *tell, const char *code, struct str text);
void agent_tell_reply(struct agent_tell *tell, struct str text);
void agent_tell_permission(struct agent_tell *tell, const struct agent_permission *permission);
void agent_tell_end(struct agent_tell *tell, const perch_agent_end *end);

/* From now on the readers of stdout and stderr are not waited for. 0 or -ENOMEM. */
int agent_tell_attach(struct agent_tell *tell, struct loop *loop);

/* Whether there is output that was not read yet, and whether it is too much; see outlet.h for the
 * patience. */
bool agent_tell_waits(const struct agent_tell *tell);
bool agent_tell_is_full(const struct agent_tell *tell);
void agent_tell_hurry(struct agent_tell *tell, uint64_t patience_ns);

/* Before anything else is written, and before waiting. */
void agent_tell_flush(struct agent_tell *tell);

void agent_tell_close(struct agent_tell *tell);

/* ---- the turn: agent_run_turn.c ---------------------------------------------------------- */

struct agent_run {
	struct cli *cli;
	struct agent_words words;
	struct arena arena;
	struct agent_profile profile;
	struct agent_turn_options options;
	perch_host *host;
	struct signals signals;
	bool has_signals;
	struct trace *trace;
	struct agent_session session;
	struct agent_turn *turn;
	struct agent_tell tell;
	struct agent_asker asker;
	bool is_held; /* the turn: nobody reads */
	bool is_ending;
	perch_agent_end end; /* to be told when it is recorded */
	char *stored;        /* the id of the session, where that is the end's */
	bool is_over;
	int code;
	int signal; /* that came last; 0 = none */
};

extern const struct agent_turn_events agent_run_events;

/* Begins the turn, or waits in the queue of its session for it. */
int agent_run_begin(struct agent_run *run, perch_err *err);

/* The turn ends before the agent could be started. */
void agent_run_end_early(struct agent_run *run, int code, const char *kind, const char *text);

void agent_run_warn_of_profile(struct agent_run *run);
void agent_run_on_stderr(void *data, const char *bytes, size_t len);

#endif

/* Inside of perch agent run: its options, and how the turn is told. */
#ifndef CLI_AGENT_AGENT_RUN_H
#define CLI_AGENT_AGENT_RUN_H

#include "base/arena.h"
#include "cli/agent/agent_ask.h"
#include "cli/agent/agent_commands.h"
#include "cli/ui/stderr_outlet.h"
#include "events/turn_report.h"
#include "perch/service.h"

/* ---- the options of one turn, as they are given on a command line: agent_words.c --------- */

struct agent_words {
	const char *profile;
	const char *prompt;
	bool from_stdin;
	const char *protocol; /* NULL = the profile's */
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
	bool is_plain;        /* chat: replies as they are */
	const char *thinking; /* "show", "fold", "hide"; NULL = fold on a terminal, else hide */
};

/* Reads them, and the options of every command (--json, -v, -q, --trace …). Returns 0, or an exit
 * code after having said what is wrong. */
int agent_words_read(struct agent_words *words, struct cli *cli, int argc, char **argv);
int agent_words_read_chat(struct agent_words *words, struct cli *cli, int argc, char **argv);
void agent_words_free(struct agent_words *words);

/* In agentproc.c: the same by the options of that tool. */
int agentproc_read(struct agent_words *words, struct cli *cli, int argc, char **argv);

/* For agentproc, the profile decides the dialect, and where a relative cwd starts. When the profile
 * cannot be read, the turn reports that. */
void agentproc_settle(
	struct agent_words *words, struct arena *arena, enum agent_dialect *ret_dialect);

/* Fills in what the job is to be: message, attachments, environment, limits; `turn` is what
 * request->turn points to. Texts live in the arena and in the words. Returns 0; -EINVAL when the
 * words are wrong, other errors when it is not their fault. */
int agent_words_apply(const struct agent_words *words, struct arena *arena,
	perch_job_request *request, perch_agent_turn_options *turn, perch_err *err);

/* ---- agent_check.c ----------------------------------------------------------------------- */

/* What `perch agent check` finds of an agent that has failed: why, perhaps. False = nothing. */
bool agent_check_explain(
	const struct cli *cli, const struct agent_words *words, char ret_text[PERCH_ERR_TEXT_MAX]);

/* Whether an agent has ended by itself, and not well. */
static inline bool agent_end_is_own_failure(const perch_agent_end *end)
{
	return end->status > 0 && !end->success && !end->timed_out && !end->cancelled;
}

/* ---- how a turn is told: as events (--json), to people, or as agentproc does: agent_tell.c -- */

/* What is done with the thoughts of an agent, which are no part of its reply. */
enum agent_thinking { THINKING_HIDE, THINKING_FOLD, THINKING_SHOW };

struct agent_tell {
	const struct cli *cli;
	struct agent_asker *asker;          /* whose questions stand below what is told */
	struct outlet outlet;               /* stdout; see agent_tell_attach */
	struct stderr_outlet stderr_outlet; /* stderr */
	struct report report;               /* --json */
	struct agent_print print;           /* else */
	enum agent_dialect dialect;         /* of the agent: agentproc speaks it too */
	struct buf agentproc_error;         /* called by that name: told at the end */
	enum agent_thinking thinking;
	bool is_folded; /* the last line of the terminal says that it thinks */
	bool has_said;  /* something of the reply */
};

/* Must not be moved afterwards. */
void agent_tell_open(struct agent_tell *tell, const struct cli *cli, struct agent_asker *asker);

/* By the word of --thinking; NULL = as it suits the terminal. */
enum agent_thinking agent_thinking_of(const char *word);

/* Everything that a turn tells, except answers to its questions. */
void agent_tell_event(struct agent_tell *tell, perch_job *job, const perch_event *event);

/* What is told of one that is no job, or beside it. */
void agent_tell_warning(struct agent_tell *tell, struct str text);
void agent_tell_error(struct agent_tell *tell, const char *code, struct str text);
void agent_tell_end(struct agent_tell *tell, const perch_agent_end *end);

/* From now on the loop does not wait for slow readers of stdout and stderr. 0 or -ENOMEM. */
int agent_tell_attach(struct agent_tell *tell, struct loop *loop);

/* Whether there is output that was not read yet, and whether it is too much; see outlet.h for the
 * patience. */
bool agent_tell_waits(const struct agent_tell *tell);
bool agent_tell_is_full(const struct agent_tell *tell);
void agent_tell_hurry(struct agent_tell *tell, uint64_t patience_ns);

/* Before anything else is written, and before waiting. */
void agent_tell_flush(struct agent_tell *tell);

void agent_tell_close(struct agent_tell *tell);

#endif

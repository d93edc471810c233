/* What the commands share: their table, the options that all of them take, and the way they speak
 * to people. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/exit_status.h"
#include "base/str.h"
#include "cli/options.h"
#include "perch/base.h"
#include "perch/host.h"
#include "perch/job.h"

/* The options that stand before the command, or directly behind `run`. */
struct cli {
	char **words;   /* all of the command line, with the name of the program */
	bool is_fledge; /* called by that name */
	bool is_agentproc;
	bool is_raw; /* as agentproc: the body alone, nothing on stderr */
	bool json;
	bool verbose;
	bool quiet;
	bool help;
	bool version;
	const char *color;           /* auto, always, never */
	const char *non_interactive; /* NULL = not; "" or "strict" */
	const char *trace;           /* a file, or NULL */
	bool trace_secrets;
	struct option_list answers; /* MESSAGE=VALUE */
	const char *answers_file;
	const char *prompt_timeout; /* as text, NULL = not given: see run/run_settings.h */
	const char *line_limit;
	const char *waiting_limit;
	const char *unread_timeout;
	const char *exec_timeout_max;
	const char *shell;
	const char *sandbox; /* NULL = as granted; "" or "on", "off" */
	bool is_strict;      /* what a run leaves for git to execute is removed */
};

/* Reads such options from argv[*at] on. Returns 0, or an exit code after an error message. */
int cli_read_globals(struct cli *cli, int argc, char **argv, int *at);

/* Reads the options of a subcommand, which may stand anywhere among its words: its own (the table
 * ends with a NULL name), --json, --ni, -v, -q and --color. Returns 0, or an exit code after an
 * error message. */
int cli_options(struct cli *cli, const struct option_spec *own, int argc, char **argv,
	struct option_list *words);

/* The value of --config DIR: DIR/perch is perch's configuration from now on. NULL is fine. Returns
 * 0 or an exit code after an error message. */
int cli_set_config(const char *dir);

/* Checks the value of --sandbox where a command reads that option itself. Returns as above. */
int cli_check_sandbox(const struct cli *cli);

/* The value of --sandbox, as a job takes it. */
perch_sandbox_choice cli_sandbox_choice(const struct cli *cli);

/* The kind of word that follows a command, for completion. */
enum command_words {
	WORDS_FILES, /* the shell completes file names by itself */
	WORDS_COMMANDS,
	WORDS_PLUGIN_COMMANDS,
	WORDS_PLUGINS,
	WORDS_TOOLS,
	WORDS_AGENTS, /* and files */
	WORDS_CATALOGUE,
	WORDS_SESSIONS, /* what to do with them, then their names */
	WORDS_HOOKS,    /* run, then the events */
	WORDS_SHELLS,
};

/* The purposes under which `perch help` lists commands; its table of titles is in help.c. */
enum command_group {
	GROUP_LOOK, /* the state of things, and recorded runs */
	GROUP_BEGIN,
	GROUP_RUN,
	GROUP_MANAGE,
	GROUP_TOOLS,
	GROUP_AGENTS,
	GROUP_CONFINE,
};

struct command {
	const char *name;
	const char *summary; /* NULL = not shown in the help */
	enum command_group group;
	/* All of `perch help NAME`. A command with subcommands, or with `print_more`, gives only the
	 * text before that and, as `example`, the line behind it; the list of subcommands is generated.
	 */
	const char *help;
	void (*print_more)(void); /* behind `help`, before the example; NULL = nothing */
	const char *example;
	const struct command *const *subcommands; /* ends with NULL; NULL = none */
	enum command_words words;
	const char *program; /* the companion that has this command; NULL = this program does */
	int (*run)(
		struct cli *cli, int argc, char **argv); /* argv[0] is the name; NULL = subcommands */
};

/* The commands of a program, NULL behind the last: for perch in main.c, for a companion in its own
 * file. Each command is defined at the end of the file that implements it. */
extern const struct command *const command_table[];
extern const struct command command_actor;
extern const struct command command_agent;
extern const struct command command_conformance;
extern const struct command command_mcp;
extern const struct command command_queue;
extern const struct command command_acp;
extern const struct command command_run;
extern const struct command command_serve;
extern const struct command command_token;
extern const struct command command_plugin;
extern const struct command command_plugins;
extern const struct command command_sandbox;
extern const struct command command_tool;
extern const struct command command_tour;
extern const struct command command_trace;
extern const struct command command_worker;
extern const struct command command_doctor;
extern const struct command command_completions;
extern const struct command command_complete;
extern const struct command command_help;

/* The shells that words can be completed in, each with its script; a NULL name behind the last. */
struct completion_shell {
	const char *name;
	const char *script;
};
extern const struct completion_shell completion_shells[];

/* The i-th command, NULL behind the last. */
const struct command *command_at(size_t i);

const struct command *command_find(const char *name);

/* Finds a command in a list that ends with NULL; the list (and the name) may be NULL. The second
 * function also knows the words of other tools. */
const struct command *command_named(const struct command *const *list, const char *name);
const struct command *command_find_in(const struct command *const *list, const char *word);

/* ---- ui/plugin_commands.c ------------------------------------------------------ */

/* Prints a line for each. Returns the number of plugins. */
size_t plugin_commands_print(void);

/* ---- synonyms.c --------------------------------------------------------------- */

/* The command of the list that other tools call so, or NULL. */
const struct command *synonym_find(const struct command *const *list, const char *word);

/* The subcommands that the word may have meant, with commas between them. */
void synonym_suggest(const struct command *const *table, const char *word, struct buf *hint);

/* An error message that there is no such command, with the nearest name. Returns EXIT_USAGE. */
int command_refuse(const char *name);

/* ---- cli_program.c ------------------------------------------------------------- */

/* The first and the last thing that every program of ours does: writes may fail from the beginning
 * on, and what could not be written makes success a failure. Returns the exit code. */
void cli_program_begin(void);
int cli_program_finish(int status);

typedef int cli_program_run_fn(struct cli *cli, int argc, char **argv);

/* Reads the options before the command, and has `run` do what the words behind them say; `cli` is
 * zeroed but for is_fledge. Returns the exit code. */
int cli_program_run(struct cli *cli, int argc, char **argv, cli_program_run_fn *run);

/* Runs the command that the first word names. */
int cli_program_run_command(struct cli *cli, int argc, char **argv);

/* All of a companion's main. */
int cli_program_companion(int argc, char **argv);

/* ---- companion.c, installed.c ------------------------------------------------ */

/* What a command of another program does: this process becomes that program, with the same words.
 * Returns an exit code after having said why it cannot. */
int companion_become(const struct cli *cli, const struct command *command);
int companion_run(struct cli *cli, int argc, char **argv);

enum installed_place {
	INSTALLED_COMMANDS, /* perch */
	INSTALLED_PROGRAMS, /* companions, perch-guard */
	INSTALLED_DATA,     /* the cases of the conformance kit, examples */
};

/* The path of something of perch's own in the tree that this program belongs to; whether it is
 * there is not asked. Fails with an errno where this program's own path cannot be read. */
int installed_path(enum installed_place place, const char *name, char ret_path[PATH_MAX]);

/* The directories from which perch executes programs of its own, and the one from which it would,
 * were it there. A list that ends with NULL. */
const char *const *installed_program_places(void);

/* ---- dispatch.c ---------------------------------------------------------- */

/* Reads the options behind a command that has subcommands, and runs the subcommand that the next
 * word names. Prints its help where the user asks for that, and suggests the nearest name where no
 * subcommand has this one. */
int command_dispatch(const struct command *parent, struct cli *cli, int argc, char **argv);

/* Runs a command: by its own function, or by that of the subcommand that the next word names. */
int command_start(const struct command *command, struct cli *cli, int argc, char **argv);

/* Prints the help of a command, or of the subcommand that the words name. */
int command_print_help(const struct command *command, int argc, char **argv);

bool command_is_help(const char *word);

/* Whose --color counts for what is said from now on, and whether a stream gets colours then. */
void cli_speak_for(const struct cli *cli);
bool cli_colors(FILE *stream);

/* "error: …" on stderr, with the line of the file that it names; then, unless `hint` is NULL, a
 * line that says what to do about it. */
void cli_error(const char *hint, const char *format, ...) PERCH_PRINTF(2, 3);

/* The same when memory ran out. Returns EXIT_HOST. */
int cli_no_memory(void);

/* "warning: …" on stderr, for commands without a frontend and after its end. */
void cli_warning(const char *text);

/* "hint: …" on stderr. A long hint is broken after commas and semicolons only, so that a command in
 * it stays on one line and can be copied. */
void cli_hint(struct str text);

/* As cli_error, for a wrong command line; without a hint it names the help of the running command.
 * Returns EXIT_USAGE. */
int cli_usage_error(const char *hint, const char *format, ...) PERCH_PRINTF(2, 3);

/* Notes which command runs (and which of its subcommands, or NULL), for cli_usage_error. */
void cli_speak_of(const char *command, const char *subcommand);

/* The same where perch is called by another name: the program, and what its usage errors end with.
 */
void cli_speak_as(const char *program, int code);

/* The nearest word of a list to one that is not in it, or NULL when none is
 * near: "did you mean". next(data, i) gives the i-th word, NULL at the end. */
const char *cli_nearest(
	const char *word, const char *(*next)(const void *data, size_t i), const void *data);

/* Whether to colour what goes to `stream`: --color, NO_COLOR, CLICOLOR_FORCE, a
 * terminal; in this order. */
bool cli_wants_color(const struct cli *cli, FILE *stream);

/* Whether the user forbids questions, by --ni or by the environment. */
bool cli_forbids_asking(const struct cli *cli);

/* Whether the user's terminal shows UTF-8, by the locale. */
bool cli_is_utf8(void);

/* Whether text for `stream` may be UTF-8: in a pipe and a file it always may. */
bool cli_shows_utf8(FILE *stream);

/* Writes a text of perch itself; on a terminal without UTF-8 it is transcribed to ASCII. Returns 0,
 * or 1 when it could not be written. */
int cli_put(FILE *stream, const char *text);

/* Passes on the output of a program. On a terminal, characters that move the cursor or turn the
 * reading order around are left out; in a pipe or file every byte stays. cli_pass_json does the
 * same for JSON, where such characters become escapes; returns whether it could be written. */
void cli_pass(FILE *stream, struct str text);
bool cli_pass_json(FILE *stream, struct str json);

/* printf for texts of perch that quote names or words of others: cleaned as above, wherever the
 * stream leads. Returns whether it failed. */
int cli_tell(FILE *stream, const char *format, ...) PERCH_PRINTF(2, 3);

/* Writes the first 4 KiB of a text of others as one line, without characters that a terminal would
 * obey. */
void cli_put_text(FILE *stream, struct str text);

/* Writes what was put together to stdout, and frees it. Returns an exit code. */
int cli_print(struct buf *out);

/* The same for text of another program: on a terminal, characters that the terminal would obey are
 * left out. */
int cli_print_text(struct buf *out);
int cli_print_json(struct buf *out); /* the same; see cli_pass_json */

/* The exit code of a run that ended with `code`, but whose output met `error` (0 or negative).
 * Output that could not be written makes the run a failure. The user is told, unless the reader of
 * the output went away. */
int cli_check_output(int error, int code);

int cli_plugins(struct cli *cli, int argc, char **argv);

/* Whether an installed plugin has a command of this name. */
bool cli_is_plugin_command(const char *name);

/* Runs the plugin command argv[0] with the rest as its arguments. */
int cli_run_plugin(struct cli *cli, int argc, char **argv);

/* perch, called by the name agentproc. */
int cli_agentproc(int argc, char **argv);

int cli_help(struct cli *cli, int argc, char **argv);

/* Prints a text of the help, its heads in bold where there are colours. Returns as cli_put does. */
int help_put(const char *text);

/* What `perch help options` says of those that cli_read_globals reads. */
extern const char globals_help[];

/* ---- ui/message.c --------------------------------------------------------------- */

/* Appends a message as lines: broken at words where there are `columns` (0 = not at all), with a
 * hanging indent; a command to be copied has a line of its own. `used` columns of the first line
 * are taken. No character of it moves the cursor. */
void message_append(struct buf *out, const char *text, size_t used, size_t columns);

/* Where the message names a place in a file, PATH:LINE:COLUMN, appends that line of it, and a caret
 * below the column. */
void message_append_place(struct buf *out, const char *text, size_t columns);

/* ---- ui/advice.c ---------------------------------------------------------------- */

/* What to do about an error of which nothing but its words is known; NULL = who knows. */
const char *advice_on(const char *text);

/* ---- ui/cli_host.c --------------------------------------------------------------- */

/* Where perch-guard is: PERCH_GUARD, in the tree of this program, or NULL for where the library
 * expects it. */
const char *cli_guard_path(void);

/* The options of every command's host: the guard above, children that die with us, and SIGPIPE
 * ignored. */
perch_host_options cli_host_options(void);

/* Makes a host with these options; `log` may be NULL. */
int cli_make_host(perch_log_fn *log, void *log_data, perch_host **ret_host, perch_err *err);

/* The same for commands that show no run: its warnings go to stderr. */
int cli_host_new(perch_host **ret_host, perch_err *err);

/* The same for commands that serve other programs, with the limit of open files raised; prints why
 * it cannot be made. `log` may be NULL: warnings go to stderr as they are. 0 or EXIT_HOST. */
int cli_host_serve(perch_log_fn *log, void *log_data, perch_host **ret_host);

/* Raises our limit of open files to the hard limit, for hosts of many children; the children keep
 * the limit that we had. */
void cli_raise_open_files(perch_host *host);

#endif

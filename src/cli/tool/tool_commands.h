/* What the verbs of `perch tool` share: a host, a trace, the audit log, one call
 * to its end, and how a result is told. */
#ifndef CLI_TOOL_TOOL_COMMANDS_H
#define CLI_TOOL_TOOL_COMMANDS_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/ui/signals.h"
#include "perch/service.h"
#include "tool/binding.h"
#include "tool/result.h"

struct tool_call;
struct tool_call_options;
struct trace;

/* Each verb stands at the end of its own file. */
extern const struct command tool_verb_add;
extern const struct command tool_verb_allow;
extern const struct command tool_verb_call;
extern const struct command tool_verb_check;
extern const struct command tool_verb_create;
extern const struct command tool_verb_import;
extern const struct command tool_verb_list;
extern const struct command tool_verb_log;
extern const struct command tool_verb_remove;
extern const struct command tool_verb_review;
extern const struct command tool_verb_revoke;
extern const struct command tool_verb_serve;
extern const struct command tool_verb_show;

/* The global options that a verb takes, too: the last lines of its table. */
#define TOOL_GLOBALS(cli)                                                                       \
	{ "json", 0, OPTION_FLAG, &(cli)->json }, { "verbose", 'v', OPTION_FLAG, &(cli)->verbose }, \
		{ "quiet", 'q', OPTION_FLAG, &(cli)->quiet },                                           \
		{ "ni", 0, OPTION_MAYBE, &(cli)->non_interactive },                                     \
		{ "non-interactive", 0, OPTION_MAYBE, &(cli)->non_interactive },                        \
		{ "trace", 0, OPTION_TEXT, &(cli)->trace },                                             \
		{ "trace-secrets", 0, OPTION_FLAG, &(cli)->trace_secrets },                             \
	{                                                                                           \
		0                                                                                       \
	}

/* Reads options wherever they stand; the other words go to `words`, from `least`
 * to `most` of them (what is missing is NULL). `usage` is told when there are
 * others. Returns 0 or EXIT_USAGE. */
int tool_words(const struct option_spec *specs, int argc, char **argv, const char *usage, int least,
	int most, const char **words);

/* "a, b": the tools that a binding lists; "" when there are none, or memory ran out. */
const char *tool_known_names(const struct tool_binding *binding, struct arena *arena);

struct tool_session {
	struct cli *cli;
	struct arena arena;
	perch_host *host;
	struct trace *trace;
	struct signals signals;
	bool has_signals;
	struct tool_call *running; /* what a signal cancels */
};

/* Runs `body` in a session and returns its exit code; a negative error is told, and
 * is the host's. */
typedef int tool_body_fn(struct tool_session *session, void *data, perch_err *err);
int tool_in_session(struct cli *cli, tool_body_fn *body, void *data);

/* The binding of a file, or (file NULL) of a name with what the user allowed it. It has
 * passed its check. */
int tool_session_binding(struct tool_session *session, const char *file, const char *name,
	struct tool_binding *ret_binding, perch_err *err);

/* Makes one call and waits for its end; SIGINT, SIGTERM and SIGHUP cancel it. The
 * caller frees it. */
int tool_session_call(struct tool_session *session, const struct tool_call_options *options,
	struct tool_call **ret_call, perch_err *err);

/* Has `arrived` called for SIGINT, SIGTERM and SIGHUP. */
int tool_session_watch(struct tool_session *session, void (*arrived)(void *data, int signal),
	void *data, perch_err *err);

/* The options of a service that makes the session's calls: the trace is the session's, warnings are
 * printed. */
perch_service_options tool_service_options(struct tool_session *session);
DEFINE_POINTER_CLEANUP(tool_service_free, perch_service, perch_service_free)

/* Opens the trace, if there is to be one, for what tool_session_call does. */
int tool_session_trace(
	struct tool_session *session, const char *command, const char *const *args, perch_err *err);

void tool_warn(const struct tool_session *session, const char *format, ...) PERCH_PRINTF(2, 3);

/* Asks on the terminal; the default is no. Returns 1 or 0; -ENOTTY when no user can be asked,
 * -ECANCELED at Ctrl+C and the signals that end a call. */
int tool_ask(const struct cli *cli, const char *question, perch_err *err);

/* For a help: the exit codes, as a paragraph. */
void tool_commands_print_codes(void);

int tool_exit_code(perch_tool_code code);

/* The result of a call that could not be tried. The text must outlive it. */
perch_tool_result tool_refusal(
	perch_tool_code code, const char *stage, const char *tool, const perch_err *err);

/* Tells a result: with --json the object, else the error on stderr (a success is the caller's to
 * print). Returns the exit code. */
int tool_tell(const struct tool_session *session, const perch_tool_result *result);

/* For tool_call_options: the plugin's stderr goes to ours. */
void tool_show_stderr(void *data, const char *bytes, size_t len);

/* JSON on stdout: laid out for people on a terminal, else as it is. */
void tool_print_json(struct str json);

#endif

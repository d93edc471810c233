/* The parts of `perch tool add`. */
#ifndef CLI_TOOL_TOOL_ADD_H
#define CLI_TOOL_TOOL_ADD_H

#include "cli/tool/tool_commands.h"
#include "tool/call.h"
#include "cli/tool/package.h"
#include "cli/tool/tool_source.h"

struct add_words {
	const char *source;
	const char *name;
	const char *binding; /* the file to write */
	struct tool_named named;
	struct option_list grants;
	struct option_list args;
	struct option_list read;
	struct option_list write;
	struct option_list env;
	const char *net;
	const char *sandbox;
	const char *server;         /* an MCP server: its name */
	const char *const *command; /* and the words behind --; NULL = none */
	const char *secrets;
	const char *secrets_place; /* where that file will be once the server is bound; NULL = there */
	const char *token;         /* of a remote server: the file that holds it */
	const char *lifetime;
	const char *elicitation, *sampling, *roots; /* from where its questions are answered */
	const char *verdict;
	bool yes;
	bool pin;
	bool ask;
	bool replace;
};

struct adding {
	struct tool_session *session;
	const struct add_words *words;
	struct tool_source source;
	struct tool_binding *binding; /* the source's */
	const char *name;             /* of the file */
	const char *version;
	const char *const *requested; /* by the bundle; after the handshake, by the plugin */
	struct package package;       /* that an MCP server comes from; */
	bool has_package;             /* else it is a program that is there */
	const char *const *bundled;   /* those that the user was asked about before; NULL = none */
};

/* ---- tool_add.c -------------------------------------------------------------- */

/* Takes what the options say into the binding. */
int add_take_options(struct adding *adding, perch_err *err);
/* Where the binding goes. An existing file is an operator's decision, and is not overwritten. */
int add_choose_path(struct adding *adding, perch_err *err);
/* Records what was written as approved. */
int add_approve_written(struct adding *adding, perch_err *err);

/* ---- server_add.c -------------------------------------------------------------- */

/* The words behind `--`, which are cut off; NULL = there is none. */
const char *const *add_cut_command(int *argc, char **argv);

/* perch tool add --mcp; data are the words. */
/* An option that is for servers alone, of those that were given; NULL = none. */
const char *add_word_of_server(const struct add_words *words);
int add_server(struct tool_session *session, void *data, perch_err *err);

/* ---- server_url.c ------------------------------------------------------------ */

/* Whether a remote server is meant. */
bool add_is_url(const struct add_words *words);
/* Its name, where none was said, and its address as the words behind --. -EINVAL. */
int add_url_words(struct tool_session *session, struct add_words *words, perch_err *err);
/* Takes its address into the binding. -EINVAL. */
int add_url(struct adding *adding, perch_err *err);

/* ---- tool_grant.c -------------------------------------------------------------- */

/* Says that the plugin is not bound, and why. Returns the exit code. */
int add_refuse(const struct adding *adding, const perch_err *err);

/* Whether it is the home directory, or above: a tool that sees that sees more than its user
 * expects. */
bool add_holds_home(const char *path);

/* Asks; returns 0 for a yes, else as add_decide does. */
int add_ask(struct adding *adding, const char *question, perch_err *err);

/* Before the first start: shows what would run and what it would see, unless that is decided, and
 * lets the operator decide: by --yes, --grant, or at the terminal. Returns 0, an exit code, or a
 * negative error. */
int add_consent(struct adding *adding, perch_err *err);

/* After the handshake: shows the requested capabilities, unless they are decided, and lets the
 * operator decide. Returns 0 with the capabilities of the binding filled in, an exit code, or a
 * negative error. */
int add_decide(struct adding *adding, perch_err *err);

/* Tells what was bound; returns the exit code. */
int add_tell_added(const struct adding *adding);

/* ---- tool_interpreter.c --------------------------------------------------------- */

/* Where the interpreter lies in a place that tools do not see, as a virtual environment in the home
 * directory: asks whether it may be read, and allows that; where the operator has decided already,
 * says which option is missing. Returns as add_consent does. */
int add_interpreter(struct adding *adding, bool is_decided, perch_err *err);

#endif

/* The surroundings of a command that runs for a while and may ask questions: a host for processes,
 * the terminal, Ctrl+C. */
#ifndef CLI_UI_CONSOLE_H
#define CLI_UI_CONSOLE_H

#include "cli/cli.h"
#include "cli/ui/signals.h"
#include "plugins/process.h"

struct console {
	const struct cli *cli;
	struct workshop workshop; /* host and frontend; is_interactive: a user can be asked */
	struct signals signals;
	bool has_signals;
	int signal; /* the signal that interrupted us, 0 = none */
	bool is_answered;
	bool is_cancelled;
	bool said_yes;
	size_t chosen;
};

/* The user interface is on stderr, unless the command was asked for JSON: then there is none, and
 * no user is asked. Output of programs goes to stderr too: stdout is the command's. */
int console_open(struct console *console, const struct cli *cli, perch_err *err);
void console_close(struct console *console);

/* Asks; the default is no. Returns 1 or 0; -ENOTTY when no user can be asked, -ECANCELED when the
 * user does not want to answer. */
int console_confirm(struct console *console, const char *message);

/* The same for one of several; the index, and -ENOTTY, -ECANCELED as above. The one with the index
 * `standard` is chosen by Enter alone. */
int console_select(struct console *console, const char *message, const char *const *options,
	size_t count, size_t standard);

/* Prints why the command failed, behind the name of its subject (NULL = none). When the user said
 * no, that is not called an error. */
void console_tell_failure(const struct console *console, const char *about, const perch_err *err);

/* The exit code of a failure: 130 and the like when it was interrupted. */
int console_failure_code(const struct console *console);

#endif

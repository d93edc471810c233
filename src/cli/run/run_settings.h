/* Settings of a run: an option, else the environment, else CFG/config.toml under [perch], else the
 * library's own. */
#ifndef CLI_RUN_RUN_SETTINGS_H
#define CLI_RUN_RUN_SETTINGS_H

#include "base/arena.h"
#include "cli/cli.h"

/* Nothing is set. */
#define SETTINGS_STANDARD (-1.0)

struct settings {
	double prompt_timeout;   /* seconds, 0 = for ever */
	double line_limit;       /* bytes */
	double waiting_limit;    /* bytes */
	double unread_timeout;   /* seconds */
	double exec_timeout_max; /* seconds */
	const char *shell;       /* NULL = not set */
};

/* Texts live in the arena. Fails with -EINVAL or PERCH_ESYNTAX: err says which setting, where it
 * was made and what it may be. */
int settings_read(
	const struct cli *cli, struct arena *arena, struct settings *ret_settings, perch_err *err);

/* The answers of --answer and --answers, in this order, each MESSAGE=VALUE; ends with NULL. */
int settings_answers(
	const struct cli *cli, struct arena *arena, const char *const **ret_answers, perch_err *err);

#endif

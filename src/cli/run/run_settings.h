/* Settings of a run: an option, else the environment, else CFG/config.toml
 * under [perch], else the default. */
#ifndef CLI_RUN_RUN_SETTINGS_H
#define CLI_RUN_RUN_SETTINGS_H

#include "base/arena.h"
#include "cli/cli.h"
#include "fledge/fledge_engine.h"

struct settings {
	double prompt_timeout;   /* seconds, 0 = for ever */
	double line_limit;       /* bytes */
	double waiting_limit;    /* bytes */
	double unread_timeout;   /* seconds */
	double exec_timeout_max; /* seconds */
	const char *shell;
};

/* Texts live in the arena. Fails with -EINVAL or PERCH_ESYNTAX: err says which
 * setting, where it was made and what it may be. */
int settings_read(const struct cli *cli, const char *config_directory, struct arena *arena,
	struct settings *ret_settings, perch_err *err);

/* The answers of --answer and --answers, in this order. */
int settings_answers(const struct cli *cli, struct arena *arena,
	const struct fledge_answer **ret_answers, size_t *ret_count, perch_err *err);

#endif

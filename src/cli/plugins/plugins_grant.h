/* perch plugins allow --grant: what a plugin asked for and was not given when it was installed, and
 * which others it may call. */
#ifndef CLI_PLUGINS_PLUGINS_GRANT_H
#define CLI_PLUGINS_PLUGINS_GRANT_H

#include "cli/cli.h"
#include "registry/grants.h"

/* The name of the plugin that a user calls `word`. Fails as plugin_find does. */
int plugins_grant_find(
	const char *word, struct arena *arena, const char **ret_name, perch_err *err);

/* Grants what the words name (with commas between them), or takes it back; see `grant` of struct
 * allow_subject. */
int plugins_grant_words(const char *name, const struct option_list *words, bool revokes,
	struct arena *arena, struct grant *grant, const char **ret_words, perch_err *err);

/* Puts `who` into the list of those that the plugin may call, or takes it out of it. -ENOMEM. */
int plugins_grant_callee(
	const char *who, bool revokes, struct arena *arena, struct grant *grant, perch_err *err);

#endif

/* What the two halves of an install share. */
#ifndef PLUGINS_INSTALL_PARTS_H
#define PLUGINS_INSTALL_PARTS_H

#include "plugins/plugin_install.h"

/* Every command has a program inside the plugin that can be executed. */
int candidate_check_programs(struct candidate *candidate, perch_err *err);

/* The plugin may have its name and its commands theirs. Only who holds the lock knows that
 * a directory without an entry is not another install that is about to end. */
int candidate_check_names(
	struct candidate *candidate, const struct registry *registry, bool is_locked, perch_err *err);

#endif

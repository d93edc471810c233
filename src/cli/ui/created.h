/* What `create` of plugins, tools and agents has in common: making it, and telling what was made.
 */
#ifndef CLI_UI_CREATED_H
#define CLI_UI_CREATED_H

#include "cli/ui/page.h"
#include "plugins/scaffold.h"

/* For people: what to do with it now. */
typedef void created_next_fn(struct page *page, const struct scaffold *scaffold,
	const struct scaffold_options *options, const char *with_compiler, const char *make);

/* Reads the name and the options, makes it and tells it. `hint` names the help. Returns an exit
 * code: a name or a language that cannot be is a mistake of the command line, not a failure. */
int created_run(struct cli *cli, int argc, char **argv, struct scaffold_options *options,
	const char *hint, created_next_fn *next);

#endif

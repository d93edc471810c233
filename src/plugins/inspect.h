/* Whether the installed files fit together: registry, directories, links, and changes that were
 * begun and not finished. */
#ifndef PLUGINS_INSPECT_H
#define PLUGINS_INSPECT_H

#include "base/arena.h"
#include "plugins/process.h"

enum { INSPECTION_PROBLEMS_MAX = 100 };

struct inspection {
	struct arena *arena;
	struct workshop *repairs; /* NULL = only looks */
	size_t plugins;
	size_t count;                                      /* of problems */
	size_t repaired;                                   /* of them */
	size_t fixable;                                    /* problems that a repair could solve */
	const char *problems[INSPECTION_PROBLEMS_MAX + 1]; /* in words; those beyond are only counted */
};

/* Looks, and with a workshop repairs what is safe: undoes or finishes abandoned changes, makes
 * missing links of plugins, removes links that lead nowhere. Fails when the registry cannot be
 * read, or with -ENOMEM. */
int inspect_plugins(struct workshop *repairs, struct arena *arena,
	struct inspection *ret_inspection, perch_err *err);

#endif

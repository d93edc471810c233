/* Whether what is installed fits together: registry, directories, links, and changes
 * that somebody began and did not finish. */
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
	size_t fixable;                                    /* what a repair could do something about */
	const char *problems[INSPECTION_PROBLEMS_MAX + 1]; /* in words; those beyond are only counted */
};

/* Looks, and with a workshop to do it in repairs what is safe: undoes or finishes abandoned
 * changes, makes links that a plugin should have, removes links that lead nowhere. Fails when the
 * registry cannot be read, or with -ENOMEM. */
int inspect_plugins(struct workshop *repairs, struct arena *arena,
	struct inspection *ret_inspection, perch_err *err);

#endif

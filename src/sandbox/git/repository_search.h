/* A walk through directories that other processes have filled: near ones come first, links are not
 * followed, and it ends when so many directories, or so many names, were looked at. */
#ifndef SANDBOX_GIT_REPOSITORY_SEARCH_H
#define SANDBOX_GIT_REPOSITORY_SEARCH_H

#include <stdbool.h>

#include "base/arena.h"

struct search_memory;

/* How much may still be looked at; of several walks together, if they share it. */
struct search_budget {
	unsigned directories;
	unsigned names;
	bool is_cut; /* something was left out: too much, too deep, or ours and unreadable */
};

/* Of the names in a directory, those by which git would know it. */
enum search_names {
	SEARCH_DOT_GIT = 1,
	SEARCH_HEAD = 2,
	SEARCH_OBJECTS = 4,
	SEARCH_REFS = 8,
	SEARCH_COMMONDIR = 16,
};

/* Called for each directory. Returns 1 to go on with what it holds (but never with its .git), 0 to
 * stay out, or a negative errno, which ends the walk. */
typedef int search_fn(void *data, const char *path, unsigned names);

/* Goes through the directory (absolute, without links) and those below it. A directory that cannot
 * be opened is passed over; one that has not changed since an earlier walk is not read again (NULL
 * = all are read), but `look` is called all the same. Fails with -ENOMEM, -EMFILE, -ENFILE and with
 * the errors of `look`. */
int search_run(struct search_budget *budget, const char *root, search_fn *look, void *data,
	const struct search_memory *memory);

/* The same, of everything, and records in the arena what was seen. */
int search_run_first(struct search_budget *budget, const char *root, search_fn *look, void *data,
	struct arena *arena, const struct search_memory **ret_memory);

/* Whether git would take a directory with these names for one of its own. */
bool search_is_git(unsigned names);

#endif

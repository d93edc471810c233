/* Making and removing the files below a directory of ours. */
#ifndef PLUGINS_TREE_H
#define PLUGINS_TREE_H

#include <sys/types.h>

#include "base/str.h"
#include "perch/base.h"

/* Writes a new file at a path below the directory `top`, making the directories
 * on the way. Nothing that is there is written over or, as a link, followed out:
 * -EEXIST. Other failures are negative errnos; err names the file. */
int tree_write(const char *top, const char *path, mode_t mode, struct str text, perch_err *err);

/* Removes a directory and all that is below it, without following a link. What
 * somebody forbade us to enter is entered if it is ours. Returns 0 or the first
 * negative errno; -ENOENT is none. */
int tree_remove(const char *path);

#endif

/* Directories that exist for a while: made, and removed after other processes have filled them.
 * Links are removed and not followed, any depth takes the same few descriptors, and a directory
 * without permissions is removed all the same. */
#ifndef BASE_TREE_H
#define BASE_TREE_H

#include "perch/base.h"

/* Makes an empty directory below TMPDIR for us alone, whose name begins so. Writes its
 * path, without links, to *ret_path, which the caller frees. Fails with the errno of
 * mkdtemp, -ENOMEM. */
int tree_make(const char *name, char **ret_path, perch_err *err);

/* Removes the directory and what is in it (or what is no directory), in at most `most` steps (about
 * one for each name). Returns 1 when it is gone (or was not there), 0 when there is more to do, or
 * a negative errno when something in it cannot be removed. */
int tree_remove_some(const char *path, unsigned most);

/* The same to its end, however long that takes. Returns 0 or a negative errno. */
int tree_remove(const char *path);

#endif

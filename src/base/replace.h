/* Replacing a file as a whole: a reader gets the old one or the new one, also after a crash. */
#ifndef BASE_REPLACE_H
#define BASE_REPLACE_H

#include "base/str.h"

/* Makes text the content of a file in a directory (a descriptor), with mode 0600
 * and on disk when it returns. On failure the old file stays, and nothing else.
 * Returns 0 or a negative errno. */
int replace_file(int directory, const char *name, struct str text);

/* The same by a path, which may have no '/'; a link at its end is replaced itself. */
int replace_path(const char *path, struct str text);

/* What was made, renamed or removed in a directory (a descriptor, O_PATH too) is on disk when it
 * returns. Returns 0 or a negative errno. */
int replace_flush(int directory);

/* Removes what killed processes have left of their replacements of a file. Only for a caller that
 * holds the lock under which all of them replace it. */
void replace_sweep(int directory, const char *name);

#endif

/* Writing new files below a directory of ours. */
#ifndef PLUGINS_NEW_FILE_H
#define PLUGINS_NEW_FILE_H

#include <sys/types.h>

#include "base/str.h"
#include "perch/base.h"

/* Writes a new file at a path below the directory `top`, making the directories on the way. No file
 * is overwritten, and no link is followed: -EEXIST, -ELOOP; a path with .. in it is refused:
 * -EINVAL. Other failures are negative errnos; err names the file. */
int new_file_write(const char *top, const char *path, mode_t mode, struct str text, perch_err *err);

#endif

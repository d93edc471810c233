/* Finding the file that a command name means. */
#ifndef PROC_PROGRAM_H
#define PROC_PROGRAM_H

#include "perch/base.h"

/* Writes the path to execute to *ret_path (the caller frees): `name` itself
 * when it holds a slash, else the first executable file of that name on the
 * PATH of `env`. Fails with -ENOENT, -EACCES (there, but not executable),
 * -ENOMEM; err->stage is "lookup". */
int program_find(const char *name, const char *const *env, char **ret_path, perch_err *err);

#endif

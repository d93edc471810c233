/* A file of secrets that a binding names: variables for its process, NAME=VALUE in each line, for
 * its owner alone. The binding itself can be shown then. */
#ifndef TOOL_SECRETS_H
#define TOOL_SECRETS_H

#include "base/arena.h"
#include "perch/base.h"

enum { SECRETS_SIZE_MAX = 256 * 1024 };

/* The variables, in a list that ends with NULL; an empty path, or NULL, has none. Blank lines and
 * those that begin with # do not count. Fails with -EPERM (others may read or write it),
 * PERCH_ESYNTAX, and as reading a file does. */
int secrets_read(
	const char *path, struct arena *arena, const char *const **ret_list, perch_err *err);

/* A file that holds one secret and nothing else: blanks around it do not count. Fails alike, and
 * with -EINVAL where it is empty. */
int secrets_read_token(
	const char *path, struct arena *arena, const char **ret_token, perch_err *err);

/* An argument with the values of secrets in the place of their names, ${NAME}; what is the name of
 * none stays. NULL without memory. */
const char *secrets_fill(const char *text, const char *const *secrets, struct arena *arena);

/* Writes such a file, 0600; folders that are missing are made. -EINVAL: a value with a line end. */
int secrets_write(const char *path, const char *const *list, perch_err *err);

#endif

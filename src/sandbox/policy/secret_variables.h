/* Which variables of the environment a sandboxed program is not given. */
#ifndef SANDBOX_POLICY_SECRET_VARIABLES_H
#define SANDBOX_POLICY_SECRET_VARIABLES_H

#include <stdbool.h>

#include "base/str.h"

/* Whether a variable looks like a secret: by its name, or by a value that could
 * be user:password@host. */
bool secret_looking(struct str name, struct str value);

/* Whether NAME=VALUE does not look like one: for environment_build. */
bool secret_is_absent(const char *variable);

#endif

/* The profiles that have a name: $XDG_CONFIG_HOME/perch/agents/NAME.yaml. */
#ifndef SERVICE_AGENT_FILES_H
#define SERVICE_AGENT_FILES_H

#include "base/arena.h"
#include "perch/base.h"

/* Where the profile of that name would be; the caller frees it. -EINVAL: this can be no name. */
int agent_file_path(const char *name, char **ret_path, perch_err *err);

/* The one of a list of files, which may be NULL, that has this name: agents/bot.yaml has the name
 * bot. NULL = none has. */
const char *agent_file_given(const char *const *files, const char *name);

/* The name of a file; lives in the arena. NULL without memory. */
const char *agent_file_name(struct arena *arena, const char *path);

/* The names, in order; the list ends with NULL. A folder that is not there holds none. */
int agent_file_names(struct arena *arena, const char *const **ret_names, perch_err *err);

#endif

/* Which names a plugin and its commands may have, and where its programs may
 * lie. They become file names, and words on a command line and a screen. */
#ifndef REGISTRY_NAMES_H
#define REGISTRY_NAMES_H

#include "base/str.h"

/* bin/fledge-<command> must be a file name. */
enum { NAME_LENGTH_MAX = 255 - (sizeof("fledge-") - 1) };

/* NULL when it is fine, else what is wrong, to be put behind the name: "must
 * not contain a slash". */
const char *command_name_problem(struct str name);

/* The version of a plugin, which is free text of one line. */
const char *version_problem(struct str version);

/* The same as of commands; and a plugin's directory must not take the place of bin/. */
const char *plugin_name_problem(struct str name);

/* The path of a command's program: relative, and it stays in the plugin. */
const char *binary_problem(struct str path);

#endif

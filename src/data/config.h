/* Files of settings that a user writes in TOML: perch/config.toml, and the config.toml of fledge's
 * directory. A file that is not there is as good as an empty one. */
#ifndef DATA_CONFIG_H
#define DATA_CONFIG_H

#include <sys/stat.h>

#include "data/toml.h"

enum { CONFIG_MAX = 1024 * 1024 }; /* bytes of such a file */

/* Takes what it needs out of the tree, which is gone when it has returned. */
typedef int config_reader(const struct toml_value *root, void *data, perch_err *err);

/* Reads directory/config.toml with `read`. Returns 0, or what file_read, toml_parse or `read`
 * failed with; err then names the file and the place in it. */
int config_read(const char *directory, config_reader *read, void *data, perch_err *err);

/* The same for the file of perch itself, $XDG_CONFIG_HOME/perch/config.toml. */
int config_read_own(config_reader *read, void *data, perch_err *err);

/* For a reader that looks whether that file is still the same (base/stamp.h): all 0 where there is
 * none. */
struct stat config_own_stamp(void);

#endif

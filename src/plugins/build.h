/* Building a plugin: what its manifest says, or what the files at its top suggest. */
#ifndef PLUGINS_BUILD_H
#define PLUGINS_BUILD_H

#include "base/str.h"
#include "registry/manifest.h"

/* The command that builds the plugin in a directory: its hook, or one that a file there suggests,
 * which *ret_why then names; "" when there is nothing to build. A constant, or of the manifest. */
const char *build_command(
	const char *directory, const struct manifest *manifest, const char **ret_why);

/* The program that a shell did not find, by the last line of a build's output, or nothing; and the
 * Debian package that has a program, "" when that is not known. */
struct str build_missing_program(struct str log);
const char *build_package(struct str program);

/* Stores the output of a failed build: $XDG_STATE_HOME/perch/logs/build-<name>.log, whose path is
 * written to ret_path. 0 or a negative errno. */
int build_keep_log(const char *name, const char *text, size_t len, char **ret_path);

#endif

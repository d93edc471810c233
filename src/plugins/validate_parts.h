/* What the parts of validating share. */
#ifndef PLUGINS_VALIDATE_PARTS_H
#define PLUGINS_VALIDATE_PARTS_H

#include "plugins/findings.h"

/* The same as validate_manifest for a text that was parsed. */
void validate_root(const struct toml_value *root, struct findings *findings);

/* The programs and hooks that a manifest names, in a directory whose path is
 * resolved. */
void validate_programs(
	const struct toml_value *root, const char *directory, struct findings *findings);

#endif

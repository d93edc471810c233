/* Whether an install would accept a plugin, and what its author may have meant otherwise:
 * plugin.toml, the files it names, and perch-test.toml. */
#ifndef PLUGINS_VALIDATION_H
#define PLUGINS_VALIDATION_H

#include "base/str.h"
#include "plugins/findings.h"

/* Looks at the text of a plugin.toml alone. It has an error exactly when
 * manifest_parse or manifest_check_protocol would refuse it. */
void validate_manifest(struct str text, struct findings *findings);

/* The same for a text that was parsed. */
void validate_root(const struct toml_value *root, struct findings *findings);

struct validation {
	const char *plugin_name;   /* "" when that cannot be told */
	struct findings manifest;  /* of plugin.toml and what it names */
	struct findings tests;     /* of perch-test.toml, where there is one */
	struct findings directory; /* of the rest */
};

/* Looks at the whole directory; everything lives in the arena, but for what
 * validation_free frees. Mistakes are no failure; those are -ENOMEM. */
int plugin_validate(
	const char *directory, struct arena *arena, struct validation *ret_validation, perch_err *err);
void validation_free(struct validation *validation);

#endif

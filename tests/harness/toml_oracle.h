/* Says whether an edit of a TOML text did what it should, by comparing the
 * trees before and after. Knows nothing of how the editor works. */
#ifndef HARNESS_TOML_ORACLE_H
#define HARNESS_TOML_ORACLE_H

#include "data/toml_edit.h"

/* Equal in all values; the order of keys does not matter. */
bool oracle_is_same(const struct toml_value *a, const struct toml_value *b);

/* Equal but for what stands at path, which one of them may lack; then it may
 * also lack the tables on the way that hold nothing else. An element that only
 * one has counts as inserted at its index. */
bool oracle_is_same_except(
	const struct toml_value *a, const struct toml_value *b, struct toml_path path);

/* What stands at path, or NULL. */
const struct toml_value *oracle_at(const struct toml_value *root, struct toml_path path);

/* The value is what the entry says. */
bool oracle_is_entry(const struct toml_value *value, const struct toml_entry *entry);

#endif

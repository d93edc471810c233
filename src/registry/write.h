/* Changing what is installed: one entry of CFG/plugins.toml at a time. Comments, other entries and
 * everything else in the file stay. */
#ifndef REGISTRY_WRITE_H
#define REGISTRY_WRITE_H

#include "base/buf.h"
#include "registry/registry.h"

/* Puts an entry in place of the one of its name, or behind the last. Texts that
 * are "" are not written; `directory` is not part of the file. Fails as
 * change_file (registry/change.h) does. */
int registry_put(const struct registry_entry *entry, perch_err *err);

/* The same for the text of such a file. Returns as the functions of
 * data/toml_edit.h do. */
int registry_put_text(
	struct str text, const struct registry_entry *entry, struct buf *ret_text, perch_err *err);

/* Takes every entry of that name away. Returns 1, or 0 when there is none. */
int registry_drop(const char *name, perch_err *err);

#endif

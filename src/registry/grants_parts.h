/* Inside of the grants: what the files share that read and write them. */
#ifndef REGISTRY_GRANTS_PARTS_H
#define REGISTRY_GRANTS_PARTS_H

#include "data/toml.h"
#include "registry/grants.h"

enum { GRANTS_SIZE_MAX = 4 * 1024 * 1024 };

/* By enum grant_kind. */
extern const char *const grant_kind_names[];

/* ---- grants.c --------------------------------------------------------------- */

/* A file from a later perch may mean something else by the same words. */
int grants_check_schema(const struct toml_value *root, perch_err *err);

/* What was approved of one record. */
int grants_read_approval(
	const struct toml_value *table, struct arena *arena, struct grant *grant, perch_err *err);

/* ---- grants_deciding.c ------------------------------------------------------- */

/* Takes records out of the text that say nothing but what was approved of a file which is not there
 * any more, but for one; some of them, so that a text without end is not gone through. -ENOMEM. */
int grants_forget_gone(struct buf *text, const char *but);

#endif

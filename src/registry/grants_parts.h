/* What the files of the grants share. */
#ifndef REGISTRY_GRANTS_PARTS_H
#define REGISTRY_GRANTS_PARTS_H

#include "data/toml.h"
#include "registry/grants.h"

enum { GRANTS_SIZE_MAX = 4 * 1024 * 1024 };

/* By enum grant_kind. */
extern const char *const grant_kind_names[];

/* ---- grants.c --------------------------------------------------------------- */

/* A file from a later perch may give the same words another meaning. */
int grants_check_schema(const struct toml_value *root, perch_err *err);

/* What was approved of one record. */
int grants_read_approval(
	const struct toml_value *table, struct arena *arena, struct grant *grant, perch_err *err);

/* ---- grants_deciding.c ------------------------------------------------------- */

/* Takes records out of the text that hold nothing but the approval of a file which is gone, except
 * `but`; only some of them in one call, because a text may be long. -ENOMEM. */
int grants_forget_gone(struct buf *text, const char *but);

enum { GRANTS_SCHEMA = 1 };

/* The grant of one name in this text; without a record *grant stays as it is. */
int grants_read_text_of_file(struct str text, enum grant_kind kind, const char *name,
	struct arena *arena, struct grant *grant, perch_err *err);

#endif

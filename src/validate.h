/* Whether the text somebody entered is what was asked for. Used while asking
 * and for answers that were given in advance. */
#ifndef VALIDATE_H
#define VALIDATE_H

#include "frontend.h"

/* The validator of a name: "non_empty", "integer", "path_exists", "url". */
bool validator_from_name(struct str name, enum validator *ret_validator);

/* Returns NULL when text will do, else what to tell the user: a constant, one
 * short line. VALIDATE_PATH_EXISTS looks at the disk. */
const char *validate(enum validator validator, struct str text);

#endif

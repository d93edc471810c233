/* Whether a text that a user entered is of the kind that was asked for. Used while asking and for
 * answers that were given in advance. */
#ifndef VALIDATE_H
#define VALIDATE_H

#include "frontend.h"

/* The validator of a name: "non_empty", "integer", "path_exists", "url"; and the name of one, NULL
 * for PERCH_VALIDATE_NOTHING. */
bool validator_from_name(struct str name, perch_validator *ret_validator);
const char *validator_name(perch_validator validator);

/* Returns NULL when text will do, else what to tell the user: a constant, one
 * short line. PERCH_VALIDATE_PATH_EXISTS looks at the disk. */
const char *validate(perch_validator validator, struct str text);

/* The first option with this text. */
bool option_find(const perch_question *question, struct str text, size_t *ret_index);

#endif

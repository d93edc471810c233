/* What a line of text must be to answer a question. */
#ifndef VALIDATE_H
#define VALIDATE_H

#include "base/str.h"
#include "frontend.h"

/* NULL when the text is fine, else what is wrong with it, for the user. */
const char *validate(enum validator validator, struct str text);

#endif

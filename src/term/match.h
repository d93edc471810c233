/* Does an option contain what was typed? Upper and lower case are the same. */
#ifndef TERM_MATCH_H
#define TERM_MATCH_H

#include "base/str.h"

/* Only the first few thousand bytes of text are looked at: what nobody can
 * see on the screen need not be found. */
bool match_contains(struct str text, struct str part);

#endif

/* What a line must look like. A pattern is JSON text: members that it names must
 * be there and match, others may be; lists match element by element. Strings in
 * it may say more than themselves:
 *
 *     "*"         anything, but there must be something
 *     "!"         there must be nothing
 *     "<string>"  a string; <number>, <bool>, <list>, <object> likewise
 *     "~REGEX"    a string that matches (see regex.h)
 *
 * A pattern that begins with ~ is a regular expression for the line as it is. */
#ifndef CONFORMANCE_PATTERN_H
#define CONFORMANCE_PATTERN_H

#include "base/buf.h"
#include "base/str.h"

/* Whether the text is a pattern: PERCH_ESYNTAX with words, -ENOMEM. ${…} in it counts as any JSON
 * value. */
int pattern_verify(struct str pattern, perch_err *err);

/* 1 when the text matches; 0 when not, and `why` says what is wrong; -ENOMEM, PERCH_ESYNTAX when
 * the pattern is none. */
int pattern_match(struct str pattern, struct str text, struct buf *why);

struct variable {
	const char *name;
	const char *json; /* its value, as JSON text */
};

/* Appends text with every ${NAME} replaced: by a variable of the list (which ends
 * with a NULL name), else by what NAME leads to in the JSON text `last`:
 * ${manifest.exposed_tools.0}; else by null. 0 or -ENOMEM. */
int pattern_expand(
	struct str text, const struct variable *variables, struct str last, struct buf *out);

#endif

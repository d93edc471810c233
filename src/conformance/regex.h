/* Regular expressions (PCRE2, on bytes) for lines that may be anything: a match is
 * limited in its steps and its memory. */
#ifndef CONFORMANCE_REGEX_H
#define CONFORMANCE_REGEX_H

#include "base/str.h"
#include "perch/base.h"

/* Whether it can be compiled: 0, PERCH_ESYNTAX with words, -ENOMEM. */
int regex_verify(struct str regex, perch_err *err);

/* 1 when it matches somewhere in the text; 0 when not, or when that takes too long to
 * find out; else what regex_verify fails with. */
int regex_match(struct str regex, struct str text);

#endif

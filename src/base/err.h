/* Filling in a perch_err. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "perch/base.h"

/* Writes code and text into err (which may be NULL) and returns code, so that
 * a failing function can end in `return err_set(err, -ENOENT, "…")`. Text
 * that does not fit is cut at a character boundary. The arguments may point
 * into err, so that a caller can add what it knows:
 * `err_set(err, r, "%s: %s", path, err->text)`. */
int err_set(perch_err *err, int code, const char *format, ...) PERCH_PRINTF(3, 4);

/* The same for an error inside a text. line and column count from 1. */
int err_set_at(perch_err *err, int code, unsigned line, unsigned column, const char *format, ...)
	PERCH_PRINTF(5, 6);

/* The one way to report that memory ran out. Returns -ENOMEM. */
/* The same with advice behind the words, as of base/shell_word.h: the words are cut where both do
 * not fit, the advice never. */
int err_set_advised(perch_err *err, int code, const char *advice, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

int err_no_memory(perch_err *err);

#endif

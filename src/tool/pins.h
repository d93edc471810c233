/* Pins: files that must be what they were when the operator bound the tool. */
#ifndef TOOL_PINS_H
#define TOOL_PINS_H

#include "tool/binding.h"

/* Compares every pinned file of a binding with its pin. *ret_program is the
 * descriptor that was hashed when the command itself is pinned and no script,
 * and is what must be executed then (the caller closes it); else -1.
 * Fails with -EKEYREJECTED (the file has changed; err names it), and as
 * regular_open does.
 *
 * What a pin cannot see: a script, and any other file, is opened a second time,
 * by whoever interprets it, so that somebody who may replace it at that very
 * moment is not caught; nor is one who writes into the hashed file itself
 * between its hash and its exec. */
int pins_check(const struct tool_binding *binding, int *ret_program, perch_err *err);

#endif

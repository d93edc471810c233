/* What perch-translate makes of the lines of a program, without starting one. */
#ifndef HARNESS_TRANSLATED_H
#define HARNESS_TRANSLATED_H

#include "base/str.h"

struct format;

/* Every format that there is, ends with NULL. */
extern const struct format *const translated_formats[];

/* The lines of AgentProc 0.4 that are written for these of the program; the caller frees them. NULL
 * when the turn has failed. */
char *translated(const struct format *format, struct str lines);

#endif

/* Patterns of names: `*` stands for any characters, everything else for itself. */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>

/* Whether a text fits a pattern. Never more work than pattern times text. */
bool glob_match(const char *pattern, const char *text);

#endif

/* Commands that a message advises, to be copied into a shell: what others have named stands in
 * them as one word, and they are told whole or not at all. */
#ifndef BASE_SHELL_WORD_H
#define BASE_SHELL_WORD_H

#include "base/arena.h"

enum { SHELL_WORD_MAX = 512, SHELL_ADVICE_MAX = 640 };

/* Writes `text` as one word for a shell, in quotes where it needs them, and returns out. Writes ""
 * where a reader would not see just what the shell gets: where nothing is there, or too much;
 * control characters, marks of bidirectional text, characters that take no room; broken UTF-8; and
 * what would be an option. */
const char *shell_word(const char *text, char out[SHELL_WORD_MAX]);

/* Writes a command with that word in it, and returns out; "" where the word is, and where it does
 * not fit. */
const char *shell_advice(char out[SHELL_ADVICE_MAX], const char *word, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A command with a name in it as one word, "before" + name + "behind"; "" where it cannot be
 * advised. NULL without memory. */
const char *shell_command(
	struct arena *arena, const char *before, const char *name, const char *behind);

#endif

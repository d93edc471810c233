/* Patterns of names. */
#include "base/glob.h"

#include <stddef.h>

/* Behind a star that did not fit the rest, it takes one more character: no recursion, and never
 * more than pattern times text. */
bool glob_match(const char *pattern, const char *text)
{
	const char *star = NULL;
	const char *again = NULL;
	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			again = text;
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

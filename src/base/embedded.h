/* Files of the tree that the program carries in itself, as tools/embed.py writes them: a table that
 * ends with a NULL path. */
#ifndef BASE_EMBEDDED_H
#define BASE_EMBEDDED_H

struct embedded {
	const char *path; /* its last two parts: bash/program */
	const char *text;
};

#endif

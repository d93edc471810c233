/* The cases of a protocol: all files of a directory. */
#ifndef CONFORMANCE_LIBRARY_H
#define CONFORMANCE_LIBRARY_H

#include "conformance/case.h"

enum { LIBRARY_FILES_MAX = 100 };

struct library_file {
	struct str text; /* all of it, for the actor */
	struct case_file file;
};

/* `{0}` is an empty one. */
struct library {
	struct arena arena; /* where everything lives */
	struct library_file *files;
	size_t count;
};

/* Reads the files directory/<protocol>/<name>.toml, in the order of their sections.
 * Fails with -ENOENT and other errnos, PERCH_ESYNTAX ("file:line:column: words",
 * the first mistake), -ENOMEM. */
int library_read(
	const char *directory, enum protocol protocol, struct library *library, perch_err *err);
void library_free(struct library *library);

#endif

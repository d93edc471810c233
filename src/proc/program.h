/* Finding the file that a command name means. */
#ifndef PROC_PROGRAM_H
#define PROC_PROGRAM_H

#include <stdbool.h>

#include "base/str.h"
#include "perch/base.h"

/* The hint about a program that buffers its output, as program_keeps_output_back finds it. */
#define PROGRAM_FLUSH_HINT \
	"a Python program must flush stdout: print(..., flush=True), or python3 -u"

/* Writes the path to execute to *ret_path (the caller frees): `name` itself
 * when it holds a slash, else the first executable file of that name on the
 * PATH of `env`. Fails with -ENOENT, -EACCES (there, but not executable),
 * -ENOMEM; err->stage is "lookup". */
int program_find(const char *name, const char *const *env, char **ret_path, perch_err *err);

/* The same for a program that perch starts for itself: only from the directories of the system,
 * which no sandboxed process may write; PATH decides their order. Fails with -ENOENT, -ENOMEM. */
int program_find_own(const char *name, char **ret_path, perch_err *err);

/* The program that `sh` stands for wherever a command is given to it: not the first of that name on
 * PATH. */
#define PROGRAM_SHELL "/bin/sh"

/* NULL, as the program to execute is the one that argv[0] names; the path when that is "sh". */
const char *program_of_shell(const char *shell);

/* Those directories as a PATH, for the programs that such a program starts. */
extern const char PROGRAM_OWN_PATH[];

/* The kernel looks for an interpreter in so many bytes. */
enum { PROGRAM_FIRST_LINE = 256 };

/* The interpreter named in the first line of an open script; empty when there is
 * none. It points into `line`, which has a NUL at its end. */
struct str program_interpreter(int fd, char line[PROGRAM_FIRST_LINE + 1]);

/* Whether the program is in a language that keeps back what is printed to a pipe: Python, by its
 * first line or by its own name (`python3 notes.py`), unless it is told -u there. args may be NULL.
 */
bool program_keeps_output_back(const char *path, const char *const *args);

#endif

/* Real repositories for tests, made with the git command in the folder of the test (folder.h), away
 * from the config of the user who runs it. */
#ifndef HARNESS_REPOSITORY_H
#define HARNESS_REPOSITORY_H

#include "base/buf.h"
#include "fledge/context.h"

/* Makes the folder, and an environment for git that knows nothing else. */
const char *repository_folder(void);

/* A repository below the folder, with one commit on branch main. */
void repository_new(const char *name);

/* What perch reads of a place below the folder. */
struct git_context repository_read(const char *name, struct arena *arena);

/* Runs argv in a directory with `environment` added to ours, as a host does.
 * What it wrote to stdout (not to stderr) is in *ret_out (freed by the caller). Returns its exit
 * status. */
int repository_ask(const char *directory, const char *const *argv, const char *const *environment,
	struct buf *ret_out);

#endif

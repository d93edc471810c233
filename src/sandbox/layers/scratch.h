/* A private directory for temporary files, where /tmp cannot be replaced by one: made for one run,
 * removed with everything in it when the run is over. Its files were made by a sandboxed process:
 * their names and links are not trusted. */
#ifndef SANDBOX_LAYERS_SCRATCH_H
#define SANDBOX_LAYERS_SCRATCH_H

#include "perch/base.h"

struct scratch {
	char *path;
	int lock; /* of the directory: held as long as we live */
};

/* The directory that holds those of all runs of this user; the caller frees it. NULL without
 * memory. */
char *scratch_parent(void);

/* Makes one below $TMPDIR or /tmp, mode 0700, and removes those of hosts that
 * have died. Fails with words; nothing is left then. */
int scratch_open(struct scratch *scratch, perch_err *err);

/* Removes it and all that is in it. `{ .lock = -1 }` is fine. */
void scratch_close(struct scratch *scratch);

#endif

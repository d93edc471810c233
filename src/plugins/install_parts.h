/* What the two halves of an install share. */
#ifndef PLUGINS_INSTALL_PARTS_H
#define PLUGINS_INSTALL_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "perch/base.h"
#include "plugins/plugin_install.h"

/* Checks that every command has a program inside the plugin that can be executed. */
int candidate_check_programs(struct candidate *candidate, perch_err *err);

/* Checks that the plugin may have its name, and its commands theirs. Only the holder of the lock
 * knows that a directory without an entry is not another install that is about to end. */
int candidate_check_names(
	struct candidate *candidate, const struct registry *registry, bool is_locked, perch_err *err);

/* ---- copy.c -------------------------------------------------------------------------- */

/* Copying whole directories. Links are never followed. */

enum {
	COPY_DEPTH_MAX = 128,
	COPY_ENTRY_BYTES = 4096,       /* that each name counts for at least */
	COPY_LOOK_BYTES = 1024 * 1024, /* after which it is looked whether to go on */
};

#define COPY_BYTES_MAX (UINT64_C(1024) * 1024 * 1024) /* of a whole directory */

/* Options of a copy. All zeros is fine. */
struct copy_options {
	const char *const *skips; /* names at the top that are left out; NULL = none */
	uint64_t bytes_max;       /* of what is written; 0 = COPY_BYTES_MAX */
	/* Asked again and again while it goes on; NULL = it is never stopped. */
	bool (*is_stopped)(void *data);
	void *data;
};

/* Copies a directory to a path that is not there yet. Links are copied as they are, holes
 * of a file stay holes. Fails with -ENOTSUP for a socket, FIFO or device, -ELOOP (too deep),
 * -EFBIG (more than is allowed), -ECANCELED (stopped), other errnos; what was copied stays. */
int copy_tree(const char *from, const char *to, const struct copy_options *options, perch_err *err);

#endif

/* Inside of a perch_host. */
#ifndef PROC_HOST_H
#define PROC_HOST_H

#include "base/log.h"
#include "perch/host.h"
#include "proc/guard.h"
#include "proc/loop.h"
#include "proc/spawn.h"
#include "proc/stream.h"

struct perch_host {
	struct loop loop;
	struct spawner spawner;
	struct guard guard;
	struct log log;
	bool die_with_thread;
	perch_child *children; /* a list, newest first */
	size_t child_count;
	perch_child *corpses; /* given back and buried; their memory goes after the dispatch */
	void *kept; /* by the sandbox, from one run to the next; freed at the end */
	void (*free_kept)(void *kept);
	char scratch[SCRATCH_SIZE + 1];
};

/* In child.c. Kills what is left of the child and waits until it is gone. */
void child_destroy(perch_child *child);

/* In child.c. Frees the memory of children that were given back. */
void child_free_corpses(perch_host *host);

#endif

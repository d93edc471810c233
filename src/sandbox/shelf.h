/* What lies in directories that are allowed piece by piece, as descriptors that
 * a host keeps from one sandbox to the next: as long as a directory has not
 * changed, nothing in it is looked up again. */
#ifndef SANDBOX_SHELF_H
#define SANDBOX_SHELF_H

#include <stdbool.h>
#include <stddef.h>

#include "perch/host.h"

struct shelf;

struct shelf_item {
	char *name;
	int fd; /* O_PATH, of what is no link */
};

struct shelf_directory {
	struct shelf_item *items;
	size_t count;
};

/* The host's; made with the first call. NULL without memory: go without. */
struct shelf *shelf_of(perch_host *host);

/* Before the directories of a sandbox are asked for: each is looked at once. */
void shelf_begin(struct shelf *shelf);

/* What lies in the directory of this descriptor, without links and without what
 * cannot be opened. NULL: it cannot be kept (too much, changed a moment ago, no
 * memory), so it has to be read. Valid until
 * the next shelf_begin. */
const struct shelf_directory *shelf_get(struct shelf *shelf, int directory);

#endif

/* The contents of directories that are allowed piece by piece, as descriptors that a host caches
 * from one sandbox to the next: as long as a directory has not changed, nothing in it is looked up
 * again. */
#ifndef SANDBOX_REUSE_DIR_CACHE_H
#define SANDBOX_REUSE_DIR_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "perch/host.h"

struct dir_cache;

struct dir_cache_item {
	char *name;
	int fd; /* O_PATH, of what is no link */
};

struct dir_cache_directory {
	struct dir_cache_item *items;
	size_t count;
};

/* The host's; made with the first call. NULL without memory: go without. */
struct dir_cache *dir_cache_of(perch_host *host);

/* Begins a round, before the directories of a sandbox are asked for: each is looked at once in
 * it. */
void dir_cache_begin(struct dir_cache *cache);

/* The contents of the directory behind this descriptor, without links and without files that cannot
 * be opened. NULL: it cannot be cached (too much, changed a moment ago, no memory), so the caller
 * has to read it. Valid until the next dir_cache_begin. */
const struct dir_cache_directory *dir_cache_get(struct dir_cache *cache, int directory);

#endif

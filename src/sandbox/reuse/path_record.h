/* The directories on the way to paths, with their times: as long as none of them has changed, and
 * nothing is mounted, every path leads to the same file. */
#ifndef SANDBOX_REUSE_PATH_RECORD_H
#define SANDBOX_REUSE_PATH_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>

#include "base/arena.h"
#include "sandbox/policy/path_list.h"

struct path_record_step {
	const char *path;
	struct stat seen;
};

/* Empty: `{ .since = now }`, before anything is looked up. */
struct path_record {
	time_t since;
	struct arena arena;
	struct path_record_step *steps;
	size_t count;
	size_t cap;
	struct path_list plain;
	bool failed; /* no memory, or a directory whose changes may not show: it changed a moment
				  * ago, or others than this machine's kernel write to it */
};

/* Adds the way to an absolute path, through links, as far as there is one. */
void path_record_add(struct path_record *record, const char *path);

/* Adds a path that matters only if it leads somewhere else, by a link. */
void path_record_add_plain(struct path_record *record, const char *path);

/* Whether the record is whole, and no directory has changed. */
bool path_record_is_same(const struct path_record *record);

void path_record_free(struct path_record *record);

/* Whether this is in a file system whose directories change through this kernel alone, which dates
 * every change. */
bool path_record_dates_changes(const char *directory);

/* Where names are encrypted (fscrypt), others are found with a key than without one: no time shows
 * that, and nobody who watches is told. */
bool path_record_has_encrypted_names(const char *directory);

#endif

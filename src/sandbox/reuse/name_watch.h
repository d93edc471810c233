/* Names that the kernel watches for a host (inotify). Where a path leads is decided by the names on
 * the way to it, links included: as long as none of them is made, removed or renamed, it leads to
 * the same, and one look tells for all paths. Who watches before looking misses nothing. */
#ifndef SANDBOX_REUSE_NAME_WATCH_H
#define SANDBOX_REUSE_NAME_WATCH_H

#include <stdbool.h>

#include "perch/host.h"

struct name_watch;

/* The host's; made with the first call. NULL without memory. */
struct name_watch *name_watch_of(perch_host *host);

/* As long as this number is the same, nothing that is watched has changed. With another number of
 * `mounts` (a change of what is mounted), or in a fork, everything counts as changed. Never 0. */
unsigned long name_watch_age(struct name_watch *watch, unsigned long mounts);

/* Watches all names on the way to an absolute path. false: that cannot be done here (a file system
 * that others change, a directory that we may not read and search, too many, no memory). */
bool name_watch_add(struct name_watch *watch, const char *path);

/* The same, and what is written in the file. false also where it was changed a moment ago. */
bool name_watch_add_contents(struct name_watch *watch, const char *path);

/* Nobody needs it for a while. */
void name_watch_rest(struct name_watch *watch);

#endif

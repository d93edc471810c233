/* Who is there. Every process that uses the sessions holds a number as long as it
 * lives: a lock in the file sessions.lock that the kernel takes away with it, however
 * it ends. Whoever waits for another one watches the same file: it is written
 * to when a turn has ended, and closed when its process has. */
#ifndef AGENT_PRESENCE_H
#define AGENT_PRESENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "perch/base.h"

struct presence {
	int fd; /* of the file; -1 = none */
	int64_t number;
};

/* Takes a number that no living process has. */
int presence_take(const char *path, struct presence *ret_presence, perch_err *err);
void presence_drop(struct presence *presence);

/* Is the holder of this number there? In doubt yes. */
bool presence_is_alive(const struct presence *presence, int64_t number);

/* Wakes everybody who watches. */
void presence_announce(const struct presence *presence);

/* A descriptor that becomes readable when somebody announced something or went
 * away; reading it is up to presence_was_told. A negative errno where that cannot
 * be had. */
int presence_watch(const char *path);

/* Reads off what was told. */
void presence_was_told(int watch);

#endif

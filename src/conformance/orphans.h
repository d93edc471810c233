/* What a program under test has left to itself. A daemon (a session of its own, two
 * forks) is in no group that could be killed; it becomes our child instead of init's,
 * and ends with its case. */
#ifndef CONFORMANCE_ORPHANS_H
#define CONFORMANCE_ORPHANS_H

#include "perch/host.h"

/* From now on whoever below us loses its parent becomes ours. */
void orphans_adopt(void);

/* Kills them, and what they have started, and waits for that. The children that the
 * host has started itself are not touched. */
void orphans_end(const perch_host *host);

#endif

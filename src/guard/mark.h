/* The mark of a tree of processes: how a child and all its descendants are recognized, in any
 * session, group or environment, and with any parent.
 *
 * It is a number in a limit that every process has, that is handed down at each birth and kept by
 * each exec, and that the kernel has not obeyed since Linux 2.4: how many files may be locked
 * (RLIMIT_LOCKS). Of the two numbers of a limit the lower one is the mark of the child that is
 * nearest above. The higher one is the mark of the outermost child, for a program in a tree may be
 * a host with trees of its own. */
#ifndef GUARD_MARK_H
#define GUARD_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "guard/bare_calls.h"

enum { MARK_RESOURCE = 10 }; /* RLIMIT_LOCKS; <sys/resource.h> has it in another namespace */

#define MARK_UNLIMITED UINT64_MAX

/* A mark: whether it is an outermost one (which is why it is above all others, as the higher
 * number must be), the number of its host, the number of the child, and whether the process is a
 * perch-guard that ends by itself when its own host does. */
#define MARK_OUTERMOST ((uint64_t)1 << 62)
#define MARK_CHILD_BITS 25
#define MARK_GUARD ((uint64_t)1)
#define MARK_CHILDREN (((uint64_t)1 << (MARK_CHILD_BITS + 1)) - 2)

static inline uint64_t mark_of_child(uint64_t host, uint32_t number)
{
	return host | (((uint64_t)number << 1) & MARK_CHILDREN);
}

/* What a process is in relation to a tree. */
enum mark_kinship {
	MARK_STRANGER,
	MARK_KIN,
	MARK_GUARD_OF_KIN, /* the guard of a host that is one of them */
};

/* Whose mark is looked for: of one child, or of a host and all its children. */
struct mark_wanted {
	uint64_t mark;
	bool is_host;
};

static inline bool mark_is_wanted(uint64_t number, const struct mark_wanted *wanted)
{
	uint64_t ignored = MARK_GUARD | (wanted->is_host ? MARK_CHILDREN : 0);
	return number != MARK_UNLIMITED && (number & ~ignored) == (wanted->mark & ~ignored);
}

static inline enum mark_kinship mark_compare(
	const struct bare_limit *limit, const struct mark_wanted *wanted)
{
	if (mark_is_wanted(limit->most, wanted))
		return MARK_KIN; /* it sees all of them, and needs no other guard */
	if (!mark_is_wanted(limit->now, wanted))
		return MARK_STRANGER;
	return limit->now & MARK_GUARD ? MARK_GUARD_OF_KIN : MARK_KIN;
}

#endif

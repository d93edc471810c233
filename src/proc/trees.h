/* The trees of a host's children: a child and all that descends from it, known by a mark
 * (guard/mark.h) and ended together. What is done to them is done to numbers in /proc: our own
 * process, its other children and their parents stay as they were. */
#ifndef PROC_TREES_H
#define PROC_TREES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "guard/mark.h"

struct trees {
	uint64_t mark; /* of the host; 0 = no tree can be known here */
	uint64_t most; /* the higher number of our own limit */
	/* So long no process number is given out twice, at the least; 0 = not looked up yet. */
	uint64_t circle_ns;
	int loadavg; /* open; or -1 */
	uint32_t next_child;
	bool may_have_strays; /* of a tree that was killed and not waited for */
};

void trees_open(struct trees *trees);
void trees_close(struct trees *trees);

/* The mark of a new child, and the limit that carries it. False: it cannot be marked. */
bool trees_mark(struct trees *trees, uint64_t *ret_mark, struct bare_limit *ret_limit);

/* Whether a mark may be one that was given before. */
static inline bool trees_are_counted_again(const struct trees *trees)
{
	return trees->next_child >> MARK_CHILD_BITS;
}

struct tree_state {
	unsigned ended;   /* killed now, the child not counted */
	unsigned alive;   /* not dead yet, the child included */
	unsigned refused; /* of another user by now: not ours to kill */
};

/* Kills the processes that are left of a tree. Guards of hosts in it may do their work first,
 * unless it is the last try. */
struct tree_state trees_end(
	struct trees *trees, uint64_t mark, pid_t child, uint64_t born_ns, bool is_last_try);

/* At the end of the host: kills the processes that are left of any tree, and waits for their
 * end. */
void trees_end_all(struct trees *trees);

#endif

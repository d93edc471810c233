/* What a child is confined to, as plain data: everything was looked up,
 * opened and compiled before the child is born, because between its birth and
 * its exec only system calls are allowed. */
#ifndef PROC_CONFINE_H
#define PROC_CONFINE_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

struct cgroup;
struct room;

struct confine_limit {
	int resource; /* RLIMIT_… */
	struct rlimit value;
};

struct perch_confine {
	const struct confine_limit *limits;
	size_t limit_count;
	bool no_new_privs;               /* needed by the two below unless root */
	bool no_capabilities;            /* gives up all, for good; by root too */
	int landlock_fd;                 /* a Landlock ruleset, or -1 */
	const struct sock_fprog *filter; /* a seccomp filter, or NULL */
	/* A short filter beside that one, or NULL. With it the room is one that is used again: what
	 * this one forbids, and `filter` does not, the room's doorkeeper does (room_door.c). */
	const struct sock_fprog *seal;
	struct room *room;     /* where it lives, see room.h, or NULL */
	struct cgroup *cgroup; /* what it is counted in, see cgroup.h, or NULL */
	/* A descriptor that the child gets as number CONFINE_CHANNEL, the one beside its streams; it
	 * stays the caller's. 0 = none. */
	int channel_fd;
};

/* Above what shells use for themselves, below every limit on open files. */
enum { CONFINE_CHANNEL = 99 };

#endif

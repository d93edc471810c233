/* Inside of a perch_host. */
#ifndef PROC_HOST_H
#define PROC_HOST_H

#include "base/clock.h"
#include "base/log.h"
#include "perch/host.h"
#include "proc/guard.h"
#include "proc/loop.h"
#include "proc/spawn.h"
#include "proc/stream.h"
#include "proc/trees.h"

/* An object of a layer above that lives as long as the host. */
struct host_guest {
	struct host_guest *next;
	void (*leave)(struct host_guest *guest); /* at the end of the host: frees it; also tells
											  * guests apart */
};

/* What was found out once about the cgroups that can be made here. */
struct host_cgroups {
	bool is_none;
	bool lack_memory; /* no limits of that */
	bool lack_processes;
};

struct perch_host {
	struct loop loop;
	struct spawner spawner;
	struct guard guard;
	struct trees trees;
	struct log log;
	bool die_with_thread;
	bool ignores_sigpipe;
	bool runs_once; /* so nothing is kept for a next run, nor the guard when no child is left */
	bool hears_of_leftovers_last; /* its log takes them when all else is gone */
	struct host_cgroups cgroups;
	struct rlimit open_files; /* the limit that children get; rlim_max 0 = ours */
	uint64_t births_until_ns; /* what is begun now is not born from then on; 0 = at any time */
	/* Directories that the program executes its own programs from (NULL: none but the guard's):
	 * read-only in every sandbox. */
	const char *const *program_places;
	perch_child *children; /* a list, newest first */
	size_t child_count;
	perch_child *unreaped; /* given back and buried; their memory goes after the dispatch */
	struct host_guest *guests;
	struct host_guest *last; /* what is waited for when all else is done */
	uint64_t woken_ns;       /* see host_slept */
	char scratch[SCRATCH_SIZE + 1];
};

/* The guest that leaves by this function, or NULL. */
struct host_guest *host_find_guest(const perch_host *host, void (*leave)(struct host_guest *guest));

/* The same, which is the host's guest no longer. */
struct host_guest *host_take_guest(perch_host *host, void (*leave)(struct host_guest *guest));

/* Hands the guest over to the host. The last ones leave when nothing else is left of the host. */
void host_add_guest(perch_host *host, struct host_guest *guest);
void host_add_last_guest(perch_host *host, struct host_guest *guest);

/* This process was stopped between these times: no deadline counts that time. If several callers
 * report the same time, it counts once. */
void host_slept(perch_host *host, uint64_t from_ns, uint64_t to_ns);

/* Whether nothing is to be begun any more: where no process is born, that would tell. */
static inline bool host_is_late(const perch_host *host)
{
	return host->births_until_ns && clock_now_ns() >= host->births_until_ns;
}

/* In child.c. Kills what is left of the child and waits until it is gone. */
void child_destroy(perch_child *child);

/* In child.c. Frees the memory of children that were given back. */
void child_free_buried(perch_host *host);

#endif

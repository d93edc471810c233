/* What the files that make rooms share. */
#ifndef PROC_ROOM_PARTS_H
#define PROC_ROOM_PARTS_H

#include <linux/filter.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "perch/host.h"
#include "proc/birth.h"
#include "proc/furnish.h"

/* ---- room_init.c: the birth of a room's init ------------------------------------- */

/* It goes on beside the host, in the host's memory, until it executes perch-guard: the host is
 * needed for its user's map, and for the mounts. */

/* The init works with this until its exec, or its end. */
struct room_init {
	struct birth birth;
	struct spawn_plan plan;
	struct furnishing furnishing;
	int lifeline; /* the host's end */
	int pidfd;    /* of the init, once the host has waited for its birth */
	int pid;      /* 0 = there is none yet; written by the kernel */
	int report;
	void *stack;                    /* of the init */
	int theirs[3];                  /* what only the init needs: -1 once it has its own copies */
	int midwife;                    /* her pidfd; -1 = she is gone */
	long refused;                   /* why there is no init: a negative errno */
	bool is_mapped;                 /* the midwife has written the maps of its users, */
	bool has_begun;                 /* and given the first word */
	_Atomic uint32_t is_being_born; /* cleared by the kernel */
};

/* Begins the birth; `early` is NULL or of a usual room. Fails with a negative errno, or fills
 * init->birth.failure; room_init_leave must follow either way. */
int room_init_begin(
	struct room_init *init, perch_host *host, bool is_usual, const struct room_early *early);

/* Waits for the birth, and maps the users if the midwife has not; in a usual room the init begins
 * its work then. 0, or -ECANCELED with a failure. */
int room_init_be_born(struct room_init *init);

/* The mounts are known (furnishing.items). 0 or a negative errno. */
int room_init_let_furnish(struct room_init *init);

/* Wait until the room is furnished, and until the init has left our memory. 0, or -ECANCELED with
 * a failure. */
int room_init_await_furnished(struct room_init *init);
int room_init_await_exec(struct room_init *init);

/* Gives up what the init does not need of us any more. After a failure, ends it first. */
void room_init_leave(struct room_init *init, bool has_failed);

/* ---- room_maps.c: bare calls ------------------------------------------------------- */

/* Maps the users and groups that we know into the namespace of a room's init. 0 or a negative
 * errno. */
int room_maps_write(int init);

/* ---- room_explain.c ---------------------------------------------------------------- */

/* Turns a failure of an init into a code and words. Returns the code. */
int room_explain(
	const struct spawn_failure *failure, const struct spawn_plan *plan, perch_err *err);

/* ---- room_newcomer.c: a child that is born before it is known what it will execute -- */

/* While the room is being furnished, it gives up what every child there gives up, enters its
 * filter, and waits. It is the first child of the room, or none: no other process in there ever
 * meets it. */

/* It works with this until it has executed a program, or was dismissed. `{ .guide = -1 }` is none.
 */
struct newcomer {
	const struct sock_fprog *filter;
	int entrance;        /* the descriptor of the room's init */
	int guide;           /* the descriptor of the process that bears it; -1 = there is none */
	int pid;             /* 0 = it was not born; written by the kernel */
	long refused;        /* why not: a negative errno */
	struct birth *birth; /* of the child that it becomes */
	_Atomic uint32_t word;
	_Atomic uint32_t is_awaited; /* cleared by the kernel when it has left our memory */
};

/* Sends it into the room, where that can be done beside our other work. The filter must stay. */
void newcomer_send(struct newcomer *newcomer, struct spawner *spawner, int entrance,
	const struct sock_fprog *filter);

/* It becomes a child that is confined by the same filter: returns its id, and a pidfd. 0 = there is
 * none that could, and none any more. What goes wrong after that is in birth->failure. */
pid_t newcomer_become(struct newcomer *newcomer, struct birth *birth, int *ret_pidfd);

/* It is not needed. Waits until it is gone. */
void newcomer_dismiss(struct newcomer *newcomer);

/* ---- room_door.c: who bears the children of a room that is used again ---------------- */

enum { DOOR_GROUPS_MAX = 64 };

/* What a child inherits and no order says: a doorkeeper whose host has changed any of it is sent
 * away. */
struct door_stamp {
	struct rlimit limits[RLIM_NLIMITS];
	uint64_t network; /* the namespace */
	int priority;
	int scheduler;
	cpu_set_t processors;
	int group_count; /* below 0: they are too many to be compared, and may have changed */
	gid_t groups[DOOR_GROUPS_MAX];
};

/* `{ .orders = -1, .pidfd = -1, .host = … }` is none yet. */
struct door {
	perch_host *host;
	int entrance;    /* the descriptor of the room's init */
	unsigned births; /* children of the room: the first one has to be born in our memory */
	int orders;      /* our end of its socket; -1 = there is no doorkeeper */
	int pidfd;       /* of the doorkeeper */
	pid_t pid;
	pthread_t thread;       /* whose child it is, with whom it ends */
	struct door_page *page; /* NULL = there is none */
	const struct sock_fprog *filter;
	int landlock_fd;  /* what it has entered */
	bool has_newborn; /* somebody is born, or on the way, and has no order yet */
	struct door_stamp stamp;
};

/* room_order.c: writes the order of a child. Whether the page has room for it. */
bool room_order_write(struct door_page *page, const struct spawn_plan *plan);

/* Has it bear a child that waits for its order, if there is a doorkeeper. */
void room_door_call(struct door *door);

/* Kills it and who waits, if there is one, and waits for their end. */
void room_door_close(struct door *door);

#endif

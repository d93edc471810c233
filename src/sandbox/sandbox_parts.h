/* What the files that make a sandbox share. */
#ifndef SANDBOX_SANDBOX_PARTS_H
#define SANDBOX_SANDBOX_PARTS_H

#include <stdbool.h>

#include "base/buf.h"
#include "perch/base.h"
#include "proc/confine.h"
#include "proc/host.h"
#include "sandbox/layers/mounts.h"
#include "sandbox/policy/policy.h"
#include "sandbox/sandbox.h"
#include "sandbox/layers/scratch.h"
#include "sandbox/reuse/path_record.h"
#include "sandbox/git/triggers.h"
#include "sandbox/layers/view.h"

enum { LAYERS_MAX = 8 };

/* ---- layers/limits.c: of each process by itself -------------------------------- */

enum {
	LIMITS_MAX = 8,
	LIMITS_STACK_SHARE = 16, /* of the memory, as far as a stack may grow beyond what is usual */
};

/* Which counts are limited elsewhere. */
struct limits_elsewhere {
	bool memory;    /* a cgroup does */
	bool processes; /* a cgroup does */
	/* A user namespace of our own counts our processes apart from the user's others, except for
	 * those of root, which the kernel never counts. */
	bool has_own_count;
};

/* Writes the limits to set; returns how many. Never above our own. */
size_t limits_make(const struct sandbox_limits *wanted, const struct limits_elsewhere *elsewhere,
	struct confine_limit out[LIMITS_MAX]);

/* Whether the number of processes can be limited exactly. */
bool limits_counts_processes(const struct limits_elsewhere *elsewhere);

/* The layers and rights that a sandbox has. */
struct layers {
	int landlock; /* its ABI; 0 = none */
	bool has_seccomp;
	bool has_room;
	bool has_own_proc;
	bool is_root_read_only; /* the room's */
	bool has_cgroup;
	bool counts_memory; /* of all processes together: the cgroup */
	bool counts_processes;
	bool has_own_count; /* of processes, in one way or another */
	bool allows_unix;   /* sockets of the family can be made */
	bool allows_metadata;
	bool shares_group; /* with processes outside */
	char no_room[200]; /* why there is none, when it was tried */
};

/* What a room should be like. */
struct finding {
	bool has_looked;
	int refused;                 /* a negative errno: not the room's fault */
	const char *const *replaced; /* by empty directories */
	struct mounts mounts;
};

/* What its room looked like when that was new, see reuse/picture.c. */
struct picture {
	struct buf covers; /* over hidden paths */
	struct buf drawn;  /* its own directories */
	int *directories;  /* these, open */
	size_t count;
	int changes; /* the file that tells of mounts in the room; -1 = none does */
};

/* The notes about a sandbox that may be used again, see reuse_pool.h. */
struct reuse {
	struct buf asked;               /* the policy, and the process that asked */
	struct buf fingerprint;         /* what it was made from; empty = it is not used again */
	struct mounts mounts;           /* of its room */
	struct picture picture;         /* of its room */
	struct path_record path_record; /* while it is the same, `asked` leads to the same paths */
	unsigned long watched; /* the same, by the watch of policy_memory.h; 0 = that does not tell */
	unsigned long age;     /* of the mounts outside, see reuse_pool.c */
	struct sandbox *next;
};

struct sandbox {
	struct host_guest guest; /* the first member: one that leaves with its host */
	perch_host *host;
	struct perch_confine confine;
	struct confine_limit limits[LIMITS_MAX];
	struct sock_fprog filter;
	struct sock_fprog seal; /* of a sandbox that may be used again */
	struct scratch scratch;
	struct layers layers;
	struct sandbox_policy policy; /* its lists are not ours: only while it is being made */
	struct arena arena;
	const char *tmp;
	char landlock_name[16];
	const char *names[LAYERS_MAX + 1];
	const char *const *warnings;
	struct timespec started;
	struct triggers triggers; /* what git would execute, as found at the beginning */
	size_t git_count;         /* so many of the protected paths were found by it: they come first */
	const char *const *absent; /* those protected paths that did not exist at the beginning */
	bool writes_outside;       /* files that are there when it is gone */
	bool removes_left;         /* what is left for git to execute is removed, not only told */
	bool is_looked_through;    /* no process was in it since its leftovers were looked for */
	bool has_told;             /* that something was left */
	struct property properties[PROPERTIES_MAX];
	size_t property_count;
	struct view view; /* while it is being made, as the next one */
	struct finding finding;
	bool is_made_ahead;  /* cgroup and filter: see sandbox_make_ahead */
	bool is_ruled_ahead; /* Landlock's ruleset */
	struct reuse reuse;
};

/* ---- sandbox.c -------------------------------------------------------------- */

/* Takes it down. */
void sandbox_free(struct sandbox *sandbox);

/* By a later run of the same host. */
bool sandbox_may_be_reused(const struct sandbox *sandbox);

/* Makes cgroup and filter. */
int sandbox_make_the_rest(struct sandbox *sandbox, perch_host *host, perch_err *err);

/* ---- sandbox_ahead.c -------------------------------------------------------- */

/* What a host that runs once has mounted before it knows the policy. NULL = nothing. */
const struct room_early *sandbox_early(const struct sandbox *sandbox);

/* Makes what needs no look into the room, while the room is being furnished (a room_wish's
 * `meanwhile`); what does (its `furnished`). Takes it back: there is no such room. */
const struct sock_fprog *sandbox_make_ahead(void *sandbox);
void sandbox_finish_ahead(void *sandbox, const struct room *room);
void sandbox_forget_ahead(struct sandbox *sandbox);

/* ---- sandbox_files.c: L3 and L1 ------------------------------------------- */

/* Whether PERCH_SANDBOX_NO_ROOM says so. */
bool sandbox_has_room_off(void);

/* A terminal that is one of the child's streams can be opened again through /proc, even where
 * another file is mounted over its name: then Landlock has to hide /dev, too. */
bool sandbox_has_stream_to_keep(const struct sandbox *sandbox);

/* Files that are mounted in the room alone have to be looked up there. */
int sandbox_look_into(struct sandbox *sandbox, const struct room *room, perch_err *err);

/* The devices that programs expect in /dev; ends with NULL. */
extern const char *const sandbox_devices[];

/* Adds the ways to all paths that the sandbox has looked up. */
void sandbox_add_ways(const struct sandbox *sandbox, struct path_record *path_record);

/* Looks up the paths of the policy before sandbox_look would: to see whether there is such a
 * sandbox already. */
int sandbox_look_first(struct sandbox *sandbox, perch_err *err);

/* Looks up the paths of the policy and makes a room, if there can be one: without it the sandbox
 * goes on, and warns of the properties that it would have enforced. */
int sandbox_look(struct sandbox *sandbox, perch_host *host, perch_err *err);

/* Makes the private directory, unless the room has one. */
int sandbox_make_tmp(struct sandbox *sandbox, perch_err *err);

/* Makes Landlock's ruleset, if the kernel has it. */
int sandbox_make_ruleset(struct sandbox *sandbox, perch_host *host, perch_err *err);

/* ---- sandbox_report.c ------------------------------------------------------ */

/* Judges every property. Returns how many there are. */
size_t report_make(const struct sandbox_policy *policy, const struct layers *layers,
	struct property out[PROPERTIES_MAX]);

/* ---- git/new_triggers.c ----------------------------------------------- */

/* Finds the files that git would execute in writable paths, protects them, and remembers those that
 * do not exist. Fails with -ENOMEM and other errnos, with words. */
int sandbox_protect(struct sandbox *sandbox, perch_err *err);

/* Tells the host's log of those that exist now, and of other files that git would execute, once
 * no process is left that could make any. Returns whether this sandbox has ever had something
 * to tell. */
bool sandbox_tell_new_triggers(struct sandbox *sandbox);

/* Whether a path, or what it holds down to a depth, has changed since the sandbox was made. */
bool left_has_changed(const struct sandbox *sandbox, const char *path, unsigned depth);

/* ---- git/leftovers.c ------------------------------------------------------- */

/* Whether a time is not before the sandbox was made. */
bool left_is_since(const struct sandbox *sandbox, int64_t seconds, int64_t nanoseconds);

enum { LEFT_HELD_MAX = 288 }; /* a descriptor's path and one name */

/* Opens the directory that holds a path, by a way without links, and writes a path that goes by
 * that descriptor: while something is removed, another sandbox may put links on the way to it. -1:
 * there is no such way. */
int left_hold(const char *path, char out[LEFT_HELD_MAX]);

/* Repositories that were made meanwhile. */
void sandbox_tell_left(struct sandbox *sandbox);

/* Tells of a path that was made (`why` goes on: "and …"), with the command that removes it; or
 * removes it, if that was asked for. */
void sandbox_tell_path(struct sandbox *sandbox, const char *path, const char *why);

/* ---- policy/named_paths.c: links on the way to what a user allows by name ------ */

/* The entries of a view, which is not sorted yet, that hide what the policy hides. */
struct named_hidden {
	size_t first;
	size_t end;
};

/* Adds a path of the policy. One that was resolved when it was allowed must not meet a link now;
 * one that leads to something hidden must name that. -ELOOP with words, or as view_add. */
int named_add(struct view *view, const struct sandbox_policy *policy, struct named_hidden hidden,
	const char *path, enum access access, perch_err *err);

/* Of a sorted view: none of the links on the way to what was named may lie where the sandbox
 * writes. -ELOOP with words. */
int named_check(const struct view *view, const struct sandbox_policy *policy, perch_err *err);

#endif

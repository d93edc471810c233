/* A cgroup (version 2) for the processes of one run, where a directory of that
 * tree is delegated to us: limits that count all of them together, and an end
 * that reaches every one. */
#ifndef PROC_CGROUP_H
#define PROC_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "perch/base.h"

struct cgroup;

/* 0 = no limit. */
struct cgroup_limits {
	uint64_t memory;    /* bytes */
	uint64_t processes; /* threads count as well */
	bool or_none;       /* where none of them can hold, none is made: -ENOTSUP */
};

/* The files that describe the tree, so that tests can bring their own. */
struct cgroup_tree {
	const char *mountinfo;  /* as /proc/self/mountinfo */
	const char *membership; /* as /proc/self/cgroup */
	/* Where version 2 is mounted as a rule: if all of it is there, and our membership counts from
	 * its top, the long table of mounts need not be read, for which processes that mount wait. Or
	 * NULL. */
	const char *usual_point;
	int (*make)(const char *path, mode_t mode);
	int (*remove)(const char *path);
	bool (*is_delegated)(const char *path); /* the manager of the tree (systemd, say) has said so */
};

/* The kernel's. */
extern const struct cgroup_tree cgroup_kernel_tree;

/* Makes an empty one below our own; or beside it, where the parent was delegated. Limits may not
 * hold, see below. Fails with PERCH_ESANDBOX and words when none can be made here, -ENOMEM. */
int cgroup_open(const struct cgroup_tree *tree, const struct cgroup_limits *limits,
	struct cgroup **ret_cgroup, perch_err *err);

/* Which limits hold: the kernel may not have their controllers, or may not delegate them to a
 * cgroup whose parent has processes of its own. */
bool cgroup_limits_memory(const struct cgroup *cgroup);
bool cgroup_limits_processes(const struct cgroup *cgroup);

/* Where it is, for people. */
const char *cgroup_path(const struct cgroup *cgroup);

/* A process that writes "0" to this descriptor is in. */
int cgroup_entrance(const struct cgroup *cgroup);

/* Kills everything in it, waits for that, and removes it. NULL is fine. */
void cgroup_close(struct cgroup *cgroup);

/* ---- cgroup_find.c: where our own cgroup is ------------------------------------ */

struct cgroup_place {
	char *directory; /* the caller frees it */
	bool is_top;     /* nothing above it is mounted */
};

/* PERCH_ESANDBOX and words, -ENOMEM; -ENOTSUP where limits are wanted or none, and version 1 has
 * the controllers of all of them. */
int cgroup_find(const struct cgroup_tree *tree, const struct cgroup_limits *limits,
	struct cgroup_place *ret_place, perch_err *err);

#endif

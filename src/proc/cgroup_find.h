/* Where our own cgroup is. */
#ifndef PROC_CGROUP_FIND_H
#define PROC_CGROUP_FIND_H

#include "proc/cgroup.h"

struct cgroup_place {
	char *directory; /* the caller frees it */
	bool is_top;     /* nothing above it is mounted */
};

/* PERCH_ESANDBOX and words, -ENOMEM. */
int cgroup_find(const struct cgroup_tree *tree, struct cgroup_place *ret_place, perch_err *err);

#endif

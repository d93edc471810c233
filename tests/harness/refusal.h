/* A system that says no: to descriptors, to watching them, to births. For tests that start real
 * children; what is linked with this has its own epoll_ctl, clone and syscall. */
#ifndef HARNESS_REFUSAL_H
#define HARNESS_REFUSAL_H

#include <stdbool.h>

/* The `epoll_fails`-th descriptor from now on is not taken, as when fs.epoll.max_user_watches is
 * reached. 0 = all are. */
extern unsigned epoll_fails;

/* Whether what is not taken, a process, has exited before. */
extern bool epoll_fails_behind_exit;

/* The `births_fail`-th process from now on is not born, as where a cgroup has its pids.max: late,
 * when the kernel has already written the number of a pidfd, which then is this one. 0 = all
 * are. */
extern unsigned births_fail;
extern int births_fail_with;

/* From now on only `count` more descriptors can be opened; or as many as before. */
void refusal_leave_descriptors(unsigned count);
void refusal_leave_all_descriptors(void);

/* More than a host, a guard and a child need. */
enum { DESCRIPTORS_ENOUGH = 30 };

#endif

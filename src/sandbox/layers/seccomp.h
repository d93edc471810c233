/* L2: the system calls that Landlock leaves open, as a seccomp filter. */
#ifndef SANDBOX_LAYERS_SECCOMP_H
#define SANDBOX_LAYERS_SECCOMP_H

#include <stdbool.h>

#include "sandbox/layers/bpf.h"

/* What a sandbox may do beyond plain work. */
struct seccomp_needs {
	bool has_net;
	bool has_unix;     /* sockets of the file system */
	bool has_ipc;      /* shared memory, semaphores and queues of System V, queues of POSIX */
	bool has_terminal; /* may change how one works */
	bool has_memory;   /* of kinds that no limit of a process counts */
	bool has_metadata; /* chmod, chown, utime, xattr, chattr: a filter cannot see of what */
	bool is_alone;     /* starts no other program: only an open one is executed */
};

/* Whether there is a filter for this machine. */
bool seccomp_is_known(void);

/* Writes the filter; the caller frees its code. Returns 0, -ENOMEM, or -ENOSYS on
 * a machine it was not written for. */
int seccomp_filter(const struct seccomp_needs *needs, struct bpf *ret_filter);

/* ---- judges.c: calls that depend on their arguments ---------------------------- */

typedef void judge_fn(struct bpf *bpf, const struct seccomp_needs *needs);

judge_fn judge_clone;
judge_fn judge_ioctl;
judge_fn judge_mmap;
judge_fn judge_prlimit;
judge_fn judge_socket;
judge_fn judge_socketpair;
judge_fn judge_send;
judge_fn judge_sendmsg;
judge_fn judge_setsockopt;

#endif

/* Calls that depend on their arguments: each judge writes the part of a filter that decides
 * about one, whose number was seen. */
#ifndef SANDBOX_LAYERS_JUDGES_H
#define SANDBOX_LAYERS_JUDGES_H

#include "sandbox/layers/seccomp.h"

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

/* L2: the system calls that Landlock leaves open, as a seccomp filter. */
#ifndef SANDBOX_LAYERS_SECCOMP_H
#define SANDBOX_LAYERS_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- bpf.c ----------------------------------------------------------------- */

/* A small assembler for seccomp filters: a program in classic BPF that is
 * written from front to back. A failed addition is remembered. */

/* `{0}` is an empty program; code is freed by the owner. */
struct bpf {
	struct sock_filter *code;
	size_t count;
	size_t cap;
	bool failed; /* no memory, or too long */
};

/* What the filter says about a call. */
void bpf_allow(struct bpf *bpf);
void bpf_fail_with(struct bpf *bpf, unsigned error);
void bpf_kill(struct bpf *bpf);

/* What the next questions are about: the number of the call, the architecture it was made for, the
 * lower half of an argument (where the kernel takes an int or an unsigned, the upper half does not
 * count). */
void bpf_load_number(struct bpf *bpf);
void bpf_load_architecture(struct bpf *bpf);
void bpf_load_argument(struct bpf *bpf, unsigned index);
void bpf_load_upper_half(struct bpf *bpf, unsigned index);
void bpf_mask(struct bpf *bpf, uint32_t mask);

/* A question whose answer decides about the instructions up to its end:
 *     size_t question = bpf_if_equal(bpf, 5);
 *     bpf_allow(bpf);
 *     bpf_end_if(bpf, question);                                             */
size_t bpf_if_equal(struct bpf *bpf, uint32_t value);
size_t bpf_if_at_least(struct bpf *bpf, uint32_t value);
size_t bpf_if_any_bit(struct bpf *bpf, uint32_t bits);
void bpf_end_if(struct bpf *bpf, size_t question);

/* A jump over what follows, to be ended by bpf_end_if too: as far as one likes; a question
 * can decide about 255 instructions. */
size_t bpf_skip(struct bpf *bpf);

/* A span of values: from `first` up to the `first` of the next span. The first span begins at 0. */
struct bpf_span {
	uint32_t first;
	uint32_t entry; /* the instruction it leads to, counted from behind bpf_choose */
};

/* Jumps to the entry of the span that holds the loaded value. Each entry is one instruction of a
 * table, which the caller writes next. */
void bpf_choose(struct bpf *bpf, const struct bpf_span *spans, size_t count);

/* ---- seccomp.c ------------------------------------------------------------- */

/* What a sandbox may do beyond plain work. */
struct seccomp_needs {
	bool has_net;
	bool has_unix;     /* sockets of the file system */
	bool has_ipc;      /* shared memory, semaphores and queues of System V, queues of POSIX */
	bool has_terminal; /* may change how one works */
	bool has_memory;   /* of kinds that no limit of a process counts */
	bool has_metadata; /* chmod, chown, utime, xattr, chattr: a filter cannot see of what */
	bool is_alone;     /* starts no other program: only an open one is executed */
	bool is_sealed;    /* what seccomp_seal forbids is left to that */
};

/* Whether there is a filter for this machine. */
bool seccomp_is_known(void);

/* Writes the filter; the caller frees its code. Returns 0, -ENOMEM, or -ENOSYS on
 * a machine it was not written for. */
int seccomp_filter(const struct seccomp_needs *needs, struct bpf *ret_filter);

/* A second filter, for children of one who has the first and bears them for the host: they make no
 * child of the host. The kernel gets it in a tenth of the time. As above. */
int seccomp_seal(struct bpf *ret_filter);

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

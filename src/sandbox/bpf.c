/* A small assembler for seccomp filters. Why not libseccomp: what it offers
 * beyond this is other architectures and the merging of rules; what it lacks is
 * "a call newer than those we know", and it is one more library to load with
 * every start. */
#include "sandbox/bpf.h"

#include <linux/seccomp.h>

#include "base/vec.h"

/* Every question is two instructions: a test, and the jump over what it decides
 * about. A test can jump 255 instructions far, a jump as far as one likes. */

static size_t add(struct bpf *bpf, uint16_t code, uint8_t yes, uint8_t no, uint32_t value)
{
	struct sock_filter *grown = bpf->failed || bpf->count >= BPF_MAXINSNS
		? NULL
		: vec_grow(bpf->code, &bpf->cap, bpf->count + 1, sizeof(*grown));
	if (!grown) {
		bpf->failed = true;
		return 0;
	}
	bpf->code = grown;
	bpf->code[bpf->count] = (struct sock_filter){ code, yes, no, value };
	return bpf->count++;
}

void bpf_allow(struct bpf *bpf)
{
	add(bpf, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
}

void bpf_fail_with(struct bpf *bpf, unsigned error)
{
	add(bpf, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA));
}

void bpf_kill(struct bpf *bpf)
{
	add(bpf, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
}

static void load(struct bpf *bpf, size_t offset)
{
	add(bpf, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

void bpf_load_number(struct bpf *bpf)
{
	load(bpf, offsetof(struct seccomp_data, nr));
}

void bpf_load_architecture(struct bpf *bpf)
{
	load(bpf, offsetof(struct seccomp_data, arch));
}

/* Both architectures that we know put the lower half first. */
void bpf_load_argument(struct bpf *bpf, unsigned index)
{
	load(bpf, offsetof(struct seccomp_data, args) + index * sizeof(uint64_t));
}

void bpf_load_upper_half(struct bpf *bpf, unsigned index)
{
	load(bpf, offsetof(struct seccomp_data, args) + index * sizeof(uint64_t) + sizeof(uint32_t));
}

void bpf_mask(struct bpf *bpf, uint32_t mask)
{
	add(bpf, BPF_ALU | BPF_AND | BPF_K, 0, 0, mask);
}

size_t bpf_skip(struct bpf *bpf)
{
	return add(bpf, BPF_JMP | BPF_JA, 0, 0, 0);
}

static size_t ask(struct bpf *bpf, uint16_t test, uint32_t value)
{
	add(bpf, BPF_JMP | BPF_K | test, 1, 0, value);
	return bpf_skip(bpf);
}

size_t bpf_if_equal(struct bpf *bpf, uint32_t value)
{
	return ask(bpf, BPF_JEQ, value);
}

size_t bpf_if_at_least(struct bpf *bpf, uint32_t value)
{
	return ask(bpf, BPF_JGE, value);
}

size_t bpf_if_any_bit(struct bpf *bpf, uint32_t bits)
{
	return ask(bpf, BPF_JSET, bits);
}

void bpf_end_if(struct bpf *bpf, size_t question)
{
	if (!bpf->failed)
		bpf->code[question].k = (uint32_t)(bpf->count - question - 1);
}

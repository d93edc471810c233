/* A small assembler for seccomp filters. Why not libseccomp: what it offers
 * beyond this is other architectures and the merging of rules; what it lacks is
 * "a call newer than those we know", and it is one more library to load with
 * every start. */
#include "sandbox/layers/seccomp.h"

#include <linux/seccomp.h>

#include "base/vec.h"

static size_t bpf_add(struct bpf *bpf, uint16_t code, uint8_t yes, uint8_t no, uint32_t value)
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
	bpf_add(bpf, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
}

void bpf_fail_with(struct bpf *bpf, unsigned error)
{
	bpf_add(bpf, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA));
}

void bpf_kill(struct bpf *bpf)
{
	bpf_add(bpf, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
}

static void bpf_load(struct bpf *bpf, size_t offset)
{
	bpf_add(bpf, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

void bpf_load_number(struct bpf *bpf)
{
	bpf_load(bpf, offsetof(struct seccomp_data, nr));
}

void bpf_load_architecture(struct bpf *bpf)
{
	bpf_load(bpf, offsetof(struct seccomp_data, arch));
}

/* Both architectures that we know put the lower half first. */
void bpf_load_argument(struct bpf *bpf, unsigned index)
{
	bpf_load(bpf, offsetof(struct seccomp_data, args) + index * sizeof(uint64_t));
}

void bpf_load_upper_half(struct bpf *bpf, unsigned index)
{
	bpf_load(
		bpf, offsetof(struct seccomp_data, args) + index * sizeof(uint64_t) + sizeof(uint32_t));
}

void bpf_mask(struct bpf *bpf, uint32_t mask)
{
	bpf_add(bpf, BPF_ALU | BPF_AND | BPF_K, 0, 0, mask);
}

size_t bpf_skip(struct bpf *bpf)
{
	return bpf_add(bpf, BPF_JMP | BPF_JA, 0, 0, 0);
}

static size_t bpf_ask(struct bpf *bpf, uint16_t test, uint32_t value)
{
	return bpf_add(bpf, BPF_JMP | BPF_K | test, 0, 0, value);
}

size_t bpf_if_equal(struct bpf *bpf, uint32_t value)
{
	return bpf_ask(bpf, BPF_JEQ, value);
}

size_t bpf_if_at_least(struct bpf *bpf, uint32_t value)
{
	return bpf_ask(bpf, BPF_JGE, value);
}

size_t bpf_if_any_bit(struct bpf *bpf, uint32_t bits)
{
	return bpf_ask(bpf, BPF_JSET, bits);
}

/* A test can jump 255 instructions far, a jump as far as one likes. */
void bpf_end_if(struct bpf *bpf, size_t question)
{
	if (bpf->failed)
		return;
	size_t distance = bpf->count - question - 1;
	struct sock_filter *asked = &bpf->code[question];
	if (asked->code == (BPF_JMP | BPF_JA))
		asked->k = (uint32_t)distance;
	else
		asked->jf = (uint8_t)distance;
	bpf->failed = asked->code != (BPF_JMP | BPF_JA) && distance > UINT8_MAX;
}

/* ---- a tree ------------------------------------------------------------------- */

/* The instruction that comes behind `span`, or the first question about several of them. */
static size_t bpf_goal(const struct bpf_span *span, size_t count, size_t questions, size_t table)
{
	return count == 1 ? table + span->entry : questions;
}

/* Of n spans, n - 1 questions: the one in the middle, those on its left, those on its right. */
static void bpf_write_questions(
	struct bpf *bpf, const struct bpf_span *spans, size_t count, size_t table)
{
	if (count < 2)
		return;
	size_t half = count / 2;
	size_t next = bpf->count + 1;
	size_t no = bpf_goal(spans, half, next, table) - next;
	size_t yes = bpf_goal(spans + half, count - half, next + half - 1, table) - next;
	bpf->failed |= no > UINT8_MAX || yes > UINT8_MAX;
	bpf_add(bpf, BPF_JMP | BPF_K | BPF_JGE, (uint8_t)yes, (uint8_t)no, spans[half].first);
	bpf_write_questions(bpf, spans, half, table);
	bpf_write_questions(bpf, spans + half, count - half, table);
}

void bpf_choose(struct bpf *bpf, const struct bpf_span *spans, size_t count)
{
	bpf_write_questions(bpf, spans, count, bpf->count + count - 1);
}

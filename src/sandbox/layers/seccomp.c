/* L2: the system calls that Landlock leaves open, as a seccomp filter. A call that is not in the
 * table is allowed; a call newer than the table fails as if the kernel did not have it. */
#include "sandbox/layers/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <stdlib.h>

#include "base/macros.h"
#include "sandbox/layers/uapi/syscalls.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define ARCHITECTURE 0
#endif

/* ---- the table ------------------------------------------------------------- */

enum when {
	ALWAYS,
	WITHOUT_NET,
	WITHOUT_SOCKETS, /* neither net nor unix: nothing can be listened on */
	WITHOUT_METADATA,
	WITHOUT_IPC,
	ALONE,
	WITHOUT_MEMORY,
};

/* Without a judge the call fails with `error`; 0 = EPERM. */
struct call {
	long number;
	enum when when;
	unsigned error;
	judge_fn *judge;
};

static const struct call calls[] = {
	/* Other processes: memory, descriptors, limits. */
	{ SYS_ptrace, ALWAYS, 0, NULL },
	{ SYS_process_vm_readv, ALWAYS, 0, NULL },
	{ SYS_process_vm_writev, ALWAYS, 0, NULL },
	{ NR_PIDFD_GETFD, ALWAYS, 0, NULL },
	{ SYS_kcmp, ALWAYS, 0, NULL },
	{ SYS_prlimit64, ALWAYS, 0, judge_prlimit },
	/* Execution by name. By descriptor it stays allowed: that is how the child itself begins. */
	{ SYS_execve, ALONE, EACCES, NULL },
	/* Namespaces and mounts. A filter cannot see the flags of clone3; a program that is told that
	 * it does not exist uses clone. */
	{ SYS_clone, ALWAYS, 0, judge_clone },
	{ NR_CLONE3, ALWAYS, ENOSYS, NULL },
	{ SYS_unshare, ALWAYS, 0, NULL },
	{ SYS_setns, ALWAYS, 0, NULL },
	{ SYS_chroot, ALWAYS, 0, NULL },
	{ SYS_pivot_root, ALWAYS, 0, NULL },
	{ SYS_mount, ALWAYS, 0, NULL },
	{ SYS_umount2, ALWAYS, 0, NULL },
	{ NR_OPEN_TREE, ALWAYS, 0, NULL },
	{ NR_OPEN_TREE_ATTR, ALWAYS, 0, NULL },
	{ NR_MOVE_MOUNT, ALWAYS, 0, NULL },
	{ NR_FSOPEN, ALWAYS, 0, NULL },
	{ NR_FSCONFIG, ALWAYS, 0, NULL },
	{ NR_FSMOUNT, ALWAYS, 0, NULL },
	{ NR_FSPICK, ALWAYS, 0, NULL },
	{ NR_MOUNT_SETATTR, ALWAYS, 0, NULL },
	{ SYS_open_by_handle_at, ALWAYS, 0, NULL },
	{ SYS_fanotify_init, ALWAYS, 0, NULL },
	/* Wide doors into the kernel. */
	{ SYS_io_uring_setup, ALWAYS, 0, NULL },
	{ SYS_io_uring_enter, ALWAYS, 0, NULL },
	{ SYS_io_uring_register, ALWAYS, 0, NULL },
	{ SYS_bpf, ALWAYS, 0, NULL },
	{ SYS_perf_event_open, ALWAYS, 0, NULL },
	{ SYS_userfaultfd, ALWAYS, 0, NULL },
	{ SYS_add_key, ALWAYS, 0, NULL },
	{ SYS_request_key, ALWAYS, 0, NULL },
	{ SYS_keyctl, ALWAYS, 0, NULL },
	/* The machine. */
	{ SYS_init_module, ALWAYS, 0, NULL },
	{ SYS_finit_module, ALWAYS, 0, NULL },
	{ SYS_delete_module, ALWAYS, 0, NULL },
	{ SYS_kexec_load, ALWAYS, 0, NULL },
	{ SYS_kexec_file_load, ALWAYS, 0, NULL },
	{ SYS_reboot, ALWAYS, 0, NULL },
	{ SYS_swapon, ALWAYS, 0, NULL },
	{ SYS_swapoff, ALWAYS, 0, NULL },
	{ SYS_acct, ALWAYS, 0, NULL },
	{ SYS_quotactl, ALWAYS, 0, NULL },
	{ NR_QUOTACTL_FD, ALWAYS, 0, NULL },
	{ SYS_settimeofday, ALWAYS, 0, NULL },
	{ SYS_clock_settime, ALWAYS, 0, NULL },
	{ SYS_sethostname, ALWAYS, 0, NULL },
	{ SYS_setdomainname, ALWAYS, 0, NULL },
	{ SYS_syslog, ALWAYS, 0, NULL },
	{ SYS_vhangup, ALWAYS, 0, NULL },
	/* Terminals, attributes of files, sockets. */
	{ SYS_ioctl, ALWAYS, 0, judge_ioctl },
	{ SYS_socket, ALWAYS, 0, judge_socket },
	{ SYS_socketpair, ALWAYS, 0, judge_socketpair },
	{ SYS_sendto, WITHOUT_NET, 0, judge_send },
	{ SYS_sendmsg, WITHOUT_NET, 0, judge_sendmsg },
	{ SYS_sendmmsg, WITHOUT_NET, 0, judge_send },
	{ SYS_setsockopt, WITHOUT_NET, 0, judge_setsockopt },
	{ SYS_listen, WITHOUT_SOCKETS, 0, NULL },
	/* Modes, owners, times and attributes of files: Landlock does not limit their change. */
	{ SYS_fchmod, WITHOUT_METADATA, 0, NULL },
	{ SYS_fchmodat, WITHOUT_METADATA, 0, NULL },
	{ NR_FCHMODAT2, WITHOUT_METADATA, 0, NULL },
	{ SYS_fchown, WITHOUT_METADATA, 0, NULL },
	{ SYS_fchownat, WITHOUT_METADATA, 0, NULL },
	{ SYS_utimensat, WITHOUT_METADATA, 0, NULL },
	{ SYS_setxattr, WITHOUT_METADATA, 0, NULL },
	{ SYS_lsetxattr, WITHOUT_METADATA, 0, NULL },
	{ SYS_fsetxattr, WITHOUT_METADATA, 0, NULL },
	{ SYS_removexattr, WITHOUT_METADATA, 0, NULL },
	{ SYS_lremovexattr, WITHOUT_METADATA, 0, NULL },
	{ SYS_fremovexattr, WITHOUT_METADATA, 0, NULL },
	{ NR_SETXATTRAT, WITHOUT_METADATA, 0, NULL },
	{ NR_REMOVEXATTRAT, WITHOUT_METADATA, 0, NULL },
	{ NR_FILE_SETATTR, WITHOUT_METADATA, 0, NULL },
	/* Objects that the user's processes share by a number, or by a name outside of the file
	 * system. */
	{ SYS_shmget, WITHOUT_IPC, 0, NULL },
	{ SYS_shmat, WITHOUT_IPC, 0, NULL },
	{ SYS_shmctl, WITHOUT_IPC, 0, NULL },
	{ SYS_semget, WITHOUT_IPC, 0, NULL },
	{ SYS_semop, WITHOUT_IPC, 0, NULL },
	{ SYS_semtimedop, WITHOUT_IPC, 0, NULL },
	{ SYS_semctl, WITHOUT_IPC, 0, NULL },
	{ SYS_msgget, WITHOUT_IPC, 0, NULL },
	{ SYS_msgsnd, WITHOUT_IPC, 0, NULL },
	{ SYS_msgrcv, WITHOUT_IPC, 0, NULL },
	{ SYS_msgctl, WITHOUT_IPC, 0, NULL },
	{ SYS_mq_open, WITHOUT_IPC, 0, NULL },
	{ SYS_mq_unlink, WITHOUT_IPC, 0, NULL },
	/* Memory that RLIMIT_DATA does not count. */
	{ SYS_mmap, WITHOUT_MEMORY, 0, judge_mmap },
	{ SYS_memfd_create, WITHOUT_MEMORY, ENOMEM, NULL },
	{ NR_MEMFD_SECRET, WITHOUT_MEMORY, ENOMEM, NULL },
#ifdef __x86_64__
	{ SYS_iopl, ALWAYS, 0, NULL },
	{ SYS_ioperm, ALWAYS, 0, NULL },
	{ SYS_chmod, WITHOUT_METADATA, 0, NULL },
	{ SYS_chown, WITHOUT_METADATA, 0, NULL },
	{ SYS_lchown, WITHOUT_METADATA, 0, NULL },
	{ SYS_utime, WITHOUT_METADATA, 0, NULL },
	{ SYS_utimes, WITHOUT_METADATA, 0, NULL },
	{ SYS_futimesat, WITHOUT_METADATA, 0, NULL },
#endif
};

enum { CALLS = COUNT(calls) };

static bool seccomp_applies(enum when when, const struct seccomp_needs *needs)
{
	switch (when) {
	case ALWAYS:
		return true;
	case WITHOUT_NET:
		return !needs->has_net;
	case WITHOUT_SOCKETS:
		return !needs->has_net && !needs->has_unix;
	case WITHOUT_METADATA:
		return !needs->has_metadata;
	case WITHOUT_IPC:
		return !needs->has_ipc;
	case ALONE:
		return needs->is_alone;
	case WITHOUT_MEMORY:
		return !needs->has_memory;
	}
	return true;
}

/* ---- the filter ------------------------------------------------------------ */

static int seccomp_compare_numbers(const void *a, const void *b)
{
	long left = (*(const struct call *const *)a)->number;
	long right = (*(const struct call *const *)b)->number;
	return (left > right) - (left < right);
}

/* The fates of calls, each once: an error, or a judge. The first one allows the call. */
struct fates {
	const struct call *items[CALLS + 1];
	uint32_t count;
};

static const struct call pass;

static unsigned seccomp_error_of(const struct call *call)
{
	return call->error ? call->error : EPERM;
}

static bool seccomp_is_same_fate(const struct call *a, const struct call *b)
{
	return a != &pass && !a->judge && !b->judge && seccomp_error_of(a) == seccomp_error_of(b);
}

static uint32_t seccomp_fate_of(struct fates *fates, const struct call *call)
{
	for (uint32_t i = 0; i < fates->count; i++) {
		if (seccomp_is_same_fate(fates->items[i], call))
			return i;
	}
	fates->items[fates->count] = call;
	return fates->count++;
}

/* Numbers that share a fate and stand behind each other are one span. Returns how many. */
static size_t seccomp_make_spans(
	const struct call *const *list, size_t count, struct fates *fates, struct bpf_span *spans)
{
	enum { PASS = 0 };
	size_t made = 1;
	spans[0] = (struct bpf_span){ 0, PASS };
	for (size_t i = 0; i < count; i++) {
		uint32_t number = (uint32_t)list[i]->number;
		uint32_t fate = seccomp_fate_of(fates, list[i]);
		struct bpf_span *last = &spans[made - 1];
		bool is_next = last->first == number;
		if (is_next && made > 1 && last[-1].entry == fate)
			made--;
		else if (is_next)
			last->entry = fate;
		else
			spans[made++] = (struct bpf_span){ number, fate };
		spans[made++] = (struct bpf_span){ number + 1, PASS };
	}
	return made;
}

static void seccomp_write_fates(
	struct bpf *bpf, const struct fates *fates, const struct seccomp_needs *needs)
{
	size_t ways[CALLS + 1];
	bpf_allow(bpf);
	for (uint32_t i = 1; i < fates->count; i++) {
		if (fates->items[i]->judge)
			ways[i] = bpf_skip(bpf);
		else
			bpf_fail_with(bpf, seccomp_error_of(fates->items[i]));
	}
	for (uint32_t i = 1; i < fates->count; i++) {
		if (!fates->items[i]->judge)
			continue;
		bpf_end_if(bpf, ways[i]);
		fates->items[i]->judge(bpf, needs);
	}
}

/* A tree, and as few instructions as possible: the kernel translates the filter each time a
 * process gets it, and walks through it once for each call there is. */
static void seccomp_write_calls(struct bpf *bpf, const struct call *const *list, size_t count,
	const struct seccomp_needs *needs)
{
	struct bpf_span spans[2 * CALLS + 1];
	struct fates fates = { { &pass }, 1 };
	size_t span_count = seccomp_make_spans(list, count, &fates, spans);
	bpf_choose(bpf, spans, span_count);
	seccomp_write_fates(bpf, &fates, needs);
}

/* A call made for another architecture has other numbers. x32 has a high bit in
 * them, and so is newer than all we know. */
static void seccomp_write_head(struct bpf *bpf)
{
	bpf_load_architecture(bpf);
	size_t is_ours = bpf_if_equal(bpf, ARCHITECTURE);
	size_t over_kill = bpf_skip(bpf);
	bpf_end_if(bpf, is_ours);
	bpf_kill(bpf);
	bpf_end_if(bpf, over_kill);
	bpf_load_number(bpf);
	size_t is_newer = bpf_if_at_least(bpf, NR_NEWEST_KNOWN + 1);
	bpf_fail_with(bpf, ENOSYS);
	bpf_end_if(bpf, is_newer);
}

bool seccomp_is_known(void)
{
	return ARCHITECTURE != 0;
}

int seccomp_filter(const struct seccomp_needs *needs, struct bpf *ret_filter)
{
	if (!seccomp_is_known())
		return -ENOSYS;
	const struct call *list[CALLS];
	size_t count = 0;
	for (size_t i = 0; i < CALLS; i++) {
		if (seccomp_applies(calls[i].when, needs))
			list[count++] = &calls[i];
	}
	qsort(list, count, sizeof(list[0]), seccomp_compare_numbers);
	struct bpf bpf = { 0 };
	seccomp_write_head(&bpf);
	seccomp_write_calls(&bpf, list, count, needs);
	if (bpf.failed) {
		free(bpf.code);
		return -ENOMEM;
	}
	*ret_filter = bpf;
	return 0;
}

int seccomp_seal(struct bpf *ret_filter)
{
	const struct seccomp_needs needs = { .is_sealed = false };
	struct bpf bpf = { 0 };
	bpf_load_number(&bpf);
	size_t is_clone = bpf_if_equal(&bpf, SYS_clone);
	judge_clone(&bpf, &needs);
	bpf_end_if(&bpf, is_clone);
	bpf_allow(&bpf);
	if (bpf.failed) {
		free(bpf.code);
		return -ENOMEM;
	}
	*ret_filter = bpf;
	return 0;
}

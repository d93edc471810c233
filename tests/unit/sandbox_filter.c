/* The seccomp filter, judged call by call by an interpreter of its own: what the
 * kernel would say, without asking it. */
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/fsverity.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "sandbox/layers/seccomp.h"
#include "sandbox/layers/uapi/syscalls.h"

#ifdef __x86_64__
#define OURS AUDIT_ARCH_X86_64
#else
#define OURS AUDIT_ARCH_AARCH64
#endif

static const struct seccomp_needs nothing = { 0 };
static const struct seccomp_needs everything = { .has_net = true,
	.has_unix = true,
	.has_ipc = true,
	.has_terminal = true,
	.has_memory = true,
	.has_metadata = true };

static uint32_t step(const struct sock_filter *code, uint32_t value)
{
	switch (code->code) {
	case BPF_JMP | BPF_JEQ | BPF_K:
		return value == code->k ? code->jt : code->jf;
	case BPF_JMP | BPF_JGE | BPF_K:
		return value >= code->k ? code->jt : code->jf;
	case BPF_JMP | BPF_JSET | BPF_K:
		return value & code->k ? code->jt : code->jf;
	case BPF_JMP | BPF_JA:
		return code->k;
	default:
		ck_abort_msg("an instruction that nobody writes: %u", code->code);
	}
}

static uint32_t judge(const struct bpf *filter, const struct seccomp_data *data)
{
	uint32_t value = 0;
	for (size_t at = 0; at < filter->count; at++) {
		const struct sock_filter *code = &filter->code[at];
		if (code->code == (BPF_RET | BPF_K))
			return code->k;
		if (code->code == (BPF_LD | BPF_W | BPF_ABS))
			memcpy(&value, (const char *)data + code->k, sizeof(value));
		else if (code->code == (BPF_ALU | BPF_AND | BPF_K))
			value &= code->k;
		else
			at += step(code, value);
	}
	ck_abort_msg("the end was passed");
}

struct asked {
	const struct seccomp_needs *needs; /* NULL: the seal is asked */
	long number;
	uint64_t arguments[6];
};

/* 0 = allowed, an errno, or -1 = killed. */
static int answer_of(struct asked asked, uint32_t architecture)
{
	struct bpf filter;
	ck_assert_int_eq(asked.needs ? seccomp_filter(asked.needs, &filter) : seccomp_seal(&filter), 0);
	struct seccomp_data data = {
		.nr = (int)asked.number,
		.arch = architecture,
	};
	for (size_t i = 0; i < COUNT(asked.arguments); i++)
		data.args[i] = asked.arguments[i];
	uint32_t answer = judge(&filter, &data);
	free(filter.code);
	if (answer == SECCOMP_RET_ALLOW)
		return 0;
	if (answer == SECCOMP_RET_KILL_PROCESS)
		return -1;
	ck_assert_uint_eq(answer & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO);
	return (int)(answer & SECCOMP_RET_DATA);
}

/* The needs, the call, its arguments. */
#define ANSWER(with, call, ...) answer_of((struct asked){ (with), (call), { __VA_ARGS__ } }, OURS)

START_TEST(plain_work_is_allowed)
{
	static const long calls[] = {
		SYS_read,
		SYS_write,
		SYS_openat,
		SYS_close,
		SYS_mmap,
		SYS_execve,
		SYS_wait4,
		SYS_kill,
		SYS_futex,
		SYS_getrandom,
		SYS_pidfd_open,
		SYS_renameat2,
		SYS_bind,
		SYS_connect,
		NR_NEWEST_KNOWN,
#ifdef SYS_fork /* no newer architecture has these */
		SYS_fork,
		SYS_rename,
#endif
	};
	for (size_t i = 0; i < COUNT(calls); i++)
		ck_assert_msg(ANSWER(&nothing, calls[i], 0) == 0, "call %ld", calls[i]);
}
END_TEST

START_TEST(memory_that_no_limit_counts_is_there_only_without_one)
{
	static const struct {
		uint64_t flags;
		int answer;
	} maps[] = {
		{ MAP_PRIVATE | MAP_ANONYMOUS, 0 },
		{ MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE | MAP_FIXED, 0 },
		{ MAP_PRIVATE, 0 },
		{ MAP_SHARED, 0 },
		{ MAP_SHARED_VALIDATE, 0 },
		{ MAP_SHARED | MAP_ANONYMOUS, ENOMEM },
		{ MAP_SHARED_VALIDATE | MAP_ANONYMOUS, ENOMEM },
		{ MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB | MAP_FIXED, ENOMEM },
		{ MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, ENOMEM },
		{ MAP_PRIVATE | MAP_GROWSDOWN, ENOMEM },
		/* The upper half does not count in the kernel either. */
		{ MAP_SHARED | MAP_ANONYMOUS | UINT64_C(1) << 40, ENOMEM },
	};
	for (size_t i = 0; i < COUNT(maps); i++) {
		int answer = ANSWER(&nothing, SYS_mmap, 0, 4096, 3, maps[i].flags);
		ck_assert_msg(answer == maps[i].answer, "%zu: %d", i, answer);
		ck_assert_int_eq(ANSWER(&everything, SYS_mmap, 0, 4096, 3, maps[i].flags), 0);
	}
	ck_assert_int_eq(ANSWER(&nothing, SYS_memfd_create, 0), ENOMEM);
	ck_assert_int_eq(ANSWER(&nothing, NR_MEMFD_SECRET, 0), ENOMEM);
	ck_assert_int_eq(ANSWER(&everything, SYS_memfd_create, 0), 0);
}
END_TEST

START_TEST(doors_are_closed_whatever_is_granted)
{
	static const long calls[] = { SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
		NR_PIDFD_GETFD, SYS_unshare, SYS_setns, SYS_chroot, SYS_pivot_root, SYS_mount, SYS_umount2,
		NR_OPEN_TREE, NR_OPEN_TREE_ATTR, NR_MOVE_MOUNT, NR_FSOPEN, NR_FSCONFIG, NR_FSMOUNT,
		NR_FSPICK, NR_MOUNT_SETATTR, SYS_open_by_handle_at, SYS_io_uring_setup, SYS_io_uring_enter,
		SYS_io_uring_register, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_add_key,
		SYS_request_key, SYS_keyctl, SYS_init_module, SYS_finit_module, SYS_delete_module,
		SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct, SYS_quotactl };
	for (size_t i = 0; i < COUNT(calls); i++)
		ck_assert_msg(ANSWER(&everything, calls[i], 0) == EPERM, "call %ld", calls[i]);
}
END_TEST

START_TEST(what_is_too_new_or_cannot_be_seen_does_not_exist)
{
	ck_assert_int_eq(ANSWER(&everything, NR_CLONE3, 0), ENOSYS);
	ck_assert_int_eq(ANSWER(&everything, NR_NEWEST_KNOWN + 1, 0), ENOSYS);
	ck_assert_int_eq(ANSWER(&everything, 100000, 0), ENOSYS);
	/* x32 */
	ck_assert_int_eq(ANSWER(&everything, 0x40000000 | SYS_read, 0), ENOSYS);
	ck_assert_int_eq(ANSWER(&everything, -1, 0), ENOSYS);
}
END_TEST

START_TEST(another_architecture_is_killed)
{
	struct asked asked = { &everything, SYS_read, { 0 } };
	ck_assert_int_eq(answer_of(asked, AUDIT_ARCH_I386), -1);
	ck_assert_int_eq(answer_of(asked, AUDIT_ARCH_ARM), -1);
}
END_TEST

START_TEST(clone_makes_processes_and_threads_but_no_namespaces_and_sisters)
{
	ck_assert_int_eq(ANSWER(&nothing, SYS_clone, SIGCHLD), 0);
	ck_assert_int_eq(ANSWER(&nothing, SYS_clone, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND), 0);
	static const uint64_t refused[] = { CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET,
		CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWCGROUP, CLONE_PARENT };
	for (size_t i = 0; i < COUNT(refused); i++)
		ck_assert_int_eq(ANSWER(&everything, SYS_clone, refused[i] | SIGCHLD), EPERM);
}
END_TEST

/* A doorkeeper has the filter, its children have both. */
START_TEST(a_seal_forbids_what_a_sealed_filter_leaves_to_it)
{
	struct seccomp_needs sealed = everything;
	sealed.is_sealed = true;
	ck_assert_int_eq(ANSWER(&sealed, SYS_clone, CLONE_PARENT | SIGCHLD), 0);
	ck_assert_int_eq(ANSWER(&sealed, SYS_clone, CLONE_PARENT | CLONE_NEWUSER), EPERM);
	ck_assert_int_eq(ANSWER(NULL, SYS_clone, CLONE_PARENT | SIGCHLD), EPERM);
	ck_assert_int_eq(ANSWER(NULL, SYS_clone, CLONE_PARENT | CLONE_VM | UINT64_C(1) << 32), EPERM);
	ck_assert_int_eq(ANSWER(NULL, SYS_clone, SIGCHLD), 0);
	for (long call = 0; call <= NR_NEWEST_KNOWN; call++)
		ck_assert_int_eq(ANSWER(NULL, call, 0), 0);
}
END_TEST

START_TEST(terminals_get_no_keys)
{
	ck_assert_int_eq(ANSWER(&everything, SYS_ioctl, 0, TCGETS), 0);
	ck_assert_int_eq(ANSWER(&everything, SYS_ioctl, 0, TIOCSTI), EPERM);
	ck_assert_int_eq(ANSWER(&everything, SYS_ioctl, 0, TIOCLINUX), EPERM);
	ck_assert_int_eq(ANSWER(&everything, SYS_ioctl, 0, TIOCSTI | UINT64_C(1) << 32), EPERM);
}
END_TEST

START_TEST(how_a_terminal_works_is_changed_only_by_whose_it_is)
{
	static const uint64_t changes[] = { TCSETS, TCSETSW, TCSETSF, TCSETA, TCSETAW, TCSETAF, TCXONC,
		TCFLSH, TIOCSETD, TIOCEXCL, TIOCSWINSZ, _IOC(_IOC_WRITE, 'T', 0x2B, 44),
		_IOC(_IOC_WRITE, 'T', 0x2C, 44), _IOC(_IOC_WRITE, 'T', 0x2D, 44) };
	for (size_t i = 0; i < COUNT(changes); i++) {
		ck_assert_int_eq(ANSWER(&everything, SYS_ioctl, 2, changes[i]), 0);
		ck_assert_int_eq(ANSWER(&nothing, SYS_ioctl, 2, changes[i]), EPERM);
		ck_assert_int_eq(ANSWER(&nothing, SYS_ioctl, 2, changes[i] | UINT64_C(1) << 32), EPERM);
	}
	/* All that there are, but those that change nothing. */
	static const uint64_t kept[] = { TCGETS, TCGETA, TCSBRK, TIOCOUTQ, TIOCGWINSZ, TIOCGPGRP,
		TIOCGSID, TIOCGETD, TIOCSCTTY, TIOCNOTTY, FIONREAD, FIONBIO, FIOASYNC, FIOCLEX, FIONCLEX,
		FIOQSIZE, 0x5441 /* TIOCGPTPEER */ };
	for (uint64_t call = 0x5400; call < 0x5500; call++) {
		bool is_kept = false;
		for (size_t i = 0; i < COUNT(kept); i++)
			is_kept |= kept[i] == call;
		ck_assert_int_eq(ANSWER(&nothing, SYS_ioctl, 2, call), is_kept ? 0 : EPERM);
	}
	ck_assert_int_eq(ANSWER(&nothing, SYS_ioctl, 2, TIOCGPTN), 0);
	ck_assert_int_eq(ANSWER(&nothing, SYS_ioctl, 2, TIOCSPTLCK), 0);
	ck_assert_int_eq(ANSWER(&nothing, SYS_ioctl, 2, _IOW('T', 0x36, int)), EPERM); /* TIOCSIG */
	ck_assert_int_eq(ANSWER(&nothing, SYS_ioctl, 2, 0x8915 /* SIOCGIFADDR */), 0);
}
END_TEST

/* Keys with other meanings are commands to who reads them next: for nobody in a sandbox. */
START_TEST(a_console_is_changed_by_nobody)
{
	static const uint64_t kept[] = { 0x4B33, 0x4B3B, 0x4B44, 0x5601, 0x5603 };
	const struct seccomp_needs *const needs[] = { &everything, &nothing };
	for (uint64_t number = 0; number < 0x200; number++) {
		uint64_t call = (number < 0x100 ? 0x4B00 : 0x5600 - 0x100) + number;
		bool is_kept = false;
		for (size_t i = 0; i < COUNT(kept); i++)
			is_kept |= kept[i] == call;
		for (size_t i = 0; i < COUNT(needs); i++) {
			ck_assert_int_eq(ANSWER(needs[i], SYS_ioctl, 0, call), is_kept ? 0 : EPERM);
			ck_assert_int_eq(
				ANSWER(needs[i], SYS_ioctl, 0, call | UINT64_C(1) << 32), is_kept ? 0 : EPERM);
		}
	}
	/* A camera is no console. */
	ck_assert_int_eq(ANSWER(&nothing, SYS_ioctl, 3, _IOR('V', 0, char[104])), 0);
}
END_TEST

START_TEST(limits_of_others_are_theirs)
{
	ck_assert_int_eq(ANSWER(&everything, SYS_prlimit64, 0, 0, 1), 0);
	ck_assert_int_eq(ANSWER(&everything, SYS_prlimit64, 7, 0, 0), 0);
	ck_assert_int_eq(ANSWER(&everything, SYS_prlimit64, 7, 0, 1), EPERM);
	ck_assert_int_eq(ANSWER(&everything, SYS_prlimit64, 7, 0, UINT64_C(1) << 32), EPERM);
}
END_TEST

/* family, type, protocol; with a network, with unix sockets, with neither. */
static const struct {
	uint64_t family, type, protocol;
	int with_net, with_unix, with_neither;
} sockets[] = {
	{ AF_INET, SOCK_STREAM, 0, 0, EPERM, EPERM },
	{ AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP, 0, EPERM, EPERM },
	{ AF_INET6, SOCK_DGRAM, IPPROTO_UDP, 0, EPERM, EPERM },
	{ AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6, 0, EPERM, EPERM },
	{ AF_INET, SOCK_STREAM, 262 /* MPTCP */, 0, EPERM, EPERM },
	{ AF_INET, SOCK_STREAM, IPPROTO_SCTP, EPERM, EPERM, EPERM },
	{ AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP, EPERM, EPERM, EPERM },
	{ AF_INET, SOCK_RAW, IPPROTO_ICMP, EPERM, EPERM, EPERM },
	{ AF_INET, SOCK_PACKET, 0, EPERM, EPERM, EPERM },
	{ AF_NETLINK, SOCK_RAW, 0 /* ROUTE */, 0, EPERM, EPERM },
	{ AF_NETLINK, SOCK_RAW, 15 /* UEVENT */, EPERM, EPERM, EPERM },
	{ AF_PACKET, SOCK_RAW, 0, EPERM, EPERM, EPERM },
	{ AF_VSOCK, SOCK_STREAM, 0, EPERM, EPERM, EPERM },
	{ AF_ALG, SOCK_SEQPACKET, 0, EPERM, EPERM, EPERM },
	{ AF_BLUETOOTH, SOCK_RAW, 0, EPERM, EPERM, EPERM },
	{ AF_UNIX, SOCK_STREAM, 0, EPERM, 0, EPERM },
	{ AF_UNIX | UINT64_C(1) << 32, SOCK_DGRAM, 0, EPERM, 0, EPERM },
};

START_TEST(sockets_are_granted_by_family_type_and_protocol)
{
	const struct seccomp_needs net = { .has_net = true };
	const struct seccomp_needs local = { .has_unix = true };
	for (size_t i = 0; i < COUNT(sockets); i++) {
		uint64_t a = sockets[i].family;
		uint64_t b = sockets[i].type;
		uint64_t c = sockets[i].protocol;
		ck_assert_msg(ANSWER(&net, SYS_socket, a, b, c) == sockets[i].with_net, "%zu", i);
		ck_assert_msg(ANSWER(&local, SYS_socket, a, b, c) == sockets[i].with_unix, "%zu", i);
		ck_assert_msg(ANSWER(&nothing, SYS_socket, a, b, c) == sockets[i].with_neither, "%zu", i);
	}
	ck_assert_int_eq(ANSWER(&nothing, SYS_socketpair, AF_UNIX, SOCK_STREAM), 0);
	ck_assert_int_eq(ANSWER(&everything, SYS_socketpair, AF_TIPC, SOCK_STREAM), EPERM);
}
END_TEST

START_TEST(without_a_network_no_socket_gets_out_by_other_calls)
{
	enum { FASTOPEN = 0x20000000 };
	ck_assert_int_eq(ANSWER(&nothing, SYS_sendto, 3, 0, 0, MSG_NOSIGNAL), 0);
	ck_assert_int_eq(ANSWER(&nothing, SYS_sendto, 3, 0, 0, FASTOPEN), EPERM);
	ck_assert_int_eq(ANSWER(&nothing, SYS_sendmsg, 3, 0, FASTOPEN | MSG_NOSIGNAL), EPERM);
	ck_assert_int_eq(ANSWER(&nothing, SYS_sendmmsg, 3, 0, 0, FASTOPEN), EPERM);
	ck_assert_int_eq(ANSWER(&nothing, SYS_setsockopt, 3, IPPROTO_TCP, 30), EPERM);
	ck_assert_int_eq(ANSWER(&nothing, SYS_setsockopt, 3, SOL_SOCKET, 30), 0);
	ck_assert_int_eq(ANSWER(&nothing, SYS_listen, 3), EPERM);
	ck_assert_int_eq(ANSWER(&everything, SYS_sendto, 3, 0, 0, FASTOPEN), 0);
	ck_assert_int_eq(ANSWER(&everything, SYS_listen, 3), 0);
}
END_TEST

START_TEST(metadata_stays_where_nothing_else_watches_over_it)
{
	static const long calls[] = { SYS_fchmod, SYS_fchmodat, NR_FCHMODAT2, SYS_fchown, SYS_fchownat,
		SYS_utimensat, SYS_setxattr, SYS_fsetxattr, SYS_removexattr, NR_SETXATTRAT,
		NR_FILE_SETATTR };
	for (size_t i = 0; i < COUNT(calls); i++) {
		ck_assert_int_eq(ANSWER(&nothing, calls[i], 0), EPERM);
		ck_assert_int_eq(ANSWER(&everything, calls[i], 0), 0);
	}
	static const uint64_t requests[] = { FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION,
		FS_IOC_ENABLE_VERITY };
	for (size_t i = 0; i < COUNT(requests); i++) {
		ck_assert_int_eq(ANSWER(&nothing, SYS_ioctl, 3, requests[i]), EPERM);
		ck_assert_int_eq(ANSWER(&everything, SYS_ioctl, 3, requests[i]), 0);
	}
	ck_assert_int_eq(ANSWER(&nothing, SYS_ioctl, 3, FS_IOC_GETFLAGS), 0);
}
END_TEST

static int make_once(void *data)
{
	(void)data;
	struct bpf filter;
	int r = seccomp_filter(&nothing, &filter);
	if (r == 0)
		free(filter.code);
	return r;
}

START_TEST(every_failed_allocation_is_reported)
{
	ck_assert_uint_gt(oom_every(make_once, NULL), 0);
}
END_TEST

/* The program itself is executed as an open file; what it names afterwards is not. */
START_TEST(who_is_alone_starts_nothing)
{
	const struct seccomp_needs alone = { .is_alone = true };
	ck_assert_int_eq(ANSWER(&alone, SYS_execve, 0), EACCES);
	ck_assert_int_eq(ANSWER(&alone, SYS_execveat, 7), 0);
	ck_assert_int_eq(ANSWER(&alone, SYS_socket, AF_UNIX, SOCK_STREAM), EPERM);
	ck_assert_int_eq(ANSWER(&alone, SYS_socket, AF_INET, SOCK_STREAM), EPERM);
}
END_TEST

SUITE_MAIN("sandbox-filter", who_is_alone_starts_nothing, plain_work_is_allowed,
	a_seal_forbids_what_a_sealed_filter_leaves_to_it,
	memory_that_no_limit_counts_is_there_only_without_one, doors_are_closed_whatever_is_granted,
	what_is_too_new_or_cannot_be_seen_does_not_exist, another_architecture_is_killed,
	clone_makes_processes_and_threads_but_no_namespaces_and_sisters, terminals_get_no_keys,
	how_a_terminal_works_is_changed_only_by_whose_it_is, a_console_is_changed_by_nobody,
	limits_of_others_are_theirs, sockets_are_granted_by_family_type_and_protocol,
	without_a_network_no_socket_gets_out_by_other_calls,
	metadata_stays_where_nothing_else_watches_over_it, every_failed_allocation_is_reported)

/* Calls that depend on their arguments, as parts of a filter. */
#include "sandbox/layers/seccomp.h"

#include "base/macros.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <linux/fs.h>
#include <linux/fsverity.h>
#include <linux/kd.h>
#include <linux/vt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>

enum {
	SOCKET_TYPE_MASK = 0xf,
	PROTOCOL_MPTCP = 262,
	FASTOPEN_FLAG = 0x20000000,
	FASTOPEN_OPTION = 30,
	IOCTL_NUMBER_MASK = 0xff,
	IOCTL_TYPE_MASK = 0xff00,
	IOCTL_TERMINAL = 'T' << 8,
	IOCTL_KEYBOARD = 'K' << 8,
	IOCTL_SCREEN = 'V' << 8,
	EXT4_SETVERSION = _IOW('f', 4, long), /* another one than all file systems have */
	NAMESPACES = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
		CLONE_NEWNET | CLONE_NEWCGROUP,
};

static void judges_allow_if_equal(struct bpf *bpf, uint32_t value)
{
	size_t question = bpf_if_equal(bpf, value);
	bpf_allow(bpf);
	bpf_end_if(bpf, question);
}

static void judges_refuse_if_equal(struct bpf *bpf, uint32_t value)
{
	size_t question = bpf_if_equal(bpf, value);
	bpf_fail_with(bpf, EPERM);
	bpf_end_if(bpf, question);
}

static void judges_judge_bits(struct bpf *bpf, unsigned argument, uint32_t bits)
{
	bpf_load_argument(bpf, argument);
	size_t question = bpf_if_any_bit(bpf, bits);
	bpf_fail_with(bpf, EPERM);
	bpf_end_if(bpf, question);
	bpf_allow(bpf);
}

/* CLONE_PARENT would make a child of the host, which does not know of it. */
void judge_clone(struct bpf *bpf, const struct seccomp_needs *needs)
{
	judges_judge_bits(bpf, 0, needs->is_sealed ? NAMESPACES : NAMESPACES | CLONE_PARENT);
}

/* The terminal's modes, its foreground and its line outlast the process that changed them: echo
 * that is off, a line that stands still, keys that are thrown away or meant for another group.
 * Every request that is not known to be harmless is refused, so that none is forgotten. A process
 * may make terminals of its own. */
static void judges_judge_terminal(struct bpf *bpf)
{
	static const uint32_t harmless[] = { TCGETS, TCGETS2, TCGETA, TCSBRK, TIOCOUTQ, TIOCGWINSZ,
		TIOCGPGRP, TIOCGSID, TIOCGETD, TIOCGPTN, TIOCSPTLCK, TIOCGPTLCK, TIOCGPTPEER, TIOCSCTTY,
		TIOCNOTTY, FIONREAD, FIONBIO, FIOASYNC, FIOCLEX, FIONCLEX, FIOQSIZE };
	bpf_mask(bpf, IOCTL_TYPE_MASK);
	size_t is_terminal = bpf_if_equal(bpf, IOCTL_TERMINAL);
	bpf_load_argument(bpf, 1);
	for (size_t i = 0; i < COUNT(harmless); i++)
		judges_allow_if_equal(bpf, harmless[i]);
	bpf_fail_with(bpf, EPERM);
	bpf_end_if(bpf, is_terminal);
	bpf_load_argument(bpf, 1);
}

/* A console's keys can be given other meanings, whole lines too; its screen can be switched and its
 * font changed. Requests of these types with other numbers belong to other devices. */
static void judges_judge_console(struct bpf *bpf)
{
	static const uint32_t harmless[] = { KDGKBTYPE, KDGETMODE, KDGKBMODE, VT_GETMODE, VT_GETSTATE };
	static const uint32_t types[] = { IOCTL_KEYBOARD, IOCTL_SCREEN };
	for (size_t i = 0; i < COUNT(harmless); i++)
		judges_allow_if_equal(bpf, harmless[i]);
	bpf_mask(bpf, ~(uint32_t)IOCTL_NUMBER_MASK);
	for (size_t i = 0; i < COUNT(types); i++)
		judges_refuse_if_equal(bpf, types[i]);
	bpf_load_argument(bpf, 1);
}

/* RLIMIT_DATA counts neither shared memory without a file nor memory that grows as a stack does. */
void judge_mmap(struct bpf *bpf, const struct seccomp_needs *needs)
{
	(void)needs;
	bpf_load_argument(bpf, 3);
	size_t grows = bpf_if_any_bit(bpf, MAP_GROWSDOWN);
	bpf_fail_with(bpf, ENOMEM);
	bpf_end_if(bpf, grows);
	bpf_mask(bpf, MAP_SHARED | MAP_ANONYMOUS);
	size_t is_shared = bpf_if_equal(bpf, MAP_SHARED | MAP_ANONYMOUS);
	bpf_fail_with(bpf, ENOMEM);
	bpf_end_if(bpf, is_shared);
	bpf_allow(bpf);
}

/* Keys pushed into a terminal are commands to the program that reads from it next, a shell say.
 * Attributes of a file can be changed here too, by a descriptor that is open for reading. */
void judge_ioctl(struct bpf *bpf, const struct seccomp_needs *needs)
{
	static const uint32_t metadata[] = { FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION,
		EXT4_SETVERSION, FS_IOC_ENABLE_VERITY };
	bpf_load_argument(bpf, 1);
	judges_refuse_if_equal(bpf, TIOCSTI);
	judges_refuse_if_equal(bpf, TIOCLINUX);
	judges_judge_console(bpf);
	if (!needs->has_terminal)
		judges_judge_terminal(bpf);
	for (size_t i = 0; !needs->has_metadata && i < COUNT(metadata); i++)
		judges_refuse_if_equal(bpf, metadata[i]);
	bpf_allow(bpf);
}

/* The limits of another process, of the host for example; a process names itself by 0. */
void judge_prlimit(struct bpf *bpf, const struct seccomp_needs *needs)
{
	(void)needs;
	bpf_load_argument(bpf, 0);
	judges_allow_if_equal(bpf, 0);
	bpf_load_argument(bpf, 2);
	size_t question = bpf_if_equal(bpf, 0);
	bpf_load_upper_half(bpf, 2);
	judges_allow_if_equal(bpf, 0);
	bpf_end_if(bpf, question);
	bpf_fail_with(bpf, EPERM);
}

/* Of the internet: streams and datagrams of the usual protocols, nothing raw. */
static void judges_judge_internet(struct bpf *bpf, uint32_t family)
{
	static const uint32_t protocols[] = { 0, IPPROTO_ICMP, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMPV6,
		IPPROTO_UDPLITE, PROTOCOL_MPTCP };
	static const uint32_t types[] = { SOCK_STREAM, SOCK_DGRAM };
	size_t is_family = bpf_if_equal(bpf, family);
	for (size_t type = 0; type < 2; type++) {
		bpf_load_argument(bpf, 1);
		bpf_mask(bpf, SOCKET_TYPE_MASK);
		size_t is_type = bpf_if_equal(bpf, types[type]);
		bpf_load_argument(bpf, 2);
		for (size_t i = 0; i < COUNT(protocols); i++)
			judges_allow_if_equal(bpf, protocols[i]);
		bpf_end_if(bpf, is_type);
	}
	bpf_fail_with(bpf, EPERM);
	bpf_end_if(bpf, is_family);
}

/* Name resolution needs a netlink socket, for routes alone. */
static void judges_judge_netlink(struct bpf *bpf)
{
	enum { ROUTE = 0 };
	size_t is_family = bpf_if_equal(bpf, AF_NETLINK);
	bpf_load_argument(bpf, 2);
	judges_allow_if_equal(bpf, ROUTE);
	bpf_fail_with(bpf, EPERM);
	bpf_end_if(bpf, is_family);
}

void judge_socket(struct bpf *bpf, const struct seccomp_needs *needs)
{
	bpf_load_argument(bpf, 0);
	if (needs->has_unix)
		judges_allow_if_equal(bpf, AF_UNIX);
	if (needs->has_net) {
		judges_judge_internet(bpf, AF_INET);
		judges_judge_internet(bpf, AF_INET6);
		judges_judge_netlink(bpf);
	}
	bpf_fail_with(bpf, EPERM);
}

/* Sockets of a pair are connected with each other alone. */
void judge_socketpair(struct bpf *bpf, const struct seccomp_needs *needs)
{
	(void)needs;
	bpf_load_argument(bpf, 0);
	judges_allow_if_equal(bpf, AF_UNIX);
	bpf_fail_with(bpf, EPERM);
}

/* Fast open connects without a connect that Landlock would see. */
void judge_send(struct bpf *bpf, const struct seccomp_needs *needs)
{
	(void)needs;
	judges_judge_bits(bpf, 3, FASTOPEN_FLAG);
}

void judge_sendmsg(struct bpf *bpf, const struct seccomp_needs *needs)
{
	(void)needs;
	judges_judge_bits(bpf, 2, FASTOPEN_FLAG);
}

void judge_setsockopt(struct bpf *bpf, const struct seccomp_needs *needs)
{
	(void)needs;
	bpf_load_argument(bpf, 1);
	size_t question = bpf_if_equal(bpf, IPPROTO_TCP);
	bpf_load_argument(bpf, 2);
	judges_refuse_if_equal(bpf, FASTOPEN_OPTION);
	bpf_end_if(bpf, question);
	bpf_allow(bpf);
}

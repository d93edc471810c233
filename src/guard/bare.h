/* The kernel without a C library. Starting the library costs several times what starting the
 * process does (in a virtual machine, asking for the processor's features alone takes longer than
 * the whole life of a guard), and a room cannot open before its init has started. On machines for
 * which we have no start-up code, the C library is used. */
#ifndef GUARD_BARE_H
#define GUARD_BARE_H

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/bare_call.h"

/* Defined by the file that includes this one. */
static int bare_main(int argc, char **argv);

#if defined(__x86_64__)

__asm__(".globl _start\n"
		"_start:\n"
		"	xor %ebp, %ebp\n"
		"	mov %rsp, %rdi\n"
		"	and $-16, %rsp\n"
		"	call bare_begin\n");

#elif defined(__aarch64__)

__asm__(".globl _start\n"
		"_start:\n"
		"	mov x29, #0\n"
		"	mov x30, #0\n"
		"	mov x0, sp\n"
		"	bl bare_begin\n");

#else

int main(int argc, char **argv)
{
	return bare_main(argc, argv);
}

#endif

#if defined(__x86_64__) || defined(__aarch64__)

/* The stack as the kernel leaves it: argc, then argv. */
__attribute__((noreturn, used)) static void bare_begin(long *stack)
{
	int status = bare_main((int)stack[0], (char **)(stack + 1));
	for (;;)
		bare_call(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

#endif

/* ---- what the guard needs of it: a result, or a negative errno ---------------- */

static inline void bare_ignore(int signal)
{
	/* The kernel's own struct: the handler first (1 = ignore), then flags, a restorer and
	 * a mask of 64 signals, of which none is wanted. */
	const unsigned long action[4] = { 1 };
	bare_call(SYS_rt_sigaction, signal, (long)action, 0, sizeof(action[3]), 0, 0);
}

static inline long bare_poll(struct pollfd *fds, size_t count, const struct timespec *timeout)
{
	struct timespec left = timeout ? *timeout : (struct timespec){ 0 };
	return bare_call(SYS_ppoll, (long)fds, (long)count, timeout ? (long)&left : 0, 0, 0, 0);
}

static inline void bare_sleep(long duration_ns)
{
	const struct timespec duration = { .tv_nsec = duration_ns };
	bare_call(SYS_nanosleep, (long)&duration, 0, 0, 0, 0, 0);
}

static inline long bare_signal_pidfd(int pidfd, int signal)
{
	return bare_call(SYS_pidfd_send_signal, pidfd, signal, 0, 0, 0, 0);
}

static inline long bare_kill(int process, int signal)
{
	return bare_call(SYS_kill, process, signal, 0, 0, 0, 0);
}

static inline long bare_map(size_t size, int protection, int flags, int fd)
{
	return bare_call(SYS_mmap, 0, (long)size, protection, flags, fd, 0);
}

static inline long bare_open(const char *path, int flags)
{
	return bare_call(SYS_openat, AT_FDCWD, (long)path, flags, 0, 0, 0);
}

static inline long bare_write(int fd, const char *data, size_t len)
{
	return bare_call(SYS_write, fd, (long)data, (long)len, 0, 0, 0);
}

static inline long bare_ioctl(int fd, unsigned long request, void *argument)
{
	return bare_call(SYS_ioctl, fd, (long)request, (long)argument, 0, 0, 0);
}

static inline long bare_prctl(int option, long value)
{
	return bare_call(SYS_prctl, option, value, 0, 0, 0, 0);
}

#endif

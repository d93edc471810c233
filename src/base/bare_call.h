/* A system call that leaves errno alone, where we know how to make one: for code that has no C
 * library, or shares it with a process that looks into it. */
#ifndef BASE_BARE_CALL_H
#define BASE_BARE_CALL_H

#include <sys/syscall.h>

#if defined(__x86_64__) || defined(__aarch64__)
enum { BARE_CALL_SPARES_ERRNO = 1 };
#else
enum { BARE_CALL_SPARES_ERRNO = 0 };
#endif

#if defined(__x86_64__)

/* A result, or a negative errno. */
static inline long bare_call(long number, long a, long b, long c, long d, long e, long f)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall"
					 : "=a"(result)
					 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
					 : "rcx", "r11", "memory");
	return result;
}

/* Bears a process that goes on from here, on this stack; the caller ends. `pid` and `cleared` are
 * for the kernel, as the flags say; where there is no child, *refused becomes a negative errno. */
static inline void bare_split(unsigned long flags, int *pid, void *cleared, long *refused)
{
	long number = SYS_clone;
	register long r10 __asm__("r10") = (long)cleared;
	__asm__ volatile(
		"syscall\n\t"
		"test %%rax, %%rax\n\t"
		"jz 1f\n\t"
		"mov %%rax, (%[refused])\n\t"
		"mov %[exit], %%eax\n\t"
		"xor %%edi, %%edi\n\t"
		"syscall\n"
		"1:"
		: "+a"(number)
		: "D"(flags), "S"(0L), "d"(pid), "r"(r10), [refused] "r"(refused), [exit] "i"(SYS_exit)
		: "rcx", "r11", "memory");
}

/* Bears a process that runs a function, which never returns, on a stack of its own in our memory;
 * the caller goes on. `pid` and `cleared` are for the kernel, as the flags say. Returns the process
 * or a negative errno. */
static inline long bare_bear(
	unsigned long flags, void *stack, int *pid, void *cleared, void (*run)(void *data), void *data)
{
	long result;
	register long r10 __asm__("r10") = (long)cleared;
	register void *r12 __asm__("r12") = data;
	__asm__ volatile("syscall\n\t"
					 "test %%rax, %%rax\n\t"
					 "jnz 1f\n\t"
					 "mov %[data], %%rdi\n\t"
					 "xor %%ebp, %%ebp\n\t"
					 "call *%[run]\n\t"
					 "ud2\n"
					 "1:"
					 : "=a"(result)
					 : "a"((long)SYS_clone), "D"(flags), "S"(stack), "d"(pid),
					 "r"(r10), [run] "b"(run), [data] "r"(r12)
					 : "rcx", "r11", "memory");
	return result;
}

#elif defined(__aarch64__)

static inline long bare_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;
	__asm__ volatile("svc #0"
					 : "+r"(x0)
					 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
					 : "memory");
	return x0;
}

static inline void bare_split(unsigned long flags, int *pid, void *cleared, long *refused)
{
	register long x8 __asm__("x8") = SYS_clone;
	register long x0 __asm__("x0") = (long)flags;
	register long x1 __asm__("x1") = 0;
	register long x2 __asm__("x2") = (long)pid;
	register long x3 __asm__("x3") = 0;
	register long x4 __asm__("x4") = (long)cleared;
	__asm__ volatile(
		"svc #0\n\t"
		"cbz x0, 1f\n\t"
		"str x0, [%[refused]]\n\t"
		"mov x8, %[exit]\n\t"
		"mov x0, #0\n\t"
		"svc #0\n"
		"1:"
		: "+r"(x0), "+r"(x8)
		: "r"(x1), "r"(x2), "r"(x3), "r"(x4), [refused] "r"(refused), [exit] "i"(SYS_exit)
		: "memory");
}

static inline long bare_bear(
	unsigned long flags, void *stack, int *pid, void *cleared, void (*run)(void *data), void *data)
{
	register long x8 __asm__("x8") = SYS_clone;
	register long x0 __asm__("x0") = (long)flags;
	register long x1 __asm__("x1") = (long)stack;
	register long x2 __asm__("x2") = (long)pid;
	register long x3 __asm__("x3") = 0;
	register long x4 __asm__("x4") = (long)cleared;
	/* No registers that are cleared before the call. */
	register void (*x9)(void *data) __asm__("x9") = run;
	register void *x10 __asm__("x10") = data;
	__asm__ volatile("svc #0\n\t"
					 "cbnz x0, 1f\n\t"
					 "mov x0, %[data]\n\t"
					 "mov x29, #0\n\t"
					 "mov x30, #0\n\t"
					 "blr %[run]\n\t"
					 "brk #1\n"
					 "1:"
					 : "+r"(x0)
					 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), [run] "r"(x9), [data] "r"(x10)
					 : "memory");
	return x0;
}

#else

#include <errno.h>
#include <unistd.h>

static inline long bare_call(long number, long a, long b, long c, long d, long e, long f)
{
	long result = syscall(number, a, b, c, d, e, f);
	return result < 0 ? -errno : result;
}

static inline void bare_split(unsigned long flags, int *pid, void *cleared, long *refused)
{
	(void)flags, (void)pid, (void)cleared;
	*refused = -ENOSYS;
}

static inline long bare_bear(
	unsigned long flags, void *stack, int *pid, void *cleared, void (*run)(void *data), void *data)
{
	(void)flags, (void)stack, (void)pid, (void)cleared, (void)run, (void)data;
	return -ENOSYS;
}

#endif

#endif

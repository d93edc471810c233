/* The kernel without a C library. Starting the library costs several times what starting the
 * process does (in a virtual machine, asking for the processor's features alone takes longer than
 * the whole life of a guard), and a room cannot open before its init has started. On machines for
 * which we have no start-up code, the C library is used. */
#ifndef GUARD_BARE_H
#define GUARD_BARE_H

#include <sys/syscall.h>

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

#endif

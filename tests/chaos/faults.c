/* For perch by LD_PRELOAD: CHAOS_FAULTS="KIND SEED EVERY" lets one of so many calls fail, by a
 * chance that the seed decides: `memory` allocations, `descriptors` what opens one, `disk` what
 * writes to a file. `kill-when-raw` ends perch in the moment in which a terminal becomes raw. A
 * newborn that borrows our memory is spared: it is not perch yet. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

enum { NO_FAULTS, MEMORY, DESCRIPTORS, DISK, RAW, KINDS };

static int kind;
static const char *const kinds[KINDS] = { "", "memory", "descriptors", "disk", "kill-when-raw" };
static _Atomic uint64_t chance;
static unsigned every;
static pid_t own_pid;

__attribute__((constructor)) static void faults_begin(void)
{
	char name[16] = "";
	unsigned long seed = 0;
	const char *text = getenv("CHAOS_FAULTS");
	if (!text || sscanf(text, "%15s %lu %u", name, &seed, &every) != 3 || !every)
		return;
	atomic_store(&chance, seed * 2 + 1);
	own_pid = getpid();
	for (int i = 0; i < KINDS; i++)
		if (strcmp(name, kinds[i]) == 0)
			kind = i;
}

static bool faults_strike(int wanted)
{
	if (kind != wanted || syscall(SYS_getpid) != own_pid)
		return false;
	uint64_t now = atomic_load(&chance);
	now ^= now << 13;
	now ^= now >> 7;
	now ^= now << 17;
	atomic_store(&chance, now);
	return now % every == 0;
}

static bool faults_fail(int wanted, int error)
{
	bool strikes = faults_strike(wanted);
	if (strikes)
		errno = error;
	return strikes;
}

/* ---- memory ---------------------------------------------------------------------------- */

void *malloc(size_t size)
{
	return faults_fail(MEMORY, ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return faults_fail(MEMORY, ENOMEM) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return faults_fail(MEMORY, ENOMEM) ? NULL : __libc_realloc(old, size);
}

/* ---- descriptors ------------------------------------------------------------------------- */

static int faults_open(int directory, const char *path, int flags, mode_t mode)
{
	return faults_fail(DESCRIPTORS, EMFILE)
		? -1
		: (int)syscall(SYS_openat, directory, path, flags, mode);
}

#define MODE_OF(flags, mode)               \
	mode_t mode = 0;                       \
	if ((flags) & (O_CREAT | O_TMPFILE)) { \
		va_list rest;                      \
		va_start(rest, flags);             \
		mode = va_arg(rest, mode_t);       \
		va_end(rest);                      \
	}

/* On this machine an offset has 64 bits either way. */
#define ALIAS(name, same) extern __typeof__(same) name __attribute__((alias(#same)))

int open(const char *path, int flags, ...)
{
	MODE_OF(flags, mode)
	return faults_open(AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...)
{
	MODE_OF(flags, mode)
	return faults_open(directory, path, flags, mode);
}

ALIAS(open64, open);
ALIAS(openat64, openat);

int pipe2(int fds[2], int flags)
{
	return faults_fail(DESCRIPTORS, EMFILE) ? -1 : (int)syscall(SYS_pipe2, fds, flags);
}

int socketpair(int domain, int type, int protocol, int fds[2])
{
	return faults_fail(DESCRIPTORS, EMFILE)
		? -1
		: (int)syscall(SYS_socketpair, domain, type, protocol, fds);
}

/* ---- the disk ------------------------------------------------------------------------------ */

static bool faults_disk(int fd)
{
	struct stat status;
	return kind == DISK && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
		faults_fail(DISK, ENOSPC);
}

ssize_t write(int fd, const void *data, size_t len)
{
	return faults_disk(fd) ? -1 : syscall(SYS_write, fd, data, len);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t offset)
{
	return faults_disk(fd) ? -1 : syscall(SYS_pwrite64, fd, data, len, offset);
}

ALIAS(pwrite64, pwrite);

int fsync(int fd)
{
	return faults_disk(fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

/* ---- the terminal -------------------------------------------------------------------------- */

int tcsetattr(int fd, int when, const struct termios *modes)
{
	int (*real)(int, int, const struct termios *) = dlsym(RTLD_NEXT, "tcsetattr");
	int r = real(fd, when, modes);
	if (kind == RAW && !(modes->c_lflag & ICANON) && faults_fail(RAW, 0))
		raise(SIGKILL);
	return r;
}

/* A process by descriptor: signals and exit statuses that cannot be those of another process that
 * got the same number later. */
#ifndef PROC_PIDFD_H
#define PROC_PIDFD_H

#include <stdbool.h>
#include <sys/types.h>

/* How long to wait for a killed process to be dead. */
enum { DEATH_WAIT_MS = 5000 };

struct exit_status {
	bool stolen;   /* another part of the program has reaped it */
	bool known;    /* false: stolen, and the kernel does not tell */
	int exit_code; /* -1 when a signal ended it */
	int signal;    /* 0, or that signal */
	bool dumped_core;
};

/* The descriptor of a living child. Returns it or a negative errno. */
int pidfd_open_process(pid_t pid);

/* What a clone with CLONE_PIDFD has come to: the process id, or a negative errno (errno is still
 * the clone's) and no descriptor. The kernel writes the number of one before it knows that there
 * will be a process. */
pid_t pidfd_born(pid_t pid, int *pidfd);

/* Looks whether the child has exited and leaves it a zombie: its process id
 * and group stay reserved. Returns 1 exited, 0 alive, or a negative errno. */
int pidfd_peek(int pidfd, struct exit_status *ret_status);

/* Waits until the process has exited. 1 = it has, 0 = not within that time. */
int pidfd_wait(int pidfd, int timeout_ms);

/* Lets the zombie go; waits for the exit if there was none yet. Harmless when it was reaped
 * elsewhere. */
void pidfd_reap(int pidfd);

/* Signals the process, which is `pid` (0 = not known) and not yet reaped. Returns
 * 0 or a negative errno. */
int pidfd_signal(int pidfd, pid_t pid, int signal);

/* Signals the process group that `pid` leads. Safe while pid is not reaped; on
 * kernels >= 6.9 also afterwards. Returns 0 or a negative errno. */
int pidfd_signal_group(int pidfd, pid_t pid, bool is_reaped, int signal);

#endif

/* A process by descriptor. */
#include "proc/pidfd.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Debian 12's kernel headers (6.1) are older than these. */
enum {
	SIGNAL_PROCESS_GROUP = 1 << 2, /* Linux 6.9 */
	INFO_EXIT = 1 << 3,            /* Linux 6.15 */
};

struct pidfd_information {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};

#define GET_INFORMATION _IOWR(0xFF, 11, struct pidfd_information)

int pidfd_open_process(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	return fd < 0 ? -errno : fd;
}

pid_t pidfd_born(pid_t pid, int *pidfd)
{
	if (pid >= 0)
		return pid;
	*pidfd = -1;
	return -errno;
}

static struct exit_status pidfd_from_siginfo(const siginfo_t *info)
{
	if (info->si_code == CLD_EXITED)
		return (struct exit_status){ .known = true, .exit_code = info->si_status };
	return (struct exit_status){
		.known = true,
		.exit_code = -1,
		.signal = info->si_status,
		.dumped_core = info->si_code == CLD_DUMPED,
	};
}

/* Our child was reaped elsewhere: the program ignores SIGCHLD, or waits for any child. Newer
 * kernels remember the status all the same. */
static struct exit_status pidfd_from_kernel_memory(int pidfd)
{
	struct pidfd_information info = { .mask = INFO_EXIT };
	if (ioctl(pidfd, GET_INFORMATION, &info) < 0 || !(info.mask & INFO_EXIT))
		return (struct exit_status){ .stolen = true, .exit_code = -1 };
	int status = info.exit_code;
	if (WIFEXITED(status))
		return (struct exit_status){
			.stolen = true,
			.known = true,
			.exit_code = WEXITSTATUS(status),
		};
	return (struct exit_status){
		.stolen = true,
		.known = true,
		.exit_code = -1,
		.signal = WTERMSIG(status),
		.dumped_core = WCOREDUMP(status),
	};
}

/* __WALL: one that was born into a room and did not come to its exec is no
 * ordinary child, it has no exit signal. */
int pidfd_peek(int pidfd, struct exit_status *ret_status)
{
	siginfo_t info = { 0 };
	int r;
	do
		r = waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOWAIT | WNOHANG | __WALL);
	while (r < 0 && errno == EINTR);
	if (r < 0 && errno != ECHILD)
		return -errno;
	if (r == 0 && info.si_pid == 0)
		return 0;
	*ret_status = r < 0 ? pidfd_from_kernel_memory(pidfd) : pidfd_from_siginfo(&info);
	return 1;
}

int pidfd_wait(int pidfd, int timeout_ms)
{
	struct pollfd fds = { .fd = pidfd, .events = POLLIN };
	int r;
	do
		r = poll(&fds, 1, timeout_ms);
	while (r < 0 && errno == EINTR);
	return r > 0;
}

void pidfd_reap(int pidfd)
{
	siginfo_t info;
	while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | __WALL) < 0 && errno == EINTR)
		;
}

static int pidfd_send_signal(int pidfd, int signal, unsigned flags)
{
	return syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, flags) < 0 ? -errno : 0;
}

/* valgrind does not know the call. */
int pidfd_signal(int pidfd, pid_t pid, int signal)
{
	int r = pidfd_send_signal(pidfd, signal, 0);
	if (r != -ENOSYS || pid <= 0)
		return r;
	return kill(pid, signal) < 0 ? -errno : 0;
}

int pidfd_signal_group(int pidfd, pid_t pid, bool is_reaped, int signal)
{
	int r = pidfd_send_signal(pidfd, signal, SIGNAL_PROCESS_GROUP);
	if (r != -EINVAL && r != -ENOSYS)
		return r;
	/* An older kernel. Without the zombie the number may belong to another process. */
	if (is_reaped)
		return -ESRCH;
	return kill(-pid, signal) < 0 ? -errno : 0;
}

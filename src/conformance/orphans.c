/* Processes that a program under test has left behind. */
#include "conformance/trial.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "base/fd.h"
#include "proc/child.h"
#include "proc/pidfd.h"

/* A process that dies leaves its own children to us: then there is another round. */
enum { ROUNDS_MAX = 1000 };

void orphans_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

static bool orphans_is_started(const perch_host *host, pid_t pid)
{
	const perch_child *child = host->children;
	while (child && child->pid != pid)
		child = child->next;
	return child || pid == host->guard.pid;
}

static bool orphans_end_process(pid_t pid)
{
	_cleanup_fd_ int fd = pidfd_open_process(pid);
	if (fd < 0 || pidfd_signal(fd, pid, SIGKILL) < 0 || pidfd_wait(fd, DEATH_WAIT_MS) != 1)
		return false;
	pidfd_reap(fd);
	return true;
}

/* Whether there was any. */
static bool orphans_end_some(const perch_host *host)
{
	FILE *children = fopen("/proc/thread-self/children", "re");
	bool has_ended = false;
	for (int pid; children && fscanf(children, "%d", &pid) == 1;) {
		if (!orphans_is_started(host, pid))
			has_ended |= orphans_end_process(pid);
	}
	if (children)
		fclose(children);
	return has_ended;
}

void orphans_end(const perch_host *host)
{
	for (int i = 0; i < ROUNDS_MAX && orphans_end_some(host); i++)
		;
}

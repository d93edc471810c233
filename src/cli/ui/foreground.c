/* The process group that has the terminal. */
#include "cli/ui/foreground.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

static int foreground_open_terminal(void)
{
	return open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
}

bool foreground_is_ours(void)
{
	_cleanup_fd_ int terminal = foreground_open_terminal();
	return terminal >= 0 && tcgetpgrp(terminal) == getpgrp();
}

static bool foreground_is_gone(pid_t group)
{
	return group > 0 && kill(-group, 0) < 0 && errno == ESRCH;
}

void foreground_take_back(void)
{
	_cleanup_fd_ int terminal = foreground_open_terminal();
	if (terminal < 0 || !foreground_is_gone(tcgetpgrp(terminal)))
		return;
	/* A process in the background that takes the terminal is stopped by SIGTTOU otherwise. */
	sigset_t stop;
	sigset_t before;
	sigemptyset(&stop);
	sigaddset(&stop, SIGTTOU);
	sigprocmask(SIG_BLOCK, &stop, &before);
	tcsetpgrp(terminal, getpgrp());
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void foreground_remember(struct foreground_modes *modes, int fd)
{
	modes->fd = fd;
	modes->is_known = tcgetattr(fd, &modes->modes) == 0;
}

static bool foreground_is_same(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
		a->c_lflag == b->c_lflag && memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc)) == 0;
}

void foreground_restore(const struct foreground_modes *modes)
{
	struct termios now;
	if (!modes->is_known || tcgetattr(modes->fd, &now) < 0 ||
		foreground_is_same(&now, &modes->modes))
		return;
	pid_t group = tcgetpgrp(modes->fd);
	if (group < 0 || group == getpgrp())
		tcsetattr(modes->fd, TCSANOW, &modes->modes);
}

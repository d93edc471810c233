/* The terminal's own modes. */
#include "term/tty.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

/* TCSANOW, not TCSAFLUSH: what was typed ahead is wanted. */
static int tty_apply(int fd, const struct termios *modes)
{
	while (tcsetattr(fd, TCSANOW, modes) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

int tty_enter(struct tty *tty)
{
	if (tty->is_raw)
		return 0;
	if (tcgetattr(tty->fd, &tty->found) < 0)
		return -errno;
	struct termios raw = tty->found;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | IXON | ISTRIP);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	/* The flag is set first: a signal in between restores once too often, which is better than not
	 * at all. */
	tty->is_raw = 1;
	guard_keep_terminal(tty->guard, tty->fd, &raw, tty->restoring);
	int r = tty_apply(tty->fd, &raw);
	if (r < 0) {
		tty->is_raw = 0;
		guard_forget_terminal(tty->guard);
	}
	return r;
}

/* In the background the kernel would stop us for this (SIGTTOU); a process that is about to end
 * must not be stopped. */
void tty_leave(struct tty *tty)
{
	if (!tty->is_raw)
		return;
	sigset_t background;
	sigset_t before;
	sigemptyset(&background);
	sigaddset(&background, SIGTTOU);
	pthread_sigmask(SIG_BLOCK, &background, &before);
	tty_apply(tty->fd, &tty->found);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	guard_forget_terminal(tty->guard);
	tty->is_raw = 0;
}

void tty_forget(int fd)
{
	tcflush(fd, TCIFLUSH);
}

void tty_size(int fd, size_t *ret_columns, size_t *ret_rows)
{
	struct winsize size = { 0 };
	if (ioctl(fd, TIOCGWINSZ, &size) < 0)
		size = (struct winsize){ 0 };
	*ret_columns = size.ws_col;
	*ret_rows = size.ws_row;
}

bool tty_is_dumb(void)
{
	const char *name = getenv("TERM");
	return !name || !name[0] || strcmp(name, "dumb") == 0;
}

/* Signals as events of the loop. */
#include "cli/ui/signals.h"

#include <errno.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/macros.h"
#include "frontend.h"

static void signals_ready(struct source *source, uint32_t events)
{
	(void)events;
	struct signals *signals = container_of(source, struct signals, source);
	struct signalfd_siginfo info;
	if (read(source->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		signals->arrived(signals->data, (int)info.ssi_signo);
}

int signals_watch(
	struct signals *signals, struct loop *loop, const int *list, signal_fn *arrived, void *data)
{
	sigset_t set;
	sigemptyset(&set);
	for (; *list; list++)
		sigaddset(&set, *list);
	*signals = (struct signals){ .loop = loop, .arrived = arrived, .data = data };
	pthread_sigmask(SIG_BLOCK, &set, &signals->before);
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	signals->source =
		(struct source){ .fd = fd < 0 ? -errno : fd_above_stdio(fd), .ready = signals_ready };
	int r =
		signals->source.fd < 0 ? signals->source.fd : loop_watch(loop, &signals->source, EPOLLIN);
	if (r < 0)
		signals_close(signals);
	return r;
}

void signals_close(struct signals *signals)
{
	if (signals->source.fd >= 0)
		loop_watch(signals->loop, &signals->source, 0);
	signals->source.fd = fd_close(signals->source.fd);
	pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
}

int signals_serve(struct loop *loop, signal_fn *arrived, int (*run)(void *data), void *data)
{
	static const int watched[] = { SIGINT, SIGTERM, SIGHUP, 0 };
	struct signals signals;
	int r = signals_watch(&signals, loop, watched, arrived, data);
	if (r < 0)
		return r;
	r = run(data);
	signals_close(&signals);
	return r;
}

/* SIGSTOP, not SIGTSTP: ours is blocked and watched. The group of the shell's
 * job is stopped as a whole, so that the shell sees it stop. */
uint64_t signals_stop_self(void)
{
	uint64_t before = clock_now_ns();
	kill(getpid(), SIGSTOP);
	return clock_now_ns() - before;
}

void signals_suspend(struct frontend *terminal)
{
	if (terminal)
		terminal->table->suspend(terminal);
	signals_stop_self();
	if (terminal)
		terminal->table->resume(terminal);
}

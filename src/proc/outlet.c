/* Bytes on their way out of a descriptor that is not ours alone. */
#include "proc/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/linux_calls.h"
#include "base/macros.h"

enum {
	PIECE = PIPE_BUF,              /* a pipe that takes anything takes so much at once */
	OUTLET_KEEP = 2 * OUTLET_FULL, /* memory beyond it is given back when all is written */
};

static void outlet_forget(struct outlet *outlet)
{
	if (outlet->queue.cap > OUTLET_KEEP)
		buf_free(&outlet->queue);
	else
		buf_clear(&outlet->queue);
	outlet->written = 0;
}

static void outlet_fail(struct outlet *outlet, int error)
{
	outlet->error = error;
	outlet_forget(outlet);
}

static bool outlet_takes_something(int fd)
{
	struct pollfd one = { .fd = fd, .events = POLLOUT };
	return poll(&one, 1, 0) > 0;
}

/* Writes what can be written without waiting; EAGAIN when that is nothing. */
static ssize_t outlet_write_piece(struct outlet *outlet, char *data, size_t len)
{
	int fd = outlet->source.fd;
	if (!outlet->no_nowait) {
		struct iovec part = { .iov_base = data, .iov_len = len };
		ssize_t n = pwritev2(fd, &part, 1, -1, RWF_NOWAIT);
		if (n >= 0 || (errno != EOPNOTSUPP && errno != EINVAL && errno != ENOSYS))
			return n;
		outlet->no_nowait = true;
	}
	if (outlet_takes_something(fd))
		return write(fd, data, len < PIECE ? len : PIECE);
	errno = EAGAIN;
	return -1;
}

/* Returns whether anything could be. */
static bool outlet_write_some(struct outlet *outlet)
{
	size_t before = outlet->written;
	while (outlet_waiting(outlet)) {
		ssize_t n = outlet_write_piece(
			outlet, outlet->queue.data + outlet->written, outlet_waiting(outlet));
		if (n >= 0) {
			outlet->written += (size_t)n;
		} else if (errno == EAGAIN) {
			return outlet->written > before;
		} else if (errno != EINTR) {
			outlet_fail(outlet, -errno);
			return true;
		}
	}
	outlet_forget(outlet);
	return true;
}

static void outlet_write_all(struct outlet *outlet)
{
	if (outlet->queue.len)
		outlet->error =
			fd_write_all_quietly(outlet->source.fd, outlet->queue.data, outlet->queue.len);
	outlet_forget(outlet);
}

/* Also while nothing waits: that the reader has gone should be known at once. */
static int outlet_watch(struct outlet *outlet)
{
	uint32_t events = outlet_waiting(outlet) ? EPOLLOUT : EPOLLERR;
	return loop_watch(outlet->loop, &outlet->source, outlet->error ? 0 : events);
}

static void outlet_check_patience(struct outlet *outlet, bool has_moved)
{
	struct timers *timers = &outlet->loop->timers;
	bool waits = outlet->is_hurried && outlet_waiting(outlet);
	if (waits && !outlet->patience_ns)
		outlet_fail(outlet, -EPIPE);
	else if (!waits)
		timer_cancel(timers, &outlet->patience);
	else if (has_moved || !timer_is_set(&outlet->patience))
		timer_set(timers, &outlet->patience, clock_after(clock_now_ns(), outlet->patience_ns));
}

/* Gives back the memory of bytes that were written already, before the queue is empty. */
static void outlet_check_room(struct outlet *outlet)
{
	if (outlet->written > outlet->queue.len / 2) {
		buf_consume(&outlet->queue, outlet->written);
		outlet->written = 0;
	}
	size_t limit = outlet->is_full ? OUTLET_FULL / 2 : OUTLET_FULL;
	bool was_full = outlet->is_full;
	outlet->is_full = outlet_waiting(outlet) >= limit;
	if (outlet->is_full && !was_full && outlet->events->full)
		outlet->events->full(outlet);
}

void outlet_flush(struct outlet *outlet)
{
	if (outlet->error)
		outlet_forget(outlet);
	if (!outlet->loop) {
		outlet_write_all(outlet);
		return;
	}
	bool has_moved = outlet_waiting(outlet) && outlet_write_some(outlet);
	outlet_check_patience(outlet, has_moved);
	if (outlet_watch(outlet) < 0)
		outlet_fail(outlet, -ENOMEM);
	outlet_check_room(outlet);
}

void outlet_take(struct outlet *outlet, struct buf *bytes)
{
	if (!outlet_waiting(outlet)) {
		struct buf empty = outlet->queue;
		outlet->queue = *bytes;
		*bytes = empty;
	} else if (buf_append(&outlet->queue, bytes->data, bytes->len) < 0) {
		outlet_fail(outlet, -ENOMEM);
	}
	buf_clear(bytes);
	outlet_flush(outlet);
}

void outlet_hurry(struct outlet *outlet, uint64_t patience_ns)
{
	outlet->is_hurried = true;
	outlet->patience_ns = patience_ns;
	if (!outlet->loop)
		return;
	outlet_check_patience(outlet, true);
	outlet_watch(outlet);
}

static void outlet_go_on(struct outlet *outlet, int error)
{
	outlet->error = error;
	outlet_flush(outlet);
	if (outlet->events->moved)
		outlet->events->moved(outlet);
}

static void outlet_patience_is_over(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	outlet_go_on(container_of(timer, struct outlet, patience), -EPIPE);
}

static void outlet_ready(struct source *source, uint32_t events)
{
	struct outlet *outlet = container_of(source, struct outlet, source);
	bool has_gone = events & (EPOLLERR | EPOLLHUP);
	outlet_go_on(outlet, has_gone ? -EPIPE : outlet->error);
}

/* How much a terminal takes cannot be known before: it needs an open file description of our own
 * that does not block. Where it may not be opened, writes to it block. */
static int outlet_reopen_terminal(int fd)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int opened = isatty(fd) ? open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) : -1;
	return opened < 0 ? 0 : fd_above_stdio(opened);
}

int outlet_open(
	struct outlet *outlet, struct loop *loop, int fd, const struct outlet_events *events)
{
	static const struct outlet_events none;
	int own_fd = outlet_reopen_terminal(fd);
	*outlet = (struct outlet){
		.loop = loop,
		.source = { .fd = own_fd > 0 ? own_fd : fd, .ready = outlet_ready },
		.own_fd = own_fd > 0 ? own_fd : 0,
		.events = events ? events : &none,
		.patience.due = outlet_patience_is_over,
	};
	bool is_promised = timers_promise(&loop->timers) == 0;
	if (is_promised && outlet_watch(outlet) == 0)
		return 0;
	if (is_promised)
		timers_release(&loop->timers);
	outlet->loop = NULL;
	return is_promised ? 0 : -ENOMEM;
}

void outlet_close(struct outlet *outlet)
{
	if (outlet->loop) {
		loop_watch(outlet->loop, &outlet->source, 0);
		timer_cancel(&outlet->loop->timers, &outlet->patience);
		timers_release(&outlet->loop->timers);
	}
	if (outlet->own_fd)
		fd_close(outlet->own_fd);
	buf_free(&outlet->queue);
}

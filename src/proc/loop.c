/* The event loop: descriptors in one epoll, deadlines in one heap. */
#include "proc/loop.h"

#include <errno.h>
#include <limits.h>

#include "base/fd.h"

int loop_init(struct loop *loop)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);
	*loop = (struct loop){ .epoll_fd = fd < 0 ? -errno : fd_above_stdio(fd) };
	return loop->epoll_fd < 0 ? loop->epoll_fd : 0;
}

void loop_close(struct loop *loop)
{
	loop->epoll_fd = fd_close(loop->epoll_fd);
	timers_free(&loop->timers);
}

/* Events that were already fetched may name a source that its owner is about to free. */
static void loop_forget_fetched(struct loop *loop, const struct source *source)
{
	for (int i = loop->batch_at; i < loop->batch_len; i++) {
		if (loop->batch[i].data.ptr == source)
			loop->batch[i].data.ptr = NULL;
	}
}

int loop_watch(struct loop *loop, struct source *source, uint32_t events)
{
	if (source->watched == events)
		return 0;
	int operation = !source->watched ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
	struct epoll_event event = { .events = events, .data.ptr = source };
	if (epoll_ctl(loop->epoll_fd, operation, source->fd, &event) < 0)
		return -errno;
	source->watched = events;
	if (!events)
		loop_forget_fetched(loop, source);
	return 0;
}

uint64_t loop_now_ns(struct loop *loop)
{
	if (!loop->now_ns || !loop->dispatching)
		loop->now_ns = clock_now_ns();
	return loop->now_ns;
}

int loop_timeout_ms(const struct loop *loop)
{
	uint64_t next = timers_next(&loop->timers);
	if (next == NEVER)
		return -1;
	uint64_t now = clock_now_ns();
	if (next <= now)
		return 0;
	uint64_t ms = (next - now - 1) / NSEC_PER_MSEC + 1;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

static int loop_earlier_ms(int a, int b)
{
	if (a < 0)
		return b;
	return b >= 0 && b < a ? b : a;
}

int loop_run(struct loop *loop, int timeout_ms)
{
	int wait_ms = timeout_ms == 0 ? 0 : loop_earlier_ms(timeout_ms, loop_timeout_ms(loop));
	int fetched = epoll_wait(loop->epoll_fd, loop->batch, LOOP_BATCH, wait_ms);
	if (fetched < 0)
		return errno == EINTR ? 0 : -errno;
	loop->dispatching = true;
	loop->now_ns = 0;
	loop->batch_len = fetched;
	for (loop->batch_at = 0; loop->batch_at < loop->batch_len;) {
		const struct epoll_event *event = &loop->batch[loop->batch_at++];
		struct source *source = event->data.ptr;
		if (source)
			source->ready(source, event->events);
	}
	loop->batch_len = 0;
	unsigned called = 0;
	if (timers_next(&loop->timers) != NEVER)
		called = timers_run(&loop->timers, clock_now_ns());
	loop->dispatching = false;
	return fetched + (int)called;
}

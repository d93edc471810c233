/* include/perch/loop.h: descriptors and timers of the program in the loop of a host. */
#include "base/macros.h"
#include "perch/loop.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "proc/host.h"

struct perch_source {
	struct source source; /* first: the loop hands it back */
	perch_host *host;
	perch_source_fn *ready;
	void *data;
};

struct perch_timer {
	struct timer timer; /* first, likewise */
	perch_host *host;
	perch_timer_fn *due;
	void *data;
};

/* Our bits and those of epoll. */
static const struct {
	unsigned event;
	uint32_t bits;
} source_events[] = {
	{ PERCH_READABLE, EPOLLIN },
	{ PERCH_WRITABLE, EPOLLOUT },
	{ PERCH_PEER_LEFT, EPOLLRDHUP },
	{ PERCH_HANGUP, EPOLLHUP | EPOLLERR },
};

enum { SOURCE_EVENTS = COUNT(source_events) };

static int sources_source_bits(unsigned events, uint32_t *ret_bits)
{
	uint32_t bits = 0;
	for (size_t i = 0; i < SOURCE_EVENTS; i++) {
		if (events & source_events[i].event)
			bits |= source_events[i].bits;
		events &= ~source_events[i].event;
	}
	if (events)
		return -EINVAL;
	*ret_bits = bits;
	return 0;
}

static void sources_source_ready(struct source *source, uint32_t bits)
{
	perch_source *self = (perch_source *)source;
	unsigned events = 0;
	for (size_t i = 0; i < SOURCE_EVENTS; i++) {
		if (bits & source_events[i].bits)
			events |= source_events[i].event;
	}
	self->ready(self, self->data, events);
}

int perch_source_watch(perch_source *source, unsigned events)
{
	uint32_t bits = 0;
	int r = sources_source_bits(events, &bits);
	return r < 0 ? r : loop_watch(&source->host->loop, &source->source, bits);
}

int perch_source_new(perch_host *host, int fd, unsigned events, perch_source_fn *ready, void *data,
	perch_source **ret_source, perch_err *err)
{
	perch_source *source = calloc(1, sizeof(*source));
	if (!source)
		return err_no_memory(err);
	*source = (perch_source){ { fd, 0, sources_source_ready }, host, ready, data };
	int r = perch_source_watch(source, events);
	if (r < 0) {
		free(source);
		return err_set(err, r, "cannot watch descriptor %d: %s", fd, perch_strerror(r));
	}
	*ret_source = source;
	return 0;
}

void perch_source_free(perch_source *source)
{
	if (!source)
		return;
	loop_watch(&source->host->loop, &source->source, 0);
	free(source);
}

static void sources_source_timer_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	perch_timer *self = (perch_timer *)timer;
	self->due(self, self->data);
}

int perch_timer_new(
	perch_host *host, perch_timer_fn *due, void *data, perch_timer **ret_timer, perch_err *err)
{
	perch_timer *timer = calloc(1, sizeof(*timer));
	if (!timer || timers_promise(&host->loop.timers) < 0) {
		free(timer);
		return err_no_memory(err);
	}
	*timer = (perch_timer){ { .due = sources_source_timer_due }, host, due, data };
	*ret_timer = timer;
	return 0;
}

void perch_timer_set(perch_timer *timer, uint64_t after_ns)
{
	struct loop *loop = &timer->host->loop;
	timer_set(&loop->timers, &timer->timer,
		after_ns == UINT64_MAX ? NEVER : clock_after(loop_now_ns(loop), after_ns));
}

void perch_timer_free(perch_timer *timer)
{
	if (!timer)
		return;
	timer_cancel(&timer->host->loop.timers, &timer->timer);
	timers_release(&timer->host->loop.timers);
	free(timer);
}

/* Deadlines in a binary heap, the earliest at the top. */
#include "proc/timers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"

int timers_promise(struct timers *timers)
{
	struct timer **heap =
		vec_grow(timers->heap, &timers->cap, timers->promised + 1, sizeof(*timers->heap));
	if (!heap)
		return -ENOMEM;
	timers->heap = heap;
	timers->promised++;
	return 0;
}

void timers_release(struct timers *timers)
{
	timers->promised--;
}

static void timers_place(struct timers *timers, struct timer *timer, size_t position)
{
	timers->heap[position - 1] = timer;
	timer->position = position;
}

static struct timer *timers_at(const struct timers *timers, size_t position)
{
	return timers->heap[position - 1];
}

static void timers_rise(struct timers *timers, struct timer *timer, size_t position)
{
	for (; position > 1; position /= 2) {
		struct timer *parent = timers_at(timers, position / 2);
		if (parent->when_ns <= timer->when_ns)
			break;
		timers_place(timers, parent, position);
	}
	timers_place(timers, timer, position);
}

static void timers_sink(struct timers *timers, struct timer *timer, size_t position)
{
	for (;;) {
		size_t child = position * 2;
		if (child > timers->count)
			break;
		if (child < timers->count &&
			timers_at(timers, child + 1)->when_ns < timers_at(timers, child)->when_ns)
			child++;
		if (timers_at(timers, child)->when_ns >= timer->when_ns)
			break;
		timers_place(timers, timers_at(timers, child), position);
		position = child;
	}
	timers_place(timers, timer, position);
}

/* Puts a timer whose place in the order may have changed where it belongs. */
static void timers_settle(struct timers *timers, struct timer *timer, size_t position)
{
	if (position > 1 && timers_at(timers, position / 2)->when_ns > timer->when_ns)
		timers_rise(timers, timer, position);
	else
		timers_sink(timers, timer, position);
}

static void timers_take_out(struct timers *timers, struct timer *timer)
{
	size_t position = timer->position;
	struct timer *last = timers_at(timers, timers->count);
	timers->count--;
	timer->position = 0;
	if (last != timer)
		timers_settle(timers, last, position);
}

void timer_set(struct timers *timers, struct timer *timer, uint64_t when_ns)
{
	timer->when_ns = when_ns;
	if (when_ns == NEVER) {
		if (timer->position)
			timers_take_out(timers, timer);
	} else if (timer->position) {
		timers_settle(timers, timer, timer->position);
	} else {
		timers->count++;
		timers_rise(timers, timer, timers->count);
	}
}

uint64_t timers_next(const struct timers *timers)
{
	return timers->count ? timers->heap[0]->when_ns : NEVER;
}

unsigned timers_run(struct timers *timers, uint64_t now_ns)
{
	unsigned called = 0;
	/* A timer that sets itself to a moment already past waits for the next
	 * round: otherwise it could keep this loop for ever. */
	size_t most = timers->count;
	while (called < most && timers_next(timers) <= now_ns) {
		struct timer *timer = timers->heap[0];
		timers_take_out(timers, timer);
		timer->due(timer, now_ns);
		called++;
	}
	return called;
}

/* All by the same amount: the order of the heap stays. */
void timers_delay(struct timers *timers, uint64_t delay_ns)
{
	for (size_t i = 0; i < timers->count; i++)
		timers->heap[i]->when_ns = clock_after(timers->heap[i]->when_ns, delay_ns);
}

void timers_free(struct timers *timers)
{
	free(timers->heap);
	*timers = (struct timers){ 0 };
}

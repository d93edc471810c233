/* A thread for work that waits for a disk. */
#include "queue/desk.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/thread.h"
#include "perch/loop.h"

struct desk {
	const struct desk_round *round;
	void *context;
	perch_source *source;
	int bell; /* an eventfd: something has been worked */
	size_t waiting;
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* over the members below */
	pthread_cond_t more;
	struct list ordered;
	struct list worked;
	bool is_closing;
};

/* ---- the thread ------------------------------------------------------------- */

static int desk_work_all(struct desk *desk, struct list *orders)
{
	int r = desk->round->begin(desk->context);
	for (struct desk_order *order = list_first(orders); order && r >= 0; order = list_next(order))
		r = order->work(order, desk->context);
	if (r < 0)
		desk->round->undo(desk->context);
	else
		r = desk->round->end(desk->context);
	return r;
}

static void desk_work_round(struct desk *desk, struct list *orders)
{
	int r = desk_work_all(desk, orders);
	for (struct desk_order *order = list_first(orders); order; order = list_next(order))
		order->result = r;
}

static void desk_ring(struct desk *desk)
{
	const uint64_t one = 1;
	while (write(desk->bell, &one, sizeof(one)) < 0 && errno == EINTR)
		continue;
}

static void *desk_run(void *data)
{
	struct desk *desk = data;
	pthread_mutex_lock(&desk->lock);
	for (;;) {
		while (!desk->ordered.count && !desk->is_closing)
			pthread_cond_wait(&desk->more, &desk->lock);
		if (!desk->ordered.count)
			break;
		struct list round = desk->ordered;
		desk->ordered = (struct list){ 0 };
		pthread_mutex_unlock(&desk->lock);
		desk_work_round(desk, &round);
		pthread_mutex_lock(&desk->lock);
		struct desk_order *order;
		while ((order = list_first(&round))) {
			list_remove(&round, order);
			list_append(&desk->worked, order);
		}
		desk_ring(desk);
	}
	pthread_mutex_unlock(&desk->lock);
	return NULL;
}

/* ---- the loop ----------------------------------------------------------------- */

static void desk_tell(struct desk *desk)
{
	pthread_mutex_lock(&desk->lock);
	struct list worked = desk->worked;
	desk->worked = (struct list){ 0 };
	pthread_mutex_unlock(&desk->lock);
	struct desk_order *order;
	while ((order = list_first(&worked))) {
		list_remove(&worked, order);
		desk->waiting--;
		order->done(order, order->result);
	}
}

static void desk_heard(perch_source *source, void *data, unsigned events)
{
	(void)source;
	(void)events;
	struct desk *desk = data;
	uint64_t count;
	if (read(desk->bell, &count, sizeof(count)) > 0)
		desk_tell(desk);
}

void desk_take(struct desk *desk, struct desk_order *order)
{
	desk->waiting++;
	pthread_mutex_lock(&desk->lock);
	list_append(&desk->ordered, order);
	pthread_cond_signal(&desk->more);
	pthread_mutex_unlock(&desk->lock);
}

size_t desk_waiting(const struct desk *desk)
{
	return desk->waiting;
}

/* ---- life ---------------------------------------------------------------------- */

DEFINE_POINTER_CLEANUP(desk_cleanup, struct desk, desk_close)

int desk_open(perch_host *host, const struct desk_round *round, void *context,
	struct desk **ret_desk, perch_err *err)
{
	_cleanup_(desk_cleanup) struct desk *desk = calloc(1, sizeof(*desk));
	if (!desk)
		return err_no_memory(err);
	desk->round = round;
	desk->context = context;
	pthread_mutex_init(&desk->lock, NULL);
	pthread_cond_init(&desk->more, NULL);
	desk->bell = fd_above_stdio(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (desk->bell < 0)
		return err_set(
			err, desk->bell, "no descriptor for a thread: %s", perch_strerror(desk->bell));
	int r =
		perch_source_new(host, desk->bell, PERCH_READABLE, desk_heard, desk, &desk->source, err);
	if (r < 0)
		return r;
	r = thread_start(&desk->thread, desk_run, desk);
	desk->has_thread = r == 0;
	if (r < 0)
		return err_set(err, r, "no thread for what waits for the disk: %s", perch_strerror(r));
	*ret_desk = steal(&desk);
	return 0;
}

void desk_close(struct desk *desk)
{
	if (!desk)
		return;
	pthread_mutex_lock(&desk->lock);
	desk->is_closing = true;
	pthread_cond_signal(&desk->more);
	pthread_mutex_unlock(&desk->lock);
	if (desk->has_thread)
		pthread_join(desk->thread, NULL);
	desk_tell(desk);
	perch_source_free(desk->source);
	fd_close(desk->bell);
	pthread_cond_destroy(&desk->more);
	pthread_mutex_destroy(&desk->lock);
	free(desk);
}

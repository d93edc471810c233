/* A thread for work that waits for a disk. */
#include "queue/desk.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/thread.h"
#include "perch/loop.h"

struct desk {
	const struct desk_round *round;
	void *context;
	perch_source *source;
	int bell;             /* an eventfd: something has been worked */
	perch_timer *soon;    /* due at the end of this turn of the loop, or when patience is */
	uint64_t due_ns;      /* when that is */
	struct list gathered; /* in this turn, or while all of them have patience */
	size_t gathered_bytes;
	size_t waiting;
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* over the members below */
	pthread_cond_t more;
	struct list ordered;
	struct list worked;
	bool is_working;
	bool is_closing;
};

static struct list desk_steal(struct list *orders)
{
	struct list stolen = *orders;
	*orders = (struct list){ 0 };
	return stolen;
}

/* A round that has begun, or could not. */
static int desk_work_all(struct desk *desk, const struct list *orders, int r)
{
	for (struct desk_order *order = list_first(orders); order && r >= 0; order = list_next(order))
		r = order->work(order, desk->context);
	if (r < 0)
		desk->round->undo(desk->context);
	else
		r = desk->round->end(desk->context);
	return r;
}

/* ---- the thread ------------------------------------------------------------- */

static void desk_work_round(struct desk *desk, struct list *orders)
{
	int r = desk_work_all(desk, orders, desk->round->begin(desk->context));
	for (struct desk_order *order = list_first(orders); order; order = list_next(order))
		order->result = r;
}

static void desk_give_back(struct desk *desk, struct list *orders, bool is_working)
{
	struct desk_order *order;
	pthread_mutex_lock(&desk->lock);
	desk->is_working = is_working;
	while ((order = list_first(orders))) {
		list_remove(orders, order);
		list_append(&desk->worked, order);
	}
	pthread_mutex_unlock(&desk->lock);
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
		struct list round = desk_steal(&desk->ordered);
		desk->is_working = true;
		pthread_mutex_unlock(&desk->lock);
		desk_work_round(desk, &round);
		bool is_untidy = desk->round->is_untidy && desk->round->is_untidy(desk->context);
		desk_give_back(desk, &round, is_untidy);
		desk_ring(desk);
		if (is_untidy)
			desk->round->tidy(desk->context);
		pthread_mutex_lock(&desk->lock);
		desk->is_working = false;
	}
	pthread_mutex_unlock(&desk->lock);
	return NULL;
}

/* ---- the loop ----------------------------------------------------------------- */

static void desk_tell(struct desk *desk)
{
	pthread_mutex_lock(&desk->lock);
	struct list worked = desk_steal(&desk->worked);
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

/* Whether the thread sleeps, and all that it has worked is told: orders keep their order. */
static bool desk_is_free(struct desk *desk)
{
	pthread_mutex_lock(&desk->lock);
	bool is_free = !desk->is_working && !desk->ordered.count && !desk->worked.count;
	pthread_mutex_unlock(&desk->lock);
	return is_free;
}

/* Works what was gathered, if that waits for nothing. */
static bool desk_work_here(struct desk *desk)
{
	if (!desk->round->begin_here || desk->gathered_bytes > DESK_HERE_MAX || !desk_is_free(desk))
		return false;
	int r = desk->round->begin_here(desk->context);
	if (r == -EAGAIN)
		return false;
	r = desk_work_all(desk, &desk->gathered, r);
	struct list worked = desk_steal(&desk->gathered);
	desk->gathered_bytes = 0;
	struct desk_order *order;
	while ((order = list_first(&worked))) {
		list_remove(&worked, order);
		desk->waiting--;
		order->done(order, r);
	}
	return true;
}

static void desk_hand_over(struct desk *desk)
{
	struct desk_order *order;
	pthread_mutex_lock(&desk->lock);
	while ((order = list_first(&desk->gathered))) {
		list_remove(&desk->gathered, order);
		list_append(&desk->ordered, order);
	}
	desk->gathered_bytes = 0;
	pthread_cond_signal(&desk->more);
	pthread_mutex_unlock(&desk->lock);
}

static void desk_due(perch_timer *timer, void *data)
{
	struct desk *desk = data;
	(void)timer;
	if (desk->gathered.count && !desk_work_here(desk))
		desk_hand_over(desk);
}

void desk_take(struct desk *desk, struct desk_order *order)
{
	uint64_t now_ns = order->patience_ns ? clock_now_ns() : 0;
	desk->waiting++;
	if (!desk->gathered.count || now_ns + order->patience_ns < desk->due_ns) {
		desk->due_ns = now_ns + order->patience_ns;
		perch_timer_set(desk->soon, order->patience_ns);
	}
	list_append(&desk->gathered, order);
	desk->gathered_bytes += order->bytes;
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
	if (r == 0)
		r = perch_timer_new(host, desk_due, desk, &desk->soon, err);
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
	desk_hand_over(desk);
	pthread_mutex_lock(&desk->lock);
	desk->is_closing = true;
	pthread_cond_signal(&desk->more);
	pthread_mutex_unlock(&desk->lock);
	if (desk->has_thread)
		pthread_join(desk->thread, NULL);
	desk_tell(desk);
	perch_source_free(desk->source);
	perch_timer_free(desk->soon);
	fd_close(desk->bell);
	pthread_cond_destroy(&desk->more);
	pthread_mutex_destroy(&desk->lock);
	free(desk);
}

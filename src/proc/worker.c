/* A thread for work that waits for a disk. */
#include "proc/worker.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/macros.h"
#include "base/thread.h"
#include "proc/host.h"

struct worker {
	struct host_guest guest; /* the first member: see worker_leave */
	struct loop *loop;
	struct source told; /* an eventfd: jobs are worked */
	pid_t owner;        /* the process that has it, and no fork of it */
	pthread_t thread;
	bool has_thread;
	/* Under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t is_more;
	pthread_cond_t is_worked;
	struct list queue;
	struct list worked;
	bool is_closing;
};

/* ---- in the thread --------------------------------------------------------------- */

/* A full counter, which cannot happen, would be readable as well. */
static void worker_tell(const struct worker *worker)
{
	const uint64_t one = 1;
	(void)!write(worker->told.fd, &one, sizeof(one));
}

/* Called with the lock, which is released meanwhile. */
static void worker_work(struct worker *worker, struct job *job)
{
	list_remove(&worker->queue, job);
	job->state = JOB_WORKING;
	pthread_mutex_unlock(&worker->lock);
	job->work(job);
	pthread_mutex_lock(&worker->lock);
	job->state = JOB_WORKED;
	list_append(&worker->worked, job);
	pthread_cond_broadcast(&worker->is_worked);
	worker_tell(worker);
}

/* Jobs that were handed in are worked, also when the host ends. */
static void *worker_run(void *data)
{
	struct worker *worker = data;
	pthread_mutex_lock(&worker->lock);
	for (;;) {
		struct job *job = list_first(&worker->queue);
		if (job)
			worker_work(worker, job);
		else if (worker->is_closing)
			break;
		else
			pthread_cond_wait(&worker->is_more, &worker->lock);
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

/* ---- in the loop ----------------------------------------------------------------- */

static struct job *worker_next_worked(struct worker *worker)
{
	pthread_mutex_lock(&worker->lock);
	struct job *job = list_first(&worker->worked);
	if (job) {
		list_remove(&worker->worked, job);
		job->state = JOB_IDLE;
	}
	pthread_mutex_unlock(&worker->lock);
	return job;
}

static void worker_was_told(struct source *source, uint32_t events)
{
	(void)events;
	struct worker *worker = container_of(source, struct worker, told);
	uint64_t count;
	(void)!read(source->fd, &count, sizeof(count));
	for (struct job *job; (job = worker_next_worked(worker));)
		job->done(job);
}

static int worker_start(struct worker *worker)
{
	if (worker->has_thread)
		return 0;
	int r = thread_start(&worker->thread, worker_run, worker);
	worker->has_thread = r == 0;
	return r;
}

void worker_take(struct worker *worker, struct job *job)
{
	bool has_thread = worker_start(worker) == 0;
	pthread_mutex_lock(&worker->lock);
	job->state = JOB_QUEUED;
	list_append(&worker->queue, job);
	if (has_thread)
		pthread_cond_signal(&worker->is_more);
	else
		worker_work(worker, job);
	pthread_mutex_unlock(&worker->lock);
}

void worker_settle(struct worker *worker, struct job *job)
{
	if (!worker || worker->owner != getpid())
		return;
	pthread_mutex_lock(&worker->lock);
	while (job->state == JOB_QUEUED || job->state == JOB_WORKING)
		pthread_cond_wait(&worker->is_worked, &worker->lock);
	if (job->state == JOB_WORKED)
		list_remove(&worker->worked, job);
	job->state = JOB_IDLE;
	pthread_mutex_unlock(&worker->lock);
}

/* ---- the worker ------------------------------------------------------------------ */

static void worker_join(struct worker *worker)
{
	pthread_mutex_lock(&worker->lock);
	worker->is_closing = true;
	pthread_cond_signal(&worker->is_more);
	pthread_mutex_unlock(&worker->lock);
	pthread_join(worker->thread, NULL);
}

/* In a fork of the program there is no thread to wait for, its lock may be held for ever, and the
 * epoll set is the program's. */
static void worker_leave(struct host_guest *guest)
{
	struct worker *worker = (struct worker *)guest;
	bool is_ours = worker->owner == getpid();
	if (is_ours && worker->has_thread)
		worker_join(worker);
	if (is_ours)
		loop_watch(worker->loop, &worker->told, 0);
	fd_close(worker->told.fd);
	free(worker);
}

struct worker *worker_of(perch_host *host)
{
	struct host_guest *guest = host_find_guest(host, worker_leave);
	if (guest)
		return (struct worker *)guest;
	struct worker *worker = calloc(1, sizeof(*worker));
	if (!worker)
		return NULL;
	worker->guest.leave = worker_leave;
	worker->loop = &host->loop;
	worker->owner = getpid();
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->is_more, NULL);
	pthread_cond_init(&worker->is_worked, NULL);
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	worker->told =
		(struct source){ .fd = fd < 0 ? fd : fd_above_stdio(fd), .ready = worker_was_told };
	if (worker->told.fd < 0 || loop_watch(&host->loop, &worker->told, EPOLLIN) < 0) {
		fd_close(worker->told.fd);
		free(worker);
		return NULL;
	}
	host_add_guest(host, &worker->guest);
	return worker;
}

/* A host: a loop, a spawner, a guard, and the children. */
#include "proc/host.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/sized.h"
#include "proc/child.h"
#include "proc/trees.h"

static int host_fill(perch_host *host, const perch_host_options *options)
{
	host->log = (struct log){ options->log, options->log_data, options->log_level };
	host->die_with_thread = options->die_with_thread;
	host->ignores_sigpipe = options->ignores_sigpipe;
	host->loop.epoll_fd = -1;
	int r = guard_init(&host->guard, options, &host->loop, &host->spawner, &host->log);
	/* The spawner before the loop: it wants the lowest descriptors. */
	int s = spawner_init(&host->spawner, options->plain_fork);
	if (r == 0)
		r = s < 0 ? s : loop_init(&host->loop);
	trees_open(&host->trees);
	return r;
}

int perch_host_new(const perch_host_options *options, perch_host **ret_host, perch_err *err)
{
	perch_host_options copy = PERCH_HOST_OPTIONS_INIT;
	const size_t first = SIZED_UP_TO(perch_host_options, log_level);
	int r = options ? sized_copy(&copy, sizeof(copy), options, first, err) : 0;
	if (r < 0)
		return r;
	perch_host *host = malloc(sizeof(*host));
	if (!host)
		return err_no_memory(err);
	/* The scratch is left out: pages that were never read into cost nothing. */
	memset(host, 0, offsetof(perch_host, scratch));
	r = host_fill(host, &copy);
	if (r < 0) {
		perch_host_free(host);
		return err_set(err, r, "cannot make a host: %s", perch_strerror(r));
	}
	*ret_host = host;
	return 0;
}

static void host_let_leave(struct host_guest **guests)
{
	for (struct host_guest *guest; (guest = *guests);) {
		*guests = guest->next;
		guest->leave(guest);
	}
}

void perch_host_free(perch_host *host)
{
	if (!host)
		return;
	/* All of them are killed before one is waited for, and their trees in one pass. */
	for (perch_child *child = host->children; child; child = child->next) {
		host->trees.may_have_strays |= child->mark != 0;
		child->mark = 0;
		child_signal(child, SIGKILL);
	}
	while (host->children)
		child_destroy(host->children);
	child_free_buried(host);
	trees_end_all(&host->trees);
	guard_dismiss(&host->guard);
	host_let_leave(&host->guests);
	trees_close(&host->trees);
	guard_close(&host->guard);
	loop_close(&host->loop);
	spawner_close_slots(&host->spawner);
	guard_bury(&host->guard);
	spawner_close(&host->spawner);
	host_let_leave(&host->last);
	free(host);
}

struct host_guest *host_find_guest(const perch_host *host, void (*leave)(struct host_guest *guest))
{
	struct host_guest *guest = host->guests;
	while (guest && guest->leave != leave)
		guest = guest->next;
	return guest;
}

struct host_guest *host_take_guest(perch_host *host, void (*leave)(struct host_guest *guest))
{
	struct host_guest **link = &host->guests;
	while (*link && (*link)->leave != leave)
		link = &(*link)->next;
	struct host_guest *guest = *link;
	if (guest)
		*link = guest->next;
	return guest;
}

void host_add_guest(perch_host *host, struct host_guest *guest)
{
	guest->next = host->guests;
	host->guests = guest;
}

void host_add_last_guest(perch_host *host, struct host_guest *guest)
{
	guest->next = host->last;
	host->last = guest;
}

void host_slept(perch_host *host, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns < host->woken_ns)
		from_ns = host->woken_ns;
	if (from_ns < to_ns)
		timers_delay(&host->loop.timers, to_ns - from_ns);
	host->woken_ns = to_ns;
}

int perch_host_fd(const perch_host *host)
{
	return host->loop.epoll_fd;
}

int perch_host_timeout(const perch_host *host)
{
	return loop_timeout_ms(&host->loop);
}

int perch_host_dispatch(perch_host *host)
{
	return perch_host_wait(host, 0);
}

int perch_host_wait(perch_host *host, int timeout_ms)
{
	if (host->loop.dispatching)
		return PERCH_EBUSY;
	int r = loop_run(&host->loop, timeout_ms);
	child_free_buried(host);
	return r;
}

size_t perch_host_children(const perch_host *host)
{
	return host->child_count;
}

/* Spares: processes that have their handshake behind them and wait for the one
 * request that each of them gets. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/macros.h"
#include "tool/call_parts.h"

/* A process that was used is replaced a moment later: not while its answer, which
 * somebody waits for, is on its way. */
#define REFILL_DELAY_NS (5 * NSEC_PER_MSEC)
/* After a failure, doubled with each one that follows. */
#define BACKOFF_FIRST_NS (100 * NSEC_PER_MSEC)
#define BACKOFF_MOST_NS (30 * NSEC_PER_SEC)

/* What shows that a file is still the one it was. */
struct identity {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec written;
	struct timespec changed;
};

struct spare {
	struct spare *next;
	struct kept *kept;
	struct exchange *exchange;
	uint64_t born_ns;
	bool is_retiring;
};

/* A binding with its spares, the oldest first. */
struct kept {
	struct kept *next;
	struct tool_pool *pool;
	const struct tool_binding *binding;
	struct spare *spares;
	struct identity *identities; /* of the binding's file, its command, its pins */
	struct timer timer;
	uint64_t not_before_ns; /* none is started earlier */
	uint64_t backoff_ns;    /* after the last failure; 0 = there was none */
	bool is_outdated;       /* its file has changed: kept anew, or no more */
};

struct tool_pool {
	perch_host *host;
	struct kept *first;
};

/* ---- is it still the same? ------------------------------------------------ */

static struct identity pool_identify(const char *path)
{
	struct stat info;
	struct identity identity;
	memset(&identity, 0, sizeof(identity)); /* its padding too: it is compared by bytes */
	if (!path[0] || stat(path, &info) < 0)
		return identity;
	identity.device = info.st_dev;
	identity.inode = info.st_ino;
	identity.size = info.st_size;
	identity.written = info.st_mtim;
	identity.changed = info.st_ctim;
	return identity;
}

static bool pool_has_changed(struct identity *known, const char *path)
{
	struct identity now = pool_identify(path);
	bool differs = memcmp(known, &now, sizeof(now)) != 0;
	memcpy(known, &now, sizeof(now));
	return differs;
}

/* Whether the spares are of what is on disk now; remembers what is. */
static bool pool_is_as_it_was(struct kept *kept)
{
	const struct tool_binding *binding = kept->binding;
	if (pool_has_changed(&kept->identities[0], binding->path ? binding->path : ""))
		kept->is_outdated = true;
	bool differs = pool_has_changed(&kept->identities[1], binding->command);
	for (size_t i = 0; i < binding->pin_count; i++)
		differs |= pool_has_changed(&kept->identities[2 + i], binding->pins[i].path);
	return !differs && !kept->is_outdated;
}

/* ---- single spares -------------------------------------------------------- */

static unsigned pool_count_spares(const struct kept *kept)
{
	unsigned count = 0;
	for (const struct spare *spare = kept->spares; spare; spare = spare->next)
		count += !spare->is_retiring;
	return count;
}

static void pool_unlink_spare(struct spare *spare)
{
	struct spare **link = &spare->kept->spares;
	while (*link != spare)
		link = &(*link)->next;
	*link = spare->next;
}

static void pool_free_spare(struct spare *spare)
{
	exchange_free(spare->exchange);
	free(spare);
}

/* Ends one in peace: it goes when its process has. */
static void pool_retire(struct spare *spare)
{
	spare->is_retiring = true;
	exchange_cancel(spare->exchange);
}

static void pool_plan(struct kept *kept);

static void pool_note_failure(struct kept *kept)
{
	uint64_t doubled = kept->backoff_ns * 2;
	kept->backoff_ns = !kept->backoff_ns ? BACKOFF_FIRST_NS
		: doubled < BACKOFF_MOST_NS      ? doubled
										 : BACKOFF_MOST_NS;
	kept->not_before_ns = clock_after(clock_now_ns(), kept->backoff_ns);
}

/* It has died while it waited, or has not passed, or was retired. */
static void pool_spare_over(void *data)
{
	struct spare *spare = data;
	struct kept *kept = spare->kept;
	if (!spare->is_retiring)
		pool_note_failure(kept);
	pool_unlink_spare(spare);
	pool_free_spare(spare);
	pool_plan(kept);
}

static int pool_start_spare(struct kept *kept)
{
	struct spare *spare = calloc(1, sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	spare->kept = kept;
	spare->born_ns = clock_now_ns();
	const struct exchange_options options = {
		.binding = kept->binding,
		.clocks = {
			.invocation_ns = NEVER,
			.handshake_ns = kept->binding->handshake_ns,
			.teardown_ns = kept->binding->teardown_ns,
		},
		.listener = { .over = pool_spare_over, .data = spare },
	};
	int r = exchange_new(kept->pool->host, &options, &spare->exchange);
	if (r == 0)
		r = exchange_start(spare->exchange, NULL);
	if (r < 0) {
		pool_free_spare(spare);
		return r;
	}
	struct spare **link = &kept->spares;
	while (*link)
		link = &(*link)->next;
	*link = spare;
	return 0;
}

/* ---- keeping them --------------------------------------------------------- */

static unsigned pool_wanted(const struct kept *kept)
{
	if (kept->is_outdated)
		return 0;
	return kept->binding->spares < TOOL_SPARES_MAX ? kept->binding->spares : TOOL_SPARES_MAX;
}

static uint64_t pool_expiry(const struct spare *spare)
{
	return clock_after(spare->born_ns, spare->kept->binding->spare_ttl_ns);
}

/* Sets the timer to the next thing there is to do. */
static void pool_plan(struct kept *kept)
{
	uint64_t next = pool_count_spares(kept) < pool_wanted(kept) ? kept->not_before_ns : NEVER;
	for (const struct spare *spare = kept->spares; spare; spare = spare->next) {
		if (!spare->is_retiring && pool_expiry(spare) < next)
			next = pool_expiry(spare);
	}
	timer_set(&kept->pool->host->loop.timers, &kept->timer, next);
}

static void pool_retire_all(struct kept *kept)
{
	for (struct spare *spare = kept->spares; spare; spare = spare->next) {
		if (!spare->is_retiring)
			pool_retire(spare);
	}
}

/* One that has reached its age has shown that it can live. */
static void pool_retire_old(struct kept *kept, uint64_t now_ns)
{
	for (struct spare *spare = kept->spares; spare; spare = spare->next) {
		if (spare->is_retiring || pool_expiry(spare) > now_ns)
			continue;
		kept->backoff_ns = 0;
		pool_retire(spare);
	}
}

static void pool_refill(struct kept *kept)
{
	while (pool_count_spares(kept) < pool_wanted(kept)) {
		if (pool_start_spare(kept) < 0) {
			pool_note_failure(kept);
			return;
		}
	}
}

static void pool_timer_due(struct timer *timer, uint64_t now_ns)
{
	struct kept *kept = container_of(timer, struct kept, timer);
	if (!pool_is_as_it_was(kept))
		pool_retire_all(kept);
	pool_retire_old(kept, now_ns);
	if (now_ns >= kept->not_before_ns)
		pool_refill(kept);
	pool_plan(kept);
}

static struct kept **pool_find(struct tool_pool *pool, const struct tool_binding *binding)
{
	struct kept **link = &pool->first;
	while (*link && (*link)->binding != binding)
		link = &(*link)->next;
	return link;
}

static int pool_add(struct tool_pool *pool, const struct tool_binding *binding, struct kept **link)
{
	struct timers *timers = &pool->host->loop.timers;
	struct kept *kept = calloc(1, sizeof(*kept));
	struct identity *identities = calloc(2 + binding->pin_count, sizeof(*identities));
	if (!kept || !identities || timers_promise(timers) < 0) {
		free(kept);
		free(identities);
		return -ENOMEM;
	}
	kept->pool = pool;
	kept->binding = binding;
	kept->identities = identities;
	kept->timer.due = pool_timer_due;
	*link = kept;
	return 0;
}

int tool_pool_keep(struct tool_pool *pool, const struct tool_binding *binding)
{
	tool_pool_forget(pool, binding);
	struct kept **link = pool_find(pool, binding);
	int r = pool_add(pool, binding, link);
	if (r < 0)
		return r;
	pool_is_as_it_was(*link);
	(*link)->is_outdated = false;
	pool_plan(*link);
	return 0;
}

void tool_pool_forget(struct tool_pool *pool, const struct tool_binding *binding)
{
	struct kept **link = pool_find(pool, binding);
	struct kept *kept = *link;
	if (!kept)
		return;
	*link = kept->next;
	while (kept->spares) {
		struct spare *spare = kept->spares;
		kept->spares = spare->next;
		pool_free_spare(spare);
	}
	timer_cancel(&pool->host->loop.timers, &kept->timer);
	timers_release(&pool->host->loop.timers);
	free(kept->identities);
	free(kept);
}

/* ---- the pool ------------------------------------------------------------- */

int tool_pool_new(perch_host *host, struct tool_pool **ret_pool)
{
	struct tool_pool *pool = calloc(1, sizeof(*pool));
	if (!pool)
		return -ENOMEM;
	pool->host = host;
	*ret_pool = pool;
	return 0;
}

void tool_pool_free(struct tool_pool *pool)
{
	if (!pool)
		return;
	while (pool->first)
		tool_pool_forget(pool, pool->first->binding);
	free(pool);
}

/* One that dies stays in the list until its process is gone: that it was ready once is not
 * enough. */
static struct spare *pool_find_ready(const struct kept *kept)
{
	struct spare *spare = kept->spares;
	while (spare && (spare->is_retiring || !exchange_is_ready(spare->exchange)))
		spare = spare->next;
	return spare;
}

/* Gives the call to a spare. False when none is there that listens. */
static bool pool_use_spare(struct kept *kept, struct tool_call *call)
{
	const struct exchange_options options = call_exchange_options(call);
	for (struct spare *spare; (spare = pool_find_ready(kept));) {
		pool_unlink_spare(spare);
		int r = exchange_take_over(spare->exchange, &options);
		if (r == 0) {
			call->exchange = steal(&spare->exchange);
			call->result.used_spare = true;
			kept->backoff_ns = 0;
		} else {
			pool_note_failure(kept);
		}
		pool_free_spare(spare);
		if (r == 0)
			return true;
	}
	return false;
}

static bool pool_take_spare(struct tool_pool *pool, struct tool_call *call)
{
	struct kept *kept = *pool_find(pool, call->options.binding);
	if (!kept || !call->options.tool)
		return false;
	if (!pool_is_as_it_was(kept))
		pool_retire_all(kept);
	bool was_full = pool_count_spares(kept) == pool_wanted(kept);
	bool is_taken = pool_use_spare(kept, call);
	uint64_t soon = clock_after(clock_now_ns(), REFILL_DELAY_NS);
	if (is_taken && was_full && kept->not_before_ns < soon)
		kept->not_before_ns = soon;
	pool_plan(kept);
	return is_taken;
}

int tool_pool_call(struct tool_pool *pool, const struct tool_call_options *options,
	struct tool_call **ret_call, perch_err *err)
{
	struct tool_call *call;
	int r = call_new(pool->host, options, &call, err);
	if (r < 0)
		return r;
	if (!call_has_failed(call) && !pool_take_spare(pool, call))
		call_launch(call);
	*ret_call = call;
	return 0;
}

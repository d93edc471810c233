/* Spares: processes that have shaken hands and wait for their one request. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/stamp.h"
#include "tool/call_parts.h"
#include "tool/server.h"

/* A used spare is replaced a moment later, so that the start of the new process does not delay the
 * answer that the caller waits for. */
#define REFILL_DELAY_NS (5 * NSEC_PER_MSEC)
/* The pause after a failure, doubled with each one that follows. */
#define BACKOFF_FIRST_NS (100 * NSEC_PER_MSEC)
#define BACKOFF_MOST_NS (30 * NSEC_PER_SEC)

struct spare {
	struct spare *next;
	struct spare_set *set;
	struct exchange *exchange;
	uint64_t born_ns;
	bool is_retiring;
};

/* A binding with its spares, the oldest first. */
struct spare_set {
	struct spare_set *next;
	struct tool_pool *pool;
	const struct tool_binding *binding;
	struct spare *spares;
	struct stat *stamps; /* of the binding's file, its command, its pins */
	struct timer timer;
	uint64_t not_before_ns; /* none is started earlier */
	uint64_t backoff_ns;    /* after the last failure; 0 = there was none */
	bool is_outdated; /* the binding's file has changed: no spares until tool_pool_keep is called
						 again */
};

struct tool_pool {
	perch_host *host;
	struct servers *servers; /* MCP servers that run */
	struct spare_set *first;
};

/* ---- is it still the same? ------------------------------------------------ */

/* No file is a stamp, too. */
static bool pool_has_changed(struct stat *known, const char *path)
{
	struct stat now;
	if (!path[0] || stat(path, &now) < 0)
		now = (struct stat){ 0 };
	bool differs = !stamp_is_unchanged(known, &now);
	*known = now;
	return differs;
}

/* Whether the spares were started from the present files, which are remembered. */
static bool pool_is_as_it_was(struct spare_set *set)
{
	const struct tool_binding *binding = set->binding;
	if (pool_has_changed(&set->stamps[0], binding->path ? binding->path : ""))
		set->is_outdated = true;
	bool differs = pool_has_changed(&set->stamps[1], binding->command);
	for (size_t i = 0; i < binding->pin_count; i++)
		differs |= pool_has_changed(&set->stamps[2 + i], binding->pins[i].path);
	return !differs && !set->is_outdated;
}

/* ---- single spares -------------------------------------------------------- */

static unsigned pool_count_spares(const struct spare_set *set)
{
	unsigned count = 0;
	for (const struct spare *spare = set->spares; spare; spare = spare->next)
		count += !spare->is_retiring;
	return count;
}

static void pool_unlink_spare(struct spare *spare)
{
	struct spare **link = &spare->set->spares;
	while (*link != spare)
		link = &(*link)->next;
	*link = spare->next;
}

static void pool_free_spare(struct spare *spare)
{
	exchange_free(spare->exchange);
	free(spare);
}

/* Has a spare end by itself: it is freed when its process is gone. */
static void pool_retire(struct spare *spare)
{
	spare->is_retiring = true;
	exchange_cancel(spare->exchange);
}

static void pool_plan(struct spare_set *set);

static void pool_note_failure(struct spare_set *set)
{
	uint64_t doubled = set->backoff_ns * 2;
	set->backoff_ns = !set->backoff_ns ? BACKOFF_FIRST_NS
		: doubled < BACKOFF_MOST_NS    ? doubled
									   : BACKOFF_MOST_NS;
	set->not_before_ns = clock_after(clock_now_ns(), set->backoff_ns);
}

/* The spare has died while it waited, or has failed its handshake, or was retired. */
static void pool_spare_over(void *data)
{
	struct spare *spare = data;
	struct spare_set *set = spare->set;
	if (!spare->is_retiring)
		pool_note_failure(set);
	pool_unlink_spare(spare);
	pool_free_spare(spare);
	pool_plan(set);
}

static int pool_start_spare(struct spare_set *set)
{
	struct spare *spare = calloc(1, sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	spare->set = set;
	spare->born_ns = clock_now_ns();
	const struct exchange_options options = {
		.binding = set->binding,
		.clocks = {
			.invocation_ns = NEVER,
			.handshake_ns = set->binding->handshake_ns,
			.teardown_ns = set->binding->teardown_ns,
		},
		.listener = { .over = pool_spare_over, .data = spare },
	};
	int r = exchange_new(set->pool->host, &options, &spare->exchange);
	if (r == 0)
		r = exchange_start(spare->exchange, NULL);
	if (r < 0) {
		pool_free_spare(spare);
		return r;
	}
	struct spare **link = &set->spares;
	while (*link)
		link = &(*link)->next;
	*link = spare;
	return 0;
}

/* ---- keeping them --------------------------------------------------------- */

static unsigned pool_wanted(const struct spare_set *set)
{
	if (set->is_outdated)
		return 0;
	return set->binding->spares < TOOL_SPARES_MAX ? set->binding->spares : TOOL_SPARES_MAX;
}

static uint64_t pool_expiry(const struct spare *spare)
{
	return clock_after(spare->born_ns, spare->set->binding->spare_ttl_ns);
}

/* Sets the timer to the next time when a spare is to be started or retired. */
static void pool_plan(struct spare_set *set)
{
	uint64_t next = pool_count_spares(set) < pool_wanted(set) ? set->not_before_ns : NEVER;
	for (const struct spare *spare = set->spares; spare; spare = spare->next) {
		if (!spare->is_retiring && pool_expiry(spare) < next)
			next = pool_expiry(spare);
	}
	timer_set(&set->pool->host->loop.timers, &set->timer, next);
}

static void pool_retire_all(struct spare_set *set)
{
	for (struct spare *spare = set->spares; spare; spare = spare->next) {
		if (!spare->is_retiring)
			pool_retire(spare);
	}
}

/* A spare that has lived for its whole time shows that the plugin works: the pause after failures
 * is reset. */
static void pool_retire_old(struct spare_set *set, uint64_t now_ns)
{
	for (struct spare *spare = set->spares; spare; spare = spare->next) {
		if (spare->is_retiring || pool_expiry(spare) > now_ns)
			continue;
		set->backoff_ns = 0;
		pool_retire(spare);
	}
}

static void pool_refill(struct spare_set *set)
{
	while (pool_count_spares(set) < pool_wanted(set)) {
		if (pool_start_spare(set) < 0) {
			pool_note_failure(set);
			return;
		}
	}
}

static void pool_timer_due(struct timer *timer, uint64_t now_ns)
{
	struct spare_set *set = container_of(timer, struct spare_set, timer);
	if (!pool_is_as_it_was(set))
		pool_retire_all(set);
	pool_retire_old(set, now_ns);
	if (now_ns >= set->not_before_ns)
		pool_refill(set);
	pool_plan(set);
}

static struct spare_set **pool_find(struct tool_pool *pool, const struct tool_binding *binding)
{
	struct spare_set **link = &pool->first;
	while (*link && (*link)->binding != binding)
		link = &(*link)->next;
	return link;
}

static int pool_add(
	struct tool_pool *pool, const struct tool_binding *binding, struct spare_set **link)
{
	struct timers *timers = &pool->host->loop.timers;
	struct spare_set *set = calloc(1, sizeof(*set));
	struct stat *stamps = calloc(2 + binding->pin_count, sizeof(*stamps));
	if (!set || !stamps || timers_promise(timers) < 0) {
		free(set);
		free(stamps);
		return -ENOMEM;
	}
	set->pool = pool;
	set->binding = binding;
	set->stamps = stamps;
	set->timer.due = pool_timer_due;
	*link = set;
	return 0;
}

int tool_pool_keep(struct tool_pool *pool, const struct tool_binding *binding)
{
	tool_pool_forget(pool, binding);
	struct spare_set **link = pool_find(pool, binding);
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
	servers_forget(pool->servers, binding);
	struct spare_set **link = pool_find(pool, binding);
	struct spare_set *set = *link;
	if (!set)
		return;
	*link = set->next;
	while (set->spares) {
		struct spare *spare = set->spares;
		set->spares = spare->next;
		pool_free_spare(spare);
	}
	timer_cancel(&pool->host->loop.timers, &set->timer);
	timers_release(&pool->host->loop.timers);
	free(set->stamps);
	free(set);
}

/* ---- the pool ------------------------------------------------------------- */

int tool_pool_new(perch_host *host, struct tool_pool **ret_pool)
{
	struct tool_pool *pool = calloc(1, sizeof(*pool));
	if (!pool)
		return -ENOMEM;
	if (servers_new(host, &pool->servers) < 0) {
		free(pool);
		return -ENOMEM;
	}
	pool->host = host;
	*ret_pool = pool;
	return 0;
}

void tool_pool_show(const struct tool_pool *pool, const struct tool_binding *binding,
	const char *name, perch_spare_fn *take, void *data)
{
	const struct spare_set *set = *pool_find((struct tool_pool *)pool, binding);
	const uint64_t now_ns = clock_now_ns();
	for (const struct spare *spare = set ? set->spares : NULL; spare; spare = spare->next) {
		const perch_spare shown = {
			.kind = PERCH_ENTRY_TOOL,
			.name = name,
			.is_ready = exchange_is_ready(spare->exchange),
			.waits_ns = now_ns - spare->born_ns,
			.sandbox = spare->exchange->launch.layers,
		};
		if (!spare->is_retiring)
			take(data, &shown);
	}
	servers_show(pool->servers, binding, name, take, data);
}

struct servers *tool_pool_servers(struct tool_pool *pool)
{
	return pool->servers;
}

void tool_pool_free(struct tool_pool *pool)
{
	if (!pool)
		return;
	while (pool->first)
		tool_pool_forget(pool, pool->first->binding);
	servers_free(pool->servers);
	free(pool);
}

/* A dying spare stays in the list until its process is gone, so its state is asked. */
static struct spare *pool_find_ready(const struct spare_set *set)
{
	struct spare *spare = set->spares;
	while (spare && (spare->is_retiring || !exchange_is_ready(spare->exchange)))
		spare = spare->next;
	return spare;
}

/* Gives the call to a spare. False when no spare reads the request. */
static bool pool_use_spare(struct spare_set *set, struct tool_call *call)
{
	const struct exchange_options options = call_exchange_options(call);
	for (struct spare *spare; (spare = pool_find_ready(set));) {
		pool_unlink_spare(spare);
		int r = exchange_take_over(spare->exchange, &options);
		if (r == 0) {
			call->exchange = steal(&spare->exchange);
			call->result.used_spare = true;
			set->backoff_ns = 0;
		} else {
			pool_note_failure(set);
		}
		pool_free_spare(spare);
		if (r == 0)
			return true;
	}
	return false;
}

static bool pool_take_spare(struct tool_pool *pool, struct tool_call *call)
{
	struct spare_set *set = *pool_find(pool, call->options.binding);
	if (!set || !call->options.tool)
		return false;
	if (!pool_is_as_it_was(set))
		pool_retire_all(set);
	bool was_full = pool_count_spares(set) == pool_wanted(set);
	bool is_taken = pool_use_spare(set, call);
	uint64_t soon = clock_after(clock_now_ns(), REFILL_DELAY_NS);
	if (is_taken && was_full && set->not_before_ns < soon)
		set->not_before_ns = soon;
	pool_plan(set);
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
		call_launch(call, pool->servers);
	*ret_call = call;
	return 0;
}

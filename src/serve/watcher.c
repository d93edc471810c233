/* Clients that wait for what a job tells. */
#include "serve/watcher.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "serve/peer.h"
#include "serve/serve_parts.h"
#include "wire/http_sse.h"

/* ---- life ---------------------------------------------------------------------- */

static struct list *watcher_list(const struct watcher *watcher, struct serve *serve)
{
	return watcher->record ? &watcher->record->watchers : &serve->watchers;
}

static void watcher_wake(struct exchange *exchange)
{
	struct watcher *watcher = exchange->data;
	watcher->kind->pump(watcher);
}

/* It hears nothing more. */
static void watcher_leave(struct watcher *watcher)
{
	struct serve *serve = watcher->exchange->peer->serve;
	list_remove(watcher_list(watcher, serve), watcher);
	serve->watcher_count--;
	watcher->exchange->keeper = NULL;
}

static void watcher_release(struct watcher *watcher)
{
	if (watcher->kind->free)
		watcher->kind->free(watcher);
	perch_timer_free(watcher->gathering);
	free(watcher);
}

/* It leaves the lists first: its `gone` may end the job, and that end must not be told to it. */
static void watcher_gone(struct exchange *exchange)
{
	struct watcher *watcher = exchange->data;
	watcher_leave(watcher);
	if (watcher->kind->left)
		watcher->kind->left(watcher);
	watcher_release(watcher);
}

static const struct exchange_keeper watcher_keeper = { .wake = watcher_wake, .gone = watcher_gone };

struct watcher *watcher_new(
	struct exchange *exchange, struct record *record, const struct watcher_kind *kind)
{
	struct serve *serve = exchange->peer->serve;
	struct watcher *watcher = calloc(1, sizeof(*watcher));
	if (!watcher)
		return NULL;
	watcher->kind = kind;
	watcher->exchange = exchange;
	watcher->record = record;
	watcher->follows = true;
	exchange->keeper = &watcher_keeper;
	exchange->data = watcher;
	list_append(watcher_list(watcher, serve), watcher);
	serve->watcher_count++;
	return watcher;
}

void watcher_free(struct watcher *watcher)
{
	watcher_leave(watcher);
	watcher_release(watcher);
}

/* ---- telling ---------------------------------------------------------------------- */

void watchers_touch(struct record *record)
{
	struct serve *serve = record->serve;
	struct watcher *next;
	for (struct watcher *item = list_first(&record->watchers); item; item = next) {
		next = list_next(item);
		if (item->exchange->is_stream)
			peer_touch(item->exchange->peer);
		else if (item->kind->is_eager || queue_is_over(record->state))
			item->kind->pump(item);
	}
	for (struct watcher *item = list_first(&serve->watchers); item; item = list_next(item)) {
		if (serve_may_see(item->exchange, record))
			peer_touch(item->exchange->peer);
	}
}

void watchers_sweep(struct serve *serve)
{
	for (struct link *link = list_first(&serve->peers); link; link = link->behind) {
		struct peer *peer = container_of(link, struct peer, in_all);
		struct exchange *exchange = peer->exchange;
		if (exchange && exchange->who && exchange->who->is_revoked)
			peer_kill(peer);
	}
}

/* ---- where it is --------------------------------------------------------------------- */

static const struct logged *watcher_last(const struct watcher *watcher)
{
	const struct serve *serve = watcher->exchange->peer->serve;
	return watcher->drops == serve->records.drops ? watcher->last : NULL;
}

const struct logged *watcher_next(const struct watcher *watcher)
{
	const struct logged *last = watcher_last(watcher);
	return last ? list_next(last) : record_after(watcher->record, watcher->after);
}

void watcher_told(struct watcher *watcher, const struct logged *logged)
{
	watcher->after = logged->number;
	watcher->last = logged;
	watcher->drops = watcher->exchange->peer->serve->records.drops;
}

/* ---- plain events ------------------------------------------------------------------ */

static void watcher_send(struct watcher *watcher, const struct logged *logged)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	char id[32];
	snprintf(id, sizeof(id), "%" PRIu64, logged->number);
	http_sse_event(
		&text, str_from(id), (struct str){ 0 }, (struct str){ logged->text, logged->len });
	if (text.failed)
		exchange_cut(watcher->exchange);
	else
		exchange_piece(watcher->exchange, (struct str){ text.data, text.len });
	watcher_told(watcher, logged);
}

/* ---- events of every job ------------------------------------------------------------ */

/* So far behind another shard an event may come, in microseconds of Redis. */
enum { WATCHER_WINDOW_US = 2000000 };

static unsigned watcher_shard(const struct watcher *watcher, uint64_t number)
{
	bool has_shards = watcher->exchange->peer->serve->options.queue_shards > 1;
	return has_shards ? (unsigned)(number % QUEUE_SHARDS_MAX) : 0;
}

/* Of the other shards a client may not have seen what was told before this event. */
void watcher_begin(struct watcher *watcher, uint64_t after)
{
	watcher->after = after;
	for (unsigned i = 0; i < QUEUE_SHARDS_MAX; i++)
		watcher->told[i] = after > WATCHER_WINDOW_US ? after - WATCHER_WINDOW_US : 0;
	watcher->told[watcher_shard(watcher, after)] = after;
}

/* The first event that may be one to tell. */
static const struct logged *watcher_first(const struct watcher *watcher)
{
	const struct serve *serve = watcher->exchange->peer->serve;
	bool has_shards = serve->options.queue_shards > 1 && watcher->after > WATCHER_WINDOW_US;
	const struct logged *last = has_shards ? NULL : watcher_last(watcher);
	if (last)
		return logged_next_of_all(last);
	return records_after(
		&serve->records, has_shards ? watcher->after - WATCHER_WINDOW_US : watcher->after);
}

/* Events of several jobs say whose they are. */
static void watcher_send_named(struct watcher *watcher, const struct logged *logged)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	_cleanup_(buf_free) struct buf data = { 0 };
	char id[32];
	snprintf(id, sizeof(id), "%" PRIu64, logged->number);
	buf_printf(&data, "{\"job\":\"%s\"%s", logged->record->id, logged->len > 2 ? "," : "");
	buf_append(&data, logged->text + 1, logged->len - 1);
	http_sse_event(&text, str_from(id), (struct str){ 0 }, (struct str){ data.data, data.len });
	if (text.failed || data.failed)
		exchange_cut(watcher->exchange);
	else
		exchange_piece(watcher->exchange, (struct str){ text.data, text.len });
}

static void watcher_gathered(perch_timer *timer, void *data)
{
	struct watcher *watcher = data;
	(void)timer;
	watcher->is_gathering = false;
	peer_touch(watcher->exchange->peer);
}

int watcher_gather(struct watcher *watcher, uint64_t apart_ns)
{
	perch_host *host = watcher->exchange->peer->serve->host;
	int r = perch_timer_new(host, watcher_gathered, watcher, &watcher->gathering, NULL);
	if (r >= 0)
		watcher->gather_ns = apart_ns;
	return r;
}

static void watcher_pump_user(struct watcher *watcher)
{
	bool has_sent = false;
	if (watcher->is_gathering)
		return;
	const struct logged *logged = watcher_first(watcher);
	for (; logged && !peer_is_full(watcher->exchange->peer); logged = logged_next_of_all(logged)) {
		uint64_t *told = &watcher->told[watcher_shard(watcher, logged->number)];
		if (logged->number <= *told)
			continue;
		if (serve_may_see(watcher->exchange, logged->record)) {
			watcher_send_named(watcher, logged);
			has_sent = true;
		}
		*told = logged->number;
		if (logged->number > watcher->after)
			watcher_told(watcher, logged);
	}
	if (has_sent && watcher->gather_ns) {
		watcher->is_gathering = true;
		perch_timer_set(watcher->gathering, watcher->gather_ns);
	}
}

static void watcher_pump_events(struct watcher *watcher)
{
	if (!watcher->record) {
		watcher_pump_user(watcher);
		return;
	}
	const struct logged *logged = watcher_next(watcher);
	for (; logged && !peer_is_full(watcher->exchange->peer); logged = list_next(logged))
		watcher_send(watcher, logged);
	if (!logged && (!watcher->follows || queue_is_over(watcher->record->state))) {
		struct exchange *exchange = watcher->exchange;
		watcher_free(watcher);
		exchange_end(exchange);
	}
}

const struct watcher_kind watcher_events = { .pump = watcher_pump_events };

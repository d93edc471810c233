/* Jobs as the gateway knows them. */
#include "serve/record.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/macros.h"
#include "base/random.h"
#include "data/json.h"
#include "serve/jobs.h"
#include "serve/serve_parts.h"

int64_t record_now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- life ---------------------------------------------------------------------- */

/* The form that queue_is_id knows. */
static bool record_make_id(char ret_id[RECORD_ID_SIZE])
{
	enum { DIGITS = 20 };
	ret_id[0] = 'j';
	return random_hex(ret_id + 1, DIGITS);
}

int record_set(struct record *record, struct str *place, struct str text)
{
	if (!text.data)
		return 0;
	const char *copy = arena_dup(&record->arena, text);
	if (!copy)
		return -ENOMEM;
	*place = (struct str){ copy, text.len };
	return 0;
}

struct record *record_new(struct serve *serve, unsigned kind, struct str name, struct str owner)
{
	struct record *record = calloc(1, sizeof(*record));
	if (!record)
		return NULL;
	record->serve = serve;
	record->kind = kind;
	record->created_ms = record_now_ms();
	if (record_make_id(record->id) && record_set(record, &record->name, name) == 0 &&
		record_set(record, &record->owner, owner) == 0)
		return record;
	record_free(record);
	return NULL;
}

/* Numbers of Redis are microseconds: a stretch is a quarter of a second. */
static struct logged **records_near(struct records *records, uint64_t number)
{
	return &records->near[(number >> 18) % RECORD_NEAR];
}

static void logged_remove(struct records *records, struct logged *logged)
{
	struct record *record = logged->record;
	size_t size = sizeof(*logged) + logged->len;
	records->drops++;
	list_remove(&record->events, logged);
	if (*records_near(records, logged->number) == logged)
		*records_near(records, logged->number) = NULL;
	list_remove(&records->events, &logged->in_all);
	record->bytes -= size;
	records->bytes -= size;
	free(logged);
}

static void record_forget_events(struct record *record)
{
	struct logged *logged;
	while ((logged = list_first(&record->events)))
		logged_remove(&record->serve->records, logged);
}

void record_free(struct record *record)
{
	struct record_ask *ask;
	if (!record)
		return;
	record_forget_events(record);
	while (record->waits.count)
		record_unwait(record, ((struct record_wait *)record->waits.first)->data);
	while ((ask = list_first(&record->asks))) {
		list_remove(&record->asks, ask);
		free(ask);
	}
	if (!record->is_guest)
		perch_job_free(record->job);
	free(record->request_text);
	free(record->fingerprint);
	free(record->client);
	free(record->warnings);
	job_result_free(&record->result);
	buf_free(&record->layers);
	arena_free(&record->arena);
	free(record);
}

/* ---- acceptance ---------------------------------------------------------------- */

int record_wait(struct record *record, record_accepted *accepted, void *data)
{
	struct record_wait *wait = calloc(1, sizeof(*wait));
	if (!wait)
		return -ENOMEM;
	wait->accepted = accepted;
	wait->data = data;
	list_append(&record->waits, wait);
	return 0;
}

void record_unwait(struct record *record, const void *data)
{
	struct record_wait *wait = list_first(&record->waits);
	while (wait && wait->data != data)
		wait = list_next(wait);
	if (!wait)
		return;
	list_remove(&record->waits, wait);
	free(wait);
}

void record_tell(struct record *record, struct record *told, int error)
{
	struct record_wait *wait;
	while ((wait = list_first(&record->waits))) {
		record_accepted *accepted = wait->accepted;
		void *data = wait->data;
		list_remove(&record->waits, wait);
		free(wait);
		accepted(told, data, error);
	}
}

/* ---- states -------------------------------------------------------------------- */

void record_become(struct record *record, enum queue_state state)
{
	struct records *records = &record->serve->records;
	records->waiting -= record->state == QUEUE_WAITING;
	records->running -= record->state == QUEUE_RUNNING;
	record->state = state;
	records->waiting += record->state == QUEUE_WAITING;
	records->running += record->state == QUEUE_RUNNING;
}

/* ---- questions ------------------------------------------------------------------ */

void record_close_ask(struct record *record, uint64_t number)
{
	for (struct record_ask *ask = list_first(&record->asks); ask; ask = list_next(ask)) {
		if (ask->number == number) {
			list_remove(&record->asks, ask);
			free(ask);
			return;
		}
	}
}

/* ---- events -------------------------------------------------------------------- */

/* The event that is nearest to a number, of the last one and one that is remembered. */
static struct link *records_begin(struct records *records, uint64_t number)
{
	struct link *last = records->events.last;
	struct logged *near = *records_near(records, number);
	if (!near || !last)
		return last;
	uint64_t end = container_of(last, struct logged, in_all)->number;
	uint64_t from_end = end > number ? end - number : 0;
	uint64_t from_near = near->number > number ? near->number - number : number - near->number;
	return from_near < from_end ? &near->in_all : last;
}

/* In the order of the numbers. Those of several jobs are read one job after the other: where they
 * are many, nobody walks over all of them to the place of each. */
static void records_insert(struct records *records, struct logged *logged)
{
	struct link *before = records_begin(records, logged->number);
	while (before && container_of(before, struct logged, in_all)->number > logged->number)
		before = before->before;
	while (before && before->behind &&
		container_of(before->behind, struct logged, in_all)->number < logged->number)
		before = before->behind;
	list_insert(&records->events, &logged->in_all, before);
	*records_near(records, logged->number) = logged;
}

struct logged *record_put(struct record *record, uint64_t number, struct str text)
{
	struct records *records = &record->serve->records;
	struct logged *logged = malloc(sizeof(*logged) + text.len);
	if (!logged)
		return NULL;
	logged->record = record;
	logged->number = number;
	logged->len = text.len;
	memcpy(logged->text, text.data, text.len);
	list_append(&record->events, logged);
	records_insert(records, logged);
	record->bytes += sizeof(*logged) + text.len;
	records->bytes += sizeof(*logged) + text.len;
	if (records->bytes > (size_t)record->serve->settings.keep_bytes)
		perch_timer_set(record->serve->tick, 0); /* before more is read */
	if (number > records->last_number)
		records->last_number = number;
	return logged;
}

struct logged *record_after(const struct record *record, uint64_t number)
{
	struct link *link = record->events.last;
	while (link && link->before && ((struct logged *)link->before)->number > number)
		link = link->before;
	return link && ((struct logged *)link)->number > number ? (struct logged *)link : NULL;
}

struct logged *logged_next_of_all(const struct logged *logged)
{
	struct link *link = logged->in_all.behind;
	return link ? container_of(link, struct logged, in_all) : NULL;
}

struct logged *records_after(const struct records *records, uint64_t number)
{
	struct link *link = records->events.last;
	struct logged *found = NULL;
	for (; link; link = link->before) {
		struct logged *logged = container_of(link, struct logged, in_all);
		if (logged->number <= number)
			break;
		found = logged;
	}
	return found;
}

/* ---- forgetting ------------------------------------------------------------------ */

static bool record_is_old(const struct record *record, int64_t now_ms)
{
	int64_t keep_ms = record->serve->settings.keep_seconds * 1000;
	return queue_is_over(record->state) && now_ms - record->ended_ms >= keep_ms;
}

static void record_drop_events(struct record *record)
{
	struct queue *queue = record->serve->queue;
	if (!record->events.count)
		return;
	record->forgotten = ((const struct logged *)record->events.last)->number;
	record_forget_events(record);
	queue->table->drop(queue, str_from(record->id), true);
}

static bool record_keeps_key(const struct record *record, int64_t now_ms)
{
	return record->key.data && now_ms - record->created_ms < RECORD_KEY_SECONDS * INT64_C(1000);
}

/* Whether it is still needed. */
static bool record_is_needed(const struct record *record)
{
	return record->watchers.count || record->is_saving || record->job;
}

/* Over the limit, the oldest ended jobs are forgotten first (of a job whose key may still be sent
 * again only its events), then the oldest events. */
static void records_shrink(struct serve *serve, int64_t now_ms)
{
	struct records *records = &serve->records;
	size_t most = (size_t)serve->settings.keep_bytes;
	struct record *next;
	for (struct record *item = list_first(&records->all); item && records->bytes > most;
		 item = next) {
		next = list_next(item);
		if (!queue_is_over(item->state) || record_is_needed(item))
			continue;
		if (record_keeps_key(item, now_ms)) {
			record_drop_events(item);
			continue;
		}
		serve->queue->table->drop(serve->queue, str_from(item->id), false);
		records_remove(records, item);
	}
	while (records->bytes > most && records->events.count) {
		struct logged *oldest = container_of(records->events.first, struct logged, in_all);
		oldest->record->forgotten = oldest->number;
		logged_remove(records, oldest);
	}
}

void records_trim(struct serve *serve, int64_t now_ms)
{
	struct records *records = &serve->records;
	struct record *next;
	for (struct record *item = list_first(&records->all); item; item = next) {
		next = list_next(item);
		if (!record_is_old(item, now_ms) || record_is_needed(item))
			continue;
		if (record_keeps_key(item, now_ms)) {
			record_drop_events(item);
			continue;
		}
		serve->queue->table->drop(serve->queue, str_from(item->id), false);
		records_remove(records, item);
	}
	if (records->bytes > (size_t)serve->settings.keep_bytes)
		records_shrink(serve, now_ms);
}

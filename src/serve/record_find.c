/* All jobs that the gateway knows: by their ids, and by the keys of who asked for them. */
#include "serve/record.h"

#include "base/macros.h"

static uint32_t records_sum(uint32_t sum, struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		sum = (sum ^ (uint8_t)text.data[i]) * 16777619u;
	return sum;
}

/* ---- ids ----------------------------------------------------------------------- */

static size_t records_bucket(struct str id)
{
	return records_sum(STR_HASH, id) % RECORD_BUCKETS;
}

struct record *records_find(const struct records *records, struct str id)
{
	struct record *record = records->buckets[records_bucket(id)];
	while (record && !str_is(id, record->id))
		record = record->next_hashed;
	return record;
}

/* ---- keys ---------------------------------------------------------------------- */

/* Both texts are a client's: what divides them need not, since they are compared. */
static size_t records_key_bucket(struct str owner, struct str key)
{
	return records_sum(records_sum(STR_HASH, owner), key) % RECORD_BUCKETS;
}

struct record *records_find_key(const struct records *records, struct str owner, struct str key)
{
	struct record *record = key.len ? records->keys[records_key_bucket(owner, key)] : NULL;
	while (record && !(str_eq(record->key, key) && str_eq(record->owner, owner)))
		record = record->next_keyed;
	return record;
}

static void records_add_key(struct records *records, struct record *record)
{
	struct record **bucket = &records->keys[records_key_bucket(record->owner, record->key)];
	if (!record->key.len)
		return;
	record->next_keyed = *bucket;
	*bucket = record;
}

void records_forget_key(struct records *records, struct record *record)
{
	struct record **place = &records->keys[records_key_bucket(record->owner, record->key)];
	if (!record->key.len)
		return;
	while (*place != record)
		place = &(*place)->next_keyed;
	*place = record->next_keyed;
	record->key = (struct str){ 0 };
}

/* ---- all ----------------------------------------------------------------------- */

static size_t record_size(const struct record *record)
{
	return sizeof(*record) + arena_size(&record->arena);
}

void records_add(struct records *records, struct record *record)
{
	struct record **bucket = &records->buckets[records_bucket(str_from(record->id))];
	record->next_hashed = *bucket;
	*bucket = record;
	records_add_key(records, record);
	list_append(&records->all, record);
	records->bytes += record_size(record);
	records->asked += record->request.len;
	records->waiting += record->state == QUEUE_WAITING;
	records->running += record->state == QUEUE_RUNNING;
}

void records_remove(struct records *records, struct record *record)
{
	struct record **place = &records->buckets[records_bucket(str_from(record->id))];
	while (*place != record)
		place = &(*place)->next_hashed;
	*place = record->next_hashed;
	records_forget_key(records, record);
	list_remove(&records->all, record);
	records->bytes -= record_size(record);
	records->asked -= record->request.len;
	records->waiting -= record->state == QUEUE_WAITING;
	records->running -= record->state == QUEUE_RUNNING;
	record_free(record);
}

void records_free(struct records *records)
{
	struct record *record;
	while ((record = list_first(&records->all)))
		records_remove(records, record);
}

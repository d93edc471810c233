/* JSON-RPC: the requests of one direction that wait for their answers, found by their id.
 * A peer chooses its ids, and may choose them so that they meet in one bucket: the limit
 * bounds what that costs. */
#include <errno.h>
#include <stdlib.h>

#include "wire/jsonrpc.h"

enum { JSONRPC_BUCKETS_MIN = 16 };

static size_t jsonrpc_ids_bucket(const struct jsonrpc_ids *ids, const struct jsonrpc_id *id)
{
	const uint64_t prime = 0x9E3779B97F4A7C15u;
	uint64_t hash = ((uint64_t)id->number + (uint64_t)id->kind) * prime;
	for (size_t i = 0; i < id->text.len; i++)
		hash = (hash ^ (unsigned char)id->text.data[i]) * prime;
	return (size_t)(hash >> 32) & (ids->bucket_count - 1);
}

static void jsonrpc_ids_put(struct jsonrpc_ids *ids, struct jsonrpc_waiting *waiting)
{
	struct jsonrpc_waiting **bucket = &ids->buckets[jsonrpc_ids_bucket(ids, &waiting->id)];
	waiting->next = *bucket;
	*bucket = waiting;
}

/* Room for one more: there are never more of them than buckets. */
static int jsonrpc_ids_grow(struct jsonrpc_ids *ids)
{
	if (ids->count < ids->bucket_count)
		return 0;
	struct jsonrpc_ids larger = *ids;
	larger.bucket_count = ids->bucket_count ? ids->bucket_count * 2 : JSONRPC_BUCKETS_MIN;
	larger.buckets = calloc(larger.bucket_count, sizeof(*larger.buckets));
	if (!larger.buckets)
		return -ENOMEM;
	for (size_t i = 0; i < ids->bucket_count; i++)
		for (struct jsonrpc_waiting *waiting = ids->buckets[i], *next; waiting; waiting = next) {
			next = waiting->next;
			jsonrpc_ids_put(&larger, waiting);
		}
	free(ids->buckets);
	*ids = larger;
	return 0;
}

struct jsonrpc_waiting *jsonrpc_ids_find(const struct jsonrpc_ids *ids, const struct jsonrpc_id *id)
{
	if (!ids->count)
		return NULL;
	struct jsonrpc_waiting *waiting = ids->buckets[jsonrpc_ids_bucket(ids, id)];
	while (waiting && !jsonrpc_id_eq(&waiting->id, id))
		waiting = waiting->next;
	return waiting;
}

int jsonrpc_ids_add(struct jsonrpc_ids *ids, struct jsonrpc_waiting *waiting)
{
	if (jsonrpc_ids_find(ids, &waiting->id))
		return -EEXIST;
	if (ids->count >= ids->limit)
		return PERCH_ELIMIT;
	int r = jsonrpc_ids_grow(ids);
	if (r < 0)
		return r;
	jsonrpc_ids_put(ids, waiting);
	ids->count++;
	return 0;
}

int jsonrpc_ids_issue(struct jsonrpc_ids *ids, struct jsonrpc_waiting *waiting)
{
	waiting->id = (struct jsonrpc_id){ .kind = JSONRPC_ID_INTEGER, .number = ++ids->issued };
	return jsonrpc_ids_add(ids, waiting);
}

void jsonrpc_ids_remove(struct jsonrpc_ids *ids, struct jsonrpc_waiting *waiting)
{
	struct jsonrpc_waiting **at = &ids->buckets[jsonrpc_ids_bucket(ids, &waiting->id)];
	while (*at != waiting)
		at = &(*at)->next;
	*at = waiting->next;
	ids->count--;
}

void jsonrpc_ids_free(struct jsonrpc_ids *ids)
{
	free(ids->buckets);
	ids->buckets = NULL;
	ids->bucket_count = ids->count = 0;
}

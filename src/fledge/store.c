/* The stored values of a plugin. Values that were set wait in memory, in order; a flush lays them
 * over the content of the disk. While a flush is under way, in a thread perhaps, the disk and the
 * values of the flush belong to it: values that are set meanwhile wait for the next one. */
#include "fledge/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/json.h"
#include "fledge/store_parts.h"

struct store {
	char *directory;
	store_warn_fn *warn;
	void *warn_data;
	struct store_values pending;
	struct store_values flushing; /* read alone while a flush is under way */
	bool is_flushing;
	int result;             /* of the flush */
	struct store_disk disk; /* of the flush, while one is under way */
};

int store_new(const char *directory, struct store **ret_store)
{
	struct store *store = calloc(1, sizeof(*store));
	if (!store)
		return -ENOMEM;
	store->directory = str_dup(str_from(directory));
	store_disk_init(&store->disk, store->directory);
	if (!store->directory) {
		store_free(store);
		return -ENOMEM;
	}
	*ret_store = store;
	return 0;
}

void store_free(struct store *store)
{
	if (!store)
		return;
	store_values_free(&store->pending);
	store_values_free(&store->flushing);
	store_disk_free(&store->disk);
	free(store->directory);
	free(store);
}

void store_on_warning(struct store *store, store_warn_fn *warn, void *data)
{
	store->warn = warn;
	store->warn_data = data;
}

/* 0, or -ENOMEM: there were more words. */
static int store_tell_said(struct store *store)
{
	struct buf said = store->disk.said;
	int r = said.failed ? -ENOMEM : 0;
	store->disk.said = (struct buf){ 0 };
	for (size_t at = 0; at < said.len; at += strlen(said.data + at) + 1) {
		if (store->warn)
			store->warn(store->warn_data, said.data + at);
	}
	buf_free(&said);
	return r;
}

/* Told at once: not by a flush. */
static void store_reject(const struct store *store, const char *reason)
{
	char text[128];
	snprintf(text, sizeof(text), "store rejected: %s", reason);
	if (store->warn)
		store->warn(store->warn_data, text);
}

/* ---- setting ------------------------------------------------------------ */

/* The values that are not on disk are bounded by the size of the file: a text never becomes shorter
 * when it is written. */
static const char *store_find_shortage(const struct store *store, struct str key, struct str value)
{
	const struct store_values *pending = &store->pending;
	const struct store_values *flushing = &store->flushing;
	size_t count = pending->count + flushing->count;
	size_t size = pending->size + flushing->size;
	if (count < STORE_KEYS_MAX && size + key.len + value.len <= STORE_FILE_MAX)
		return NULL;
	const struct state_entry *old = store_values_find(pending, key);
	if (!old)
		old = store_values_find(flushing, key);
	store_values_measure(pending, flushing, &count, &size);
	if (size - (old ? store_value_size(old) : 0) + key.len + value.len > STORE_FILE_MAX)
		return "state.json too large (max 1 MiB)";
	return !old && count >= STORE_KEYS_MAX ? "too many keys (max 256)" : NULL;
}

int store_set(struct store *store, struct str key, struct str value)
{
	const char *reason = store_value_fault(key, value);
	if (!reason)
		reason = store_find_shortage(store, key, value);
	if (!reason)
		return store_values_add(&store->pending, key, value);
	store_reject(store, reason);
	return -EINVAL;
}

bool store_is_dirty(const struct store *store)
{
	return store->pending.count || store->flushing.count;
}

void store_give_up(struct store *store)
{
	if (store_is_dirty(store))
		store_reject(store, "locked");
	store_values_free(&store->pending);
	store_values_free(&store->flushing);
}

/* ---- reading ------------------------------------------------------------ */

static void store_append_value(struct buf *out, const struct str *value)
{
	struct perch_json_writer writer = json_writer_on(out);
	if (value)
		perch_json_write_string_n(&writer, value->data, value->len);
	else
		perch_json_write_null(&writer);
}

/* Values that are not written yet come first: those that wait, then those of the flush. */
int store_get(struct store *store, struct str key, struct buf *out)
{
	const struct state_entry *entry = store_values_find(&store->pending, key);
	if (!entry)
		entry = store_values_find(&store->flushing, key);
	if (!entry) {
		int r = store->is_flushing ? -EAGAIN : store_disk_get(&store->disk, key, &entry);
		if (!store->is_flushing && store_tell_said(store) < 0)
			r = -ENOMEM;
		if (r < 0)
			return r;
	}
	store_append_value(out, entry ? &entry->value : NULL);
	return out->failed ? -ENOMEM : 0;
}

/* ---- writing ------------------------------------------------------------ */

/* Values that could not be written the last time go with it, unless they were set anew. */
int store_flush_begin(struct store *store)
{
	if (!store_is_dirty(store))
		return 0;
	if (store_values_move(&store->flushing, &store->pending) < 0)
		return -ENOMEM;
	store->is_flushing = true;
	return 1;
}

void store_flush_work(struct store *store)
{
	store->result = store_disk_write(&store->disk, &store->flushing);
}

int store_flush_end(struct store *store)
{
	store->is_flushing = false;
	if (store->result != -EAGAIN)
		store_values_free(&store->flushing);
	if (store_tell_said(store) < 0 && store->warn)
		store->warn(store->warn_data, "out of memory: what was to be told of state.json is lost");
	return store->result;
}

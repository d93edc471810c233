/* The stored values of a plugin. What was set waits in memory, in the order it
 * was set; a flush lays it over what is on disk at that moment. While a flush is under
 * way, in a thread perhaps, the files and what it writes are its own: what is set
 * meanwhile waits for the next one. */
#include "fledge/store.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "data/json.h"
#include "fledge/state.h"
#include "fledge/store_file.h"

/* state.json as it was read. */
struct content {
	struct buf text;
	struct state state;
};

/* What was set: key and value in one piece of memory, the key's. */
struct entries {
	struct state_entry *items;
	size_t count;
	size_t cap;
	size_t size; /* of all keys and values */
};

struct store {
	char *directory;
	store_warn_fn *warn;
	void *warn_data;
	struct entries pending;
	struct entries flushing; /* read alone while a flush is under way */
	bool is_flushing;
	int result; /* of the flush */
	/* Of the flush, while one is under way. */
	struct store_files files;
	struct buf said;     /* warnings, each with a NUL behind it */
	struct content last; /* what a load found; good while the file is known */
};

static void store_content_free(struct content *content)
{
	state_free(&content->state);
	buf_free(&content->text);
	*content = (struct content){ 0 };
}

int store_new(const char *directory, struct store **ret_store)
{
	struct store *store = calloc(1, sizeof(*store));
	if (!store)
		return -ENOMEM;
	store->files.directory = -1;
	store->files.known = -1;
	store->directory = str_dup(str_from(directory));
	if (!store->directory) {
		store_free(store);
		return -ENOMEM;
	}
	*ret_store = store;
	return 0;
}

static void store_entries_free(struct entries *entries)
{
	for (size_t i = 0; i < entries->count; i++)
		free((char *)entries->items[i].key.data);
	free(entries->items);
	*entries = (struct entries){ 0 };
}

void store_free(struct store *store)
{
	if (!store)
		return;
	store_entries_free(&store->pending);
	store_entries_free(&store->flushing);
	store_content_free(&store->last);
	buf_free(&store->said);
	store_files_close(&store->files);
	free(store->directory);
	free(store);
}

void store_on_warning(struct store *store, store_warn_fn *warn, void *data)
{
	store->warn = warn;
	store->warn_data = data;
}

/* To be told by the loop: a warning is lost when there is no memory for it. */
static void PERCH_PRINTF(2, 3) store_tell(struct store *store, const char *format, ...)
{
	char text[2 * PERCH_ERR_TEXT_MAX];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	buf_append(&store->said, text, strlen(text) + 1);
}

static void store_tell_said(struct store *store)
{
	struct buf said = store->said;
	store->said = (struct buf){ 0 };
	for (size_t at = 0; at < said.len; at += strlen(said.data + at) + 1) {
		if (store->warn)
			store->warn(store->warn_data, said.data + at);
	}
	buf_free(&said);
}

/* At once: not of a flush. */
static void store_reject(const struct store *store, const char *reason)
{
	char text[128];
	snprintf(text, sizeof(text), "store rejected: %s", reason);
	if (store->warn)
		store->warn(store->warn_data, text);
}

/* ---- setting ------------------------------------------------------------ */

static bool store_has_control_characters(struct str text)
{
	while (text.len) {
		uint32_t character;
		size_t length = utf8_decode(text.data, text.len, &character);
		if (character < 0x20 || (character >= 0x7F && character <= 0x9F))
			return true;
		text.data += length;
		text.len -= length;
	}
	return false;
}

/* Why a key cannot have this value, or NULL. */
static const char *store_find_fault(struct str key, struct str value)
{
	if (key.len == 0)
		return "empty key";
	if (key.len > STORE_KEY_MAX)
		return "key too long (max 256 bytes)";
	if (!utf8_is_valid(key.data, key.len))
		return "key is not valid UTF-8";
	if (store_has_control_characters(key))
		return "control character in key";
	if (value.len > STORE_VALUE_MAX)
		return "value too long (max 64 KiB)";
	return NULL;
}

static struct state_entry *store_entries_find(const struct entries *entries, struct str key)
{
	for (size_t i = 0; i < entries->count; i++)
		if (str_eq(entries->items[i].key, key))
			return &entries->items[i];
	return NULL;
}

static size_t store_raw_size(const struct state_entry *entry)
{
	return entry->key.len + entry->value.len;
}

static void store_entries_remove(struct entries *entries, struct state_entry *entry)
{
	entries->size -= store_raw_size(entry);
	free((char *)entry->key.data);
	entries->count--;
	size_t behind = entries->count - (size_t)(entry - entries->items);
	memmove(entry, entry + 1, behind * sizeof(*entry));
}

static int store_entries_make_room(struct entries *entries, size_t more)
{
	void *grown =
		vec_grow(entries->items, &entries->cap, entries->count + more, sizeof(*entries->items));
	if (!grown)
		return -ENOMEM;
	entries->items = grown;
	return 0;
}

/* Instead of what has that key. Takes its memory; there is room. */
static void store_entries_put(struct entries *entries, const struct state_entry *entry)
{
	struct state_entry *old = store_entries_find(entries, entry->key);
	if (old)
		store_entries_remove(entries, old);
	entries->items[entries->count++] = *entry;
	entries->size += store_raw_size(entry);
}

/* All that is not on disk: what waits, and what is on its way and was not set anew. */
static void store_measure(const struct store *store, size_t *ret_count, size_t *ret_size)
{
	*ret_count = store->pending.count;
	*ret_size = store->pending.size;
	for (size_t i = 0; i < store->flushing.count; i++) {
		const struct state_entry *entry = &store->flushing.items[i];
		if (store_entries_find(&store->pending, entry->key))
			continue;
		*ret_count += 1;
		*ret_size += store_raw_size(entry);
	}
}

/* That is bounded by what could be written: text never shrinks by it. */
static const char *store_find_shortage(const struct store *store, struct str key, struct str value)
{
	const struct entries *pending = &store->pending;
	const struct entries *flushing = &store->flushing;
	size_t count = pending->count + flushing->count;
	size_t size = pending->size + flushing->size;
	if (count < STORE_KEYS_MAX && size + key.len + value.len <= STORE_FILE_MAX)
		return NULL;
	const struct state_entry *old = store_entries_find(pending, key);
	if (!old)
		old = store_entries_find(flushing, key);
	store_measure(store, &count, &size);
	if (size - (old ? store_raw_size(old) : 0) + key.len + value.len > STORE_FILE_MAX)
		return "state.json too large (max 1 MiB)";
	return !old && count >= STORE_KEYS_MAX ? "too many keys (max 256)" : NULL;
}

static int store_append_pending(struct store *store, struct str key, struct str value)
{
	if (store_entries_make_room(&store->pending, 1) < 0)
		return -ENOMEM;
	char *memory = malloc(key.len + value.len);
	if (!memory)
		return -ENOMEM;
	memcpy(memory, key.data, key.len);
	if (value.len)
		memcpy(memory + key.len, value.data, value.len);
	const struct state_entry entry = {
		.key = { memory, key.len },
		.value = { memory + key.len, value.len },
	};
	store_entries_put(&store->pending, &entry);
	return 0;
}

int store_set(struct store *store, struct str key, struct str value)
{
	const char *reason = store_find_fault(key, value);
	if (!reason)
		reason = store_find_shortage(store, key, value);
	if (!reason)
		return store_append_pending(store, key, value);
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
	store_entries_free(&store->pending);
	store_entries_free(&store->flushing);
}

/* ---- reading ------------------------------------------------------------ */

/* PERCH_ESYNTAX: what stands there is not ours, err says why. Other errors say
 * that it could not be found out. */
static int store_content_read(struct store *store, struct content *content, perch_err *err)
{
	int r = store_files_read(&store->files, &content->text);
	switch (r) {
	case 0:
		break;
	case -ENOENT:
		return 0;
	case -ENOTSUP:
		return err_set(err, PERCH_ESYNTAX, "not a regular file");
	case -EFBIG:
		return err_set(err, PERCH_ESYNTAX, "larger than 1 MiB");
	default:
		return err_set(err, r, "state.json: %s", perch_strerror(r));
	}
	return state_read(&content->state, (struct str){ content->text.data, content->text.len }, err);
}

static int store_set_aside(struct store *store, const char *reason, perch_err *err)
{
	char name[STORE_NAME_MAX];
	int r = store_files_set_aside(&store->files, name);
	if (r == -EEXIST)
		return err_set(
			err, r, "state.json is not usable (%s): remove some of state.json.corrupt-*", reason);
	if (r < 0)
		return err_set(err, r, "state.json is not usable (%s) and cannot be moved: %s", reason,
			perch_strerror(r));
	store_tell(store, "state.json is not usable (%s): moved to %s", reason, name);
	return 0;
}

/* Reads under the write lock: what is not ours is moved out of the way and
 * counts as empty. */
static int store_content_settle(struct store *store, struct content *content, perch_err *err)
{
	perch_err fault = { 0 };
	int r = store_content_read(store, content, &fault);
	if (r != PERCH_ESYNTAX) {
		if (r < 0)
			*err = fault;
		return r;
	}
	store_content_free(content);
	return store_set_aside(store, fault.text, err);
}

static int store_lock_for_writing(struct store *store, perch_err *err)
{
	int lock = store_files_lock(&store->files, LOCK_EXCLUSIVE);
	if (lock == -ENOTSUP)
		return err_set(err, lock, "state.json.lock is not a regular file");
	if (lock < 0)
		return err_set(err, lock, "state.json.lock: %s", perch_strerror(lock));
	return lock;
}

static int store_open_files(struct store *store, perch_err *err)
{
	int r = store_files_open(&store->files, store->directory);
	return r < 0 ? err_set(err, r, "%s: %s", store->directory, perch_strerror(r)) : 0;
}

/* A file that is replaced by renaming is always whole: the lock gives an order,
 * and where there is none (nobody wrote yet, or we may not) it is read without. */
static int store_content_load(struct store *store, struct content *content, perch_err *err)
{
	int r = store_open_files(store, err);
	if (r < 0)
		return r;
	int lock = store_files_lock(&store->files, LOCK_SHARED);
	if (lock == -EAGAIN)
		return lock;
	r = store_content_read(store, content, err);
	fd_close(lock);
	if (r != PERCH_ESYNTAX)
		return r;
	store_content_free(content);
	_cleanup_fd_ int write_lock = store_lock_for_writing(store, err);
	return write_lock < 0 ? write_lock : store_content_settle(store, content, err);
}

static void store_append_value(struct buf *out, const struct str *value)
{
	struct perch_json_writer writer = json_writer_on(out);
	if (value)
		perch_json_write_string_n(&writer, value->data, value->len);
	else
		perch_json_write_null(&writer);
}

/* A plugin may load thousands of times; as long as nobody has touched the
 * file, one look at it is enough. */
static int store_load_last(struct store *store)
{
	if (store_files_is_known(&store->files))
		return 0;
	perch_err err = { 0 };
	store_content_free(&store->last);
	int r = store_open_files(store, &err);
	if (r == 0) {
		store_files_remember(&store->files);
		r = store_content_load(store, &store->last, &err);
	}
	if (r < 0)
		store_files_forget(&store->files);
	if (r < 0 && r != -EAGAIN && r != -ENOMEM)
		store_tell(store, "load failed: %s", err.text);
	store_tell_said(store);
	return r;
}

int store_get(struct store *store, struct str key, struct buf *out)
{
	const struct state_entry *entry = store_entries_find(&store->pending, key);
	if (!entry)
		entry = store_entries_find(&store->flushing, key);
	if (!entry) {
		int r = store->is_flushing ? -EAGAIN : store_load_last(store);
		if (r == -EAGAIN || r == -ENOMEM)
			return r;
		if (r == 0)
			entry = state_get(&store->last.state, key);
	}
	store_append_value(out, entry ? &entry->value : NULL);
	return out->failed ? -ENOMEM : 0;
}

/* ---- writing ------------------------------------------------------------ */

/* Lays what waits over the content, one after the other, so that what does not
 * fit is rejected alone. Returns how many fitted, or -ENOMEM. */
static int store_merge(struct store *store, struct state *state)
{
	int merged = 0;
	for (size_t i = 0; i < store->flushing.count; i++) {
		const struct state_entry *entry = &store->flushing.items[i];
		const char *reason = NULL;
		int r = state_set(state, entry->key, entry->value, &reason);
		if (r == -ENOMEM)
			return r;
		if (r < 0)
			store_tell(store, "store rejected: %s", reason);
		else
			merged++;
	}
	return merged;
}

static int store_write_content(struct store *store, const struct state *state, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (state_write(state, &text) < 0)
		return err_no_memory(err);
	int r = store_files_replace(&store->files, (struct str){ text.data, text.len });
	return r < 0 ? err_set(err, r, "cannot write state.json: %s", perch_strerror(r)) : 0;
}

static int store_flush_pending(struct store *store, perch_err *err)
{
	_cleanup_(store_content_free) struct content content = { 0 };
	int r = store_open_files(store, err);
	if (r < 0)
		return r;
	_cleanup_fd_ int lock = store_lock_for_writing(store, err);
	if (lock < 0)
		return lock;
	r = store_content_settle(store, &content, err);
	if (r < 0)
		return r;
	int merged = store_merge(store, &content.state);
	if (merged < 0)
		return err_no_memory(err);
	return merged ? store_write_content(store, &content.state, err) : 0;
}

/* What could not be written the last time goes with it, if it was not set anew. */
int store_flush_begin(struct store *store)
{
	struct entries *pending = &store->pending;
	if (!store_is_dirty(store))
		return 0;
	if (store_entries_make_room(&store->flushing, pending->count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < pending->count; i++)
		store_entries_put(&store->flushing, &pending->items[i]);
	pending->count = 0;
	store_entries_free(pending);
	store->is_flushing = true;
	return 1;
}

void store_flush_work(struct store *store)
{
	perch_err err = { 0 };
	store->result = store_flush_pending(store, &err);
	if (store->result < 0 && store->result != -EAGAIN)
		store_tell(store, "store rejected: %s", err.text);
}

int store_flush_end(struct store *store)
{
	store->is_flushing = false;
	if (store->result != -EAGAIN)
		store_entries_free(&store->flushing);
	store_tell_said(store);
	return store->result;
}

int store_flush(struct store *store)
{
	int r = store_flush_begin(store);
	if (r <= 0)
		return r;
	store_flush_work(store);
	return store_flush_end(store);
}

/* The stored values of a plugin: state.json, shared with other processes that may be killed at any
 * moment, in a directory where the plugin itself may put any file. */
#ifndef FLEDGE_STORE_H
#define FLEDGE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "perch/base.h"

enum {
	STORE_KEY_MAX = 256,
	STORE_VALUE_MAX = 64 * 1024,
	STORE_KEYS_MAX = 256,
	STORE_FILE_MAX = 1024 * 1024,
};

/* How long to wait for a lock that another process holds. */
#define STORE_LOCK_WAIT_NS (UINT64_C(5) * 1000 * 1000 * 1000)

struct store;

/* `directory` is the plugin's. Nothing is touched yet. -ENOMEM. */
int store_new(const char *directory, struct store **ret_store);
void store_free(struct store *store);

/* A warning for the user, e.g. "store rejected: key too long (max 256 bytes)". */
typedef void store_warn_fn(void *data, const char *text);
void store_on_warning(struct store *store, store_warn_fn *warn, void *data);

/* Sets a key. Kept in memory until it is flushed. Returns 0; -EINVAL when it was
 * rejected (and warned about); -ENOMEM. */
int store_set(struct store *store, struct str key, struct str value);

/* Writes the values that were set since the last flush: lock, read the file, merge, write a
 * temporary file, fsync, rename. Three parts, because the caller must not wait for a disk:
 * - store_flush_begin: 1 = there is something to write, 0 = nothing, -ENOMEM.
 * - store_flush_work, in any thread, waits for the disk, but for no lock.
 * - store_flush_end tells what became of it: 0 when everything is on disk or was rejected with a
 *   warning; -EAGAIN when another process holds the lock (flush again later; after
 *   STORE_LOCK_WAIT_NS call store_give_up); other negative errnos were warned about and the changes
 *   dropped.
 * In between values can be set, and read: -EAGAIN where the disk must be asked. */
int store_flush_begin(struct store *store);
void store_flush_work(struct store *store);
int store_flush_end(struct store *store);

bool store_is_dirty(const struct store *store);

/* Drops the values that were set and not written: "store rejected: locked". */
void store_give_up(struct store *store);

/* Reads a key: the value that was set in this run, else that on disk (shared lock). It is appended
 * to out as a JSON string, or null, with a warning where it cannot be read. -EAGAIN when another
 * process holds the lock; -ENOMEM. */
int store_get(struct store *store, struct str key, struct buf *out);

#endif

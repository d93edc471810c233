/* The parts of a store: the values that were set and are not written yet, and the disk that they
 * go to. */
#ifndef FLEDGE_STORE_PARTS_H
#define FLEDGE_STORE_PARTS_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/lock.h"
#include "fledge/state.h"

/* ---- values that were set --------------------------------------------------------- */

/* In the order in which they were set. Key and value are one piece of memory, the key's. */
struct store_values {
	struct state_entry *items;
	size_t count;
	size_t cap;
	size_t size; /* of all keys and values */
};

void store_values_free(struct store_values *values);

/* NULL when the key has none. */
const struct state_entry *store_values_find(const struct store_values *values, struct str key);

/* A copy of key and value, instead of what has that key. -ENOMEM. */
int store_values_add(struct store_values *values, struct str key, struct str value);

/* Moves everything of `from`, over the values of the same keys; then `from` is empty. -ENOMEM, and
 * nothing was moved. */
int store_values_move(struct store_values *values, struct store_values *from);

/* How many keys and bytes these are, and of `others` those whose key is not among them. */
void store_values_measure(const struct store_values *values, const struct store_values *others,
	size_t *ret_count, size_t *ret_size);

/* Of key and value. */
size_t store_value_size(const struct state_entry *entry);

/* Why a key cannot have this value, or NULL. */
const char *store_value_fault(struct str key, struct str value);

/* ---- its files -------------------------------------------------------------------- */

/* state.json, its lock, its temporary files and those moved out of the way. All below one
 * descriptor of the directory, so that it does not matter when the directory is swapped; never
 * through a link; never waiting. */
enum {
	STORE_ASIDE_MAX = 32, /* files set aside; with more of them nothing is stored */
	STORE_NAME_MAX = 64,
};

struct store_files {
	int directory;     /* -1 = not open yet */
	bool is_swept;     /* leftovers of killed processes were looked for */
	int known;         /* the state.json that was remembered: held, so that its inode
						  cannot become another file's; -1 = none */
	bool is_missing;   /* that there is none was remembered, by its directory */
	struct stat stamp; /* of it, or of the directory */
};

/* Opens the directory unless it is open. Returns 0 or a negative errno. */
int store_files_open(struct store_files *files, const char *directory);
void store_files_close(struct store_files *files);

/* Returns a descriptor that holds the lock until it is closed. -EAGAIN when another process holds
 * it, -ENOTSUP when it is no regular file, -ENOENT, ... */
int store_files_lock(const struct store_files *files, enum lock_kind kind);

/* Appends the content of state.json. -ENOENT, -ENOTSUP (no regular file), -EFBIG. */
int store_files_read(const struct store_files *files, struct buf *out);

/* Remembers which state.json is there now, or that there is none; before it is read. One that was
 * changed a moment ago, and none in a directory that was, is not remembered: the clock of the file
 * system could hide the next change. */
void store_files_remember(struct store_files *files);

void store_files_forget(struct store_files *files);

/* Whether the same state.json is there, untouched since it was remembered. */
bool store_files_is_known(const struct store_files *files);

/* Renames state.json, of any type, to the first free state.json.corrupt-<n>, whose name is written
 * to ret_name. Holding the write lock. -EEXIST when all names are taken. */
int store_files_set_aside(const struct store_files *files, char ret_name[STORE_NAME_MAX]);

/* Makes text the content of state.json, on disk when it returns. A crash leaves
 * the old or the new file. Holding the write lock. */
int store_files_replace(struct store_files *files, struct str text);

/* ---- the disk --------------------------------------------------------------------- */

/* state.json as it was read. */
struct store_content {
	struct buf text;
	struct state state;
};

/* One thread at a time uses it: the loop's, or that of a flush which is under way. */
struct store_disk {
	const char *directory;
	struct store_files files;
	struct buf said;           /* warnings, each with a NUL behind it */
	struct store_content last; /* what a load found; good while the file is known */
};

void store_disk_init(struct store_disk *disk, const char *directory);
void store_disk_free(struct store_disk *disk);

/* The value of a key on disk; NULL = there is none, or a warning says why it cannot be read.
 * -EAGAIN when another process holds the lock; -ENOMEM. */
int store_disk_get(struct store_disk *disk, struct str key, const struct state_entry **ret_entry);

/* Lays the values over the content of the disk; those that do not fit are rejected alone. -EAGAIN
 * when another process holds the lock; other failures were warned about. */
int store_disk_write(struct store_disk *disk, const struct store_values *values);

#endif

/* The files behind a store: state.json, its lock, its temporary files and what
 * was set aside. All below one descriptor of the directory, so that it does not
 * matter when the directory is swapped; never through a link; never waiting. */
#ifndef FLEDGE_STORE_FILE_H
#define FLEDGE_STORE_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/lock.h"
#include "base/str.h"

enum {
	STORE_ASIDE_MAX = 32, /* files set aside; with more of them nothing is stored */
	STORE_NAME_MAX = 64,
};

struct store_files {
	int directory;     /* -1 = not open yet */
	bool is_swept;     /* leftovers of killed processes were looked for */
	int known;         /* the state.json that was remembered: held, so that its inode
						  cannot become another file's; -1 = none */
	struct stat stamp; /* of it */
};

/* Opens the directory unless it is open. Returns 0 or a negative errno. */
int store_files_open(struct store_files *files, const char *directory);
void store_files_close(struct store_files *files);

/* Returns a descriptor that holds the lock until it is closed. -EAGAIN when
 * somebody else holds it, -ENOTSUP when it is no regular file, -ENOENT, ... */
int store_files_lock(const struct store_files *files, enum lock_kind kind);

/* Appends the content of state.json. -ENOENT, -ENOTSUP (no regular file), -EFBIG. */
int store_files_read(const struct store_files *files, struct buf *out);

/* Remembers which state.json is there now; before it is read. One that was
 * changed a moment ago is not remembered: the clock of the file system could
 * hide the next change. */
void store_files_remember(struct store_files *files);

void store_files_forget(struct store_files *files);

/* Whether the same state.json is there, untouched since it was remembered. */
bool store_files_is_known(const struct store_files *files);

/* Renames state.json, whatever it is, to the first free state.json.corrupt-<n>,
 * whose name is written to ret_name. Holding the write lock. -EEXIST when all
 * names are taken. */
int store_files_set_aside(const struct store_files *files, char ret_name[STORE_NAME_MAX]);

/* Makes text the content of state.json, on disk when it returns. A crash leaves
 * the old or the new file. Holding the write lock. */
int store_files_replace(struct store_files *files, struct str text);

#endif

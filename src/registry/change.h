/* Changing a TOML file that other programs and people write too: read, changed and replaced under a
 * lock beside it, so that no change is lost and no reader sees half a file. */
#ifndef REGISTRY_CHANGE_H
#define REGISTRY_CHANGE_H

#include "base/buf.h"
#include "base/str.h"
#include "perch/base.h"

/* How long to wait for another process's change. */
#define CHANGE_LOCK_WAIT_NS (UINT64_C(10) * 1000 * 1000 * 1000)

/* Makes the new text as the functions of data/toml_edit.h do: 1 and *ret_text,
 * 0 when there is nothing to do, or a failure with words about the text. */
typedef int change_fn(struct str text, void *data, struct buf *ret_text, perch_err *err);

/* Changes directory/name, which may be missing; directories are made (0700) and
 * the file has mode 0600. A link is followed. Returns 1 when it was changed, 0;
 * fails with PERCH_ESYNTAX and the like (err names file, line and column), -EAGAIN
 * (locked for too long), -EFBIG, -ENOTSUP, -ENOSPC and other errnos. */
int change_file(const char *directory, const char *name, size_t most, change_fn *change, void *data,
	perch_err *err);

#endif

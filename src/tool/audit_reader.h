/* Reading the audit log while other processes write it and rotate its files: each line once, in the
 * order in which they were written. */
#ifndef TOOL_AUDIT_READER_H
#define TOOL_AUDIT_READER_H

#include <sys/types.h>

#include "proc/lines.h"

struct audit_reader {
	int folder; /* -1 = there is none yet */
	int notice; /* an inotify; -1 = none, then a moment is waited for */
	int fd;     /* the newest file that was read; -1 = none */
	dev_t device;
	ino_t inode;
	struct lines lines;
};

/* Lines go to `take`. Fails with words. */
int audit_reader_open(struct audit_reader *reader, line_fn *take, void *data, perch_err *err);
void audit_reader_close(struct audit_reader *reader);

/* Hands out what was not handed out yet; the first time all that is there. */
int audit_reader_read(struct audit_reader *reader, perch_err *err);

/* Waits until there may be more. -EINTR when a signal came. */
int audit_reader_wait(struct audit_reader *reader);

#endif

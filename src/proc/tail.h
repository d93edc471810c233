/* The last bytes of a stream, in bounded memory. */
#ifndef PROC_TAIL_H
#define PROC_TAIL_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct tail {
	struct buf kept;
	size_t limit;
	uint64_t total;
};

/* Returns 0 or -ENOMEM (what was kept stays). */
int tail_append(struct tail *tail, const char *data, size_t len);

/* At most `limit` last bytes, not starting inside a UTF-8 character. */
struct str tail_text(const struct tail *tail);

#endif

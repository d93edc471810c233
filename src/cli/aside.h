/* What is said on stderr while a loop runs: nobody waits for a slow reader, and where stderr and
 * stdout are one file, what is said keeps its place behind what was put out. All that is written
 * to the stream `stderr` takes this way as long as it is open. */
#ifndef CLI_ASIDE_H
#define CLI_ASIDE_H

#include <stdio.h>

#include "proc/outlet.h"

struct aside {
	struct outlet own;
	struct outlet *outlet; /* ours, or that of stdout; NULL = not open */
	FILE *stream;
	FILE *before; /* what stderr was */
};

/* Must not be moved afterwards. `out` is where stdout goes. 0 or -ENOMEM. */
int aside_open(struct aside *aside, struct loop *loop, struct outlet *out);

/* See outlet.h. */
void aside_hurry(struct aside *aside, uint64_t patience_ns);
size_t aside_waiting(const struct aside *aside);
bool aside_is_full(const struct aside *aside);

/* stderr is what it was. Again is fine. */
void aside_close(struct aside *aside);

#endif

/* stderr while a loop runs: the loop does not wait for a slow reader, and where stderr and stdout
 * are one file, messages keep their place behind the output. Everything that is written to the
 * stream `stderr` goes this way as long as it is open. */
#ifndef CLI_UI_STDERR_OUTLET_H
#define CLI_UI_STDERR_OUTLET_H

#include <stdio.h>

#include "proc/outlet.h"

struct stderr_outlet {
	struct outlet own;
	struct outlet *outlet; /* ours, or that of stdout; NULL = not open */
	FILE *stream;
	FILE *before; /* what stderr was */
};

/* Must not be moved afterwards. `out` is where stdout goes. 0 or -ENOMEM. */
int stderr_outlet_open(struct stderr_outlet *stderr_outlet, struct loop *loop, struct outlet *out);

/* See outlet.h. */
void stderr_outlet_hurry(struct stderr_outlet *stderr_outlet, uint64_t patience_ns);
size_t stderr_outlet_waiting(const struct stderr_outlet *stderr_outlet);
bool stderr_outlet_is_full(const struct stderr_outlet *stderr_outlet);

/* stderr is what it was. Again is fine. */
void stderr_outlet_close(struct stderr_outlet *stderr_outlet);

#endif

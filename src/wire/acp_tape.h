/* For tests, which judge every message of ACP that perch sends: where the switch
 * PERCH_TEST_ACP_TAPE names a directory, each connection leaves its lines there. */
#ifndef WIRE_ACP_TAPE_H
#define WIRE_ACP_TAPE_H

#include <stdbool.h>

#include "base/str.h"

/* No more than the first 2 MiB of a connection: a flood says the same again and again.
 *
 * To CONNECTION.SIDE, "agent" where perch is one, else "client": "> " before what we have sent, "<
 * " before the rest. */
void acp_tape(const void *connection, const char *side, bool is_ours, struct str line);

#endif

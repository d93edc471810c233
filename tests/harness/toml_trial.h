/* One random edit of any TOML text, checked by the oracle. For the unit tests
 * and for the fuzzer. */
#ifndef HARNESS_TOML_TRIAL_H
#define HARNESS_TOML_TRIAL_H

#include "harness/toml_oracle.h"

/* Numbers that look random and are the same in every run. */
uint32_t trial_random(uint64_t *state);

/* Chooses a place in the text and a change by seed, makes it, and compares.
 * Returns NULL when all is well, else what is wrong. A text that does not
 * parse is well. *ret_text, for messages, gets the new text if there is one. */
const char *trial_run(struct str text, uint64_t seed, struct buf *ret_text);

#endif

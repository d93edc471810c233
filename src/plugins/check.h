/* Whether a run came out as its case expects. */
#ifndef PLUGINS_CHECK_H
#define PLUGINS_CHECK_H

#include "base/str.h"
#include "plugins/cases.h"

/* What came of a run. */
struct run_result {
	int exit_code;
	struct str output; /* with a NUL behind it */
	struct str state;  /* the content of state.json; empty = there is none */
};

/* Adds an error for everything that is not as expected. */
void check_result(const struct case_expectation *expect, const struct run_result *result,
	struct findings *findings);

#endif

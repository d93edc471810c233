/* Any bytes as TOML: the reader must neither crash nor hang, and an edit of
 * what it accepts must change what it should and nothing else. The first byte
 * chooses the edit. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#include "harness/toml_trial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	struct str text = { (const char *)data + 1, size - 1 };
	struct buf out = { 0 };
	const char *problem = trial_run(text, data[0], &out);
	if (problem) {
		fprintf(stderr, "%s:\n%.*s\n-----\n%.*s\n", problem, (int)text.len, text.data, (int)out.len,
			out.data);
		abort();
	}
	buf_free(&out);
	return 0;
}

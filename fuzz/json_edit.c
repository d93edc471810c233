/* The editor of JSON texts: what it hands out can be edited again, and is then as it should be. */
#include "fuzz.h"

#include "data/json_edit.h"

#define VALUE "{\n\t\"a\": \"b\"\n}"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf once = { 0 }, twice = { 0 };
	int r =
		json_edit_set((struct str){ (const char *)data, size }, "s", "p", STR(VALUE), &once, NULL);
	if (r >= 0) {
		check(json_edit_set(
				  (struct str){ once.data, once.len }, "s", "p", STR(VALUE), &twice, NULL) == 0);
		check(once.len == twice.len);
	}
	buf_free(&once);
	buf_free(&twice);
	return 0;
}

/* Any bytes as what a program prints, in each format of perch-translate: every line that is written
 * for them is an event of AgentProc 0.4, and the result is the last. */
#include "fuzz.h"

#include <string.h>

#include "data/json.h"
#include "../tests/harness/translated.h"

static bool is_event(perch_json *json, struct str line)
{
	const perch_json_value *event = NULL;
	check(perch_json_parse(json, line.data, line.len, &event, NULL) == 0);
	const perch_json_value *type = perch_json_get(event, "type");
	check(perch_json_is(type, "partial") || perch_json_is(type, "result"));
	return perch_json_is(type, "result");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t count = 0;
	perch_json *json = NULL;
	while (translated_formats[count])
		count++;
	if (!size || perch_json_new(NULL, &json) < 0)
		return 0;
	char *told = translated(
		translated_formats[data[0] % count], (struct str){ (const char *)data + 1, size - 1 });
	struct str rest = str_from(told);
	bool is_over = false;
	while (rest.len) {
		check(!is_over);
		is_over = is_event(json, str_cut(&rest, '\n'));
	}
	check(!told || is_over);
	free(told);
	perch_json_free(json);
	return 0;
}

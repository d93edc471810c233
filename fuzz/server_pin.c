/* Any bytes as an item of tools/list: no crash; what is accepted has a name that can be shown and a
 * pin, and does not differ from itself. */
#include "fuzz.h"

#include <string.h>

#include "base/utf8.h"
#include "tool/server_pin.h"

static void fuzz_judge(const struct tool_known *tool)
{
	struct buf text = { 0 };
	check(tool->name[0] && strlen(tool->name) <= SERVER_TOOL_NAME_MAX);
	check(strlen(tool->pin) == SHA256_HEX_SIZE - 1);
	check(utf8_is_seen(tool->name, strlen(tool->name)));
	check(server_tool_difference(&text, tool, tool) == 0 && !text.len);
	const struct tool_known nothing = tool_known_named(tool->name);
	check(server_tool_difference(&text, &nothing, tool) == 0);
	check(!text.len || utf8_is_valid(text.data, text.len));
	buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct tool_known tool;
	perch_json *json;
	const perch_json_value *root;
	perch_err err = { 0 };
	check(perch_json_new(NULL, &json) == 0);
	if (perch_json_parse(json, (const char *)data, size, &root, NULL) == 0) {
		int r = server_tool_read(&arena, root, &tool, &err);
		if (r == 0)
			fuzz_judge(&tool);
		else
			check(err.code == r && err.text[0]);
	}
	perch_json_free(json);
	arena_free(&arena);
	return 0;
}

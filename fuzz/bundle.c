/* Any bytes as rterm-plugin.json: no crash, no hang; an error has words and a
 * place, and what is accepted has everything that is relied on. */
#include "fuzz.h"

#include "tool/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct tool_bundle bundle;
	perch_err err = { 0 };
	int r = tool_bundle_parse(
		"/b/rterm-plugin.json", (struct str){ (const char *)data, size }, &arena, &bundle, &err);
	if (r == 0) {
		check(bundle.plugin_id[0] && bundle.command[0] && bundle.directory[0] == '/');
		check(bundle.args && bundle.env && bundle.capabilities);
		for (size_t i = 0; i < bundle.tool_count; i++)
			check(bundle.tools[i].known.name[0] && bundle.tools[i].known.input_schema);
	} else {
		check(err.code == r && err.line && err.column && err.text[0]);
	}
	arena_free(&arena);
	return 0;
}

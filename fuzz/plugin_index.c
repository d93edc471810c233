/* Any bytes as an index of plugins: no crash, no hang; an error has a place, and what is accepted
 * has everything that searching and installing rely on. */
#include "fuzz.h"

#include "plugins/plugin_index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct plugin_index index = { 0 };
	perch_err err = { 0 };
	int r = index_parse((struct str){ (const char *)data, size }, &arena, &index, &err);
	check(index.count <= INDEX_ENTRIES_MAX);
	for (size_t i = 0; i < index.count; i++) {
		const struct index_entry *entry = &index.entries[i];
		check(entry->name[0] && entry->source[0]);
		check(entry->description && entry->languages);
	}
	if (r < 0)
		check(err.code == r && err.line && err.column && err.text[0] && !index.count);
	arena_free(&arena);
	return 0;
}

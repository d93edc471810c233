/* Any text as the source of a plugin: no crash; what is accepted can be handed to git and
 * to ssh without being taken for an option or for something else. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "plugins/source.h"
#include "plugins/trust.h"

static void check_repository(const struct plugin_source *source)
{
	check(source->is_repository && source->location[0] && source->location[0] != '-');
	check(!strstr(source->location, "..") && !strcasestr(source->location, "%2e"));
	const char *host = strstr(source->location, "://");
	check(!host || host[3] != '-');
	check(!strstr(source->location, "@-"));
	check(!source->ref[0] || !source_ref_problem(source->ref));
	for (const char *c = source->location; *c; c++)
		check((unsigned char)*c > ' ' && *c != '\\');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct plugin_source source;
	perch_err err = { 0 };
	char *text = str_dup((struct str){ (const char *)data, size });
	if (!text)
		return 0;
	int r = source_parse(text, "https://base.example", &arena, &source, &err);
	if (r < 0)
		check(err.code == r && err.text[0]);
	else if (!source.is_path)
		check_repository(&source);
	const char *const team[] = { "ada", NULL };
	const struct trust_lists lists = { .orgs = team };
	trust_of(&lists, text);
	free(text);
	arena_free(&arena);
	return 0;
}

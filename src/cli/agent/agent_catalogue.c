/* The profiles that come with perch: the files of catalogue/, by their names. */
#include "cli/agent/agent_commands.h"

#include <string.h>

#include "base/embedded.h"

extern const struct embedded catalogue[]; /* made by tools/embed.py, sorted by name */

/* "catalogue/NAME.yaml" */
static struct str agent_catalogue_stem(const char *path)
{
	const char *start = strchr(path, '/') + 1;
	return (struct str){ start, strcspn(start, ".") };
}

struct str agent_catalogue_name(size_t i)
{
	return catalogue[i].path ? agent_catalogue_stem(catalogue[i].path) : (struct str){ 0 };
}

const char *agent_catalogue_text(const char *name)
{
	for (size_t i = 0; catalogue[i].path; i++) {
		if (str_is(agent_catalogue_stem(catalogue[i].path), name))
			return catalogue[i].text;
	}
	return NULL;
}

int agent_catalogue_read(const char *name, struct arena *arena, struct agent_profile *ret_profile)
{
	return agent_profile_parse(
		"/catalogue", str_from(agent_catalogue_text(name)), arena, ret_profile, NULL);
}

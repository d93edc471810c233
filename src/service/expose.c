/* What a frontend shows. */
#include "service/expose.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/glob.h"
#include "base/macros.h"
#include "data/config.h"

static const char *const expose_all[] = { "*", NULL };
static const char *const expose_none[] = { NULL };

/* The lists that a section may have. */
static const struct {
	const char *name;
	size_t offset;
} expose_lists[] = {
	{ "tools", offsetof(struct exposure, tools) },
	{ "plugins", offsetof(struct exposure, plugins) },
	{ "agents", offsetof(struct exposure, agents) },
	{ "resources", offsetof(struct exposure, resources) },
	{ "prompts", offsetof(struct exposure, prompts) },
	{ "approve", offsetof(struct exposure, approve) },
};

enum { EXPOSE_LISTS = COUNT(expose_lists) };

static struct exposure expose_default(const char *frontend)
{
	bool is_worker = strcmp(frontend, "worker") == 0;
	return (struct exposure){
		.tools = is_worker ? expose_none : expose_all,
		.plugins = expose_none,
		.agents = expose_none,
		.resources = expose_none,
		.prompts = expose_none,
		.approve = expose_none,
	};
}

struct exposure_reading {
	const char *frontend;
	struct arena *arena;
	struct exposure *exposure;
};

/* An unknown key is refused: it would be a list that hides less than was meant. */
static int expose_read_section(const struct toml_value *root, void *data, perch_err *err)
{
	const struct exposure_reading *reading = data;
	const struct toml_value *sections = NULL;
	const struct toml_value *section = NULL;
	int r = toml_get_table(root, "expose", &sections, err);
	if (r > 0)
		r = toml_get_table(sections, reading->frontend, &section, err);
	if (r <= 0)
		return r;
	r = toml_check_keys(section, &expose_lists[0].name, EXPOSE_LISTS, sizeof(expose_lists[0]), err);
	for (size_t i = 0; r >= 0 && i < EXPOSE_LISTS; i++) {
		const char *name = expose_lists[i].name;
		const char *const **list =
			(const char *const **)((char *)reading->exposure + expose_lists[i].offset);
		if (toml_get(section, name))
			r = toml_get_strings(section, name, reading->arena, list, err);
	}
	return r < 0 ? r : 0;
}

int exposure_read(
	const char *frontend, struct arena *arena, struct exposure *ret_exposure, perch_err *err)
{
	if (!frontend) {
		*ret_exposure = (struct exposure){ .is_all = true };
		return 0;
	}
	struct exposure exposure = expose_default(frontend);
	struct exposure_reading reading = { frontend, arena, &exposure };
	int r = config_read_own(expose_read_section, &reading, err);
	if (r == 0)
		*ret_exposure = exposure;
	return r;
}

/* ---- matching ------------------------------------------------------------ */

static bool expose_has(const char *const *patterns, const char *text)
{
	for (; patterns && *patterns; patterns++) {
		if (glob_match(*patterns, text))
			return true;
	}
	return false;
}

/* A pattern without a slash names a binding, and all tools of it. */
static bool expose_has_tool(const char *const *patterns, const char *name)
{
	const char *slash = strchr(name, '/');
	if (expose_has(patterns, name) || !slash)
		return expose_has(patterns, name);
	_cleanup_free_ char *binding = str_dup((struct str){ name, (size_t)(slash - name) });
	for (; binding && *patterns; patterns++) {
		if (!strchr(*patterns, '/') && glob_match(*patterns, binding))
			return true;
	}
	return false;
}

bool exposure_shows(const struct exposure *exposure, perch_entry_kind kind, const char *name)
{
	if (exposure->is_all)
		return true;
	switch (kind) {
	case PERCH_ENTRY_TOOL:
		return expose_has_tool(exposure->tools, name);
	case PERCH_ENTRY_COMMAND:
		return expose_has(exposure->plugins, name);
	case PERCH_ENTRY_AGENT:
		return expose_has(exposure->agents, name);
	case PERCH_ENTRY_PROMPT:
		return expose_has(exposure->prompts, name);
	default:
		return expose_has(exposure->resources, name);
	}
}

/* A pattern for a binding has no colon, which every URI has. */
static bool expose_has_resource(const char *const *patterns, const char *binding, const char *uri)
{
	for (; patterns && *patterns; patterns++) {
		if (glob_match(*patterns, uri) ||
			(!strchr(*patterns, ':') && glob_match(*patterns, binding)))
			return true;
	}
	return false;
}

bool exposure_shows_of(
	const struct exposure *exposure, perch_entry_kind kind, const char *binding, const char *name)
{
	if (exposure->is_all)
		return true;
	if (kind != PERCH_ENTRY_PROMPT)
		return expose_has_resource(exposure->resources, binding, name);
	struct buf whole = { 0 };
	buf_printf(&whole, "%s/%s", binding, name);
	bool is_shown = buf_terminate(&whole) == 0 && expose_has_tool(exposure->prompts, whole.data);
	buf_free(&whole);
	return is_shown;
}

static bool expose_is_own(const char *pattern)
{
	return strncmp(pattern, "perch://", strlen("perch://")) == 0;
}

bool exposure_may_show(const struct exposure *exposure, perch_entry_kind kind, const char *binding)
{
	bool is_prompt = kind == PERCH_ENTRY_PROMPT;
	const char *const *pattern = is_prompt ? exposure->prompts : exposure->resources;
	for (; pattern && *pattern; pattern++) {
		const char *end = is_prompt ? strchr(*pattern, '/') : NULL;
		_cleanup_free_ char *owner =
			str_dup(end ? (struct str){ *pattern, (size_t)(end - *pattern) } : str_from(*pattern));
		bool is_uri = !is_prompt && strchr(*pattern, ':');
		if (is_uri ? !expose_is_own(*pattern) : owner && glob_match(owner, binding))
			return true;
	}
	return exposure->is_all;
}

bool exposure_approves(const struct exposure *exposure, const char *name)
{
	return !exposure->is_all && expose_has_tool(exposure->approve, name);
}

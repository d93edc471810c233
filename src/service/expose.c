/* What a frontend shows. */
#include "service/expose.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/glob.h"
#include "base/macros.h"
#include "base/paths.h"
#include "data/toml.h"

enum { EXPOSE_CONFIG_MAX = 1024 * 1024 };

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

/* A key that means nothing would otherwise be a list that hides less than was meant. */
static int expose_check_keys(const struct toml_value *section, perch_err *err)
{
	for (uint32_t i = 0; i < section->count; i++) {
		const struct toml_value *item = section->items[i];
		const char *name = item->key.data;
		char quoted[TOML_QUOTE_MAX];
		bool is_known = false;
		for (size_t k = 0; k < EXPOSE_LISTS; k++)
			is_known = is_known || strcmp(name, expose_lists[k].name) == 0;
		if (is_known)
			continue;
		const char *nearest =
			str_nearest(name, &expose_lists[0].name, EXPOSE_LISTS, sizeof(expose_lists[0]));
		return err_set_at(err, PERCH_ESYNTAX, item->key_at.line, item->key_at.column,
			"%s means nothing here%s%s%s", toml_quote(item->key, quoted),
			nearest ? "; did you mean `" : "", nearest ? nearest : "", nearest ? "`?" : "");
	}
	return 0;
}

static int expose_read_section(const struct toml_value *root, const char *frontend,
	struct arena *arena, struct exposure *exposure, perch_err *err)
{
	const struct toml_value *sections = NULL;
	const struct toml_value *section = NULL;
	int r = toml_get_table(root, "expose", &sections, err);
	if (r > 0)
		r = toml_get_table(sections, frontend, &section, err);
	if (r <= 0)
		return r;
	r = expose_check_keys(section, err);
	for (size_t i = 0; r >= 0 && i < EXPOSE_LISTS; i++) {
		const char *name = expose_lists[i].name;
		const char *const **list =
			(const char *const **)((char *)exposure + expose_lists[i].offset);
		if (toml_get(section, name))
			r = toml_get_strings(section, name, arena, list, err);
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
	_cleanup_free_ char *path = NULL;
	_cleanup_(buf_free) struct buf text = { 0 };
	_cleanup_(toml_freep) struct toml *toml = NULL;
	perch_err inner = { 0 };
	int r = paths_user(PATH_CONFIG, "perch/config.toml", &path, err);
	if (r < 0)
		return r;
	r = file_read(path, EXPOSE_CONFIG_MAX, &text, &inner);
	if (r < 0 && r != -ENOENT)
		return err_set(err, r, "%s", inner.text);
	if (r == 0) {
		r = toml_parse((struct str){ text.data, text.len }, NULL, &toml, &inner);
		if (r == 0)
			r = expose_read_section(toml_root(toml), frontend, arena, &exposure, &inner);
		if (r == -ENOMEM)
			return err_no_memory(err);
		if (r < 0)
			return file_blame(err, path, &inner);
	}
	*ret_exposure = exposure;
	return 0;
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

bool exposure_approves(const struct exposure *exposure, const char *name)
{
	return !exposure->is_all && expose_has_tool(exposure->approve, name);
}

/* CFG/plugins.toml: what is installed. Other programs append to it, so only a
 * text that is no TOML is an error; an entry that cannot be used is skipped and
 * told about. */
#include "registry/registry.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/str.h"

/* The warnings of a registry that is being read. */
struct complaints {
	const char *path;
	const char **texts; /* room for a last one that sums up, and the NULL */
	size_t count;       /* also of those that were not kept */
};

/* Notes that an entry was skipped. 0 or -ENOMEM. */
static int registry_complain(struct complaints *complaints, const struct toml_value *entry,
	const char *problem, struct arena *arena)
{
	size_t at = complaints->count++;
	if (at > REGISTRY_WARNINGS_MAX)
		return 0;
	char shown[FILE_SHOWN_MAX];
	char text[PERCH_ERR_TEXT_MAX];
	snprintf(text, sizeof(text), "%s:%u:%u: an entry is skipped: %s",
		file_shown(complaints->path, shown), entry->at.line, entry->at.column,
		at < REGISTRY_WARNINGS_MAX ? problem : "and more, which are not listed here");
	complaints->texts[at] = arena_dup(arena, str_from(text));
	return complaints->texts[at] ? 0 : -ENOMEM;
}

/* Where the entries go; `array` may be NULL. */
static int registry_make_room(const struct toml_value *array, struct arena *arena,
	struct registry_entry **ret_entries, const char ***ret_warnings)
{
	size_t warnings_size = (REGISTRY_WARNINGS_MAX + 2) * sizeof(**ret_warnings);
	const char **warnings = arena_alloc(arena, warnings_size);
	size_t count = array ? array->count : 0;
	struct registry_entry *entries = arena_alloc(arena, (count + 1) * sizeof(*entries));
	if (!warnings || !entries)
		return -ENOMEM;
	memset(warnings, 0, warnings_size);
	*ret_entries = entries;
	*ret_warnings = warnings;
	return 0;
}

static int registry_read_entries(const char *path, const struct toml_value *array,
	struct arena *arena, struct registry *registry)
{
	struct registry_entry *entries;
	struct complaints complaints = { .path = path };
	int r = registry_make_room(array, arena, &entries, &complaints.texts);
	for (size_t i = 0; array && i < array->count && r >= 0; i++) {
		char problem[ENTRY_PROBLEM_MAX];
		r = entry_read(
			array->items[i], registry->plugins, arena, &entries[registry->count], problem);
		if (r > 0)
			registry->count++;
		else if (r == 0)
			r = registry_complain(&complaints, array->items[i], problem, arena);
	}
	if (r < 0)
		return r;
	registry->entries = entries;
	registry->warnings = complaints.texts;
	return 0;
}

/* `plugins` must be an array; mistakes in its entries are tolerated. */
static int registry_read_text(const char *path, struct str text, struct arena *arena,
	struct registry *registry, perch_err *err)
{
	_cleanup_(toml_freep) struct toml *toml = NULL;
	perch_err inner = { 0 };
	int r = toml_parse(text, NULL, &toml, &inner);
	if (r < 0)
		return file_blame(err, path, &inner);
	const struct toml_value *array = toml_get(toml_root(toml), "plugins");
	if (array && array->type != TOML_ARRAY) {
		err_set_at(&inner, PERCH_ESYNTAX, array->at.line, array->at.column,
			"`plugins` must be an array of tables, not %s", toml_type_name(array->type));
		return file_blame(err, path, &inner);
	}
	r = registry_read_entries(path, array, arena, registry);
	return r < 0 ? err_no_memory(err) : 0;
}

static const char *registry_below(struct arena *arena, const char *directory, const char *name)
{
	return arena_join(arena, directory, "/", name, NULL);
}

/* Names the directories. */
static int registry_locate(struct arena *arena, struct registry *registry, perch_err *err)
{
	_cleanup_free_ char *config = NULL;
	int r = paths_user(PATH_CONFIG, "fledge", &config, err);
	if (r < 0)
		return r;
	registry->config = arena_dup(arena, str_from(config));
	registry->plugins = registry_below(arena, config, "plugins");
	registry->bin = registry_below(arena, config, "plugins/bin");
	if (!registry->config || !registry->plugins || !registry->bin)
		return err_no_memory(err);
	return 0;
}

int registry_read_file(
	const char *path, struct arena *arena, struct registry *ret_registry, perch_err *err)
{
	struct registry registry = { 0 };
	int r = registry_locate(arena, &registry, err);
	if (r < 0)
		return r;
	_cleanup_(buf_free) struct buf text = { 0 };
	perch_err inner = { 0 }; /* that there is no file is no error */
	r = file_read(path, REGISTRY_SIZE_MAX, &text, &inner);
	if (r < 0 && r != -ENOENT)
		return err_set(err, r, "%s", inner.text);
	r = registry_read_text(path, (struct str){ text.data, text.len }, arena, &registry, err);
	if (r < 0)
		return r;
	*ret_registry = registry;
	return 0;
}

int registry_read(struct arena *arena, struct registry *ret_registry, perch_err *err)
{
	_cleanup_free_ char *path = NULL;
	int r = paths_user(PATH_CONFIG, "fledge/plugins.toml", &path, err);
	return r < 0 ? r : registry_read_file(path, arena, ret_registry, err);
}

const struct registry_entry *registry_find(const struct registry *registry, const char *name)
{
	for (size_t i = 0; i < registry->count; i++) {
		if (strcmp(registry->entries[i].name, name) == 0)
			return &registry->entries[i];
	}
	return NULL;
}

bool registry_is_gone(const struct registry_entry *entry)
{
	return access(entry->directory, F_OK) < 0 && errno == ENOENT;
}

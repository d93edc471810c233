/* An index of plugins that the user names. */
#include "plugins/plugin_index.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/paths.h"
#include "data/config.h"
#include "plugins/fetch.h"
#include "plugins/stage.h"

/* ---- the file --------------------------------------------------------------- */

static int index_keep_text(const struct toml_value *table, const char *key, bool is_needed,
	struct arena *arena, const char **ret_text, perch_err *err)
{
	const char *text = "";
	int r = toml_get_string(table, key, &text, err);
	if (r < 0)
		return r;
	if (is_needed && !text[0])
		return err_set_at(err, PERCH_ESYNTAX, table->at.line, table->at.column,
			"a plugin of the index needs `%s`", key);
	*ret_text = arena_dup(arena, str_from(text));
	return *ret_text ? 0 : err_no_memory(err);
}

static int index_read_entry(
	const struct toml_value *table, struct arena *arena, struct index_entry *entry, perch_err *err)
{
	*entry = (struct index_entry){ 0 };
	int r = index_keep_text(table, "name", true, arena, &entry->name, err);
	if (r == 0)
		r = index_keep_text(table, "source", true, arena, &entry->source, err);
	if (r == 0)
		r = index_keep_text(table, "description", false, arena, &entry->description, err);
	if (r == 0)
		r = toml_get_strings(table, "languages", arena, &entry->languages, err);
	if (r == 0)
		r = toml_get_bool(table, "default", &entry->is_default, err);
	return r < 0 ? r : 0;
}

int index_parse(
	struct str text, struct arena *arena, struct plugin_index *ret_index, perch_err *err)
{
	_cleanup_(toml_freep) struct toml *toml = NULL;
	const struct toml_value *array = NULL;
	int r = toml_parse(text, NULL, &toml, err);
	if (r == 0)
		r = toml_get_array(toml_root(toml), "plugins", TOML_TABLE, &array, err);
	if (r < 0)
		return r;
	size_t count = array ? array->count : 0;
	if (count > INDEX_ENTRIES_MAX)
		return err_set_at(err, PERCH_ELIMIT, array->at.line, array->at.column,
			"an index cannot have more than %d plugins", INDEX_ENTRIES_MAX);
	struct index_entry *entries = arena_alloc(arena, (count + 1) * sizeof(*entries));
	if (!entries)
		return err_no_memory(err);
	for (size_t i = 0; i < count; i++) {
		r = index_read_entry(array->items[i], arena, &entries[i], err);
		if (r < 0)
			return r;
	}
	*ret_index = (struct plugin_index){ entries, count };
	return 0;
}

static int index_read_file(
	const char *path, struct arena *arena, struct plugin_index *index, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	perch_err inner = { 0 };
	int r = file_read(path, INDEX_SIZE_MAX, &text, &inner);
	if (r < 0)
		return err_set(err, r, "the index cannot be read: %s", inner.text);
	r = index_parse((struct str){ text.data, text.len }, arena, index, &inner);
	return r < 0 ? file_blame(err, path, &inner) : 0;
}

/* ---- where it is --------------------------------------------------------------- */

struct place_reading {
	struct arena *arena;
	const char *place;
};

static int index_read_place(const struct toml_value *root, void *data, perch_err *err)
{
	struct place_reading *reading = data;
	const struct toml_value *table = NULL;
	const char *place = "";
	int r = toml_get_table(root, "registry", &table, err);
	if (r > 0)
		r = toml_get_string(table, "index", &place, err);
	if (r < 0)
		return r;
	reading->place = arena_dup(reading->arena, str_from(place));
	return reading->place ? 0 : err_no_memory(err);
}

static int index_configured(
	const char *config, struct arena *arena, const char **ret_place, perch_err *err)
{
	struct place_reading reading = { .arena = arena };
	int r = config_read(config, index_read_place, &reading, err);
	if (r < 0)
		return r;
	if (!reading.place[0])
		return err_set(err, -ENOENT,
			"no index of plugins is configured: write index = \"FILE or REPOSITORY\" under "
			"[registry] in %s/config.toml",
			config);
	*ret_place = reading.place;
	return 0;
}

/* A link in a repository could lead to any file of the user's. */
static int index_read_clone(
	const char *clone, struct arena *arena, struct plugin_index *index, perch_err *err)
{
	struct stat about;
	_cleanup_free_ char *file = str_join(clone, "/index.toml", NULL);
	if (!file)
		return err_no_memory(err);
	if (lstat(file, &about) < 0 || !S_ISREG(about.st_mode))
		return err_set(err, -ENOENT, "the repository of the index has no file index.toml");
	return index_read_file(file, arena, index, err);
}

static int index_fetch(struct workshop *workshop, const struct plugin_source *source,
	struct arena *arena, struct plugin_index *index, perch_err *err)
{
	struct registry registry;
	struct stage stage = { .lock = -1 };
	const char *commit;
	int r = registry_read(arena, &registry, err);
	if (r == 0)
		r = stage_open(&registry, workshop, &stage, err);
	_cleanup_free_ char *clone = r < 0 ? NULL : stage_path(&stage, "index");
	if (r == 0)
		r = clone ? fetch_clone(workshop, source, clone, arena, &commit, err) : err_no_memory(err);
	if (r == 0)
		r = index_read_clone(clone, arena, index, err);
	stage_close(&stage);
	return r;
}

int index_read(struct workshop *workshop, const char *config, struct arena *arena,
	struct plugin_index *ret_index, perch_err *err)
{
	struct plugin_index index = { 0 };
	struct plugin_source source;
	const char *place = NULL;
	const char *base;
	struct stat about;
	int r = index_configured(config, arena, &place, err);
	if (r < 0)
		return r;
	if (place[0] == '/' && stat(place, &about) == 0 && S_ISREG(about.st_mode)) {
		r = index_read_file(place, arena, &index, err);
	} else {
		r = source_base(config, arena, &base, err);
		if (r == 0)
			r = source_parse(place, base, arena, &source, err);
		if (r == 0)
			r = index_fetch(workshop, &source, arena, &index, err);
	}
	if (r == 0)
		*ret_index = index;
	return r;
}

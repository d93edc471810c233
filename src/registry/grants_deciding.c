/* The files that decide sandboxes, as far as grants.toml knows them. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/paths.h"
#include "data/toml_edit.h"
#include "registry/grants_parts.h"
#include "sandbox/policy/path_list.h"

/* The kinds whose records can have a path for a name. */
static const enum grant_kind kinds[] = { GRANT_AGENT, GRANT_TOOL };

/* One record: an agent's name is a path, and so is that of a binding which was given as a file. */
static int grants_add_deciding(const struct toml_value *record, struct path_list *paths)
{
	struct grant grant = { 0 };
	if (record->type != TOML_TABLE || grants_read_approval(record, paths->arena, &grant, NULL) < 0)
		return 0; /* a mistake in it is told to the user of that grant */
	const char *name = arena_dup(paths->arena, record->key);
	if (!name)
		return -ENOMEM;
	path_list_add(paths, name[0] == '/' ? name : "");
	for (const char *const *file = grant.approval.files; file && *file; file++)
		path_list_add(paths, *file);
	return paths->failed ? -ENOMEM : 0;
}

static int grants_find_deciding(struct str text, struct path_list *paths, perch_err *err)
{
	_cleanup_(toml_freep) struct toml *toml = NULL;
	int r = toml_parse(text, NULL, &toml, err);
	if (r == 0)
		r = grants_check_schema(toml_root(toml), err);
	for (size_t k = 0; k < COUNT(kinds) && r >= 0; k++) {
		const struct toml_value *table = NULL;
		r = toml_get_table(toml_root(toml), grant_kind_names[kinds[k]], &table, err);
		for (size_t i = 0; r > 0 && i < table->count; i++)
			r = grants_add_deciding(table->items[i], paths) < 0 ? err_no_memory(err) : 1;
	}
	return r < 0 ? r : 0;
}

int grants_deciding(struct arena *arena, const char *const **ret_paths, perch_err *err)
{
	struct path_list paths;
	_cleanup_free_ char *path = NULL;
	_cleanup_(buf_free) struct buf text = { 0 };
	path_list_begin(&paths, arena, NULL);
	perch_err inner = { 0 };
	int r = paths_user(PATH_CONFIG, "perch/grants.toml", &path, NULL);
	if (r == 0)
		r = file_read(path, GRANTS_SIZE_MAX, &text, &inner);
	if (r == 0)
		r = grants_find_deciding((struct str){ text.data, text.len }, &paths, &inner);
	if (r < 0 && r != -ENOENT)
		return path ? file_blame(err, path, &inner) : err_no_memory(err);
	if (paths.failed)
		return err_no_memory(err);
	*ret_paths = paths.items;
	return 0;
}

/* ---- those that are gone ----------------------------------------------------- */

enum {
	/* Where nothing protects a file, an agent could remove its profile and bring another one once
	 * the approval is forgotten: so the last approvals are remembered. */
	GRANTS_GONE_KEPT = 64,
	/* Every profile in a temporary directory adds one, and each costs a parse. */
	GRANTS_FORGOTTEN_AT_ONCE = 4,
};

static bool grants_is_gone(const struct toml_value *record)
{
	return record->type == TOML_TABLE && record->key.data[0] == '/' && record->count == 1 &&
		toml_get(record, "approved") && access(record->key.data, F_OK) < 0 && errno == ENOENT;
}

struct grants_gone {
	const char *kind;
	const char *name;
};

/* Of the records whose files are gone, the one that was recorded first. Returns how many there
 * are. */
static size_t grants_find_gone(
	const struct toml_value *root, const char *but, struct grants_gone *ret_first)
{
	size_t count = 0;
	for (size_t k = 0; k < COUNT(kinds); k++) {
		const char *kind = grant_kind_names[kinds[k]];
		const struct toml_value *table = NULL;
		int r = toml_get_table(root, kind, &table, NULL);
		for (size_t i = 0; r > 0 && i < table->count; i++) {
			const char *name = table->items[i]->key.data;
			if (strcmp(name, but) == 0 || !grants_is_gone(table->items[i]))
				continue;
			if (!count++)
				*ret_first = (struct grants_gone){ kind, name };
		}
	}
	return count;
}

/* Takes one out. Returns 1, 0 when there are few, -ENOMEM. */
static int grants_forget_one(struct buf *text, const char *but)
{
	_cleanup_(toml_freep) struct toml *toml = NULL;
	const struct str old = { text->data, text->len };
	struct grants_gone first;
	int r = toml_parse(old, NULL, &toml, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (grants_find_gone(toml_root(toml), but, &first) <= GRANTS_GONE_KEPT)
		return 0;
	const struct toml_path path = TOML_PATH(TOML_KEY(first.kind), TOML_KEY(first.name));
	return toml_edit_remove(old, path, text, NULL);
}

int grants_forget_gone(struct buf *text, const char *but)
{
	int r = 1;
	for (size_t i = 0; r > 0 && i < GRANTS_FORGOTTEN_AT_ONCE; i++)
		r = grants_forget_one(text, but);
	return r == -ENOMEM ? r : 0;
}

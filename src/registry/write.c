/* Changing what is installed. */
#include "registry/write.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/paths.h"
#include "data/toml_edit.h"
#include "registry/change.h"

/* The fields of an entry besides its capabilities, in the order in which they are written. An empty
 * text is left out. */
static const struct {
	const char *key;
	bool is_list;
	size_t place; /* in struct registry_entry */
} entry_fields[] = {
	{ "name", false, offsetof(struct registry_entry, name) },
	{ "source", false, offsetof(struct registry_entry, source) },
	{ "version", false, offsetof(struct registry_entry, version) },
	{ "installed", false, offsetof(struct registry_entry, installed) },
	{ "commands", true, offsetof(struct registry_entry, commands) },
	{ "pinned_ref", false, offsetof(struct registry_entry, pinned_ref) },
	{ "commit", false, offsetof(struct registry_entry, commit) },
	{ "runtime", false, offsetof(struct registry_entry, runtime) },
};

enum { ENTRY_FIELDS = COUNT(entry_fields) };

/* An entry as the editor takes it: with its capabilities as one more field, and with the
 * filesystem as one more of those. */
struct fields {
	struct toml_entry list[ENTRY_FIELDS + 1];
	size_t count;
	struct toml_entry capabilities[CAPABILITIES_MAX + 1];
	size_t capability_count;
};

static void write_add_text(struct fields *fields, const char *key, const char *text)
{
	if (text && text[0])
		fields->list[fields->count++] =
			(struct toml_entry){ .key = key, .type = TOML_STRING, .string = text };
}

static void write_add_list(struct fields *fields, const char *key, const char *const *list)
{
	static const char *const nothing[] = { NULL };
	fields->list[fields->count++] = (struct toml_entry){
		.key = key,
		.type = TOML_ARRAY,
		.strings = list ? list : nothing,
		.count = list_count(list ? list : nothing),
	};
}

static void write_add_capabilities(struct fields *fields, const struct capabilities *granted)
{
	for (const struct capability *one = capability_table; one->name; one++)
		fields->capabilities[fields->capability_count++] = (struct toml_entry){
			.key = one->name,
			.type = TOML_BOOL,
			.boolean = capabilities_have(granted, one),
		};
	if (granted->filesystem != FILESYSTEM_UNSET)
		fields->capabilities[fields->capability_count++] = (struct toml_entry){
			.key = "filesystem", .type = TOML_STRING, .string = filesystem_name(granted->filesystem)
		};
	fields->list[fields->count++] = (struct toml_entry){
		.key = "capabilities",
		.type = TOML_TABLE,
		.entries = fields->capabilities,
		.count = fields->capability_count,
	};
}

static void write_make_fields(const struct registry_entry *entry, struct fields *fields)
{
	*fields = (struct fields){ 0 };
	for (size_t i = 0; i < ENTRY_FIELDS; i++) {
		const char *at = (const char *)entry + entry_fields[i].place;
		if (entry_fields[i].is_list)
			write_add_list(fields, entry_fields[i].key, *(const char *const *const *)at);
		else
			write_add_text(fields, entry_fields[i].key, *(const char *const *)at);
	}
	if (entry->has_capabilities)
		write_add_capabilities(fields, &entry->granted);
}

/* The first entry of that name from `from` on. 1 and its index, 0, or a failure. */
static int write_find(
	struct str text, const char *name, size_t from, size_t *ret_index, perch_err *err)
{
	_cleanup_(toml_freep) struct toml *toml = NULL;
	int r = toml_parse(text, NULL, &toml, err);
	if (r < 0)
		return r;
	const struct toml_value *array = toml_get(toml_root(toml), "plugins");
	if (!array)
		return 0;
	if (array->type != TOML_ARRAY)
		return err_set_at(err, PERCH_ESYNTAX, array->at.line, array->at.column,
			"`plugins` must be an array of tables, not %s", toml_type_name(array->type));
	for (size_t i = from; i < array->count; i++) {
		const struct toml_value *found =
			array->items[i]->type == TOML_TABLE ? toml_get(array->items[i], "name") : NULL;
		if (found && found->type == TOML_STRING && str_is(found->string, name)) {
			*ret_index = i;
			return 1;
		}
	}
	return 0;
}

/* Takes the entries of that name from `from` on away. */
static int write_drop_from(
	struct str text, const char *name, size_t from, struct buf *ret_text, perch_err *err)
{
	_cleanup_(buf_free) struct buf rest = { 0 };
	int changed = 0;
	for (size_t index;;) {
		int r = write_find(text, name, from, &index, err);
		if (r > 0)
			r = toml_edit_remove(text, TOML_PATH(TOML_KEY("plugins"), TOML_AT(index)), &rest, err);
		if (r < 0)
			return r;
		if (r == 0)
			break;
		text = (struct str){ rest.data, rest.len };
		changed = 1;
	}
	if (changed) {
		buf_free(ret_text);
		*ret_text = rest;
		rest = (struct buf){ 0 };
	}
	return changed;
}

static int write_drop(struct str text, void *data, struct buf *ret_text, perch_err *err)
{
	return write_drop_from(text, data, 0, ret_text, err);
}

/* Only the first of several entries of a name counts; the others go. */
int registry_put_text(
	struct str text, const struct registry_entry *entry, struct buf *ret_text, perch_err *err)
{
	struct fields fields;
	write_make_fields(entry, &fields);
	size_t index = 0;
	int r = write_find(text, entry->name, 0, &index, err);
	if (r == 0)
		return toml_edit_append(
			text, TOML_PATH(TOML_KEY("plugins")), fields.list, fields.count, ret_text, err);
	if (r > 0)
		r = toml_edit_replace(text, TOML_PATH(TOML_KEY("plugins"), TOML_AT(index)), fields.list,
			fields.count, ret_text, err);
	if (r < 0)
		return r;
	struct str replaced = r ? (struct str){ ret_text->data, ret_text->len } : text;
	int dropped = write_drop_from(replaced, entry->name, index + 1, ret_text, err);
	return dropped ? dropped : r;
}

static int write_put(struct str text, void *data, struct buf *ret_text, perch_err *err)
{
	return registry_put_text(text, data, ret_text, err);
}

static int write_change(change_fn *how, const void *data, perch_err *err)
{
	_cleanup_free_ char *config = NULL;
	int r = paths_user(PATH_CONFIG, "fledge", &config, err);
	if (r < 0)
		return r;
	return change_file(config, "plugins.toml", REGISTRY_SIZE_MAX, how, (void *)data, err);
}

int registry_put(const struct registry_entry *entry, perch_err *err)
{
	int r = write_change(write_put, entry, err);
	return r < 0 ? r : 0;
}

int registry_drop(const char *name, perch_err *err)
{
	return write_change(write_drop, name, err);
}

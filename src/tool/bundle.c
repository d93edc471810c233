/* Reading rterm-plugin.json. The text may come from a stranger: every value is checked, and the
 * operator is shown each value that is used. */
#include "tool/bundle.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/macros.h"
#include "data/json_member.h"

struct reading {
	perch_json *json;
	struct arena *arena;
	perch_err *err;
};

/* A complaint about a value, with its place. */
static int bundle_wrong(const struct reading *reading, const perch_json_value *value,
	const char *name, const char *words)
{
	unsigned line;
	unsigned column;
	perch_json_where(reading->json, value, &line, &column);
	return err_set_at(reading->err, -EINVAL, line, column, "\"%.100s\" %s", name, words);
}

/* The member, checked for its type; null counts as absent. 1, 0 or an error. */
static int bundle_get(const struct reading *reading, const perch_json_value *object,
	const char *name, perch_json_type type, const perch_json_value **ret_value)
{
	int r = json_member_of(object, name, type, ret_value, reading->err);
	if (r < 0 && reading->err)
		perch_json_where(
			reading->json, json_member(object, name), &reading->err->line, &reading->err->column);
	return r;
}

/* A text that C can hold, copied. */
static int bundle_keep(const struct reading *reading, const perch_json_value *string,
	const char *name, const char **ret_text)
{
	struct str text = json_str(string);
	if (text.len && memchr(text.data, '\0', text.len))
		return bundle_wrong(reading, string, name, "must not contain a NUL character");
	*ret_text = arena_dup(reading->arena, text);
	return *ret_text ? 0 : err_no_memory(reading->err);
}

static int bundle_read_text(const struct reading *reading, const perch_json_value *object,
	const char *name, const char **ret_text)
{
	const perch_json_value *value = NULL;
	*ret_text = "";
	int r = bundle_get(reading, object, name, PERCH_JSON_STRING, &value);
	return r > 0 ? bundle_keep(reading, value, name, ret_text) : r;
}

static int bundle_read_list(const struct reading *reading, const perch_json_value *object,
	const char *name, const char *const **ret_list)
{
	static const char *const nothing[] = { NULL };
	const perch_json_value *array = NULL;
	*ret_list = nothing;
	int r = bundle_get(reading, object, name, PERCH_JSON_ARRAY, &array);
	if (r <= 0)
		return r;
	const char **list = arena_alloc(reading->arena, (perch_json_count(array) + 1) * sizeof(*list));
	if (!list)
		return err_no_memory(reading->err);
	size_t count = 0;
	r = 0;
	perch_json_iter iter = perch_json_iterate(array);
	for (const perch_json_value *item; r == 0 && (item = perch_json_next(&iter));) {
		if (perch_json_type_of(item) != PERCH_JSON_STRING)
			return bundle_wrong(reading, item, name, "must be a list of strings");
		r = bundle_keep(reading, item, name, &list[count++]);
	}
	list[count] = NULL;
	*ret_list = list;
	return r;
}

/* The text of a schema, without blanks; "" when there is none. */
static int bundle_read_schema(const struct reading *reading, const perch_json_value *object,
	const char *name, const char **ret_schema)
{
	const perch_json_value *value = json_member(object, name);
	*ret_schema = "";
	if (!value)
		return 0;
	_cleanup_(buf_free) struct buf text = { 0 };
	struct perch_json_writer out = json_writer_on(&text);
	perch_json_write_value(&out, value);
	*ret_schema =
		text.failed ? NULL : arena_dup(reading->arena, (struct str){ text.data, text.len });
	return *ret_schema ? 0 : err_no_memory(reading->err);
}

/* ---- tools --------------------------------------------------------------- */

static int bundle_read_tool(
	const struct reading *reading, const perch_json_value *object, struct bundle_tool *tool)
{
	*tool = (struct bundle_tool){ .known = tool_known_named("") };
	const perch_json_value *mutating = NULL;
	int r = bundle_read_text(reading, object, "name", &tool->known.name);
	if (r == 0 && !str_trim(str_from(tool->known.name)).len)
		r = bundle_wrong(reading, object, "tools", "has a tool without a name");
	if (r == 0)
		r = bundle_read_text(reading, object, "description", &tool->known.description);
	if (r == 0)
		r = bundle_read_schema(reading, object, "input_schema", &tool->known.input_schema);
	if (r == 0)
		r = bundle_read_schema(reading, object, "output_schema", &tool->known.output_schema);
	if (r == 0)
		r = bundle_read_list(reading, object, "capabilities", &tool->capabilities);
	if (r == 0)
		r = bundle_read_text(reading, object, "approval_tier", &tool->approval_tier);
	if (r == 0)
		r = bundle_read_text(reading, object, "target_kind", &tool->target_kind);
	if (r == 0)
		r = bundle_get(reading, object, "mutating", PERCH_JSON_BOOL, &mutating);
	if (r > 0)
		perch_json_bool(mutating, &tool->is_mutating);
	return r < 0 ? r : 0;
}

static bool bundle_is_known(const struct bundle_tool *tools, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(tools[i].known.name, name) == 0)
			return true;
	}
	return false;
}

static int bundle_read_tools(
	const struct reading *reading, const perch_json_value *root, struct tool_bundle *bundle)
{
	const perch_json_value *array = NULL;
	int r = bundle_get(reading, root, "tools", PERCH_JSON_ARRAY, &array);
	if (r <= 0)
		return r;
	size_t count = perch_json_count(array);
	if (count > TOOL_KNOWN_MAX)
		return bundle_wrong(reading, array, "tools", "has too many tools");
	struct bundle_tool *tools = arena_alloc(reading->arena, count * sizeof(*tools));
	if (!tools)
		return err_no_memory(reading->err);
	size_t i = 0;
	r = 0;
	perch_json_iter iter = perch_json_iterate(array);
	for (const perch_json_value *item; r == 0 && (item = perch_json_next(&iter)); i++) {
		if (perch_json_type_of(item) != PERCH_JSON_OBJECT)
			return bundle_wrong(reading, item, "tools", "must be a list of objects");
		r = bundle_read_tool(reading, item, &tools[i]);
		if (r == 0 && bundle_is_known(tools, i, tools[i].known.name))
			r = bundle_wrong(reading, item, tools[i].known.name, "is the name of two tools");
	}
	bundle->tools = tools;
	bundle->tool_count = count;
	return r;
}

/* ---- the process --------------------------------------------------------- */

static int bundle_read_variable(const struct reading *reading, const perch_json_value *name,
	const perch_json_value *value, const char **ret_variable)
{
	const char *key;
	const char *text;
	int r = bundle_keep(reading, name, "env", &key);
	if (r == 0 && (!key[0] || strchr(key, '=')))
		r = bundle_wrong(reading, name, key, "can be no variable");
	if (r == 0 && perch_json_type_of(value) != PERCH_JSON_STRING)
		r = bundle_wrong(reading, value, key, "must be a string");
	if (r == 0)
		r = bundle_keep(reading, value, key, &text);
	if (r < 0)
		return r;
	*ret_variable = arena_join(reading->arena, key, "=", text, NULL);
	return *ret_variable ? 0 : err_no_memory(reading->err);
}

static int bundle_read_env(
	const struct reading *reading, const perch_json_value *process, struct tool_bundle *bundle)
{
	const perch_json_value *object = NULL;
	int r = bundle_get(reading, process, "env", PERCH_JSON_OBJECT, &object);
	if (r < 0)
		return r;
	const char **list = arena_alloc(reading->arena, (perch_json_count(object) + 1) * sizeof(*list));
	if (!list)
		return err_no_memory(reading->err);
	size_t count = 0;
	r = 0;
	perch_json_iter iter = perch_json_iterate(object);
	for (const perch_json_value *value; r == 0 && (value = perch_json_next(&iter)); count++)
		r = bundle_read_variable(reading, iter.name, value, &list[count]);
	list[count] = NULL;
	bundle->env = list;
	return r;
}

static char *bundle_join_directory(struct str folder, const char *below)
{
	_cleanup_free_ char *base = str_dup(folder);
	if (!base)
		return NULL;
	if (below[0] == '/')
		return str_dup(str_from(below));
	if (below[0])
		return str_join(base, "/", below, NULL);
	return str_dup(str_from(base[0] ? base : "/"));
}

/* process.dir, relative to the folder of the file; or that folder itself. */
static int bundle_read_directory(
	const struct reading *reading, const perch_json_value *process, struct tool_bundle *bundle)
{
	const char *below;
	int r = bundle_read_text(reading, process, "dir", &below);
	if (r < 0)
		return r;
	size_t len = (size_t)(strrchr(bundle->path, '/') - bundle->path);
	_cleanup_free_ char *joined = bundle_join_directory((struct str){ bundle->path, len }, below);
	bundle->directory = joined ? arena_dup(reading->arena, str_from(joined)) : NULL;
	return bundle->directory ? 0 : err_no_memory(reading->err);
}

static int bundle_read_process(
	const struct reading *reading, const perch_json_value *root, struct tool_bundle *bundle)
{
	const perch_json_value *process = NULL;
	int r = bundle_get(reading, root, "process", PERCH_JSON_OBJECT, &process);
	if (r == 0)
		r = bundle_wrong(reading, root, "process", "is missing: it says what to run");
	if (r > 0)
		r = bundle_read_text(reading, process, "command", &bundle->command);
	if (r == 0 && !str_trim(str_from(bundle->command)).len)
		r = bundle_wrong(reading, process, "process", "has no command");
	if (r == 0)
		r = bundle_read_list(reading, process, "args", &bundle->args);
	if (r == 0)
		r = bundle_read_directory(reading, process, bundle);
	return r < 0 ? r : bundle_read_env(reading, process, bundle);
}

/* ------------------------------------------------------------------------- */

static int bundle_read_root(
	const struct reading *reading, const perch_json_value *root, struct tool_bundle *bundle)
{
	if (perch_json_type_of(root) != PERCH_JSON_OBJECT)
		return bundle_wrong(reading, root, TOOL_BUNDLE_FILE, "must be an object");
	const struct {
		const char *name;
		const char **ret_text;
	} texts[] = {
		{ "plugin_id", &bundle->plugin_id },
		{ "display_name", &bundle->display_name },
		{ "description", &bundle->description },
		{ "plugin_version", &bundle->plugin_version },
		{ "protocol_version", &bundle->protocol_version },
	};
	int r = 0;
	for (size_t i = 0; i < COUNT(texts) && r == 0; i++)
		r = bundle_read_text(reading, root, texts[i].name, texts[i].ret_text);
	if (r == 0 && !str_trim(str_from(bundle->plugin_id)).len)
		r = bundle_wrong(reading, root, "plugin_id", "is missing");
	if (r == 0)
		r = bundle_read_list(reading, root, "capabilities", &bundle->capabilities);
	if (r == 0)
		r = bundle_read_process(reading, root, bundle);
	return r < 0 ? r : bundle_read_tools(reading, root, bundle);
}

static int bundle_parse(
	struct reading *reading, struct str text, struct tool_bundle *bundle, perch_err *err)
{
	const perch_json_options options = {
		.text_max = TOOL_BUNDLE_SIZE_MAX,
		.duplicates = PERCH_JSON_DUPLICATES_REJECT,
	};
	if (perch_json_new(&options, &reading->json) < 0)
		return err_no_memory(err);
	const perch_json_value *root;
	int r = perch_json_parse(reading->json, text.data, text.len, &root, err);
	if (r == 0)
		r = bundle_read_root(reading, root, bundle);
	perch_json_free(reading->json);
	return r;
}

int tool_bundle_parse(const char *path, struct str text, struct arena *arena,
	struct tool_bundle *ret_bundle, perch_err *err)
{
	struct tool_bundle bundle = { .path = arena_dup(arena, str_from(path)) };
	perch_err inner = { 0 };
	struct reading reading = { .arena = arena, .err = &inner };
	int r = bundle.path ? bundle_parse(&reading, text, &bundle, &inner) : -ENOMEM;
	if (r == -ENOMEM)
		return err_no_memory(err);
	if (r < 0)
		return file_blame(err, path, &inner);
	*ret_bundle = bundle;
	return 0;
}

int tool_bundle_read(
	const char *path, struct arena *arena, struct tool_bundle *ret_bundle, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	char full[PATH_MAX];
	int r = file_read_resolved(path, TOOL_BUNDLE_SIZE_MAX, &text, full, err);
	if (r < 0)
		return r;
	return tool_bundle_parse(full, (struct str){ text.data, text.len }, arena, ret_bundle, err);
}

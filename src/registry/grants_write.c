/* Writing grants.toml: one record at a time, the rest of the file stays. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/paths.h"
#include "data/toml_edit.h"
#include "registry/change.h"
#include "registry/grants_parts.h"

/* Which record, and what becomes of it: NULL = it goes. */
struct record {
	enum grant_kind kind;
	const char *name;
	const struct grant *grant;
	bool is_approval; /* that alone is written, the rest stays */
	const char *tool; /* that alone is added */
};

enum { GRANT_LISTS = 6 };

struct fields {
	struct toml_entry list[GRANT_LISTS + 4]; /* and net, sandbox, shell, approved */
	size_t count;
	struct toml_entry approved[5];
	size_t approved_count;
};

static struct toml_entry grants_text_entry(const char *key, const char *text)
{
	return (struct toml_entry){ .key = key, .type = TOML_STRING, .string = text ? text : "" };
}

static struct toml_entry grants_list_entry(const char *key, const char *const *list)
{
	static const char *const nothing[] = { NULL };
	return (struct toml_entry){
		.key = key,
		.type = TOML_ARRAY,
		.strings = list ? list : nothing,
		.count = list_count(list),
	};
}

static void grants_add_approval(
	enum grant_kind kind, const struct grant_approval *approval, struct fields *fields)
{
	const struct toml_entry of_plugin[] = {
		grants_text_entry("protocol", approval->protocol),
		grants_text_entry("manifest", approval->manifest),
		grants_list_entry("hooks", approval->hooks),
		grants_list_entry("dangerous", approval->dangerous),
		grants_list_entry("wishes", approval->wishes),
	};
	const struct toml_entry of_file[] = {
		grants_text_entry("file", approval->manifest),
		grants_list_entry("wishes", approval->wishes),
		grants_list_entry("files", approval->files),
	};
	bool is_plugin = kind == GRANT_PLUGIN;
	fields->approved_count = is_plugin ? COUNT(of_plugin) : COUNT(of_file);
	memcpy(fields->approved, is_plugin ? of_plugin : of_file,
		fields->approved_count * sizeof(fields->approved[0]));
	fields->list[fields->count++] = (struct toml_entry){
		.key = "approved",
		.type = TOML_TABLE,
		.entries = fields->approved,
		.count = fields->approved_count,
	};
}

static void grants_make_fields(
	enum grant_kind kind, const struct grant *grant, struct fields *fields)
{
	const struct policy_widening *widening = &grant->widening;
	const struct toml_entry lists[GRANT_LISTS] = {
		grants_list_entry("read", widening->read),
		grants_list_entry("write", widening->write),
		grants_list_entry("env", widening->env),
		grants_list_entry("presets", widening->presets),
		grants_list_entry("plugins", grant->callees),
		grants_list_entry("tools", grant->tools),
	};
	*fields = (struct fields){ 0 };
	for (size_t i = 0; i < COUNT(lists); i++)
		if (lists[i].count)
			fields->list[fields->count++] = lists[i];
	if (widening->net != WIDENING_NET_KEEP)
		fields->list[fields->count++] =
			grants_text_entry("net", widening->net == WIDENING_NET_NONE ? "none" : "full");
	if (widening->is_off || widening->is_on)
		fields->list[fields->count++] =
			grants_text_entry("sandbox", widening->is_off ? "off" : "on");
	if (grant->shell && grant->shell[0])
		fields->list[fields->count++] = grants_text_entry("shell", grant->shell);
	if (grant->has_approval)
		grants_add_approval(kind, &grant->approval, fields);
}

static int grants_write_check_text(struct str text, bool *ret_has_schema, perch_err *err)
{
	_cleanup_(toml_freep) struct toml *toml = NULL;
	int r = toml_parse(text, NULL, &toml, err);
	if (r < 0)
		return r;
	*ret_has_schema = toml_get(toml_root(toml), "schema") != NULL;
	return grants_check_schema(toml_root(toml), err);
}

/* The list as it is in this text, which may be newer than what its caller has read. */
static int grants_put_tool(
	struct str text, const struct record *record, struct buf *ret_text, perch_err *err)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct grant now = { 0 };
	int r = grants_read_text_of_file(text, record->kind, record->name, &arena, &now, err);
	size_t count = list_count(now.tools);
	if (r == 0 && count >= GRANT_TOOLS_MAX)
		r = err_set(err, -E2BIG, "an agent is allowed at most %d tools", GRANT_TOOLS_MAX);
	const char **tools = r < 0 ? NULL : arena_alloc(&arena, (count + 2) * sizeof(*tools));
	if (r == 0 && !tools)
		r = err_no_memory(err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++)
		tools[i] = now.tools[i];
	tools[count] = list_has(now.tools, record->tool) ? NULL : record->tool;
	tools[count + 1] = NULL;
	const struct toml_path path =
		TOML_PATH(TOML_KEY(grant_kind_names[record->kind]), TOML_KEY(record->name));
	const struct toml_entry entry = grants_list_entry("tools", tools);
	return toml_edit_set(text, path, &entry, ret_text, err);
}

static int grants_change_record(struct str text, void *data, struct buf *ret_text, perch_err *err)
{
	const struct record *record = data;
	_cleanup_(buf_free) struct buf with_schema = { 0 };
	bool has_schema = false;
	int r = grants_write_check_text(text, &has_schema, err);
	if (r < 0)
		return r;
	const struct toml_path path =
		TOML_PATH(TOML_KEY(grant_kind_names[record->kind]), TOML_KEY(record->name));
	if (!record->grant)
		return toml_edit_remove(text, path, ret_text, err);
	if (!has_schema) {
		const struct toml_entry schema = {
			.key = "schema", .type = TOML_INTEGER, .integer = GRANTS_SCHEMA
		};
		r = toml_edit_set(text, TOML_ROOT, &schema, &with_schema, err);
		if (r < 0)
			return r;
		text = (struct str){ with_schema.data, with_schema.len };
	}
	if (record->tool)
		return grants_put_tool(text, record, ret_text, err);
	struct fields fields = { 0 };
	if (record->is_approval) {
		const struct toml_path approved = TOML_PATH(
			TOML_KEY(grant_kind_names[record->kind]), TOML_KEY(record->name), TOML_KEY("approved"));
		grants_add_approval(record->kind, &record->grant->approval, &fields);
		r = toml_edit_replace(
			text, approved, fields.approved, fields.approved_count, ret_text, err);
		return r > 0 && grants_forget_gone(ret_text, record->name) < 0 ? err_no_memory(err) : r;
	}
	grants_make_fields(record->kind, record->grant, &fields);
	return toml_edit_replace(text, path, fields.list, fields.count, ret_text, err);
}

int grants_put_text(struct str text, enum grant_kind kind, const char *name,
	const struct grant *grant, struct buf *ret_text, perch_err *err)
{
	struct record record = { .kind = kind, .name = name, .grant = grant };
	return grants_change_record(text, &record, ret_text, err);
}

static int grants_change(struct record record, perch_err *err)
{
	_cleanup_free_ char *config = NULL;
	int r = paths_user(PATH_CONFIG, "perch", &config, err);
	if (r < 0)
		return r;
	r = change_file(config, "grants.toml", GRANTS_SIZE_MAX, grants_change_record, &record, err);
	return r < 0 ? r : 0;
}

int grants_write(enum grant_kind kind, const char *name, const struct grant *grant, perch_err *err)
{
	return grants_change((struct record){ .kind = kind, .name = name, .grant = grant }, err);
}

int grants_approve(
	enum grant_kind kind, const char *name, const struct grant_approval *approval, perch_err *err)
{
	const struct grant grant = { .has_approval = true, .approval = *approval };
	return grants_change(
		(struct record){ .kind = kind, .name = name, .grant = &grant, .is_approval = true }, err);
}

int grants_add_tool(const char *name, const char *tool, perch_err *err)
{
	static const struct grant nothing = { 0 };
	return grants_change(
		(struct record){ .kind = GRANT_AGENT, .name = name, .grant = &nothing, .tool = tool }, err);
}

int grants_remove(enum grant_kind kind, const char *name, perch_err *err)
{
	return grants_change((struct record){ .kind = kind, .name = name }, err);
}

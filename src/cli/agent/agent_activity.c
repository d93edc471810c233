/* What an agent does, in a line for people. */
#include "base/cleanup.h"
#include "base/str.h"
#include "cli/agent/agent_commands.h"
#include "data/json.h"

static struct str agent_activity_text(const perch_json_value *object, const char *name)
{
	const perch_json_value *value = perch_json_get(object, name);
	return perch_json_type_of(value) == PERCH_JSON_STRING ? json_str(value) : (struct str){ 0 };
}

/* When it begins, and when it fails. */
static void agent_activity_tool(const perch_json_value *tool, struct buf *out)
{
	struct str title = agent_activity_text(tool, "title");
	bool has_failed = str_is(agent_activity_text(tool, "status"), "failed");
	if (!title.len && !has_failed)
		return;
	struct str name = title.len ? title : agent_activity_text(tool, "id");
	buf_append(out, name.data, name.len);
	buf_append_text(out, has_failed ? " (failed)" : "");
}

static void agent_activity_plan(const perch_json_value *plan, struct buf *out)
{
	const perch_json_value *entries = perch_json_get(plan, "entries");
	perch_json_iter iter = perch_json_iterate(entries);
	bool is_list = perch_json_type_of(entries) == PERCH_JSON_ARRAY;
	for (const perch_json_value *item; is_list && (item = perch_json_next(&iter));) {
		struct str words = agent_activity_text(item, "content");
		struct str status = agent_activity_text(item, "status");
		buf_append_text(out, out->len ? "; " : "");
		buf_append(out, words.data, words.len);
		buf_append_text(out,
			str_is(status, "completed")         ? " (done)"
				: str_is(status, "in_progress") ? " (now)"
												: "");
	}
}

bool agent_activity_words(const perch_event *event, struct buf *out)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	buf_clear(out);
	if (perch_json_new(NULL, &json) < 0 ||
		perch_json_parse(json, event->text.data, event->text.len, &root, NULL) < 0)
		return false;
	if (str_is(str_from(event->code), "plan"))
		agent_activity_plan(root, out);
	else
		agent_activity_tool(root, out);
	return out->len && !out->failed;
}

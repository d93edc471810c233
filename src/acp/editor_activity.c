/* What an agent does, its tools and its plan, for the editor: written anew, so that nothing
 * reaches it that the protocol does not know. */
#include "acp/editor_parts.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "data/json.h"

static const char *const acp_tool_kinds[] = { "read", "edit", "delete", "move", "search", "execute",
	"think", "fetch", "switch_mode", "other" };
static const char *const acp_states[] = { "pending", "in_progress", "completed", "failed" };
static const char *const acp_priorities[] = { "high", "medium", "low" };

static struct str acp_activity_text(const perch_json_value *object, const char *name)
{
	const perch_json_value *value = perch_json_get(object, name);
	return perch_json_type_of(value) == PERCH_JSON_STRING ? json_str(value) : (struct str){ 0 };
}

/* The member, if it is one of these words. */
static void acp_activity_word(struct perch_json_writer *out, const perch_json_value *object,
	const char *name, const char *const *words, size_t count)
{
	struct str word = acp_activity_text(object, name);
	for (size_t i = 0; i < count; i++) {
		if (str_is(word, words[i]))
			json_write_text(out, name, word);
	}
}

static void acp_activity_raw(struct perch_json_writer *out, const char *name,
	const perch_json_value *object, const char *theirs)
{
	const perch_json_value *value = perch_json_get(object, theirs);
	struct str raw = { 0 };
	if (!value)
		return;
	raw.data = perch_json_raw(value, &raw.len);
	perch_json_write_name(out, name);
	perch_json_write_raw(out, raw.data, raw.len);
}

/* ---- tools ----------------------------------------------------------------- */

static void acp_activity_diff(struct perch_json_writer *out, const perch_json_value *item)
{
	struct str path = acp_activity_text(item, "path"), text = acp_activity_text(item, "newText");
	struct str old = acp_activity_text(item, "oldText");
	if (!path.data || !text.data)
		return;
	perch_json_begin_object(out);
	json_write_text(out, "type", STR("diff"));
	json_write_text(out, "path", path);
	json_write_text(out, "newText", text);
	if (old.data)
		json_write_text(out, "oldText", old);
	perch_json_end_object(out);
}

static void acp_activity_words(struct perch_json_writer *out, const perch_json_value *item)
{
	struct str text = acp_activity_text(perch_json_get(item, "content"), "text");
	if (!text.data)
		return;
	perch_json_begin_object(out);
	json_write_text(out, "type", STR("content"));
	perch_json_write_name(out, "content");
	perch_json_begin_object(out);
	json_write_text(out, "type", STR("text"));
	json_write_text(out, "text", text);
	perch_json_end_object(out);
	perch_json_end_object(out);
}

/* Texts and differences; a terminal is perch's, and not known to the editor. */
static void acp_activity_content(struct perch_json_writer *out, const perch_json_value *tool)
{
	const perch_json_value *content = perch_json_get(tool, "content");
	if (perch_json_type_of(content) != PERCH_JSON_ARRAY)
		return;
	perch_json_write_name(out, "content");
	perch_json_begin_array(out);
	perch_json_iter iter = perch_json_iterate(content);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		if (str_is(acp_activity_text(item, "type"), "diff"))
			acp_activity_diff(out, item);
		else
			acp_activity_words(out, item);
	}
	perch_json_end_array(out);
}

/* Where the agent is at work, so that an editor can follow it. */
static void acp_activity_locations(struct perch_json_writer *out, const perch_json_value *tool)
{
	const perch_json_value *places = perch_json_get(tool, "locations");
	int64_t line = 0;
	if (perch_json_type_of(places) != PERCH_JSON_ARRAY)
		return;
	perch_json_write_name(out, "locations");
	perch_json_begin_array(out);
	perch_json_iter iter = perch_json_iterate(places);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		struct str path = acp_activity_text(item, "path");
		if (!str_has_prefix(path, STR("/")))
			continue;
		perch_json_begin_object(out);
		json_write_text(out, "path", path);
		if (perch_json_whole_int64(perch_json_get(item, "line"), &line) == 0 && line >= 0 &&
			line <= UINT32_MAX) {
			perch_json_write_name(out, "line");
			perch_json_write_int64(out, line);
		}
		perch_json_end_object(out);
	}
	perch_json_end_array(out);
}

/* Whether it is new to the editor; then it is known from now on. Past the limit none is. */
static bool acp_activity_is_new(struct acp_task *task, struct str id)
{
	_cleanup_(buf_free) struct buf mark = { 0 };
	buf_append_char(&mark, '\0');
	buf_append(&mark, id.data, id.len);
	buf_append_char(&mark, '\0');
	if (mark.failed ||
		(task->tools.len && memmem(task->tools.data, task->tools.len, mark.data, mark.len)))
		return false;
	if (task->tools.len + mark.len <= ACP_NOTES_MAX)
		buf_append(&task->tools, mark.data, mark.len);
	return true;
}

/* One that is called by a new title is still the same. */
static void acp_activity_tool(
	struct perch_json_writer *out, const perch_json_value *tool, struct acp_task *task)
{
	struct str id = acp_activity_text(tool, "id"), title = acp_activity_text(tool, "title");
	bool is_call = title.data && acp_activity_is_new(task, id);
	json_write_text(out, "sessionUpdate", is_call ? STR("tool_call") : STR("tool_call_update"));
	json_write_text(out, "toolCallId", id);
	if (title.data)
		json_write_text(out, "title", title);
	acp_activity_word(out, tool, "kind", acp_tool_kinds, COUNT(acp_tool_kinds));
	acp_activity_word(out, tool, "status", acp_states, COUNT(acp_states));
	acp_activity_raw(out, "rawInput", tool, "input");
	acp_activity_raw(out, "rawOutput", tool, "output");
	acp_activity_content(out, tool);
	acp_activity_locations(out, tool);
}

/* ---- plans ----------------------------------------------------------------- */

static void acp_activity_choice(struct perch_json_writer *out, const char *name, struct str given,
	const char *const *words, size_t count, size_t otherwise)
{
	size_t found = otherwise;
	for (size_t i = 0; i < count; i++)
		found = str_is(given, words[i]) ? i : found;
	json_write_text(out, name, str_from(words[found]));
}

static void acp_activity_plan(struct perch_json_writer *out, const perch_json_value *plan)
{
	const perch_json_value *entries = perch_json_get(plan, "entries");
	perch_json_iter iter = perch_json_iterate(entries);
	json_write_text(out, "sessionUpdate", STR("plan"));
	perch_json_write_name(out, "entries");
	perch_json_begin_array(out);
	bool is_list = perch_json_type_of(entries) == PERCH_JSON_ARRAY;
	for (const perch_json_value *item; is_list && (item = perch_json_next(&iter));) {
		struct str words = acp_activity_text(item, "content");
		if (!words.data)
			continue;
		perch_json_begin_object(out);
		json_write_text(out, "content", words);
		acp_activity_choice(out, "priority", acp_activity_text(item, "priority"), acp_priorities,
			COUNT(acp_priorities), 1);
		/* A step of a plan does not fail. */
		acp_activity_choice(
			out, "status", acp_activity_text(item, "status"), acp_states, COUNT(acp_states) - 1, 0);
		perch_json_end_object(out);
	}
	perch_json_end_array(out);
}

/* ---------------------------------------------------------------------------- */

void acp_task_activity(struct acp_task *task, const perch_event *event)
{
	const perch_json_options limits = { .size = sizeof(limits),
		.text_max = PERCH_JSON_TEXT_CEILING };
	_cleanup_(buf_free) struct buf update = { 0 };
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	if (!task->chat || !task->chat->session || perch_json_new(&limits, &json) < 0 ||
		perch_json_parse(json, event->text.data, event->text.len, &root, NULL) < 0)
		return;
	struct perch_json_writer out = json_writer_on(&update);
	perch_json_begin_object(&out);
	if (str_is(str_from(event->code), "plan"))
		acp_activity_plan(&out, root);
	else
		acp_activity_tool(&out, root, task);
	perch_json_end_object(&out);
	if (!update.failed)
		acp_session_update(task->chat->session, (struct str){ update.data, update.len });
}

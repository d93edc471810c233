/* A line of `perch tool serve`. */
#include <errno.h>

#include "base/clock.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "cli/tool/tool_serve.h"
#include "data/json.h"

struct reading {
	struct arena *arena;
	struct serve_request *request;
	perch_err *err;
};

typedef int member_fn(struct reading *reading, const char *name, const perch_json_value *value);

static int tool_serve_request_wrong(
	const struct reading *reading, const char *name, const char *words)
{
	return err_set(reading->err, -EINVAL, "\"%s\" %s", name, words);
}

static int tool_serve_request_read_text(
	struct reading *reading, const char *name, const perch_json_value *value, const char **ret_text)
{
	if (perch_json_type_of(value) != PERCH_JSON_STRING)
		return tool_serve_request_wrong(reading, name, "must be a string");
	struct str text = json_str(value);
	if (text.len && memchr(text.data, '\0', text.len))
		return tool_serve_request_wrong(reading, name, "must not contain a NUL character");
	*ret_text = arena_dup(reading->arena, text);
	return *ret_text ? 0 : err_no_memory(reading->err);
}

/* The id as one and the same text, however its string was escaped. */
static int tool_serve_request_read_id(
	struct reading *reading, const char *name, const perch_json_value *value)
{
	perch_json_type type = perch_json_type_of(value);
	if (type != PERCH_JSON_STRING && type != PERCH_JSON_NUMBER)
		return tool_serve_request_wrong(reading, name, "must be a string or a number");
	_cleanup_(buf_free) struct buf text = { 0 };
	struct perch_json_writer out = json_writer_on(&text);
	if (type == PERCH_JSON_STRING) {
		struct str string = json_str(value);
		perch_json_write_string_n(&out, string.data, string.len);
	} else {
		perch_json_write_value(&out, value);
	}
	const char *kept =
		text.failed ? NULL : arena_dup(reading->arena, (struct str){ text.data, text.len });
	if (!kept)
		return err_no_memory(reading->err);
	reading->request->id = (struct str){ kept, text.len };
	return 0;
}

static int tool_serve_request_read_cancel(
	struct reading *reading, const char *name, const perch_json_value *value)
{
	reading->request->is_cancel = true;
	return tool_serve_request_read_id(reading, name, value);
}

static int tool_serve_request_read_name(
	struct reading *reading, const char *name, const perch_json_value *value)
{
	return tool_serve_request_read_text(reading, name, value, &reading->request->name);
}

static int tool_serve_request_read_tool(
	struct reading *reading, const char *name, const perch_json_value *value)
{
	return tool_serve_request_read_text(reading, name, value, &reading->request->tool);
}

static int tool_serve_request_read_input(
	struct reading *reading, const char *name, const perch_json_value *value)
{
	(void)name;
	struct str raw;
	raw.data = perch_json_raw(value, &raw.len);
	const char *kept = arena_dup(reading->arena, raw);
	reading->request->input = (struct str){ kept, raw.len };
	return kept ? 0 : err_no_memory(reading->err);
}

static int tool_serve_request_read_timeout(
	struct reading *reading, const char *name, const perch_json_value *value)
{
	double seconds;
	if (perch_json_double(value, &seconds) < 0 || !(seconds >= 0.001 && seconds <= 86400))
		return tool_serve_request_wrong(reading, name, "must be seconds, from 0.001 to 86400");
	reading->request->timeout_ns = clock_from_seconds(seconds);
	return 0;
}

/* ---- tables -------------------------------------------------------------- */

struct member {
	const char *name;
	member_fn *read;
	size_t offset; /* in struct tool_context */
};

static int tool_serve_request_refuse_unknown(
	const struct reading *reading, const struct member *members, size_t count, const char *name)
{
	const char *nearest = str_nearest(name, &members[0].name, count, sizeof(members[0]));
	if (nearest)
		return err_set(
			reading->err, -EINVAL, "there is no \"%.60s\"; did you mean \"%s\"?", name, nearest);
	return err_set(reading->err, -EINVAL, "there is no \"%.60s\"", name);
}

static const struct member *tool_serve_request_find_member(
	const struct member *members, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++) {
		if (str_is(name, members[i].name))
			return &members[i];
	}
	return NULL;
}

static int tool_serve_request_read_context(
	struct reading *reading, const char *name, const perch_json_value *value)
{
	static const struct member members[] = {
		{ "workspace_id", NULL, offsetof(struct tool_context, workspace_id) },
		{ "widget_id", NULL, offsetof(struct tool_context, widget_id) },
		{ "repo_root", NULL, offsetof(struct tool_context, repo_root) },
		{ "role_id", NULL, offsetof(struct tool_context, role_id) },
		{ "mode_id", NULL, offsetof(struct tool_context, mode_id) },
	};
	enum { COUNT = COUNT(members) };
	if (perch_json_type_of(value) != PERCH_JSON_OBJECT)
		return tool_serve_request_wrong(reading, name, "must be an object");
	int r = 0;
	perch_json_iter iter = perch_json_iterate(value);
	for (const perch_json_value *item; r == 0 && (item = perch_json_next(&iter));) {
		const struct member *member =
			tool_serve_request_find_member(members, COUNT, json_str(iter.name));
		const char *key = NULL;
		if (!member) {
			r = tool_serve_request_read_text(reading, "context", iter.name, &key);
			r = r < 0 ? r : tool_serve_request_refuse_unknown(reading, members, COUNT, key);
		} else if (perch_json_type_of(item) != PERCH_JSON_NULL) {
			char *context = (char *)&reading->request->context;
			r = tool_serve_request_read_text(
				reading, member->name, item, (const char **)(context + member->offset));
		}
	}
	return r;
}

static int tool_serve_request_read_members(struct reading *reading, const perch_json_value *message)
{
	static const struct member members[] = {
		{ "id", tool_serve_request_read_id, 0 },
		{ "name", tool_serve_request_read_name, 0 },
		{ "tool", tool_serve_request_read_tool, 0 },
		{ "input", tool_serve_request_read_input, 0 },
		{ "context", tool_serve_request_read_context, 0 },
		{ "timeout", tool_serve_request_read_timeout, 0 },
		{ "cancel", tool_serve_request_read_cancel, 0 },
	};
	enum { COUNT = COUNT(members) };
	/* Read first, so that a complaint about the rest of the line has it. */
	const perch_json_value *id = perch_json_get(message, "id");
	int r = id ? tool_serve_request_read_id(reading, "id", id) : 0;
	perch_json_iter iter = perch_json_iterate(message);
	for (const perch_json_value *value; r == 0 && (value = perch_json_next(&iter));) {
		const struct member *member =
			tool_serve_request_find_member(members, COUNT, json_str(iter.name));
		const char *key = NULL;
		if (member) {
			r = member->read(reading, member->name, value);
		} else {
			r = tool_serve_request_read_text(reading, "a key", iter.name, &key);
			r = r < 0 ? r : tool_serve_request_refuse_unknown(reading, members, COUNT, key);
		}
	}
	return r;
}

static int tool_serve_request_check_request(
	const struct serve_request *request, bool has_id, perch_err *err)
{
	if (request->is_cancel)
		return has_id || request->name || request->tool
			? err_set(err, -EINVAL, "\"cancel\" stands alone")
			: 0;
	if (!has_id)
		return err_set(err, -EINVAL, "a call needs an \"id\"");
	if (!request->name || !request->tool)
		return err_set(err, -EINVAL, "a call needs a \"%s\"", request->name ? "tool" : "name");
	return 0;
}

int serve_request_read(perch_json *json, struct str line, struct arena *arena,
	struct serve_request *ret_request, perch_err *err)
{
	*ret_request = (struct serve_request){ .id = STR("null") };
	const perch_json_value *message;
	int r = perch_json_parse(json, line.data, line.len, &message, err);
	if (r < 0)
		return r;
	if (perch_json_type_of(message) != PERCH_JSON_OBJECT)
		return err_set(err, -EINVAL, "a line must be an object, not %s",
			perch_json_type_name(perch_json_type_of(message)));
	struct reading reading = { .arena = arena, .request = ret_request, .err = err };
	r = tool_serve_request_read_members(&reading, message);
	return r < 0
		? r
		: tool_serve_request_check_request(ret_request, perch_json_get(message, "id"), err);
}

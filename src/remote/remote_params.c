/* Arguments that a modern server wants as headers, too: `x-mcp-header` in the input schema of a
 * tool. What the tools wish is learned from their list; a tool whose wish is against the rules is
 * taken out of it. */
#include <errno.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "remote/remote_parts.h"
#include "wire/http_text.h"
#include "wire/mcp_params.h"

enum {
	WISHES_MAX = 64,                     /* of one tool */
	WISHES_BYTES_MAX = 16 * 1024 * 1024, /* of schemas that have any */
};

/* A tool that has any, and its schema. */
struct remote_wish {
	struct link link;
	struct str tool, schema;
	char bytes[];
};

/* ---- judging a schema ---------------------------------------------------------------- */

struct wish_count {
	struct str names[WISHES_MAX];
	size_t count;
	const char *fault; /* NULL = none */
};

static bool wish_is_known(const struct wish_count *found, struct str name)
{
	for (size_t i = 0; i < found->count; i++)
		if (http_same_word(found->names[i], name))
			return true;
	return false;
}

static bool wish_has_type(const perch_json_value *schema)
{
	const perch_json_value *type = perch_json_get(schema, "type");
	return perch_json_is(type, "string") || perch_json_is(type, "integer") ||
		perch_json_is(type, "boolean");
}

static void wish_take(const perch_json_value *schema, struct wish_count *found)
{
	const perch_json_value *wish = perch_json_get(schema, MCP_PARAM_MARK);
	if (!wish || found->fault)
		return;
	struct str name = { 0 };
	if (perch_json_type_of(wish) == PERCH_JSON_STRING)
		name = json_str(wish);
	if (!http_is_token(name))
		found->fault = "no name of a header";
	else if (!wish_has_type(schema))
		found->fault = "of a type that is no text, integer or flag";
	else if (wish_is_known(found, name))
		found->fault = "the name of two arguments";
	else if (found->count == WISHES_MAX)
		found->fault = "one of too many";
	else
		found->names[found->count++] = name;
}

/* Those that can be reached by `properties` alone. */
static void wish_walk(const perch_json_value *schema, struct wish_count *found)
{
	perch_json_iter iter = perch_json_iterate(perch_json_get(schema, "properties"));
	for (const perch_json_value *property; (property = perch_json_next(&iter));) {
		wish_take(property, found);
		wish_walk(property, found);
	}
}

/* All of them, wherever they stand. */
static size_t wish_count_all(const perch_json_value *value)
{
	size_t count = 0;
	perch_json_iter iter = perch_json_iterate(value);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		bool is_wish = perch_json_type_of(value) == PERCH_JSON_OBJECT &&
			perch_json_is(iter.name, MCP_PARAM_MARK) &&
			perch_json_type_of(item) == PERCH_JSON_STRING;
		count += is_wish ? 1 : wish_count_all(item);
	}
	return count;
}

/* ---- learning ------------------------------------------------------------------------- */

static struct remote_wish *wish_find(const struct remote *remote, struct str tool)
{
	struct remote_wish *wish = list_first(&remote->wishes);
	while (wish && !str_eq(wish->tool, tool))
		wish = list_next(wish);
	return wish;
}

static void wish_forget(struct remote *remote, struct remote_wish *wish)
{
	if (!wish)
		return;
	remote->wish_bytes -= wish->schema.len;
	list_remove(&remote->wishes, wish);
	free(wish);
}

void remote_params_free(struct remote *remote)
{
	struct remote_wish *wish;
	while ((wish = list_first(&remote->wishes)))
		wish_forget(remote, wish);
}

static bool wish_keep(struct remote *remote, struct str tool, struct str schema)
{
	if (schema.len > WISHES_BYTES_MAX - remote->wish_bytes)
		return false;
	struct remote_wish *wish = malloc(sizeof(*wish) + tool.len + schema.len);
	if (!wish) {
		remote->is_broken = true;
		return false;
	}
	wish->tool = (struct str){ wish->bytes, tool.len };
	wish->schema = (struct str){ wish->bytes + tool.len, schema.len };
	memcpy(wish->bytes, tool.data, tool.len);
	memcpy(wish->bytes + tool.len, schema.data, schema.len);
	remote->wish_bytes += schema.len;
	list_append(&remote->wishes, wish);
	return true;
}

/* Whether the tool may stay in the list. */
static bool remote_params_judge(struct remote *remote, const perch_json_value *tool)
{
	const perch_json_value *name = perch_json_get(tool, "name");
	const perch_json_value *schema = perch_json_get(tool, "inputSchema");
	struct wish_count found = { 0 };
	if (perch_json_type_of(name) != PERCH_JSON_STRING)
		return true; /* perch has its own word on that */
	wish_walk(schema, &found);
	if (!found.fault && wish_count_all(schema) != found.count)
		found.fault = "where it cannot be reached";
	struct str text = json_str(name), raw = { 0 };
	wish_forget(remote, wish_find(remote, text));
	if (found.count && !found.fault)
		raw.data = perch_json_raw(schema, &raw.len);
	if (raw.len && !wish_keep(remote, text, raw))
		found.fault = "more than can be kept";
	if (found.fault)
		remote_note(remote, "the tool %.*s is left out: its x-mcp-header is %s", utf8_quoted(text),
			text.data, found.fault);
	return !found.fault;
}

static void remote_params_copy(struct remote *remote, perch_json_writer *writer,
	const perch_json_value *tools, bool *ret_is_shorter)
{
	perch_json_iter iter = perch_json_iterate(tools);
	perch_json_begin_array(writer);
	for (const perch_json_value *tool; (tool = perch_json_next(&iter));) {
		if (remote_params_judge(remote, tool))
			perch_json_write_value(writer, tool);
		else
			*ret_is_shorter = true;
	}
	perch_json_end_array(writer);
}

bool remote_params_learn(const struct remote_exchange *exchange, const perch_json_value *result)
{
	struct remote *remote = exchange->remote;
	bool is_shorter = false;
	buf_clear(&remote->out);
	perch_json_writer writer = json_writer_on(&remote->out);
	jsonrpc_begin_result(&writer, &exchange->id);
	perch_json_begin_object(&writer);
	perch_json_iter iter = perch_json_iterate(result);
	for (const perch_json_value *member; (member = perch_json_next(&iter));) {
		struct str name = json_str(iter.name);
		perch_json_write_name_n(&writer, name.data, name.len);
		if (str_is(name, "tools") && perch_json_type_of(member) == PERCH_JSON_ARRAY)
			remote_params_copy(remote, &writer, member, &is_shorter);
		else
			perch_json_write_value(&writer, member);
	}
	perch_json_end_object(&writer);
	jsonrpc_end(&writer);
	return is_shorter;
}

/* ---- fulfilling ------------------------------------------------------------------------ */

static bool wish_fulfil(void *data, struct str name, const perch_json_value *value)
{
	char digits[MCP_PARAM_DIGITS];
	struct str text = mcp_param_text(value, digits);
	if (text.data)
		remote_headers_add(data, "Mcp-Param-", name, text);
	return true;
}

void remote_params_add(
	struct remote *remote, const struct jsonrpc_message *message, struct buf *out)
{
	const perch_json_value *name = perch_json_get(message->params, "name");
	const perch_json_value *schema = NULL;
	if (!str_is(message->method, "tools/call") || perch_json_type_of(name) != PERCH_JSON_STRING)
		return;
	const struct remote_wish *wish = wish_find(remote, json_str(name));
	if (!wish)
		return;
	if (perch_json_parse(remote->schema, wish->schema.data, wish->schema.len, &schema, NULL) < 0)
		remote->is_broken = true; /* it was read before */
	else
		mcp_params_each(schema, perch_json_get(message->params, "arguments"), wish_fulfil, out);
}

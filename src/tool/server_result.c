/* The result of an MCP server's tool as that of a perch tool: its structured content, else its one
 * text, else all its blocks. */
#include <errno.h>
#include <string.h>

#include "data/json.h"
#include "tool/server_parts.h"

static perch_text server_result_of(const struct buf *buf)
{
	return (perch_text){ buf->data ? buf->data : "", buf->len };
}

static const perch_json_value *server_result_text(const perch_json_value *block)
{
	const perch_json_value *text = perch_json_get(block, "text");
	bool is_text = perch_json_is(perch_json_get(block, "type"), "text") &&
		perch_json_type_of(text) == PERCH_JSON_STRING;
	return is_text ? text : NULL;
}

/* All that stands in text blocks, a line each: the words of an error. */
static void server_result_words(struct buf *out, const perch_json_value *content)
{
	perch_json_iter iter = perch_json_iterate(content);
	for (const perch_json_value *block; (block = perch_json_next(&iter));) {
		const perch_json_value *text = server_result_text(block);
		if (!text)
			continue;
		if (out->len)
			buf_append_char(out, '\n');
		buf_append(out, json_str(text).data, json_str(text).len);
	}
}

static void server_result_raw(struct buf *out, const perch_json_value *value)
{
	size_t len;
	const char *raw = perch_json_raw(value, &len);
	buf_append(out, raw, len);
}

static void server_result_output(
	struct buf *out, const perch_json_value *content, const perch_json_value *structured)
{
	const perch_json_value *first = NULL;
	perch_json_iter iter = perch_json_iterate(content);
	first = perch_json_next(&iter);
	bool is_one = perch_json_count(content) == 1;
	if (structured) {
		server_result_raw(out, structured);
	} else if (is_one && server_result_text(first)) {
		server_result_raw(out, server_result_text(first));
	} else {
		buf_append_text(out, "{\"content\":");
		server_result_raw(out, content);
		buf_append_char(out, '}');
	}
}

int server_result_take(struct server_call *served, const perch_json_value *result)
{
	perch_tool_result *tool = &served->call->result;
	const perch_json_value *content = perch_json_get(result, "content");
	const perch_json_value *structured = perch_json_get(result, "structuredContent");
	if (perch_json_type_of(content) != PERCH_JSON_ARRAY)
		return -EBADMSG;
	if (perch_json_type_of(structured) <= PERCH_JSON_NULL)
		structured = NULL;
	server_result_output(&served->output, content, structured);
	server_result_raw(&served->content, content);
	if (json_flag(result, "isError"))
		server_result_words(&served->text, content);
	if (buf_terminate(&served->output) < 0 || buf_terminate(&served->content) < 0 ||
		buf_terminate(&served->text) < 0)
		return -ENOMEM;
	tool->output = server_result_of(&served->output);
	tool->content = server_result_of(&served->content);
	if (structured)
		tool->structured = tool->output;
	if (!json_flag(result, "isError"))
		return 0;
	tool->code = PERCH_TOOL_EXECUTION_ERROR;
	tool->error_message = tool->message = server_result_of(&served->text);
	return 0;
}

/* MCP server: a tool as an item of tools/list. Schemas are as they were stored, but for what
 * the protocol demands of them. */
#include <errno.h>

#include "wire/mcp_server.h"

/* Reads a schema; NULL when it is no object. */
static const perch_json_value *mcp_tool_read(const struct mcp_page *page, struct str schema)
{
	const perch_json_value *root;
	int r = schema.len ? perch_json_parse(page->json, schema.data, schema.len, &root, NULL)
					   : PERCH_ESYNTAX;
	if (r == -ENOMEM)
		page->writer->out->failed = true;
	return r == 0 && perch_json_type_of(root) == PERCH_JSON_OBJECT ? root : NULL;
}

/* Arguments are always an object: a schema that does not say so is made to. */
static void mcp_tool_write_input(const struct mcp_page *page, struct str schema)
{
	const perch_json_value *root = mcp_tool_read(page, schema);
	perch_json_write_name(page->writer, "inputSchema");
	if (perch_json_is(perch_json_get(root, "type"), "object")) {
		perch_json_write_value(page->writer, root);
		return;
	}
	perch_json_begin_object(page->writer);
	json_write_text(page->writer, "type", STR("object"));
	perch_json_iter iter = perch_json_iterate(root);
	for (const perch_json_value *value; (value = perch_json_next(&iter));) {
		struct str name = json_str(iter.name);
		if (str_is(name, "type"))
			continue;
		perch_json_write_name_n(page->writer, name.data, name.len);
		perch_json_write_value(page->writer, value);
	}
	perch_json_end_object(page->writer);
}

/* Legacy clients take objects alone, so only such a schema is promised to them. */
static void mcp_tool_write_output(const struct mcp_page *page, struct str schema)
{
	const perch_json_value *root = mcp_tool_read(page, schema);
	bool is_object = perch_json_is(perch_json_get(root, "type"), "object");
	if (!root || !page->version->has_titles || (!page->version->is_modern && !is_object))
		return;
	perch_json_write_name(page->writer, "outputSchema");
	perch_json_write_value(page->writer, root);
}

void mcp_tool_write(const struct mcp_page *page, const struct mcp_tool *tool)
{
	perch_json_writer *writer = page->writer;
	perch_json_begin_object(writer);
	json_write_text(writer, "name", tool->name);
	if (tool->title.len && page->version->has_titles)
		json_write_text(writer, "title", tool->title);
	if (tool->description.len)
		json_write_text(writer, "description", tool->description);
	mcp_tool_write_input(page, tool->input_schema);
	mcp_tool_write_output(page, tool->output_schema);
	if (page->version->has_annotations) {
		perch_json_write_name(writer, "annotations");
		perch_json_begin_object(writer);
		json_write_flag(writer, "readOnlyHint", tool->is_read_only);
		json_write_flag(writer, "destructiveHint", tool->is_destructive);
		json_write_flag(writer, "openWorldHint", !tool->is_closed);
		perch_json_end_object(writer);
	}
	if (tool->verdict.len) {
		perch_json_write_name(writer, "_meta");
		perch_json_begin_object(writer);
		json_write_text(writer, "perch/verdict", tool->verdict);
		perch_json_end_object(writer);
	}
	perch_json_end_object(writer);
}

/* MCP: the words that both sides share. */
#include "wire/mcp_terms.h"

#include "base/utf8.h"

static const char *const mcp_level_names[MCP_LEVEL_NONE] = {
	[MCP_LEVEL_DEBUG] = "debug",
	[MCP_LEVEL_INFO] = "info",
	[MCP_LEVEL_NOTICE] = "notice",
	[MCP_LEVEL_WARNING] = "warning",
	[MCP_LEVEL_ERROR] = "error",
	[MCP_LEVEL_CRITICAL] = "critical",
	[MCP_LEVEL_ALERT] = "alert",
	[MCP_LEVEL_EMERGENCY] = "emergency",
};

const char *mcp_level_name(enum mcp_level level)
{
	return mcp_level_names[level];
}

enum mcp_level mcp_level_read(const perch_json_value *value)
{
	unsigned level = 0;
	while (level < MCP_LEVEL_NONE && !perch_json_is(value, mcp_level_names[level]))
		level++;
	return (enum mcp_level)level;
}

struct str mcp_text_of(const perch_json_value *value)
{
	struct str text = { 0 };
	if (perch_json_type_of(value) == PERCH_JSON_STRING)
		text = json_str(value);
	text.len = text.len ? (size_t)utf8_quoted(text) : 0;
	return text;
}

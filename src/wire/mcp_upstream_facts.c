/* MCP client: what a server says of itself. */
#include "base/utf8.h"
#include "wire/mcp_upstream_parts.h"

static struct str mcp_facts_text(
	struct mcp_upstream *upstream, const perch_json_value *object, const char *name)
{
	const perch_json_value *value = perch_json_get(object, name);
	struct str text = { 0 };
	if (perch_json_type_of(value) != PERCH_JSON_STRING)
		return text;
	text = json_str(value);
	if (text.len > MCP_UPSTREAM_FACT_MAX)
		text.len = utf8_whole_prefix(text.data, MCP_UPSTREAM_FACT_MAX);
	char *copy = arena_dup(&upstream->arena, text);
	if (!copy)
		upstream->is_broken = true;
	return (struct str){ copy, copy ? text.len : 0 };
}

void mcp_facts_read(struct mcp_upstream *upstream, const perch_json_value *result)
{
	struct mcp_upstream_facts *facts = &upstream->facts;
	const perch_json_value *abilities = perch_json_get(result, "capabilities");
	const perch_json_value *self = upstream->version->is_modern
		? perch_json_get(perch_json_get(result, "_meta"), MCP_META("serverInfo"))
		: perch_json_get(result, "serverInfo");
	facts->version = upstream->version;
	facts->name = mcp_facts_text(upstream, self, "name");
	facts->title = mcp_facts_text(upstream, self, "title");
	facts->server_version = mcp_facts_text(upstream, self, "version");
	facts->instructions = mcp_facts_text(upstream, result, "instructions");
	facts->has_tools = perch_json_get(abilities, "tools");
	facts->has_resources = perch_json_get(abilities, "resources");
	facts->has_prompts = perch_json_get(abilities, "prompts");
	facts->has_completions = perch_json_get(abilities, "completions");
	facts->has_logging = perch_json_get(abilities, "logging");
	facts->has_subscriptions = json_flag(perch_json_get(abilities, "resources"), "subscribe");
	struct str raw = STR("{}");
	if (perch_json_type_of(abilities) == PERCH_JSON_OBJECT)
		raw.data = perch_json_raw(abilities, &raw.len);
	const char *copy = raw.len <= MCP_UPSTREAM_FACT_MAX ? arena_dup(&upstream->arena, raw) : NULL;
	facts->capabilities = copy ? (struct str){ copy, raw.len } : STR("{}");
}

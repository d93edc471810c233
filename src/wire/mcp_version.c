/* MCP: the versions. */
#include "wire/mcp_version.h"

#include "wire/jsonrpc.h"

enum { MCP_RESOURCE_NOT_FOUND = -32002, MCP_VERSION_COUNT = 5 };

/* The newest first. */
static const struct mcp_version mcp_versions[MCP_VERSION_COUNT] = {
	{ .name = "2026-07-28",
		.is_modern = true,
		.has_annotations = true,
		.has_titles = true,
		.has_rich_forms = true,
		.unknown_resource = JSONRPC_INVALID_PARAMS },
	{ .name = "2025-11-25",
		.has_annotations = true,
		.has_titles = true,
		.has_rich_forms = true,
		.unknown_resource = MCP_RESOURCE_NOT_FOUND },
	{ .name = "2025-06-18",
		.has_annotations = true,
		.has_titles = true,
		.unknown_resource = MCP_RESOURCE_NOT_FOUND },
	{ .name = "2025-03-26",
		.has_batches = true,
		.has_annotations = true,
		.unknown_resource = MCP_RESOURCE_NOT_FOUND },
	{ .name = "2024-11-05", .unknown_resource = MCP_RESOURCE_NOT_FOUND },
};

const struct mcp_version *const mcp_version_fallback = &mcp_versions[1];

const struct mcp_version *mcp_version_find(struct str name, bool is_modern)
{
	for (size_t i = 0; i < MCP_VERSION_COUNT; i++)
		if (mcp_versions[i].is_modern == is_modern && str_is(name, mcp_versions[i].name))
			return &mcp_versions[i];
	return NULL;
}

void mcp_versions_write(perch_json_writer *writer)
{
	perch_json_begin_array(writer);
	for (size_t i = 0; i < MCP_VERSION_COUNT; i++)
		if (mcp_versions[i].is_modern)
			perch_json_write_string(writer, mcp_versions[i].name);
	perch_json_end_array(writer);
}

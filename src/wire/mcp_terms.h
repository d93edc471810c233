/* MCP: the words that both sides share, clients and servers. */
#ifndef WIRE_MCP_TERMS_H
#define WIRE_MCP_TERMS_H

#include "data/json.h"

/* The protocol's own members of `_meta`. */
#define MCP_META(name) "io.modelcontextprotocol/" name

/* Errors beside those of JSON-RPC. */
enum mcp_code {
	MCP_HEADER_MISMATCH = -32020,
	MCP_MISSING_CAPABILITY = -32021,
	MCP_UNSUPPORTED_VERSION = -32022,
};

/* Bytes of a line; for words alone: lines come cut. */
enum { MCP_LINE_MAX = 8 * 1024 * 1024 };

enum mcp_level {
	MCP_LEVEL_DEBUG,
	MCP_LEVEL_INFO,
	MCP_LEVEL_NOTICE,
	MCP_LEVEL_WARNING,
	MCP_LEVEL_ERROR,
	MCP_LEVEL_CRITICAL,
	MCP_LEVEL_ALERT,
	MCP_LEVEL_EMERGENCY,
	MCP_LEVEL_NONE, /* nothing is asked for */
};

/* MCP_LEVEL_NONE where it is no level. */
enum mcp_level mcp_level_read(const perch_json_value *value);
const char *mcp_level_name(enum mcp_level level);

enum mcp_list { MCP_TOOLS, MCP_RESOURCES, MCP_PROMPTS };

/* What a client answers of what a server may ask: bits. */
enum mcp_ability {
	MCP_CAN_ELICIT = 1 << 0,
	MCP_CAN_SAMPLE = 1 << 1,
	MCP_HAS_ROOTS = 1 << 2,
	MCP_CAN_ALL = MCP_CAN_ELICIT | MCP_CAN_SAMPLE | MCP_HAS_ROOTS,
};

/* A text for people, as much of it as a message quotes; empty = it is none. */
struct str mcp_text_of(const perch_json_value *value);

#endif

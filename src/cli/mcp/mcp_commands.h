/* The verbs of perch mcp beside serving. */
#ifndef CLI_MCP_MCP_COMMANDS_H
#define CLI_MCP_MCP_COMMANDS_H

#include "cli/cli.h"

extern const struct command mcp_verb_connect;
extern const struct command mcp_verb_list;
extern const struct command mcp_verb_call;
extern const struct command mcp_verb_inspect;

#endif

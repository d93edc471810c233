/* MCP: the names under which clients see what perch hosts. Clients accept few characters
 * and short names, so two things can come to have one name: that is found here. */
#ifndef WIRE_MCP_NAMES_H
#define WIRE_MCP_NAMES_H

#include "base/str.h"
#include "perch/base.h"

enum { MCP_NAME_MAX = 60, MCP_NAME_SIZE };

enum mcp_origin {
	MCP_OF_BINDING, /* <binding>_<tool>, or with no prefix <tool> */
	MCP_OF_COMMAND, /* run_<command>, or with no prefix <command> */
	MCP_OF_AGENT,   /* agent_<name>, always */
};

struct mcp_name {
	enum mcp_origin origin;
	struct str owner; /* the binding; empty for the others */
	struct str real;  /* what it is called here: the title */
	char shown[MCP_NAME_SIZE];
};

/* Gives each its name: characters outside [A-Za-z0-9_-] become '_', what is behind the
 * 60th is cut. Fails with -EEXIST and names both when two have the same, or -ENOMEM. */
int mcp_names_make(struct mcp_name *names, size_t count, bool without_prefix, perch_err *err);

#endif

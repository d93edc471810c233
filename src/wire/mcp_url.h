/* The address of a remote MCP server, and what perch tells the program that speaks with it. */
#ifndef WIRE_MCP_URL_H
#define WIRE_MCP_URL_H

#include "base/str.h"
#include "perch/base.h"

enum { MCP_URL_MAX = 2048 };

/* A variable of perch-remote is a header of every request, if its name begins so. */
#define MCP_HEADER_VARIABLE "PERCH_HEADER_"

struct mcp_url {
	struct str host; /* as it is written, without the brackets of an address */
	bool is_tls;
};

/* Whether a word is meant to be one. */
bool mcp_url_is(const char *word);

/* https, or http to this machine alone; no user, no fragment. -EINVAL with words. */
int mcp_url_read(const char *text, struct mcp_url *ret_url, perch_err *err);

#endif

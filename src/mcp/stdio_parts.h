/* What the parts of the transport on a pair of descriptors share. */
#ifndef MCP_STDIO_PARTS_H
#define MCP_STDIO_PARTS_H

#include "base/buf.h"
#include "base/str.h"
#include "mcp/front.h"
#include "mcp/stdio.h"
#include "perch/loop.h"
#include "stdio/client.h"

/* ---- a client -------------------------------------------------------------- */

enum { MCP_END_MS = 1400 }; /* clients kill after 2 s */

struct mcp_stdio {
	struct mcp_stdio_options options;
	perch_host *host;
	perch_service *service;
	struct mcp_front *front;
	struct mcp_caller caller;
	struct mcp_connection *connection; /* NULL: the client is gone */
	struct stdio_input input;
	struct stdio_output output;
	perch_timer *ladder; /* when the end must have come */
	struct stdio_parent parent;
	bool is_held; /* the client does not read: no job is read either */
	bool is_ending;
	bool is_late;
	bool has_no_memory;
};

#endif

/* MCP: what differs from version to version, as a table. */
#ifndef WIRE_MCP_VERSION_H
#define WIRE_MCP_VERSION_H

#include "base/str.h"
#include "data/json.h"

struct mcp_version {
	const char *name;
	bool is_modern;       /* every request says its version; no sessions */
	bool has_batches;     /* several messages in one line */
	bool has_annotations; /* of tools; progress has messages, completion is a capability */
	bool has_titles;      /* of tools; structured results, links to resources, questions */
	bool has_rich_forms;  /* questions: defaults of texts, a choice of several, the mode */
	int unknown_resource; /* the code of an error */
};

/* The one that is answered to a client that asks for a version we do not know. */
extern const struct mcp_version *const mcp_version_fallback;

/* NULL when it is none of ours, or of the other era. */
const struct mcp_version *mcp_version_find(struct str name, bool is_modern);

/* The modern ones as an array of texts, the newest first: what a request may name. */
void mcp_versions_write(perch_json_writer *writer);

#endif

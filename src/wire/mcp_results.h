/* MCP: results that were too long to be given in one piece, for a while, each for the client alone
 * that asked for it. */
#ifndef WIRE_MCP_RESULTS_H
#define WIRE_MCP_RESULTS_H

#include "base/list.h"
#include "base/str.h"
#include "wire/mcp_seal.h"

#define MCP_RESULTS_URI "perch://results/"

enum { MCP_RESULT_URI_SIZE = sizeof(MCP_RESULTS_URI) - 1 + MCP_TAG_SIZE };

/* `{0}` and the limits is an empty store. */
struct mcp_results {
	struct list kept; /* the oldest first */
	size_t bytes;
	size_t bytes_max;
	uint64_t keep_ns;
	uint64_t number; /* of the last one */
};

struct mcp_kept_result {
	struct link link;
	char tag[MCP_TAG_SIZE];
	uint64_t until_ns;
	struct str principal;
	struct str text;
	bool is_json;
	char bytes[];
};

/* Keeps a copy, gives up the oldest ones for it. Fails with PERCH_ELIMIT (it is larger than
 * all may be) or -ENOMEM. */
int mcp_results_put(struct mcp_results *results, const uint8_t key[MCP_KEY_SIZE],
	struct str principal, struct str text, bool is_json, uint64_t now_ns,
	char ret_uri[MCP_RESULT_URI_SIZE]);

/* NULL when there is none of this URI for this principal. */
const struct mcp_kept_result *mcp_results_find(
	struct mcp_results *results, struct str principal, struct str uri, uint64_t now_ns);

/* Forgets what is too old. When the next one will be: UINT64_MAX = none is kept. */
uint64_t mcp_results_tick(struct mcp_results *results, uint64_t now_ns);
void mcp_results_free(struct mcp_results *results);

#endif

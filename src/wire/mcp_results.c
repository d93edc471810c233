/* MCP: results that were too long to be given in one piece. */
#include "wire/mcp_results.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "perch/base.h"

static size_t mcp_result_size(const struct mcp_kept_result *kept)
{
	return sizeof(*kept) + kept->principal.len + kept->text.len;
}

static void mcp_results_drop_oldest(struct mcp_results *results)
{
	struct mcp_kept_result *kept = list_first(&results->kept);
	list_remove(&results->kept, kept);
	results->bytes -= mcp_result_size(kept);
	free(kept);
}

int mcp_results_put(struct mcp_results *results, const uint8_t key[MCP_KEY_SIZE],
	struct str principal, struct str text, bool is_json, uint64_t now_ns,
	char ret_uri[MCP_RESULT_URI_SIZE])
{
	size_t size = sizeof(struct mcp_kept_result) + principal.len + text.len;
	if (size > results->bytes_max)
		return PERCH_ELIMIT;
	struct mcp_kept_result *kept = malloc(size);
	if (!kept)
		return -ENOMEM;
	while (results->bytes + size > results->bytes_max)
		mcp_results_drop_oldest(results);
	*kept = (struct mcp_kept_result){
		.until_ns = now_ns + results->keep_ns,
		.text = { kept->bytes, text.len },
		.principal = { kept->bytes + text.len, principal.len },
		.is_json = is_json,
	};
	memcpy(kept->bytes, text.data, text.len);
	if (principal.len)
		memcpy(kept->bytes + text.len, principal.data, principal.len);
	mcp_tag("result", ++results->number, key, kept->tag);
	list_append(&results->kept, kept);
	results->bytes += size;
	snprintf(ret_uri, MCP_RESULT_URI_SIZE, MCP_RESULTS_URI "%s", kept->tag);
	return 0;
}

const struct mcp_kept_result *mcp_results_find(
	struct mcp_results *results, struct str principal, struct str uri, uint64_t now_ns)
{
	mcp_results_tick(results, now_ns);
	if (!str_has_prefix(uri, STR(MCP_RESULTS_URI)))
		return NULL;
	struct str tag = { uri.data + sizeof(MCP_RESULTS_URI) - 1,
		uri.len - (sizeof(MCP_RESULTS_URI) - 1) };
	for (struct mcp_kept_result *kept = list_first(&results->kept); kept; kept = list_next(kept))
		if (str_is(tag, kept->tag) && str_eq(principal, kept->principal))
			return kept;
	return NULL;
}

uint64_t mcp_results_tick(struct mcp_results *results, uint64_t now_ns)
{
	const struct mcp_kept_result *oldest;
	while ((oldest = list_first(&results->kept)) && oldest->until_ns <= now_ns)
		mcp_results_drop_oldest(results);
	return oldest ? oldest->until_ns : UINT64_MAX;
}

void mcp_results_free(struct mcp_results *results)
{
	while (results->kept.count)
		mcp_results_drop_oldest(results);
}

/* Any bytes as the address of a remote MCP server. No crash; a refusal has words; what is taken has
 * a host that stands in it, and http is for this machine alone. */
#include "fuzz.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "wire/mcp_url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = str_dup((struct str){ (const char *)data, size });
	struct mcp_url url = { 0 };
	perch_err err = { 0 };
	check(text);
	if (mcp_url_read(text, &url, &err) < 0) {
		check(err.text[0]);
		return 0;
	}
	check(mcp_url_is(text) && strlen(text) <= MCP_URL_MAX);
	check(url.host.len && url.host.data > text && url.host.data + url.host.len <= text + size);
	check(url.is_tls || url.host.data[0] == '1' || url.host.data[0] == ':' ||
		(url.host.data[0] | 0x20) == 'l');
	return 0;
}

/* Any bytes as the body of a request to the gateway, at each of its addresses, or as all that a
 * client says: no crash, one answer, and errors are JSON. Nothing is offered, so nothing runs. The
 * first byte chooses the address, and whether there is a token. */
#include "fuzz.h"

#include <string.h>

#include "base/clock.h"
#include "harness/gateway.h"

static const char *const addresses[] = {
	NULL, /* all of it is the client's */
	"POST /api/turns",
	"POST /api/calls",
	"POST /api/runs",
	"POST /api/login",
	"POST /api/logout",
	"GET /api/jobs?state=done",
	"GET /api/catalog",
	"POST /api/jobs/j00000000000000000000/answers/1",
	"PATCH /api/sessions/1",
	"POST /v1/chat/completions",
	"POST /v1/responses",
	"GET /v1/models/bot",
	"POST /mcp",
	"GET /metrics",
	"GET /api/metrics/history",
};

static struct gateway gateway;

static void check_answer(const struct buf *answer)
{
	static const char *const expected[] = { "200", "202", "204", "304", "400", "401", "403", "404",
		"405", "406", "408", "409", "411", "413", "414", "415", "417", "429", "431", "501", "503",
		"505" };
	bool is_expected = false;
	struct str text = { answer->data, answer->len };
	check(str_has_prefix(text, STR("HTTP/1.1 ")) && text.len > 12);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		is_expected = is_expected || memcmp(text.data + 9, expected[i], 3) == 0;
	check(is_expected);
	bool is_error = text.data[9] >= '4';
	check(!is_error || memmem(text.data, text.len, "\"error\":", 8));
}

/* Who asks for longer may be hung up on: so long the machine stood still, not the gateway. */
#define LONG_NS (5 * NSEC_PER_SEC)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t begun = clock_now_ns();
	struct buf answer = { 0 };
	if (!gateway.serve)
		check(gateway_open_alone(&gateway) == 0);
	if (size < 2)
		return 0;
	struct str rest = { (const char *)data + 1, size - 1 };
	const char *line = addresses[(data[0] & 0x7f) % (sizeof(addresses) / sizeof(addresses[0]))];
	if (line) {
		check(gateway_ask(&gateway, line, !(data[0] & 0x80), rest, &answer) == 0);
		if (clock_now_ns() - begun < LONG_NS)
			check_answer(&answer);
	} else {
		check(gateway_say(&gateway, rest, &answer) == 0);
	}
	buf_free(&answer);
	return 0;
}

/* Any bytes as the packet of a call: no crash, and what is accepted is a directory and one of the
 * two things that a plugin may ask for. */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "fledge/call_request.h"

/* Every word lies in the packet, behind the one before. */
static void check_words(const struct call_request *request, const char *packet, size_t size)
{
	const char *at = packet;
	check(request->directory == packet && packet[0] == '/');
	check(request->argv[0] && !request->argv[0][0] && request->argv[1]);
	for (size_t i = 1; request->argv[i]; i++) {
		at += strlen(at) + 1;
		check(request->argv[i] == at && i < CALL_REQUEST_WORDS_MAX);
	}
	check(at + strlen(at) + 1 == packet + size);
}

static void check_kind(const char *const *argument)
{
	bool is_json = strcmp(*argument, "--json") == 0;
	argument += is_json;
	while (*argument && strcmp(*argument, "--answer") == 0) {
		check(argument[1]);
		argument += 2;
	}
	check(*argument && argument[1]);
	if (strcmp(*argument, "run") == 0)
		check(argument[1][0] != '-');
	else
		check(strcmp(argument[0], "plugins") == 0 && strcmp(argument[1], "list") == 0 &&
			argument[2] && strcmp(argument[2], "--json") == 0 && !argument[3]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct call_request request;
	perch_err err = { 0 };
	int r = call_request_read((const char *)data, size, &request, &err);
	check(r == 0 || (r == -EINVAL && err.code == r && err.text[0]));
	if (r == 0) {
		check_words(&request, (const char *)data, size);
		check_kind(request.argv + 1);
		call_request_free(&request);
	}
	return 0;
}

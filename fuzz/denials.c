/* What a plugin and its commands say may be anything: what is told of it is one line of printable
 * characters, or nothing. The input is a command, and behind a NUL what it said. */
#include "fuzz.h"

#include <string.h>

#include "base/cleanup.h"
#include "fledge/denials.h"
#include "sandbox/policy/explain.h"

static bool exists(const char *path)
{
	return strlen(path) % 2;
}

static const struct explain_context *explain(void *data)
{
	static const struct sandbox_policy policy = {
		.reads_everything = true, .has_private_tmp = true, .net = SANDBOX_NET_NONE
	};
	static const struct explain_context context = { &policy, "fledge", "x ", NULL, exists };
	(void)data;
	return &context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const variables[] = { "API_TOKEN", "PGPASSWORD", NULL };
	static const struct policy_widening widening = { 0 };
	static const struct denials_options options = {
		.plugin = "fledge-p", .variables = variables, .widening = &widening, .explain = explain
	};
	struct buf out = { 0 };
	_cleanup_free_ char *command = str_dup((struct str){ (const char *)data, size });
	size_t len = strlen(command);
	struct str said = { command + len, size - len };
	struct denials *denials = denials_new(&options);
	denials_hear(denials, said);
	denials_command(denials, command, said, said);
	check(denials_say(denials, true, &out) && out.len);
	for (size_t i = 0; i < out.len; i++)
		check((unsigned char)out.data[i] >= ' ' && out.data[i] != 127);
	denials_free(denials);
	buf_free(&out);
	return 0;
}

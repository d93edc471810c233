/* What a failed program said may be anything: a hint is one line of printable
 * characters, or there is none. */
#include "fuzz.h"

#include <string.h>

#include "sandbox/policy/explain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const hide[] = { "/home/dev/.ssh", NULL };
	static const char *const read[] = { "/usr", NULL };
	if (size == 0)
		return 0;
	const struct sandbox_policy policy = {
		.reads_everything = data[0] & 1,
		.net = data[0] & 2 ? SANDBOX_NET_FULL : SANDBOX_NET_NONE,
		.has_private_tmp = data[0] & 4,
		.hide = hide,
		.read = read,
	};
	const struct explain_context context = {
		.policy = &policy, .policy_name = "fledge", .widen_by = data[0] & 8 ? "perch x " : ""
	};
	struct buf out = { 0 };
	bool found = explain_failure(&context, (struct str){ (const char *)data + 1, size - 1 }, &out);
	check(found == (out.len > 0));
	for (size_t i = 0; i < out.len; i++)
		check((unsigned char)out.data[i] >= ' ' && out.data[i] != 127);
	buf_free(&out);
	return 0;
}

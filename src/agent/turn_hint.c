/* Why a turn failed in its sandbox, as far as what was said tells. */
#include "agent/turn_parts.h"
#include "sandbox/explain.h"

/* A shell's words for: it may not be executed, it is not there. */
enum { CODE_NOT_EXECUTABLE = 126, CODE_NOT_FOUND = 127 };

struct str turn_hint(struct agent_turn *turn, int exit_code, struct str said)
{
	const char *widen_by = turn->options.profile->widen_by;
	const struct explain_context context = {
		.policy = &turn->launch.policy,
		.policy_name = "fledge",
		.widen_by = widen_by ? widen_by : "",
	};
	if (exit_code == 0 || !turn->sandbox)
		return (struct str){ 0 };
	if (exit_code == CODE_NOT_EXECUTABLE || exit_code == CODE_NOT_FOUND)
		explain_end(&context, said, &turn->hint);
	else
		explain_failure(&context, said, &turn->hint);
	return turn->hint.failed ? (struct str){ 0 } : (struct str){ turn->hint.data, turn->hint.len };
}

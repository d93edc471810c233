/* Why a turn failed in its sandbox, as far as the agent's words show. */
#include "agent/turn_parts.h"
#include "base/exit_status.h"
#include "sandbox/policy/explain.h"

const char *turn_hint(struct agent_turn *turn, int exit_code, struct str said)
{
	const char *widen_by = turn->options.profile->widen_by;
	const struct explain_context context = {
		.policy = &turn_launch_of(turn)->policy,
		.policy_name = "fledge",
		.widen_by = widen_by ? widen_by : "",
	};
	if (exit_code == 0 || !turn_sandbox(turn))
		return "";
	/* The agent may be a shell: these are the words that shells have for a denial. */
	if (exit_code == EXIT_NOT_EXECUTABLE || exit_code == EXIT_NOT_FOUND)
		explain_end(&context, said, &turn->hint);
	else
		explain_failure(&context, said, &turn->hint);
	return buf_terminate(&turn->hint) < 0 || turn->hint.failed ? "" : turn->hint.data;
}

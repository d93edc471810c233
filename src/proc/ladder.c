/* How children are ended: the table of what each kind of child is given, and the steps in time.
 *
 * The linger time: the process has exited, and the processes that it left in the background may
 * go on to write for so long. The ladder: the steps that end a child which is to stop, each with
 * its time since the stop began. */
#include "proc/ladder.h"

#include "base/clock.h"
#include "base/macros.h"

/* ---- the table ------------------------------------------------- */

static const perch_step ladder_default[] = {
	{ PERCH_STEP_TERM, .after_ns = 0 },
	{ PERCH_STEP_KILL, .after_ns = 5 * NSEC_PER_SEC },
};

static const perch_step ladder_command[] = {
	{ PERCH_STEP_TERM, .after_ns = 0 },
	{ PERCH_STEP_KILL, .after_ns = 2 * NSEC_PER_SEC },
};

/* The engine sends the cancel message at once; then the plugin has time to clean up. */
static const perch_step ladder_fledge[] = {
	{ PERCH_STEP_TERM, .after_ns = FLEDGE_TERM_AFTER_NS },
	{ PERCH_STEP_KILL, .after_ns = 10 * NSEC_PER_SEC },
};

/* A perch that runs a plugin for another: longer than it takes to end that. */
static const perch_step ladder_call[] = {
	{ PERCH_STEP_TERM, .after_ns = 0 },
	{ PERCH_STEP_KILL, .after_ns = 12 * NSEC_PER_SEC },
};

/* Short, because the verdict is known and the caller waits. */
static const perch_step ladder_tool[] = {
	{ PERCH_STEP_CLOSE_STDIN, .after_ns = 0 },
	{ PERCH_STEP_TERM, .after_ns = 50 * NSEC_PER_MSEC },
	{ PERCH_STEP_KILL, .after_ns = 200 * NSEC_PER_MSEC },
};

/* Its last step is a default: profiles have kill_grace_secs. */
static const perch_step ladder_agent[] = {
	{ PERCH_STEP_TERM, .after_ns = 0 },
	{ PERCH_STEP_KILL, .after_ns = AGENT_KILL_AFTER_NS },
};

/* At the end of its input it leaves by itself, and may have something to write down first. */
static const perch_step ladder_resident[] = {
	{ PERCH_STEP_CLOSE_STDIN, .after_ns = 0 },
	{ PERCH_STEP_TERM, .after_ns = 2 * NSEC_PER_SEC },
	{ PERCH_STEP_KILL, .after_ns = 2 * NSEC_PER_SEC + AGENT_KILL_AFTER_NS },
};

/* The order that the protocol gives, in the time that its clients take for it. */
static const perch_step ladder_mcp_server[] = {
	{ PERCH_STEP_CLOSE_STDIN, .after_ns = 0 },
	{ PERCH_STEP_TERM, .after_ns = NSEC_PER_SEC },
	{ PERCH_STEP_KILL, .after_ns = 2 * NSEC_PER_SEC },
};

#define STEPS(ladder) ladder, COUNT(ladder)

/* clang-format off */
static const struct {
	uint64_t linger_ns;
	const perch_step *steps;
	size_t count;
} endings[] = {
	[ENDING_DEFAULT]        = {   0,                  STEPS(ladder_default) },
	[ENDING_COMMAND]        = {   0,                  STEPS(ladder_command) },
	[ENDING_EXEC]           = { 100 * NSEC_PER_MSEC,  STEPS(ladder_command) },
	[ENDING_FLEDGE]         = { 500 * NSEC_PER_MSEC,  STEPS(ladder_fledge) },
	[ENDING_CALL]           = {   0,                  STEPS(ladder_call) },
	[ENDING_LEGACY]         = { 500 * NSEC_PER_MSEC,  STEPS(ladder_default) },
	[ENDING_BUILD]          = { 500 * NSEC_PER_MSEC,  STEPS(ladder_default) },
	[ENDING_TOOL]           = {   0,                  STEPS(ladder_tool) },
	[ENDING_AGENT]          = { 100 * NSEC_PER_MSEC,  STEPS(ladder_agent) },
	[ENDING_RESIDENT]       = { 100 * NSEC_PER_MSEC,  STEPS(ladder_resident) },
	[ENDING_MCP_SERVER]     = { 100 * NSEC_PER_MSEC,  STEPS(ladder_mcp_server) },
	[ENDING_TESTED_HOST]    = { 200 * NSEC_PER_MSEC,  STEPS(ladder_command) },
	[ENDING_TESTED_PROGRAM] = { 500 * NSEC_PER_MSEC,  STEPS(ladder_default) },
};
/* clang-format on */

void ending_apply(enum ending ending, perch_child_spec *spec)
{
	spec->linger_ns = endings[ending].linger_ns;
	spec->ladder = endings[ending].steps;
	spec->ladder_len = endings[ending].count;
}

/* ---- the steps in time -------------------------------------------------- */

void ladder_init(struct ladder *ladder, const perch_step *steps, size_t count)
{
	*ladder = (struct ladder){ .steps = steps, .count = count };
	if (!steps) {
		ladder->steps = ladder_default;
		ladder->count = COUNT(ladder_default);
	}
}

void ladder_push(struct ladder *ladder, uint64_t now_ns)
{
	uint64_t first = ladder->count ? ladder->steps[0].after_ns : 0;
	if (!ladder->has_begun)
		ladder->due_ns = clock_after(now_ns, first);
	else if (ladder->due_ns > now_ns)
		ladder->due_ns = now_ns;
	ladder->has_begun = true;
}

uint64_t ladder_next(const struct ladder *ladder)
{
	return ladder->has_begun && ladder->next < ladder->count ? ladder->due_ns : NEVER;
}

/* The steps behind one that was taken early keep their distance to it. */
const perch_step *ladder_take(struct ladder *ladder, uint64_t now_ns)
{
	if (ladder_next(ladder) > now_ns)
		return NULL;
	const perch_step *step = &ladder->steps[ladder->next++];
	if (ladder->next < ladder->count)
		ladder->due_ns = clock_after(ladder->due_ns, step[1].after_ns - step[0].after_ns);
	return step;
}

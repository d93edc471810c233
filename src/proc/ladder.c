/* How a child is made to stop: a list of steps in time. */
#include "proc/ladder.h"

#include "base/clock.h"

static const perch_step default_steps[] = {
	{ PERCH_STEP_TERM, .after_ns = 0 },
	{ PERCH_STEP_KILL, .after_ns = 5 * NSEC_PER_SEC },
};

void ladder_init(struct ladder *ladder, const perch_step *steps, size_t count)
{
	*ladder = (struct ladder){ .steps = steps, .count = count };
	if (!steps) {
		ladder->steps = default_steps;
		ladder->count = sizeof(default_steps) / sizeof(default_steps[0]);
	}
}

/* An impatient push moves the beginning back in time, so that the steps
 * behind the next one keep their distance to it. */
void ladder_push(struct ladder *ladder, uint64_t now_ns)
{
	if (!ladder->has_begun) {
		ladder->has_begun = true;
		ladder->began_ns = now_ns;
	} else if (ladder->next < ladder->count && ladder_next(ladder) > now_ns) {
		uint64_t after = ladder->steps[ladder->next].after_ns;
		ladder->began_ns = after < now_ns ? now_ns - after : 0;
	}
}

uint64_t ladder_next(const struct ladder *ladder)
{
	if (!ladder->has_begun || ladder->next == ladder->count)
		return NEVER;
	return clock_after(ladder->began_ns, ladder->steps[ladder->next].after_ns);
}

const perch_step *ladder_take(struct ladder *ladder, uint64_t now_ns)
{
	if (ladder_next(ladder) > now_ns)
		return NULL;
	return &ladder->steps[ladder->next++];
}

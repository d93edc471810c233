/* How a child is made to stop: a list of steps in time. */
#include "proc/ladder.h"

#include "base/clock.h"
#include "base/macros.h"

static const perch_step default_steps[] = {
	{ PERCH_STEP_TERM, .after_ns = 0 },
	{ PERCH_STEP_KILL, .after_ns = 5 * NSEC_PER_SEC },
};

void ladder_init(struct ladder *ladder, const perch_step *steps, size_t count)
{
	*ladder = (struct ladder){ .steps = steps, .count = count };
	if (!steps) {
		ladder->steps = default_steps;
		ladder->count = COUNT(default_steps);
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

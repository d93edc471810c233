/* The states of a job by name. */
#include "queue/queue.h"

#include "base/macros.h"

static const char *const queue_states[] = {
	[QUEUE_WAITING] = "waiting",
	[QUEUE_RUNNING] = "running",
	[QUEUE_DONE] = "done",
	[QUEUE_FAILED] = "failed",
	[QUEUE_CANCELLED] = "cancelled",
	[QUEUE_INTERRUPTED] = "interrupted",
	[QUEUE_DEAD] = "dead",
};
_Static_assert(COUNT(queue_states) == QUEUE_STATES, "every state has a name");

const char *queue_state_name(enum queue_state state)
{
	return queue_states[state];
}

enum queue_state queue_state_find(struct str name)
{
	unsigned i = 0;
	while (i < QUEUE_STATES && !str_is(name, queue_states[i]))
		i++;
	return (enum queue_state)i;
}

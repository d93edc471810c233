/* The states of a job by name, and the forms of what is written of it. */
#include "queue/queue.h"

#include <string.h>

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

bool queue_is_id(struct str id)
{
	static const char digits[] = "0123456789abcdef";
	if (id.len != 1 + 20 || id.data[0] != 'j')
		return false;
	size_t i = 1;
	while (i < id.len && memchr(digits, id.data[i], sizeof(digits) - 1))
		i++;
	return i == id.len;
}

bool queue_event_is_whole(const struct queue_event *event)
{
	struct str text = event->text;
	return event->number && event->number <= QUEUE_NUMBER_MAX && text.len >= 2 &&
		text.data[0] == '{' && text.data[text.len - 1] == '}';
}

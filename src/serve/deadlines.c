/* Deadlines of many connections with one timer. */
#include "serve/deadlines.h"

#include "base/clock.h"

static void deadlines_arm(struct deadlines *deadlines)
{
	uint64_t next_ns = NEVER;
	for (int i = DEADLINE_NONE + 1; i < DEADLINE_KINDS; i++) {
		const struct deadline *first = list_first(&deadlines->lists[i]);
		if (first && first->due_ns < next_ns)
			next_ns = first->due_ns;
	}
	uint64_t now_ns = clock_now_ns();
	perch_timer_set(deadlines->timer,
		next_ns == NEVER       ? NEVER
			: next_ns > now_ns ? next_ns - now_ns
							   : 0);
}

static void deadline_leave(struct deadlines *deadlines, struct deadline *deadline)
{
	if (deadline->kind != DEADLINE_NONE)
		list_remove(&deadlines->lists[deadline->kind], deadline);
	deadline->kind = DEADLINE_NONE;
}

static void deadlines_due(perch_timer *timer, void *data)
{
	(void)timer;
	struct deadlines *deadlines = data;
	uint64_t now_ns = clock_now_ns();
	for (int i = DEADLINE_NONE + 1; i < DEADLINE_KINDS; i++) {
		struct deadline *first;
		while ((first = list_first(&deadlines->lists[i])) && first->due_ns <= now_ns) {
			deadline_leave(deadlines, first);
			deadlines->due(deadlines->data, first);
		}
	}
	deadlines_arm(deadlines);
}

int deadlines_open(struct deadlines *deadlines, perch_host *host, perch_err *err)
{
	return perch_timer_new(host, deadlines_due, deadlines, &deadlines->timer, err);
}

void deadlines_close(struct deadlines *deadlines)
{
	perch_timer_free(deadlines->timer);
	deadlines->timer = NULL;
}

void deadlines_set_length(struct deadlines *deadlines, enum deadline_kind kind, uint64_t length_ns)
{
	uint64_t old_ns = deadlines->length_ns[kind];
	struct deadline *item = list_first(&deadlines->lists[kind]);
	deadlines->length_ns[kind] = length_ns;
	for (; item; item = list_next(item))
		item->due_ns = clock_after(item->due_ns - old_ns, length_ns);
	deadlines_arm(deadlines);
}

void deadline_set(struct deadlines *deadlines, struct deadline *deadline, enum deadline_kind kind)
{
	deadline_leave(deadlines, deadline);
	if (kind == DEADLINE_NONE)
		return;
	deadline->kind = kind;
	deadline->due_ns = clock_after(clock_now_ns(), deadlines->length_ns[kind]);
	list_append(&deadlines->lists[kind], deadline);
	if (deadlines->lists[kind].count == 1)
		deadlines_arm(deadlines);
}

void deadline_keep(struct deadlines *deadlines, struct deadline *deadline, enum deadline_kind kind)
{
	if (deadline->kind != kind)
		deadline_set(deadlines, deadline, kind);
}

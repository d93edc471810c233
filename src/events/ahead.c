/* Answers that came before their question. */
#include "events/ahead.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "events/events.h"

void ahead_free(struct ahead *ahead)
{
	for (size_t i = 0; i < ahead->count; i++)
		free(ahead->answers[i].line);
	free(ahead->answers);
}

int ahead_keep(struct ahead *ahead, uint64_t number, struct str line)
{
	if (ahead->count >= EVENTS_AHEAD_MAX || line.len > EVENTS_AHEAD_BYTES - ahead->bytes)
		return -ENOBUFS;
	struct early_answer *answers =
		vec_grow(ahead->answers, &ahead->cap, ahead->count + 1, sizeof(*answers));
	if (!answers)
		return -ENOMEM;
	ahead->answers = answers;
	char *copy = str_dup(line);
	if (!copy)
		return -ENOMEM;
	answers[ahead->count++] = (struct early_answer){ number, copy, line.len };
	ahead->bytes += line.len;
	return 0;
}

bool ahead_take(struct ahead *ahead, uint64_t number, struct early_answer *ret_answer)
{
	for (size_t i = 0; i < ahead->count; i++) {
		struct early_answer *answer = &ahead->answers[i];
		if (answer->number > number)
			continue;
		*ret_answer = *answer;
		ahead->bytes -= answer->len;
		ahead->count--;
		memmove(answer, answer + 1, (ahead->count - i) * sizeof(*answer));
		return true;
	}
	return false;
}

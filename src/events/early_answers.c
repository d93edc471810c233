/* Answers that came before their question. */
#include "events/events_parts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "events/events.h"

void early_answers_free(struct early_answers *early_answers)
{
	for (size_t i = 0; i < early_answers->count; i++)
		free(early_answers->answers[i].line);
	free(early_answers->answers);
}

int early_answers_keep(struct early_answers *early_answers, uint64_t number, struct str line)
{
	if (early_answers->count >= EVENTS_AHEAD_MAX ||
		line.len > EVENTS_AHEAD_BYTES - early_answers->bytes)
		return -ENOBUFS;
	struct early_answer *answers = vec_grow(
		early_answers->answers, &early_answers->cap, early_answers->count + 1, sizeof(*answers));
	if (!answers)
		return -ENOMEM;
	early_answers->answers = answers;
	char *copy = str_dup(line);
	if (!copy)
		return -ENOMEM;
	answers[early_answers->count++] = (struct early_answer){ number, copy, line.len };
	early_answers->bytes += line.len;
	return 0;
}

bool early_answers_take(
	struct early_answers *early_answers, uint64_t number, struct early_answer *ret_answer)
{
	for (size_t i = 0; i < early_answers->count; i++) {
		struct early_answer *answer = &early_answers->answers[i];
		if (answer->number > number)
			continue;
		*ret_answer = *answer;
		early_answers->bytes -= answer->len;
		early_answers->count--;
		memmove(answer, answer + 1, (early_answers->count - i) * sizeof(*answer));
		return true;
	}
	return false;
}

/* Every order of the events of a world. */
#include "explorer.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { STATES_MAX = 1 << 22 };

static const struct world *explored;
static unsigned way[EXPLORER_DEPTH];
static const char *wrong;
static uint64_t mixed;
static unsigned long plays;
static unsigned long states;
static struct {
	uint64_t state;
	unsigned char left; /* events to go, and one: 0 = free */
} * met;

void explorer_mix(uint64_t value)
{
	mixed = (mixed ^ value) * UINT64_C(0x9E3779B97F4A7C15);
	mixed ^= mixed >> 29;
}

void explorer_wrong(const char *words)
{
	if (!wrong)
		wrong = words;
}

/* Whether there is nothing new to be found from here. */
static bool explorer_knows(uint64_t state, unsigned left)
{
	size_t at = (size_t)(state % STATES_MAX);
	while (met[at].left && met[at].state != state)
		at = (at + 1) % STATES_MAX;
	if (!met[at].left && ++states > STATES_MAX / 2) {
		fprintf(stderr, "%s: too many states\n", explored->name);
		exit(2);
	}
	bool is_known = met[at].left > left;
	met[at].state = state;
	if (!is_known)
		met[at].left = (unsigned char)(left + 1);
	return is_known;
}

static void explorer_tell(unsigned count)
{
	printf("%s: %s, after:\n", explored->name, wrong);
	for (unsigned i = 0; i < count; i++)
		printf("  %2u. %s\n", i + 1, explored->describe(way[i]));
}

/* Plays the first `count` events; then what can happen next. */
static uint32_t explorer_replay(unsigned count, bool *ret_known)
{
	explored->begin();
	for (unsigned i = 0; i < count; i++)
		explored->happen(way[i]);
	uint32_t can = explored->can();
	mixed = 0;
	explored->mix();
	*ret_known = explorer_knows(mixed, EXPLORER_DEPTH - count);
	explored->finish();
	plays++;
	return can;
}

static bool explorer_go(unsigned count)
{
	bool is_known;
	uint32_t can = explorer_replay(count, &is_known);
	if (wrong) {
		explorer_tell(count);
		return false;
	}
	if (is_known || count == EXPLORER_DEPTH)
		return true;
	for (unsigned event = 0; event < EXPLORER_EVENTS_MAX; event++) {
		way[count] = event;
		if ((can & (UINT32_C(1) << event)) && !explorer_go(count + 1))
			return false;
	}
	return true;
}

int explore(const struct world *world)
{
	explored = world;
	wrong = NULL;
	plays = states = 0;
	met = calloc(STATES_MAX, sizeof(*met));
	if (!met)
		return 2;
	bool is_right = explorer_go(0);
	free(met);
	printf("%s: %lu plays, %lu states, up to %d events: %s\n", world->name, plays, states,
		EXPLORER_DEPTH, is_right ? "nothing wrong" : "wrong");
	return is_right ? 0 : 1;
}

/* Tries every order in which the events of a small world can happen. The world is played from its
 * beginning for each of them: what it drives is real code, with pointers and lists, that cannot be
 * copied. A state that was met before, with as many events to go, is not tried again. */
#ifndef MODEL_EXPLORER_H
#define MODEL_EXPLORER_H

#include <stddef.h>
#include <stdint.h>

enum { EXPLORER_DEPTH = 12, EXPLORER_EVENTS_MAX = 32 };

struct world {
	const char *name;
	void (*begin)(void);
	/* Which events can happen now, a bit for each. */
	uint32_t (*can)(void);
	void (*happen)(unsigned event);
	const char *(*describe)(unsigned event);
	/* What tells this state from others; appended by explorer_mix. */
	void (*mix)(void);
	/* Lets everything come to its end, and ends the world. */
	void (*finish)(void);
};

void explorer_mix(uint64_t value);

/* Something that must never be: the events that led there are told. The first words count. */
void explorer_wrong(const char *words);

/* Returns the exit status of a program: 0, or 1 when something was wrong. */
int explore(const struct world *world);

#endif

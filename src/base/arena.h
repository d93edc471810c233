/* Memory that is given back all at once. Meant to be kept and reset: after
 * the first few uses it no longer calls malloc. `{0}` is an empty arena. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

#include "base/str.h"

struct arena_chunk;

struct arena {
	char *next;
	char *end;
	struct arena_chunk *chunks;
};

void *arena_alloc_slow(struct arena *arena, size_t size);

/* `size` bytes, not cleared, aligned for any type. NULL without memory, but never for a size of 0:
 * 0 - 1 wraps around here and takes the slow way. What is left of a chunk is always a multiple of
 * the alignment, so a size that fits still fits when it is rounded up. */
static inline void *arena_alloc(struct arena *arena, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	if (size - 1 >= (size_t)(arena->end - arena->next))
		return arena_alloc_slow(arena, size);
	void *memory = arena->next;
	arena->next += (size + align - 1) & ~(align - 1);
	return memory;
}

/* An empty arena that begins with memory of the caller's: it must outlive the arena, be aligned for
 * any type, and its size a multiple of that. */
static inline struct arena arena_in(void *memory, size_t size)
{
	return (struct arena){ .next = (char *)memory, .end = (char *)memory + size };
}

/* A NUL-terminated copy inside the arena. NULL without memory. */
char *arena_dup(struct arena *arena, struct str s);

/* "a" + "b" + …, up to a NULL, inside the arena. NULL without memory. */
char *arena_join(struct arena *arena, const char *first, ...) __attribute__((sentinel));

/* A copy of a list that ends with NULL, texts and all; NULL is an empty list. NULL
 * without memory. */
const char *const *arena_dup_list(struct arena *arena, const char *const *list);

/* Forgets everything but keeps one chunk, the largest, for the next use. */
void arena_reset(struct arena *arena);

/* How many bytes it has from the system, used or not. */
size_t arena_size(const struct arena *arena);

void arena_free(struct arena *arena);

#endif

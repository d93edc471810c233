/* A bump allocator over a list of chunks, the newest first. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

enum {
	ARENA_FIRST_CHUNK = 4096,
	ARENA_LARGEST_STEP = 1024 * 1024, /* beyond it chunks no longer double */
};

struct arena_chunk {
	struct arena_chunk *older;
	size_t size; /* of memory */
	_Alignas(max_align_t) char memory[];
};

static void arena_use_chunk(struct arena *arena, struct arena_chunk *chunk)
{
	arena->next = chunk->memory;
	arena->end = chunk->memory + chunk->size;
}

static size_t arena_next_size(const struct arena *arena, size_t wanted)
{
	size_t size = ARENA_FIRST_CHUNK;
	if (arena->chunks) {
		size_t last = arena->chunks->size;
		size = last < ARENA_LARGEST_STEP ? last * 2 : ARENA_LARGEST_STEP;
	}
	return size < wanted ? wanted : size;
}

void *arena_alloc_slow(struct arena *arena, size_t size)
{
	if (size == 0)
		return arena_alloc(arena, 1);
	if (size > SIZE_MAX / 2)
		return NULL;
	size_t align = _Alignof(max_align_t);
	size_t aligned = (size + align - 1) & ~(align - 1);
	size_t chunk_size = arena_next_size(arena, aligned);
	struct arena_chunk *chunk = malloc(sizeof(*chunk) + chunk_size);
	if (!chunk)
		return NULL;
	chunk->older = arena->chunks;
	chunk->size = chunk_size;
	arena->chunks = chunk;
	arena_use_chunk(arena, chunk);
	arena->next += aligned;
	return chunk->memory;
}

char *arena_dup(struct arena *arena, struct str s)
{
	char *copy = arena_alloc(arena, s.len + 1);
	if (!copy)
		return NULL;
	if (s.len)
		memcpy(copy, s.data, s.len);
	copy[s.len] = '\0';
	return copy;
}

char *arena_join(struct arena *arena, const char *first, ...)
{
	va_list args;
	size_t len = 0;
	va_start(args, first);
	for (const char *part = first; part; part = va_arg(args, const char *))
		len += strlen(part);
	va_end(args);
	char *joined = arena_alloc(arena, len + 1);
	if (!joined)
		return NULL;
	char *end = joined;
	va_start(args, first);
	for (const char *part = first; part; part = va_arg(args, const char *))
		end = stpcpy(end, part);
	va_end(args);
	*end = '\0';
	return joined;
}

const char *const *arena_dup_list(struct arena *arena, const char *const *list)
{
	size_t count = list_count(list);
	const char **copy = arena_alloc(arena, (count + 1) * sizeof(*copy));
	if (!copy)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		copy[i] = arena_dup(arena, str_from(list[i]));
		if (!copy[i])
			return NULL;
	}
	copy[count] = NULL;
	return copy;
}

static void arena_free_chunks_but(struct arena *arena, const struct arena_chunk *kept)
{
	struct arena_chunk *chunk = arena->chunks;
	while (chunk) {
		struct arena_chunk *older = chunk->older;
		if (chunk != kept)
			free(chunk);
		chunk = older;
	}
}

void arena_reset(struct arena *arena)
{
	struct arena_chunk *largest = arena->chunks;
	if (!largest)
		return;
	for (struct arena_chunk *chunk = largest; chunk; chunk = chunk->older) {
		if (chunk->size > largest->size)
			largest = chunk;
	}
	arena_free_chunks_but(arena, largest);
	largest->older = NULL;
	arena->chunks = largest;
	arena_use_chunk(arena, largest);
}

size_t arena_size(const struct arena *arena)
{
	size_t size = 0;
	for (const struct arena_chunk *chunk = arena->chunks; chunk; chunk = chunk->older)
		size += sizeof(*chunk) + chunk->size;
	return size;
}

void arena_free(struct arena *arena)
{
	arena_free_chunks_but(arena, NULL);
	*arena = (struct arena){ 0 };
}

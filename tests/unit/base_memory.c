/* base: the arena and the growing array. */
#include "harness/suite.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/vec.h"
#include "harness/oom.h"

enum { PIECES = 2000 };

static bool is_aligned(const void *memory)
{
	return (uintptr_t)memory % _Alignof(max_align_t) == 0;
}

/* Every piece keeps what was written to it: none overlaps another. */
START_TEST(arena_pieces_are_aligned_and_apart)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	unsigned char *pieces[PIECES];
	for (size_t i = 0; i < PIECES; i++) {
		pieces[i] = arena_alloc(&arena, i);
		ck_assert_ptr_nonnull(pieces[i]);
		ck_assert(is_aligned(pieces[i]));
		memset(pieces[i], (int)(i % 251), i);
	}
	for (size_t i = 0; i < PIECES; i++) {
		for (size_t j = 0; j < i; j++) {
			if (pieces[i][j] != i % 251)
				ck_abort_msg("byte %zu of piece %zu", j, i);
		}
	}
}
END_TEST

START_TEST(arena_gives_nothing_an_address)
{
	long before = oom_live();
	_cleanup_(arena_free) struct arena arena = { 0 };
	void *first = arena_alloc(&arena, 0);
	void *second = arena_alloc(&arena, 0);
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_nonnull(second);
	ck_assert_ptr_ne(first, second);
	for (int i = 0; i < 100; i++)
		arena_alloc(&arena, 0);
	ck_assert_int_eq(oom_live() - before, 1);
}
END_TEST

/* What was in use before a refused size is still there after it. */
START_TEST(arena_refuses_huge_sizes)
{
	static const size_t sizes[] = { SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 15, SIZE_MAX / 2 + 1,
		SIZE_MAX / 2, PTRDIFF_MAX - 100 };
	_cleanup_(arena_free) struct arena arena = { 0 };
	for (size_t i = 0; i < COUNT(sizes); i++) {
		ck_assert_ptr_null(arena_alloc(&arena, sizes[i]));
		char *copy = arena_dup(&arena, STR("still here"));
		ck_assert_str_eq(copy, "still here");
	}
}
END_TEST

START_TEST(arena_takes_a_piece_larger_than_its_steps)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	size_t size = 5 * 1024 * 1024 + 3;
	char *large = arena_alloc(&arena, size);
	ck_assert_ptr_nonnull(large);
	memset(large, 'x', size);
	char *small = arena_alloc(&arena, 10);
	ck_assert(small < large || small >= large + size);
}
END_TEST

/* The largest is neither the first nor the newest. */
START_TEST(arena_reset_keeps_the_largest_chunk)
{
	long before = oom_live();
	_cleanup_(arena_free) struct arena arena = { 0 };
	size_t large = 3 * 1024 * 1024;
	ck_assert_ptr_nonnull(arena_alloc(&arena, 100));
	char *largest = arena_alloc(&arena, large);
	ck_assert_ptr_nonnull(arena_alloc(&arena, 100));
	ck_assert_int_eq(oom_live() - before, 3);
	arena_reset(&arena);
	ck_assert_int_eq(oom_live() - before, 1);
	ck_assert_ptr_eq(arena_alloc(&arena, large), largest);
	ck_assert_int_eq(oom_live() - before, 1);
}
END_TEST

/* A caller that resets and does the same again allocates no more, even where
 * the last piece fills its chunk to the brim. */
START_TEST(arena_reset_ends_the_allocations)
{
	long before = oom_live();
	_cleanup_(arena_free) struct arena arena = { 0 };
	size_t brim = 160000;
	char *first = arena_alloc(&arena, brim);
	ck_assert_int_eq(oom_live() - before, 1);
	for (int round = 0; round < 10; round++) {
		arena_reset(&arena);
		ck_assert_ptr_eq(arena_alloc(&arena, brim / 2), first);
		ck_assert_ptr_eq(arena_alloc(&arena, brim / 2), first + brim / 2);
		ck_assert_int_eq(oom_live() - before, 1);
	}
}
END_TEST

START_TEST(arena_of_nothing)
{
	long before = oom_live();
	struct arena arena = { 0 };
	arena_reset(&arena);
	arena_free(&arena);
	ck_assert_ptr_nonnull(arena_alloc(&arena, 1));
	arena_free(&arena);
	arena_free(&arena);
	ck_assert_int_eq(oom_live() - before, 0);
}
END_TEST

START_TEST(arena_dup_copies_and_terminates)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	ck_assert_str_eq(arena_dup(&arena, (struct str){ "onetwo", 3 }), "one");
	ck_assert_str_eq(arena_dup(&arena, (struct str){ NULL, 0 }), "");
	ck_assert_int_eq(memcmp(arena_dup(&arena, STR("a\0b")), "a\0b", 4), 0);
}
END_TEST

static int fill_arena(void *data)
{
	(void)data;
	_cleanup_(arena_free) struct arena arena = { 0 };
	for (size_t size = 0; size < 20000; size += 700) {
		if (!arena_alloc(&arena, size))
			return -ENOMEM;
		if (!arena_dup(&arena, STR("text")))
			return -ENOMEM;
	}
	return 0;
}

START_TEST(arena_join_puts_texts_together)
{
	struct arena arena = { 0 };
	ck_assert_str_eq(arena_join(&arena, "a", "", "bc", NULL), "abc");
	ck_assert_str_eq(arena_join(&arena, "", NULL), "");
	arena_free(&arena);
}
END_TEST

START_TEST(arena_survives_every_failed_allocation)
{
	ck_assert_uint_ge(oom_every(fill_arena, NULL), 4);
}
END_TEST

START_TEST(vec_grows_and_keeps_its_items)
{
	_cleanup_free_ uint32_t *items = NULL;
	size_t cap = 0;
	for (size_t len = 0; len < 10000; len++) {
		uint32_t *grown = vec_grow(items, &cap, len + 1, sizeof(*items));
		ck_assert_ptr_nonnull(grown);
		ck_assert_uint_gt(cap, len);
		items = grown;
		items[len] = (uint32_t)len;
	}
	for (size_t i = 0; i < 10000; i++)
		ck_assert_uint_eq(items[i], i);
	ck_assert_ptr_eq(vec_grow(items, &cap, 10, sizeof(*items)), items);
	ck_assert_ptr_eq(vec_grow(items, &cap, cap, sizeof(*items)), items);
}
END_TEST

START_TEST(vec_jumps_to_what_is_needed)
{
	size_t cap = 0;
	_cleanup_free_ char *items = vec_grow(NULL, &cap, 100000, 1);
	ck_assert_ptr_nonnull(items);
	ck_assert_uint_ge(cap, 100000);
	memset(items, 'x', cap);
}
END_TEST

START_TEST(vec_refuses_sizes_that_overflow)
{
	static const struct {
		size_t need;
		size_t item_size;
	} cases[] = {
		{ SIZE_MAX, 1 },
		{ SIZE_MAX, SIZE_MAX },
		{ SIZE_MAX / 2 + 2, 1 },
		{ SIZE_MAX / 8, 16 },
		{ 1, SIZE_MAX },
		{ 1, SIZE_MAX / 8 + 1 },
		{ 3, SIZE_MAX / 4 },
		{ 9, SIZE_MAX / 16 + 1 },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t cap = 0;
		ck_assert_ptr_null(vec_grow(NULL, &cap, cases[i].need, cases[i].item_size));
		ck_assert_uint_eq(cap, 0);
	}
}
END_TEST

static int grow_items(void *data)
{
	(void)data;
	_cleanup_free_ char *items = NULL;
	size_t cap = 0;
	for (size_t len = 0; len < 100; len++) {
		size_t before = cap;
		char *grown = vec_grow(items, &cap, len + 1, 1);
		if (!grown) {
			ck_assert_uint_eq(cap, before);
			return -ENOMEM;
		}
		items = grown;
	}
	return 0;
}

START_TEST(vec_survives_every_failed_allocation)
{
	ck_assert_uint_ge(oom_every(grow_items, NULL), 4);
}
END_TEST

SUITE_MAIN("base-memory", arena_pieces_are_aligned_and_apart, arena_gives_nothing_an_address,
	arena_refuses_huge_sizes, arena_takes_a_piece_larger_than_its_steps,
	arena_reset_keeps_the_largest_chunk, arena_reset_ends_the_allocations, arena_of_nothing,
	arena_dup_copies_and_terminates, arena_join_puts_texts_together,
	arena_survives_every_failed_allocation, vec_grows_and_keeps_its_items,
	vec_jumps_to_what_is_needed, vec_refuses_sizes_that_overflow,
	vec_survives_every_failed_allocation)

/* Fails one allocation after the other. */
#include "harness/oom.h"

#include <check.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { OOM_RUNS_MAX = 100000 };

/* Atomic, because a test may run threads. countdown 0: nothing fails. */
static atomic_long live;
static atomic_long countdown;
static atomic_bool hit;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);
char *__wrap_strdup(const char *text);

/* A sanitizer ends the program at an allocation that no machine can have. The
 * tests want the NULL that malloc would give. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static bool must_fail(void)
{
	if (atomic_load(&countdown) == 0 || atomic_fetch_sub(&countdown, 1) != 1)
		return false;
	atomic_store(&hit, true);
	return true;
}

static void *counted(void *memory)
{
	if (memory)
		atomic_fetch_add(&live, 1);
	return memory;
}

void *__wrap_malloc(size_t size)
{
	return must_fail() ? NULL : counted(__real_malloc(size));
}

/* For libraries that are linked in; perch's own code has str_dup. */
char *__wrap_strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = __wrap_malloc(size);
	return copy ? memcpy(copy, text, size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
	return must_fail() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
	if (must_fail())
		return NULL;
	void *moved = __real_realloc(memory, size);
	return memory ? moved : counted(moved);
}

void __wrap_free(void *memory)
{
	if (memory)
		atomic_fetch_sub(&live, 1);
	__real_free(memory);
}

long oom_live(void)
{
	return atomic_load(&live);
}

unsigned oom_every(int (*body)(void *data), void *data)
{
	for (unsigned i = 1; i < OOM_RUNS_MAX; i++) {
		long before = oom_live();
		atomic_store(&hit, false);
		atomic_store(&countdown, (long)i);
		int result = body(data);
		atomic_store(&countdown, 0);
		ck_assert_msg(oom_live() == before, "allocation %u failed: %ld allocations leaked", i,
			oom_live() - before);
		if (!atomic_load(&hit)) {
			ck_assert_msg(result >= 0, "nothing failed, and yet the result is %d", result);
			return i - 1;
		}
	}
	ck_abort_msg("no end after %d failed allocations", OOM_RUNS_MAX);
	return 0;
}

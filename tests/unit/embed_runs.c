/* An embedder that runs plugins, tools and agents thousands of times in one process,
 * and from several threads: nothing stays, not a byte. */
#include "harness/suite.h"

#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/embedder.h"
#include "harness/proc.h"

/* ASan does, hundreds of megabytes of it; it also knows what is in use. */
#if UNDER_ASAN
#define KEEPS_FREED_MEMORY true
size_t __sanitizer_get_current_allocated_bytes(void); /* gcc has no header for it */
#else
#define KEEPS_FREED_MEMORY false
#endif

enum {
	WARM_RUNS = 100,
	HOSTS = 250,
	/* Of memory in use: less than four bytes a run; a malloc keeps some back. */
	GROWTH_MAX = 32 * 1024,
	GROWTH_BY_HOSTS_MAX = 8 * 1024,
	/* Of what the system gives us for it, which is in pages and pieces. */
	GROWTH_KIB_MAX = 1024,
};

/* PERCH_EMBED_RUNS, or as many as a test may take time for. */
static unsigned runs_wanted(void)
{
	const char *text = getenv("PERCH_EMBED_RUNS");
#if UNDER_ASAN
	return text ? (unsigned)atoi(text) : 600;
#else
	return text ? (unsigned)atoi(text) : 2000;
#endif
}

static size_t memory_in_use(void)
{
#if UNDER_ASAN
	return __sanitizer_get_current_allocated_bytes();
#elif !defined(__GLIBC__)
	return 0; /* nobody says: the pages tell */
#else
	return mallinfo2().uordblks;
#endif
}

static long resident_kib(void)
{
	long kib = -1;
	char line[256];
	FILE *file = fopen("/proc/self/status", "r");
	while (file && kib < 0 && fgets(line, sizeof(line), file))
		sscanf(line, "VmRSS: %ld", &kib);
	if (file)
		fclose(file);
	return kib;
}

static unsigned threads(void)
{
	unsigned count = 0;
	DIR *directory = opendir("/proc/self/task");
	while (directory && readdir(directory))
		count++;
	closedir(directory);
	return count - 2;
}

struct footprint {
	size_t memory;
	long resident_kib;
	unsigned descriptors;
	unsigned threads;
	unsigned children;
};

static struct footprint measure(void)
{
	return (struct footprint){
		.resident_kib = resident_kib(),
		.descriptors = proc_open_fds(),
		.threads = threads(),
		.children = proc_children(),
		.memory = memory_in_use(),
	};
}

static void run_some(const struct embedder *embedder, unsigned from, unsigned to)
{
	static bool (*const kinds[])(const struct embedder *) = {
		embedder_run_plugin,
		embedder_run_tool,
		embedder_run_agent,
	};
	for (unsigned i = from; i < to; i++) {
		if (!kinds[i % COUNT(kinds)](embedder))
			ck_abort_msg("run %u went wrong", i);
	}
	while (perch_host_children(embedder->host))
		perch_host_wait(embedder->host, -1);
}

START_TEST(ten_thousand_runs_leave_nothing)
{
	embedder_furnish();
	struct embedder embedder = embedder_open();
	run_some(&embedder, 0, WARM_RUNS);
	struct footprint before = measure();
	run_some(&embedder, WARM_RUNS, runs_wanted());
	struct footprint after = measure();
	ck_assert_uint_eq(after.descriptors, before.descriptors);
	ck_assert_uint_eq(after.threads, before.threads);
	ck_assert_uint_eq(after.children, before.children);
	ck_assert_uint_lt(after.memory, before.memory + GROWTH_MAX);
	if (!KEEPS_FREED_MEMORY)
		ck_assert_int_lt(after.resident_kib, before.resident_kib + GROWTH_KIB_MAX);
	embedder_close(&embedder);
	ck_assert_uint_eq(proc_children(), 0);
}
END_TEST

/* A host that comes and goes with every run leaves nothing either. */
START_TEST(hosts_that_come_and_go_leave_nothing)
{
	embedder_furnish();
	struct footprint before = { 0 };
	for (int i = 0; i < HOSTS; i++) {
		struct embedder embedder = embedder_open();
		run_some(&embedder, 0, 3);
		embedder_close(&embedder);
		if (i == 10)
			before = measure();
	}
	struct footprint after = measure();
	ck_assert_uint_eq(after.descriptors, before.descriptors);
	ck_assert_uint_eq(after.threads, before.threads);
	ck_assert_uint_eq(after.children, 0);
	ck_assert_uint_lt(after.memory, before.memory + GROWTH_BY_HOSTS_MAX);
}
END_TEST

static atomic_uint good_rounds;
static atomic_uint arrivals;

/* A host of its own; the binding and the profile are everybody's. Every other thread has
 * its plugins in a sandbox. */
static void *run_in_a_thread(void *data)
{
	struct embedder embedder = *(const struct embedder *)data;
	embedder.host = proc_host();
	embedder.is_sandboxed = atomic_fetch_add(&arrivals, 1) % 2;
	for (int i = 0; i < 20; i++) {
		if (embedder_run_plugin(&embedder) && embedder_run_tool(&embedder) &&
			embedder_run_agent(&embedder))
			atomic_fetch_add(&good_rounds, 1);
	}
	perch_host_free(embedder.host);
	return NULL;
}

START_TEST(threads_with_a_host_each_run_everything)
{
	pthread_t workers[6];
	embedder_furnish();
	struct embedder shared = embedder_open();
	for (size_t i = 0; i < COUNT(workers); i++)
		ck_assert_int_eq(pthread_create(&workers[i], NULL, run_in_a_thread, &shared), 0);
	for (size_t i = 0; i < COUNT(workers); i++)
		pthread_join(workers[i], NULL);
	ck_assert_uint_eq(good_rounds, 20 * COUNT(workers));
	embedder_close(&shared);
	ck_assert_uint_eq(proc_children(), 0);
}
END_TEST

SUITE_MAIN("embed-runs", ten_thousand_runs_leave_nothing, hosts_that_come_and_go_leave_nothing,
	threads_with_a_host_each_run_everything)

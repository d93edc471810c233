/* The record of the ways to paths: every change that makes a path lead somewhere else shows. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/suite.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/stamp.h"
#include "sandbox/reuse/path_record.h"

/* What is done in a directory of its own, and whether it matters to `way` in there. */
struct change {
	const char *way;
	const char *script;
	bool matters;
};

static const struct change changes[] = {
	{ "there/file", ":", false },
	{ "there/file", "echo more >>there/file", false },
	{ "there/file", "touch other/new", false },
	{ "there/file", "rm there/file", true },
	{ "there/file", "echo >other/new; mv other/new there/file", true },
	{ "there/file", "mv there away; mkdir there; touch there/file", true },
	{ "there/file", "chmod 700 there", true },
	{ "there/missing", "touch there/missing", true },
	{ "missing/deep/down", "mkdir missing", true },
	{ "link/file", "touch other/new", false },
	{ "link/file", "rm there/file", true },
	{ "link/file", "ln -sfn other link", true },
	{ "long/file", "ln -sfn ../other other/link", true },
	{ "there/../there/./file", "rm there/file", true },
	{ "loop/file", ":", false },
};

enum { COUNT = sizeof(changes) / sizeof(changes[0]) };

static void run_in(size_t number, const char *script)
{
	free(folder_run("cd %zu && %s", number, script));
}

static void prepare(void)
{
	folder_new();
	for (size_t i = 0; i < COUNT; i++) {
		ck_assert_int_eq(mkdir(folder_path("%zu", i), 0755), 0);
		run_in(i,
			"mkdir there other && touch there/file && ln -s there link && "
			"ln -s other/link long && ln -s ../there other/link && ln -s loop loop");
	}
}

/* ---- in a root where nobody else comes and goes ------------------------------ */

struct look {
	struct path_record path_records[COUNT];
	bool is_same[COUNT];
};

static void *add_ways(void *data)
{
	struct look *look = data;
	ck_assert_int_eq(unshare(CLONE_FS), 0);
	ck_assert_int_eq(chroot(folder_path(".")), 0);
	for (size_t i = 0; i < COUNT; i++) {
		char way[256];
		snprintf(way, sizeof(way), "/%zu/%s", i, changes[i].way);
		path_record_free(&look->path_records[i]);
		look->path_records[i].since = stamp_now();
		path_record_add(&look->path_records[i], way);
	}
	return NULL;
}

static void *compare(void *data)
{
	struct look *look = data;
	ck_assert_int_eq(unshare(CLONE_FS), 0);
	ck_assert_int_eq(chroot(folder_path(".")), 0);
	for (size_t i = 0; i < COUNT; i++)
		look->is_same[i] = path_record_is_same(&look->path_records[i]);
	return NULL;
}

/* A thread can have a root of its own. */
static void in_root(void *(*act)(void *data), struct look *look)
{
	pthread_t thread;
	ck_assert_int_eq(pthread_create(&thread, NULL, act, look), 0);
	pthread_join(thread, NULL);
}

START_TEST(whatever_leads_elsewhere_shows)
{
	static struct look look;
	ck_assert(geteuid() == 0 || unshare(CLONE_NEWUSER) == 0);
	prepare();
	in_root(add_ways, &look);
	in_root(compare, &look);
	ck_assert_msg(!look.is_same[0], "a directory that has just been made is believed");
	char last[32];
	snprintf(last, sizeof(last), "%d", COUNT - 1);
	folder_settle(last);
	in_root(add_ways, &look);
	in_root(compare, &look);
	for (size_t i = 0; i < COUNT; i++) {
		ck_assert_msg(look.is_same[i], "%zu: not settled", i);
		run_in(i, changes[i].script);
	}
	in_root(compare, &look);
	for (size_t i = 0; i < COUNT; i++) {
		ck_assert_msg(
			look.is_same[i] == !changes[i].matters, "%s: %s", changes[i].way, changes[i].script);
		path_record_free(&look.path_records[i]);
	}
}
END_TEST

START_TEST(nothing_is_no_way)
{
	struct path_record path_record = { 0 };
	ck_assert(!path_record_is_same(&path_record));
}
END_TEST

START_TEST(who_dates_nothing_is_not_believed)
{
	struct path_record path_record = { .since = stamp_now() };
	path_record_add(&path_record, "/usr/bin");
	ck_assert(path_record_is_same(&path_record));
	path_record_add(&path_record, "/proc/sys/kernel");
	ck_assert(!path_record_is_same(&path_record));
	path_record_free(&path_record);
}
END_TEST

START_TEST(what_has_changed_since_the_look_is_not_believed)
{
	struct stat info;
	ck_assert_int_eq(stat("/usr", &info), 0);
	struct path_record path_record = { .since = info.st_ctim.tv_sec };
	path_record_add(&path_record, "/usr/bin");
	ck_assert(!path_record_is_same(&path_record));
	path_record_free(&path_record);
}
END_TEST

START_TEST(a_plain_path_that_becomes_a_link_shows)
{
	folder_new();
	struct path_record path_record = { .since = stamp_now() };
	path_record_add(&path_record, "/usr/bin");
	path_record_add_plain(&path_record, folder_path("socket"));
	ck_assert(path_record_is_same(&path_record));
	folder_write("socket", "");
	ck_assert(path_record_is_same(&path_record));
	free(folder_run("ln -sf /etc/passwd socket"));
	ck_assert(!path_record_is_same(&path_record));
	path_record_free(&path_record);
	path_record = (struct path_record){ .since = stamp_now() };
	path_record_add(&path_record, "/usr/bin");
	path_record_add_plain(&path_record, folder_path("socket"));
	ck_assert(!path_record_is_same(&path_record));
	path_record_free(&path_record);
}
END_TEST

static int add_long_way(void *data)
{
	(void)data;
	struct path_record path_record = { .since = stamp_now() };
	path_record_add(&path_record, "/usr/share/doc/base-files/copyright");
	path_record_add_plain(&path_record, "/usr/share");
	bool is_same = path_record_is_same(&path_record);
	path_record_free(&path_record);
	return is_same ? 0 : -1;
}

START_TEST(without_memory_it_is_not_whole)
{
	ck_assert_int_gt(oom_every(add_long_way, NULL), 1);
}
END_TEST

SUITE_MAIN("sandbox-path-record", whatever_leads_elsewhere_shows, nothing_is_no_way,
	who_dates_nothing_is_not_believed, what_has_changed_since_the_look_is_not_believed,
	a_plain_path_that_becomes_a_link_shows, without_memory_it_is_not_whole)

/* store: what a plugin may plant in the place of its files. */
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "fledge/store_parts.h"
#include "harness/folder.h"
#include "harness/store.h"

START_TEST(moves_aside_what_is_not_a_store)
{
	const char *folder = folder_new();
	static const struct {
		const char *text;
		const char *reason;
	} cases[] = {
		{ "{\"k\":1}", "a value is a number, not a string" },
		{ "{\"k\":null}", "a value is null, not a string" },
		{ "[]", "not an object" },
		{ "\"k\"", "not an object" },
		{ "{\"k\":{}}", "not an object of strings" },
		{ "{\"k\":\"v\"", NULL },
		{ "{\"k\":\"v\"}x", NULL },
		{ "{\"k\":\"\xFF\"}", NULL },
		{ "{\"k\":\"\\ud800\"}", NULL },
		{ "\x7f"
		  "ELF",
			NULL },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		folder_write("state.json", cases[i].text);
		struct store *store = store_open(folder);
		if (i % 2)
			assert_get(store, "k", "null");
		char expected[512];
		ck_assert_int_eq(set(store, "a", "b"), 0);
		ck_assert_int_eq(store_flush(store), 0);
		ck_assert_uint_eq(warnings, 1);
		snprintf(expected, sizeof(expected),
			"state.json is not usable (%s): moved to state.json.corrupt-%zu",
			cases[i].reason ? cases[i].reason : "", i + 1);
		if (cases[i].reason)
			ck_assert_str_eq(last_warning, expected);
		assert_file(folder_path("state.json.corrupt-%zu", i + 1), cases[i].text);
		assert_file(folder_path("state.json"), "{\n  \"a\": \"b\"\n}\n");
		store_free(store);
	}
}
END_TEST

START_TEST(never_overwrites_what_was_moved_aside)
{
	const char *folder = folder_new();
	folder_write("state.json.corrupt-1", "precious");
	ck_assert_int_eq(symlink("/nowhere", folder_path("state.json.corrupt-2")), 0);
	folder_write("state.json", "broken");
	struct store *store = store_open(folder);
	assert_stores(store);
	assert_file(folder_path("state.json.corrupt-1"), "precious");
	assert_file(folder_path("state.json.corrupt-3"), "broken");
	for (int i = 4; i <= STORE_ASIDE_MAX; i++) {
		char name[64];
		snprintf(name, sizeof(name), "state.json.corrupt-%d", i);
		folder_write(name, "");
	}
	folder_write("state.json", "broken again");
	warnings = 0;
	set(store, "k", "v");
	ck_assert_int_eq(store_flush(store), -EEXIST);
	ck_assert_uint_eq(warnings, 1);
	ck_assert(strstr(last_warning, "store rejected: state.json is not usable") == last_warning);
	ck_assert(!store_is_dirty(store));
	assert_file(folder_path("state.json"), "broken again");
	assert_get(store, "k", "null");
	store_free(store);
}
END_TEST

enum plant {
	PLANT_FIFO,
	PLANT_LINK,
	PLANT_LOOP,
	PLANT_DIRECTORY,
	PLANT_DEVICE,
	PLANT_HUGE,
	PLANTS
};

static bool plant(enum plant what, const char *path)
{
	switch (what) {
	case PLANT_FIFO:
		return mkfifo(path, 0600) == 0;
	case PLANT_LINK:
		return symlink(folder_path("victim"), path) == 0;
	case PLANT_LOOP:
		return symlink(path, path) == 0;
	case PLANT_DIRECTORY:
		return mkdir(path, 0700) == 0 &&
			mkdir(folder_path("%s/full", strrchr(path, '/') + 1), 0700) == 0;
	case PLANT_DEVICE:
		return mknod(path, S_IFCHR | 0600, makedev(1, 5)) == 0 || symlink("/dev/zero", path) == 0;
	case PLANT_HUGE:
		return close(open(path, O_WRONLY | O_CREAT, 0600)) == 0 && truncate(path, 1L << 40) == 0;
	default:
		return false;
	}
}

START_TEST(is_not_led_astray_by_what_stands_for_the_state)
{
	const char *folder = folder_new();
	for (enum plant what = 0; what < PLANTS; what++) {
		folder_write("victim", "{\"k\":\"of the victim\"}");
		unlink(folder_path("state.json"));
		if (!plant(what, folder_path("state.json")))
			continue;
		struct store *store = store_open(folder);
		assert_get(store, "k", "null");
		ck_assert_uint_eq(warnings, 1);
		ck_assert(strstr(last_warning, what == PLANT_HUGE ? "larger" : "regular"));
		assert_stores(store);
		ck_assert_uint_eq(warnings, 1);
		assert_private(folder_path("state.json"));
		assert_file(folder_path("victim"), "{\"k\":\"of the victim\"}");
		store_free(store);
	}
	ck_assert_uint_ge(folder_count(folder, "state.json.corrupt-"), PLANTS - 1);
}
END_TEST

START_TEST(is_not_led_astray_by_what_stands_for_the_lock)
{
	const char *folder = folder_new();
	for (enum plant what = 0; what < PLANT_HUGE; what++) {
		folder_write("victim", "");
		folder_write("state.json", "{\"k\":\"before\"}");
		rename(folder_path("state.json.lock"), folder_path("lock-%d", what));
		if (!plant(what, folder_path("state.json.lock")))
			continue;
		struct store *store = store_open(folder);
		set(store, "k", "v");
		ck_assert_int_eq(store_flush(store), -ENOTSUP);
		assert_warned("store rejected: state.json.lock is not a regular file");
		ck_assert(!store_is_dirty(store));
		assert_get(store, "k", "\"before\"");
		ck_assert_uint_eq(warnings, 0);
		assert_file(folder_path("state.json"), "{\"k\":\"before\"}");
		store_free(store);
	}
}
END_TEST

START_TEST(a_swapped_directory_does_not_matter)
{
	folder_new();
	ck_assert_int_eq(mkdir(folder_path("plugin"), 0700), 0);
	ck_assert_int_eq(mkdir(folder_path("elsewhere"), 0700), 0);
	struct store *store = store_open(folder_path("plugin"));
	assert_get(store, "k", "null");
	ck_assert_int_eq(rename(folder_path("plugin"), folder_path("moved")), 0);
	ck_assert_int_eq(symlink("elsewhere", folder_path("plugin")), 0);
	assert_stores(store);
	ck_assert_uint_eq(folder_count(folder_path("elsewhere"), "state"), 0);
	assert_file(folder_path("moved/state.json"), "{\n  \"k\": \"v\"\n}\n");
	store_free(store);
}
END_TEST

START_TEST(a_missing_directory_is_a_warning)
{
	folder_new();
	struct store *store = store_open(folder_path("nowhere"));
	set(store, "k", "v");
	ck_assert_int_eq(store_flush(store), -ENOENT);
	ck_assert_uint_eq(warnings, 1);
	ck_assert(strstr(last_warning, "store rejected: ") && strstr(last_warning, "No such file"));
	ck_assert(!store_is_dirty(store));
	assert_get(store, "k", "null");
	ck_assert_uint_eq(warnings, 2);
	ck_assert(strstr(last_warning, "load failed: ") == last_warning);
	ck_assert_int_eq(mkdir(folder_path("nowhere"), 0700), 0);
	assert_stores(store);
	store_free(store);
}
END_TEST

SUITE_MAIN("store_planted", moves_aside_what_is_not_a_store, never_overwrites_what_was_moved_aside,
	is_not_led_astray_by_what_stands_for_the_state, is_not_led_astray_by_what_stands_for_the_lock,
	a_swapped_directory_does_not_matter, a_missing_directory_is_a_warning)

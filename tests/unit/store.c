/* store: state.json and its limits. */
#include "harness/suite.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/store.h"
#include "fledge/store_parts.h"

/* ---- the file ------------------------------------------------------------ */

START_TEST(writes_pretty_and_sorted_with_tight_rights)
{
	const char *folder = folder_new();
	umask(0);
	struct store *store = store_open(folder);
	ck_assert(!store_is_dirty(store));
	ck_assert_int_eq(set(store, "b", "2"), 0);
	ck_assert_int_eq(set(store, "\xC3\xA4", "\xF0\x9F\x90\xA6/\"\n"), 0);
	ck_assert_int_eq(set(store, "a", "1"), 0);
	ck_assert_int_eq(set(store, "B", ""), 0);
	ck_assert_int_eq(set(store, "ab", "x"), 0);
	ck_assert(store_is_dirty(store));
	ck_assert_uint_eq(folder_count(folder, "state.json"), 0);
	ck_assert_int_eq(store_flush(store), 0);
	assert_file(folder_path("state.json"),
		"{\n  \"B\": \"\",\n  \"a\": \"1\",\n  \"ab\": \"x\",\n  \"b\": \"2\",\n"
		"  \"\xC3\xA4\": \"\xF0\x9F\x90\xA6/\\\"\\n\"\n}\n");
	assert_private(folder_path("state.json"));
	assert_private(folder_path("state.json.lock"));
	ck_assert_uint_eq(folder_count(folder, "state.json"), 2);
	ck_assert_uint_eq(warnings, 0);
	store_free(store);
}
END_TEST

START_TEST(merges_with_what_others_wrote)
{
	const char *folder = folder_new();
	struct store *one = store_open(folder);
	struct store *two = store_open(folder);
	set(one, "a", "1");
	set(one, "shared", "one");
	set(two, "b", "2");
	set(two, "shared", "two");
	ck_assert_int_eq(store_flush(one), 0);
	ck_assert_int_eq(store_flush(two), 0);
	assert_file(folder_path("state.json"),
		"{\n  \"a\": \"1\",\n  \"b\": \"2\",\n  \"shared\": \"two\"\n}\n");
	assert_get(one, "b", "\"2\"");
	store_free(one);
	store_free(two);
}
END_TEST

START_TEST(gets_what_was_set_before_it_is_written)
{
	const char *folder = folder_new();
	struct store *store = store_open(folder);
	assert_get(store, "k", "null");
	ck_assert_uint_eq(folder_count(folder, "state.json"), 0);
	set(store, "k", "old");
	store_flush(store);
	set(store, "k", "new\t");
	set(store, "k", "newer\t");
	assert_get(store, "k", "\"newer\\t\"");
	assert_get(store, "other", "null");
	assert_file(folder_path("state.json"), "{\n  \"k\": \"old\"\n}\n");
	store_flush(store);
	assert_get(store, "k", "\"newer\\t\"");
	store_free(store);
}
END_TEST

/* A plugin that looks often for what was never stored asks for no file again; what another process
 * stores is seen at once. */
START_TEST(that_there_is_nothing_is_remembered)
{
	folder_new();
	free(folder_run("mkdir state"));
	const char *folder = folder_path("state");
	struct store_files files = { .directory = -1, .known = -1 };
	ck_assert_int_eq(store_files_open(&files, folder), 0);
	store_files_remember(&files);
	ck_assert(!store_files_is_known(&files)); /* it has just been made */
	folder_settle("state");
	struct store *store = store_open(folder);
	assert_get(store, "k", "null");
	store_files_remember(&files);
	ck_assert(store_files_is_known(&files));
	struct store *other = store_open(folder);
	set(other, "k", "v");
	ck_assert_int_eq(store_flush(other), 0);
	ck_assert(!store_files_is_known(&files));
	assert_get(store, "k", "\"v\"");
	store_files_close(&files);
	store_free(store);
	store_free(other);
}
END_TEST

START_TEST(reads_what_other_programs_wrote)
{
	const char *folder = folder_new();
	static const struct {
		const char *text;
		const char *k;
	} cases[] = {
		{ "", "null" },
		{ " \n\t", "null" },
		{ "{}", "null" },
		{ "{\"k\":\"a\",\"k\":\"b\"}", "\"b\"" },
		{ "{\"\\u006b\":\"\\u00e4\\u0000\"}", "\"\xC3\xA4\\u0000\"" },
		{ "{\"\":\"\",\"\\n\":\"\",\"k\":\"x\"}\r\n", "\"x\"" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		folder_write("state.json", cases[i].text);
		struct store *store = store_open(folder);
		assert_get(store, "k", cases[i].k);
		assert_stores(store);
		ck_assert_uint_eq(warnings, 0);
		store_free(store);
	}
	ck_assert_uint_eq(folder_count(folder, "state.json.corrupt"), 0);
	assert_file(
		folder_path("state.json"), "{\n  \"\": \"\",\n  \"\\n\": \"\",\n  \"k\": \"v\"\n}\n");
}
END_TEST

/* ---- limits -------------------------------------------------------------- */

START_TEST(rejects_keys_and_values_that_cannot_be)
{
	static char memory[STORE_VALUE_MAX + 1];
	struct store *store = store_open(folder_new());
	struct str value = STR("v");
	const struct {
		struct str key;
		const char *warning;
	} cases[] = {
		{ STR(""), "store rejected: empty key" },
		{ filled(memory, STORE_KEY_MAX + 1, 'k'), "store rejected: key too long (max 256 bytes)" },
		{ STR("a\nb"), "store rejected: control character in key" },
		{ STR("a\0b"), "store rejected: control character in key" },
		{ STR("\x7f"), "store rejected: control character in key" },
		{ STR("\xC2\x85"), "store rejected: control character in key" },
		{ STR("\xFF"), "store rejected: key is not valid UTF-8" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		ck_assert_int_eq(store_set(store, cases[i].key, value), -EINVAL);
		assert_warned(cases[i].warning);
	}
	ck_assert(!store_is_dirty(store));
	struct str long_value = filled(memory, STORE_VALUE_MAX + 1, 'v');
	ck_assert_int_eq(store_set(store, STR("k"), long_value), -EINVAL);
	assert_warned("store rejected: value too long (max 64 KiB)");
	long_value.len--;
	ck_assert_int_eq(store_set(store, STR("k"), long_value), 0);
	ck_assert_int_eq(store_set(store, (struct str){ memory, STORE_KEY_MAX }, value), 0);
	ck_assert_int_eq(store_flush(store), 0);
	ck_assert_uint_eq(warnings, 0);
	store_free(store);
}
END_TEST

START_TEST(rejects_more_keys_than_allowed)
{
	const char *folder = folder_new();
	struct store *store = store_open(folder);
	struct store *other = store_open(folder);
	char key[32];
	for (int i = 0; i < STORE_KEYS_MAX; i++) {
		snprintf(key, sizeof(key), "key%03d", i);
		ck_assert_int_eq(set(store, key, "v"), 0);
	}
	ck_assert_int_eq(set(store, "one more", "v"), -EINVAL);
	assert_warned("store rejected: too many keys (max 256)");
	ck_assert_int_eq(set(store, "key000", "changed"), 0);
	ck_assert_int_eq(store_flush(store), 0);
	ck_assert_int_eq(set(other, "one more", "v"), 0);
	ck_assert_int_eq(set(other, "key001", "changed"), 0);
	ck_assert_int_eq(store_flush(other), 0);
	assert_warned("store rejected: too many keys (max 256)");
	assert_get(store, "one more", "null");
	assert_get(store, "key000", "\"changed\"");
	assert_get(store, "key001", "\"changed\"");
	store_free(store);
	store_free(other);
}
END_TEST

START_TEST(rejects_what_would_make_the_file_too_large)
{
	static char memory[STORE_VALUE_MAX];
	const char *folder = folder_new();
	struct store *store = store_open(folder);
	struct str value = filled(memory, sizeof(memory), 'v');
	char key[32];
	for (int i = 0; i < 15; i++) {
		snprintf(key, sizeof(key), "%02d", i);
		ck_assert_int_eq(store_set(store, str_from(key), value), 0);
		ck_assert_int_eq(store_flush(store), 0);
	}
	/* 15 entries of 64 KiB and 12 bytes, 3 bytes around them: so much is left. */
	size_t left = STORE_FILE_MAX - 3 - 15 * (STORE_VALUE_MAX + 12) - 12;
	ck_assert_int_eq(store_set(store, STR("15"), (struct str){ memory, left + 1 }), 0);
	ck_assert_int_eq(set(store, "00", "small"), 0);
	ck_assert_int_eq(store_flush(store), 0);
	assert_warned("store rejected: state.json too large (max 1 MiB)");
	assert_get(store, "15", "null");
	ck_assert_int_eq(store_set(store, STR("00"), value), 0);
	ck_assert_int_eq(store_set(store, STR("15"), (struct str){ memory, left }), 0);
	ck_assert_int_eq(store_flush(store), 0);
	ck_assert_uint_eq(warnings, 0);
	struct stat status;
	ck_assert_int_eq(stat(folder_path("state.json"), &status), 0);
	ck_assert_int_eq(status.st_size, STORE_FILE_MAX);
	/* Every byte becomes six when it is written. */
	ck_assert_int_eq(store_set(store, STR("00"), filled(memory, sizeof(memory), '\1')), 0);
	ck_assert_int_eq(store_flush(store), 0);
	assert_warned("store rejected: state.json too large (max 1 MiB)");
	store_free(store);
}
END_TEST

START_TEST(holds_no_more_than_could_be_written)
{
	static char memory[STORE_VALUE_MAX];
	struct store *store = store_open(folder_new());
	struct str value = filled(memory, sizeof(memory), 'v');
	char key[32];
	int i = 0;
	for (int r = 0; r == 0; i++) {
		snprintf(key, sizeof(key), "%d", i);
		r = store_set(store, str_from(key), value);
	}
	ck_assert_int_eq(i, 16);
	assert_warned("store rejected: state.json too large (max 1 MiB)");
	ck_assert_int_eq(store_set(store, STR("0"), value), 0);
	store_free(store);
}
END_TEST

START_TEST(leaves_a_foreign_file_with_too_much_in_it_readable)
{
	const char *folder = folder_new();
	struct buf text = { 0 };
	buf_append_char(&text, '{');
	for (int i = 0; i < 1000; i++)
		buf_printf(&text, "%s\"%04d\":\"v\"", i ? "," : "", i);
	buf_append_char(&text, '}');
	folder_write_n("state.json", (struct str){ text.data, text.len });
	buf_free(&text);
	struct store *store = store_open(folder);
	assert_get(store, "0999", "\"v\"");
	set(store, "new", "v");
	ck_assert_int_eq(store_flush(store), 0);
	assert_warned("store rejected: too many keys (max 256)");
	set(store, "0999", "w");
	ck_assert_int_eq(store_flush(store), 0);
	assert_get(store, "0999", "\"w\"");
	assert_get(store, "0000", "\"v\"");
	store_free(store);
}
END_TEST

/* ---- a flush that takes its time ------------------------------------------ */

static void *work_aside(void *store)
{
	store_flush_work(store);
	return NULL;
}

START_TEST(values_can_be_set_and_read_while_others_are_written)
{
	const char *folder = folder_new();
	folder_write("state.json", "{\"there\":\"v\"}");
	struct store *store = store_open(folder);
	struct buf out = { 0 };
	pthread_t thread;
	ck_assert_int_eq(store_flush_begin(store), 0);
	set(store, "a", "1");
	set(store, "b", "1");
	ck_assert_int_eq(store_flush_begin(store), 1);
	set(store, "a", "2");
	assert_get(store, "a", "\"2\"");
	assert_get(store, "b", "\"1\"");
	ck_assert_int_eq(store_get(store, STR("there"), &out), -EAGAIN);
	ck_assert_int_eq(pthread_create(&thread, NULL, work_aside, store), 0);
	set(store, "c", "1");
	assert_get(store, "c", "\"1\"");
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(store_flush_end(store), 0);
	assert_get(store, "there", "\"v\"");
	ck_assert(store_is_dirty(store));
	assert_file(
		folder_path("state.json"), "{\n  \"a\": \"1\",\n  \"b\": \"1\",\n  \"there\": \"v\"\n}\n");
	ck_assert_int_eq(store_flush(store), 0);
	ck_assert(!store_is_dirty(store));
	assert_file(folder_path("state.json"),
		"{\n  \"a\": \"2\",\n  \"b\": \"1\",\n  \"c\": \"1\",\n  \"there\": \"v\"\n}\n");
	buf_free(&out);
	store_free(store);
}
END_TEST

/* A lock that is held again and again lets nothing grow. */
START_TEST(what_is_written_counts_until_it_is)
{
	static char memory[STORE_VALUE_MAX];
	struct store *store = store_open(folder_new());
	struct str value = filled(memory, sizeof(memory), 'v');
	char key[32];
	for (int i = 0; i < 15; i++) {
		snprintf(key, sizeof(key), "%d", i);
		ck_assert_int_eq(store_set(store, str_from(key), value), 0);
	}
	ck_assert_int_eq(store_flush_begin(store), 1);
	ck_assert_int_eq(store_set(store, STR("15"), value), -EINVAL);
	assert_warned("store rejected: state.json too large (max 1 MiB)");
	ck_assert_int_eq(store_set(store, STR("3"), value), 0); /* instead of one of those */
	store_flush_work(store);
	ck_assert_int_eq(store_flush_end(store), 0);
	ck_assert_int_eq(store_flush(store), 0);
	store_free(store);
}
END_TEST

/* ---- memory -------------------------------------------------------------- */

static int store_and_load(void *data)
{
	struct store *store = NULL;
	struct buf out = { 0 };
	int r = store_new(data, &store);
	if (r == 0)
		r = set(store, "k", "value");
	if (r == 0)
		r = set(store, "k", "value again");
	if (r == 0)
		r = store_flush(store);
	if (r == 0)
		r = store_get(store, STR("k"), &out);
	store_free(store);
	buf_free(&out);
	return r;
}

/* A file that is not ours is moved away, which is told. */
static int set_aside(void *data)
{
	struct store *store = NULL;
	warnings = 0;
	folder_write("state.json", "no JSON");
	int r = store_new(data, &store);
	if (r == 0) {
		store_on_warning(store, keep_warning, NULL);
		r = set(store, "k", "value");
	}
	if (r == 0)
		r = store_flush(store);
	ck_assert(r < 0 || warnings);
	store_free(store);
	return r;
}

START_TEST(nothing_is_set_aside_in_silence)
{
	const char *folder = folder_new();
	oom_every(set_aside, (void *)(uintptr_t)folder);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
	const char *folder = folder_new();
	folder_write("state.json", "{\"other\":\"\\u00e4\",\"a\":\"b\"}");
	ck_assert_uint_gt(oom_every(store_and_load, (void *)(uintptr_t)folder), 10);
	assert_file(folder_path("state.json"),
		"{\n  \"a\": \"b\",\n  \"k\": \"value again\",\n  \"other\": \"\xC3\xA4\"\n}\n");
	ck_assert_uint_eq(folder_count(folder, "state.json"), 2);
}
END_TEST

SUITE_MAIN("store", writes_pretty_and_sorted_with_tight_rights, merges_with_what_others_wrote,
	gets_what_was_set_before_it_is_written, that_there_is_nothing_is_remembered,
	reads_what_other_programs_wrote, rejects_keys_and_values_that_cannot_be,
	rejects_more_keys_than_allowed, rejects_what_would_make_the_file_too_large,
	holds_no_more_than_could_be_written, leaves_a_foreign_file_with_too_much_in_it_readable,
	nothing_is_set_aside_in_silence, every_allocation_may_fail,
	values_can_be_set_and_read_while_others_are_written, what_is_written_counts_until_it_is)

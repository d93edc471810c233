/* store: state.json, its limits, its lock, and what a plugin may plant. */
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fledge/state.h"
#include "fledge/store.h"
#include "fledge/store_file.h"
#include "harness/folder.h"
#include "harness/oom.h"

/* ---- tools --------------------------------------------------------------- */

static char last_warning[2048];
static unsigned warnings;

static void keep_warning(void *data, const char *text)
{
	(void)data;
	snprintf(last_warning, sizeof(last_warning), "%s", text);
	warnings++;
}

static struct store *open_store(const char *directory)
{
	struct store *store = NULL;
	ck_assert_int_eq(store_new(directory, &store), 0);
	store_on_warning(store, keep_warning, NULL);
	warnings = 0;
	last_warning[0] = '\0';
	return store;
}

static void assert_warned(const char *text)
{
	ck_assert_uint_eq(warnings, 1);
	ck_assert_str_eq(last_warning, text);
	warnings = 0;
}

static int set(struct store *store, const char *key, const char *value)
{
	return store_set(store, str_from(key), str_from(value));
}

/* Like a host: again and again until the lock is free. */
static int flush(struct store *store)
{
	int r;
	while ((r = store_flush(store)) == -EAGAIN)
		sched_yield();
	return r;
}

static void assert_get(struct store *store, const char *key, const char *json)
{
	struct buf out = { 0 };
	ck_assert_int_eq(store_get(store, str_from(key), &out), 0);
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_str_eq(out.data, json);
	buf_free(&out);
}

static void assert_file(const char *path, const char *text)
{
	char *content = folder_read(path);
	ck_assert_str_eq(content, text);
	free(content);
}

static void assert_mode(const char *path)
{
	struct stat status;
	ck_assert_int_eq(lstat(path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0600);
	ck_assert(S_ISREG(status.st_mode));
}

static void assert_stores(struct store *store)
{
	ck_assert_int_eq(set(store, "k", "v"), 0);
	ck_assert_int_eq(flush(store), 0);
	ck_assert(!store_is_dirty(store));
	assert_get(store, "k", "\"v\"");
}

/* ---- the file ------------------------------------------------------------ */

START_TEST(writes_pretty_and_sorted_with_tight_rights)
{
	const char *folder = folder_new();
	umask(0);
	struct store *store = open_store(folder);
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
	assert_mode(folder_path("state.json"));
	assert_mode(folder_path("state.json.lock"));
	ck_assert_uint_eq(folder_count(folder, "state.json"), 2);
	ck_assert_uint_eq(warnings, 0);
	store_free(store);
}
END_TEST

START_TEST(merges_with_what_others_wrote)
{
	const char *folder = folder_new();
	struct store *one = open_store(folder);
	struct store *two = open_store(folder);
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
	struct store *store = open_store(folder);
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
		struct store *store = open_store(folder);
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

static struct str filled(char *memory, size_t len, char with)
{
	memset(memory, with, len);
	return (struct str){ memory, len };
}

START_TEST(rejects_keys_and_values_that_cannot_be)
{
	static char memory[STORE_VALUE_MAX + 1];
	struct store *store = open_store(folder_new());
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
	struct store *store = open_store(folder);
	struct store *other = open_store(folder);
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
	struct store *store = open_store(folder);
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
	struct store *store = open_store(folder_new());
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
	struct store *store = open_store(folder);
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

/* ---- what may be planted ------------------------------------------------- */

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
		struct store *store = open_store(folder);
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
	struct store *store = open_store(folder);
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
		struct store *store = open_store(folder);
		assert_get(store, "k", "null");
		ck_assert_uint_eq(warnings, 1);
		ck_assert(strstr(last_warning, what == PLANT_HUGE ? "larger" : "regular"));
		assert_stores(store);
		ck_assert_uint_eq(warnings, 1);
		assert_mode(folder_path("state.json"));
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
		struct store *store = open_store(folder);
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
	struct store *store = open_store(folder_path("plugin"));
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
	struct store *store = open_store(folder_path("nowhere"));
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

/* ---- the lock ------------------------------------------------------------ */

static int hold(int how)
{
	int fd = open(folder_path("state.json.lock"), O_RDWR | O_CREAT, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(flock(fd, how), 0);
	return fd;
}

START_TEST(does_not_wait_for_a_lock)
{
	struct store *store = open_store(folder_new());
	struct buf out = { 0 };
	int lock = hold(LOCK_EX);
	set(store, "k", "v");
	ck_assert_int_eq(store_flush(store), -EAGAIN);
	ck_assert(store_is_dirty(store));
	ck_assert_int_eq(store_get(store, STR("other"), &out), -EAGAIN);
	ck_assert_uint_eq(out.len, 0);
	assert_get(store, "k", "\"v\"");
	ck_assert_uint_eq(warnings, 0);
	store_give_up(store);
	assert_warned("store rejected: locked");
	ck_assert(!store_is_dirty(store));
	store_give_up(store);
	ck_assert_uint_eq(warnings, 0);
	ck_assert_int_eq(flock(lock, LOCK_UN), 0);
	assert_get(store, "k", "null");
	assert_stores(store);
	ck_assert_int_eq(flock(lock, LOCK_SH), 0);
	assert_get(store, "k", "\"v\"");
	set(store, "k", "w");
	ck_assert_int_eq(store_flush(store), -EAGAIN);
	close(lock);
	ck_assert_int_eq(store_flush(store), 0);
	store_free(store);
}
END_TEST

START_TEST(does_not_move_aside_what_somebody_reads)
{
	struct store *store = open_store(folder_new());
	struct buf out = { 0 };
	folder_write("state.json", "broken");
	int lock = hold(LOCK_SH);
	ck_assert_int_eq(store_get(store, STR("k"), &out), -EAGAIN);
	ck_assert_uint_eq(warnings, 0);
	assert_file(folder_path("state.json"), "broken");
	close(lock);
	assert_get(store, "k", "null");
	assert_file(folder_path("state.json.corrupt-1"), "broken");
	store_free(store);
}
END_TEST

/* ---- many processes ------------------------------------------------------ */

enum { WRITERS = 2, KEYS = 100, ROUNDS = 500 };

static void write_rounds(int writer, const char *folder)
{
	struct store *store = open_store(folder);
	for (int i = 0; i < ROUNDS; i++) {
		char key[32];
		char value[32];
		snprintf(key, sizeof(key), "writer%d-%d", writer, i % KEYS);
		snprintf(value, sizeof(value), "%d", i);
		if (set(store, key, value) < 0 || flush(store) < 0)
			_exit(1);
	}
	_exit(warnings ? 1 : 0);
}

START_TEST(two_processes_lose_nothing)
{
	const char *folder = folder_new();
	pid_t writers[WRITERS];
	for (int i = 0; i < WRITERS; i++) {
		writers[i] = fork();
		ck_assert_int_ge(writers[i], 0);
		if (writers[i] == 0)
			write_rounds(i, folder);
	}
	for (int i = 0; i < WRITERS; i++) {
		int status;
		ck_assert_int_eq(waitpid(writers[i], &status, 0), writers[i]);
		ck_assert_int_eq(status, 0);
	}
	struct store *store = open_store(folder);
	for (int i = 0; i < WRITERS * KEYS; i++) {
		char key[32];
		char value[32];
		snprintf(key, sizeof(key), "writer%d-%d", i / KEYS, i % KEYS);
		snprintf(value, sizeof(value), "\"%d\"", ROUNDS - KEYS + i % KEYS);
		assert_get(store, key, value);
	}
	ck_assert_uint_eq(folder_count(folder, "state.json"), 2);
	store_free(store);
}
END_TEST

/* Counts up for ever; every number that is on disk is told through the pipe.
 * Two keys of one flush must always agree. */
static void count_up(const char *folder, int from, int acknowledge)
{
	struct store *store = open_store(folder);
	char padding[8192];
	memset(padding, 'p', sizeof(padding));
	for (int i = from;; i++) {
		char value[32];
		snprintf(value, sizeof(value), "%d", i);
		set(store, "first", value);
		store_set(store, STR("middle"), (struct str){ padding, sizeof(padding) });
		set(store, "second", value);
		if (flush(store) < 0 || write(acknowledge, &i, sizeof(i)) != sizeof(i))
			_exit(1);
	}
}

static int stored_number(struct store *store, const char *key)
{
	struct buf out = { 0 };
	ck_assert_int_eq(store_get(store, str_from(key), &out), 0);
	ck_assert_int_eq(buf_terminate(&out), 0);
	int number = strcmp(out.data, "null") == 0 ? 0 : atoi(out.data + 1);
	buf_free(&out);
	return number;
}

/* Waits until so many were acknowledged, so that kills fall everywhere. Returns
 * the last one that was, before or after the kill. */
static int kill_after(pid_t pid, int pipe, int acknowledged, unsigned spins)
{
	int last = 0;
	for (int i = 0; i < acknowledged; i++)
		ck_assert_int_eq(read(pipe, &last, sizeof(last)), sizeof(last));
	for (volatile unsigned i = 0; i < spins; i++)
		;
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	for (int next; read(pipe, &next, sizeof(next)) == sizeof(next);)
		last = next;
	return last;
}

START_TEST(a_kill_at_any_moment_leaves_a_whole_file)
{
	const char *folder = folder_new();
	struct store *store = open_store(folder);
	int acknowledged = 0;
	int in_between = 0;
	srandom(1);
	for (int i = 0; i < 300; i++) {
		int ends[2];
		ck_assert_int_eq(pipe(ends), 0);
		pid_t pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			count_up(folder, acknowledged + 1, ends[1]);
		close(ends[1]);
		int last = kill_after(pid, ends[0], (int)(random() % 3), (unsigned)(random() % 500000));
		close(ends[0]);
		if (last)
			acknowledged = last;
		int stored = stored_number(store, "first");
		ck_assert_int_ge(stored, acknowledged);
		ck_assert_int_le(stored, acknowledged + 1);
		ck_assert_int_eq(stored, stored_number(store, "second"));
		ck_assert_uint_eq(warnings, 0);
		in_between += folder_count(folder, "state.json.tmp-") > 0;
		acknowledged = stored;
	}
	printf("# %d numbers, %d kills left a temporary file\n", acknowledged, in_between);
	assert_stores(store);
	ck_assert_uint_eq(folder_count(folder, "state.json.tmp-"), 0);
	store_free(store);
}
END_TEST

START_TEST(leftovers_are_swept_once)
{
	const char *folder = folder_new();
	folder_write("state.json.tmp-1-2", "leftover");
	folder_write("state.json.tmporary", "not ours");
	ck_assert_int_eq(mkdir(folder_path("state.json.tmp-directory"), 0700), 0);
	ck_assert_int_eq(symlink("state.json.tmporary", folder_path("state.json.tmp-link")), 0);
	struct store *store = open_store(folder);
	assert_stores(store);
	ck_assert_uint_eq(folder_count(folder, "state.json.tmp-"), 1);
	assert_file(folder_path("state.json.tmporary"), "not ours");
	store_free(store);
}
END_TEST

/* ---- a full disk --------------------------------------------------------- */

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return is_written;
}

/* Who is not root may mount in a user namespace where he is, if he may make one. */
static bool become_root(void)
{
	char user[64];
	char group[64];
	snprintf(user, sizeof(user), "0 %u 1", (unsigned)getuid());
	snprintf(group, sizeof(group), "0 %u 1", (unsigned)getgid());
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_file("/proc/self/uid_map", user) &&
		write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/gid_map", group);
}

/* A small file system that only this process sees. */
static bool mount_small(const char *path)
{
	if (unshare(CLONE_NEWNS) < 0 && !become_root())
		return false;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		mount("none", path, "tmpfs", 0, "size=256k") == 0;
}

static void fill_up(const char *folder)
{
	static char memory[STORE_VALUE_MAX];
	struct store *store = open_store(folder);
	assert_stores(store);
	struct str value = filled(memory, sizeof(memory), 'v');
	char key[32];
	int r = 0;
	for (int i = 0; i < 16 && r == 0; i++) {
		snprintf(key, sizeof(key), "%d", i);
		ck_assert_int_eq(store_set(store, str_from(key), value), 0);
		r = store_flush(store);
	}
	ck_assert(r == -ENOSPC || r == -EFBIG);
	ck_assert_uint_eq(warnings, 1);
	ck_assert(strstr(last_warning, "store rejected: cannot write state.json: ") == last_warning);
	ck_assert(!store_is_dirty(store));
	assert_get(store, "k", "\"v\"");
	char *expected = folder_read(folder_path("expected"));
	assert_get(store, "0", expected);
	free(expected);
	assert_get(store, key, "null");
	ck_assert_uint_eq(folder_count(folder, "state.json.tmp-"), 0);
	store_free(store);
}

START_TEST(a_full_disk_keeps_the_old_file)
{
	folder_new();
	struct buf expected = { 0 };
	buf_append_char(&expected, '"');
	for (int i = 0; i < STORE_VALUE_MAX; i++)
		buf_append_char(&expected, 'v');
	buf_append_char(&expected, '"');
	folder_write_n("expected", (struct str){ expected.data, expected.len });
	buf_free(&expected);
	const char *folder = folder_path("small");
	ck_assert_int_eq(mkdir(folder, 0700), 0);
	if (mount_small(folder)) {
		fill_up(folder);
		umount2(folder, MNT_DETACH);
		return;
	}
	printf("# no mounts here: a limit for files stands for the full disk\n");
	signal(SIGXFSZ, SIG_IGN);
	struct rlimit limit = { 200 * 1024, 200 * 1024 };
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	fill_up(folder);
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
	gets_what_was_set_before_it_is_written, reads_what_other_programs_wrote,
	rejects_keys_and_values_that_cannot_be, rejects_more_keys_than_allowed,
	rejects_what_would_make_the_file_too_large, holds_no_more_than_could_be_written,
	leaves_a_foreign_file_with_too_much_in_it_readable, moves_aside_what_is_not_a_store,
	never_overwrites_what_was_moved_aside, is_not_led_astray_by_what_stands_for_the_state,
	is_not_led_astray_by_what_stands_for_the_lock, a_swapped_directory_does_not_matter,
	a_missing_directory_is_a_warning, does_not_wait_for_a_lock,
	does_not_move_aside_what_somebody_reads, two_processes_lose_nothing,
	a_kill_at_any_moment_leaves_a_whole_file, leftovers_are_swept_once,
	a_full_disk_keeps_the_old_file, every_allocation_may_fail)

/* store: the lock, many processes, kills at any moment, a full disk. */
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/folder.h"
#include "harness/store.h"

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
	struct store *store = store_open(folder_new());
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
	struct store *store = store_open(folder_new());
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
	struct store *store = store_open(folder);
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
	struct store *store = store_open(folder);
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
	struct store *store = store_open(folder);
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
	struct store *store = store_open(folder);
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
	struct store *store = store_open(folder);
	assert_stores(store);
	ck_assert_uint_eq(folder_count(folder, "state.json.tmp-"), 1);
	assert_file(folder_path("state.json.tmporary"), "not ours");
	store_free(store);
}
END_TEST

/* ---- a full disk --------------------------------------------------------- */

static void fill_up(const char *folder)
{
	static char memory[STORE_VALUE_MAX];
	struct store *store = store_open(folder);
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
	if (folder_mount(folder)) {
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

SUITE_MAIN("store_processes", does_not_wait_for_a_lock, does_not_move_aside_what_somebody_reads,
	two_processes_lose_nothing, a_kill_at_any_moment_leaves_a_whole_file, leftovers_are_swept_once,
	a_full_disk_keeps_the_old_file)

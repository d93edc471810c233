/* Lines that were entered before, and lines of our own input. */
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "proc/intake.h"
#include "term/history.h"

static struct history open_history(void)
{
	struct history history;
	perch_err err = { 0 };
	int r = history_open(&history, folder_path("history"), &err);
	ck_assert_msg(r == 0, "%s", err.text);
	return history;
}

static void add(struct history *history, const char *line)
{
	ck_assert_int_eq(history_add(history, str_from(line), NULL), 0);
}

START_TEST(lines_are_kept)
{
	folder_new();
	struct history history = open_history();
	add(&history, "one");
	add(&history, "");
	add(&history, "two");
	add(&history, "two");
	add(&history, "one");
	history_free(&history);
	history = open_history();
	ck_assert_uint_eq(history.count, 3);
	ck_assert(str_is(history.lines[0], "one"));
	ck_assert(str_is(history.lines[2], "one"));
	history_free(&history);
	struct stat about;
	ck_assert_int_eq(stat(folder_path("history"), &about), 0);
	ck_assert_uint_eq(about.st_mode & 0777, 0600);
}
END_TEST

START_TEST(it_does_not_grow_for_ever)
{
	static char line[20001];
	folder_new();
	struct history history = open_history();
	for (int i = 0; i < HISTORY_LINES_MAX + 10; i++) {
		snprintf(line, sizeof(line), "%d", i);
		add(&history, line);
	}
	ck_assert_uint_eq(history.count, HISTORY_LINES_MAX);
	ck_assert(str_is(history.lines[0], "10"));
	for (int i = 0; i < 200; i++) {
		memset(line, 'a' + i % 26, sizeof(line) - 1);
		add(&history, line);
	}
	struct stat about;
	ck_assert_int_eq(stat(folder_path("history"), &about), 0);
	ck_assert_int_le(about.st_size, HISTORY_BYTES_MAX);
	ck_assert_uint_eq(folder_count(folder_path("."), "history"), 1);
	size_t count = history.count;
	ck_assert_uint_gt(count, 20);
	history_free(&history);
	history = open_history();
	ck_assert_uint_le(history.count, HISTORY_LINES_MAX);
	ck_assert(str_is(history.lines[history.count - 1], line));
	history_free(&history);
}
END_TEST

static int open_only(void *data)
{
	struct history history;
	int r = history_open(&history, data, NULL);
	history_free(&history);
	return r;
}

/* Only they take memory and time. */
START_TEST(of_many_lines_the_last_are_read)
{
	enum { MANY = 3 * HISTORY_LINES_MAX };
	_cleanup_(buf_free) struct buf text = { 0 };
	folder_new();
	for (int i = 0; i < MANY; i++)
		buf_printf(&text, "%d\n", i);
	folder_write_n("history", (struct str){ text.data, text.len });
	struct history history = open_history();
	ck_assert_uint_eq(history.count, HISTORY_LINES_MAX);
	ck_assert(str_is(history.lines[0], "2000"));
	ck_assert(str_is(history.lines[HISTORY_LINES_MAX - 1], "2999"));
	history_free(&history);
	ck_assert_uint_lt(
		oom_every(open_only, (void *)folder_path("history")), HISTORY_LINES_MAX + 100);
}
END_TEST

/* Whatever it is called: only what was made for this is removed. */
START_TEST(a_file_beside_it_stays_when_it_is_written_anew)
{
	static char line[HISTORY_BYTES_MAX / 3];
	char beside[64];
	snprintf(beside, sizeof(beside), "history.new-%ld", (long)getpid());
	folder_new();
	folder_write(beside, "somebody's");
	struct history history = open_history();
	for (char c = 'a'; c < 'e'; c++) {
		memset(line, c, sizeof(line) - 1);
		add(&history, line);
	}
	history_free(&history);
	_cleanup_free_ char *kept = folder_read(folder_path("%s", beside));
	ck_assert_str_eq(kept, "somebody's");
	ck_assert_uint_eq(folder_count(folder_path("."), "history"), 2);
}
END_TEST

START_TEST(a_file_that_is_none)
{
	folder_new();
	ck_assert_int_eq(mkdir(folder_path("history"), 0700), 0);
	struct history history;
	perch_err err = { 0 };
	ck_assert_int_lt(history_open(&history, folder_path("history"), &err), 0);
	ck_assert_ptr_nonnull(strstr(err.text, "history"));
	ck_assert_int_eq(history_add(&history, STR("kept in memory"), &err), 0);
	ck_assert_uint_eq(history.count, 1);
	history_free(&history);
}
END_TEST

static int open_and_add(void *data)
{
	struct history history;
	int r = history_open(&history, data, NULL);
	if (r < 0) {
		ck_assert(!history.path && !history.lines && !history.count);
		return r;
	}
	r = history_add(&history, STR("another"), NULL);
	if (r == 0)
		r = history_add(&history, STR("line"), NULL);
	history_free(&history);
	return r;
}

START_TEST(without_memory)
{
	folder_new();
	folder_write("history", "one\ntwo\nthree\n");
	ck_assert_uint_ge(oom_every(open_and_add, (void *)folder_path("history")), 4);
}
END_TEST

/* ---- our own input ------------------------------------------------------- */

struct reader {
	struct loop loop;
	struct intake *intake;
	char got[256];
	int error;
	bool has_ended;
	bool holds; /* after each line */
};

static bool on_line(void *data, const perch_line *line)
{
	struct reader *reader = data;
	size_t length = strlen(reader->got);
	snprintf(reader->got + length, sizeof(reader->got) - length, "[%s%s]", line->data,
		line->flags & PERCH_LINE_TOO_LONG ? "…" : "");
	return !reader->holds;
}

static void on_ended(void *data, int error)
{
	struct reader *reader = data;
	ck_assert(!reader->has_ended);
	reader->has_ended = true;
	reader->error = error;
}

static const struct intake_events intake_events = { .line = on_line, .ended = on_ended };

static void reader_open(struct reader *reader, int fd)
{
	*reader = (struct reader){ 0 };
	ck_assert_int_eq(loop_init(&reader->loop), 0);
	ck_assert_int_eq(intake_new(&reader->loop, fd, 8, &intake_events, reader, &reader->intake), 0);
}

static void reader_close(struct reader *reader)
{
	intake_free(reader->intake);
	loop_close(&reader->loop);
}

static void settle(struct reader *reader)
{
	for (int i = 0; i < 20; i++)
		loop_run(&reader->loop, 0);
}

START_TEST(lines_of_a_file_and_of_a_pipe)
{
	folder_new();
	folder_write("lines", "one\r\nfar too long\n\nlast");
	for (int kind = 0; kind < 2; kind++) {
		int fd = open(folder_path("lines"), O_RDONLY);
		int ends[2] = { -1, -1 };
		if (kind == 1) {
			char text[64];
			ssize_t length = read(fd, text, sizeof(text));
			ck_assert_int_eq(pipe(ends), 0);
			ck_assert_int_eq(write(ends[1], text, (size_t)length), length);
			close(ends[1]);
			close(fd);
			fd = ends[0];
		}
		struct reader reader;
		reader_open(&reader, fd);
		while (!reader.has_ended)
			loop_run(&reader.loop, 1000);
		ck_assert_str_eq(reader.got, "[one][far too …][][last]");
		ck_assert_int_eq(reader.error, 0);
		reader_close(&reader);
		close(fd);
	}
}
END_TEST

START_TEST(lines_wait_when_they_are_held)
{
	folder_new();
	folder_write("lines", "one\ntwo\nthree\n");
	int fd = open(folder_path("lines"), O_RDONLY);
	struct reader reader;
	reader_open(&reader, fd);
	reader.holds = true;
	settle(&reader);
	ck_assert_str_eq(reader.got, "[one]");
	intake_resume(reader.intake);
	settle(&reader);
	ck_assert_str_eq(reader.got, "[one][two]");
	ck_assert(!reader.has_ended);
	reader.holds = false;
	intake_resume(reader.intake);
	settle(&reader);
	ck_assert_str_eq(reader.got, "[one][two][three]");
	ck_assert(reader.has_ended);
	reader_close(&reader);
	close(fd);
}
END_TEST

START_TEST(input_that_cannot_be_read)
{
	struct reader reader;
	folder_new();
	int fd = open(folder_path("."), O_RDONLY | O_DIRECTORY);
	reader_open(&reader, fd);
	settle(&reader);
	ck_assert(reader.has_ended);
	ck_assert_int_eq(reader.error, -EISDIR);
	reader_close(&reader);
	close(fd);
}
END_TEST

SUITE_MAIN("history", lines_are_kept, it_does_not_grow_for_ever, of_many_lines_the_last_are_read,
	a_file_beside_it_stays_when_it_is_written_anew, a_file_that_is_none, without_memory,
	lines_of_a_file_and_of_a_pipe, lines_wait_when_they_are_held, input_that_cannot_be_read)

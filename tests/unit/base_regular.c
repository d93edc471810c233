/* Reading a file that another user may have put there. */
#include "harness/folder.h"
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/regular.h"

enum { STEP = 64 * 1024 };

static const size_t sizes[] = { 0, 1, 63, 64, 65, 4095, 4096, STEP - 1, STEP, STEP + 1,
	3 * STEP + 7 };

/* A file of so many bytes, no two neighbours alike. */
static const char *make_file(size_t size)
{
	char *content = malloc(size + 1);
	for (size_t i = 0; i < size; i++)
		content[i] = (char)('a' + i % 23);
	folder_write_n("file", (struct str){ content, size });
	free(content);
	return folder_path("file");
}

START_TEST(all_of_it_is_appended_whatever_its_size)
{
	folder_new();
	for (size_t i = 0; i < COUNT(sizes); i++) {
		const char *path = make_file(sizes[i]);
		_cleanup_(buf_free) struct buf out = { 0 };
		buf_append_text(&out, "before ");
		ck_assert_int_eq(regular_read(AT_FDCWD, path, 0, SIZE_MAX / 4, &out), 0);
		ck_assert_uint_eq(out.len, strlen("before ") + sizes[i]);
		ck_assert_int_eq(memcmp(out.data, "before ", 7), 0);
		for (size_t at = 0; at < sizes[i]; at++)
			ck_assert_int_eq(out.data[7 + at], (char)('a' + at % 23));
	}
}
END_TEST

START_TEST(as_much_as_is_allowed_is_read_and_not_a_byte_more)
{
	folder_new();
	for (size_t i = 1; i < COUNT(sizes); i++) {
		const char *path = make_file(sizes[i]);
		_cleanup_(buf_free) struct buf out = { 0 };
		ck_assert_int_eq(regular_read(AT_FDCWD, path, 0, sizes[i], &out), 0);
		ck_assert_uint_eq(out.len, sizes[i]);
		buf_clear(&out);
		ck_assert_int_eq(regular_read(AT_FDCWD, path, 0, sizes[i] - 1, &out), -EFBIG);
		ck_assert_uint_eq(out.len, 0);
	}
}
END_TEST

/* Its size is said to be 0. */
START_TEST(a_file_of_the_kernel_is_read_and_limited)
{
	_cleanup_(buf_free) struct buf out = { 0 };
	ck_assert_int_eq(regular_read(AT_FDCWD, "/proc/self/status", 0, 1 << 20, &out), 0);
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_ptr_nonnull(strstr(out.data, "\nPid:"));
	buf_clear(&out);
	ck_assert_int_eq(regular_read(AT_FDCWD, "/proc/self/status", 0, 10, &out), -EFBIG);
	ck_assert_uint_le(out.len, 11);
}
END_TEST

START_TEST(a_small_file_takes_little_memory)
{
	folder_new();
	_cleanup_(buf_free) struct buf out = { 0 };
	ck_assert_int_eq(regular_read(AT_FDCWD, make_file(300), 0, SIZE_MAX / 4, &out), 0);
	ck_assert_uint_lt(out.cap, 4096);
}
END_TEST

START_TEST(what_is_no_regular_file_is_not_opened)
{
	folder_new();
	make_file(3);
	ck_assert_int_eq(mkfifo(folder_path("fifo"), 0600), 0);
	ck_assert_int_eq(symlink("file", folder_path("link")), 0);
	_cleanup_(buf_free) struct buf out = { 0 };
	ck_assert_int_eq(regular_read(AT_FDCWD, folder_path("fifo"), 0, 99, &out), -ENOTSUP);
	ck_assert_int_eq(regular_read(AT_FDCWD, folder_path("."), 0, 99, &out), -ENOTSUP);
	ck_assert_int_eq(regular_read(AT_FDCWD, "/dev/zero", 0, 99, &out), -ENOTSUP);
	ck_assert_int_eq(regular_read(AT_FDCWD, folder_path("none"), 0, 99, &out), -ENOENT);
	ck_assert_int_eq(regular_read(AT_FDCWD, folder_path("link"), O_NOFOLLOW, 99, &out), -ENOTSUP);
	ck_assert_int_eq(regular_read(AT_FDCWD, folder_path("link"), 0, 99, &out), 0);
	ck_assert_uint_eq(out.len, 3);
}
END_TEST

SUITE_MAIN("base-regular", all_of_it_is_appended_whatever_its_size,
	as_much_as_is_allowed_is_read_and_not_a_byte_more, a_file_of_the_kernel_is_read_and_limited,
	a_small_file_takes_little_memory, what_is_no_regular_file_is_not_opened)

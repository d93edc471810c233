/* base: the growing buffer and its sticky failure; base64, which is written to one. */
#include "harness/suite.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "harness/oom.h"

static void assert_holds(const struct buf *buf, const char *text)
{
	ck_assert_uint_eq(buf->len, strlen(text));
	ck_assert_int_eq(memcmp(buf->data, text, buf->len), 0);
}

START_TEST(buffer_grows_and_keeps_its_content)
{
	struct buf buf = { 0 };
	for (int i = 0; i < 10000; i++)
		ck_assert_int_eq(buf_printf(&buf, "%d,", i), 0);
	ck_assert_int_eq(buf_terminate(&buf), 0);
	ck_assert_int_eq(strncmp(buf.data, "0,1,2,3,", 8), 0);
	ck_assert_str_eq(buf.data + buf.len - 5, "9999,");
	buf_free(&buf);
}
END_TEST

START_TEST(buffer_takes_bytes_characters_and_text)
{
	_cleanup_(buf_free) struct buf buf = { 0 };
	ck_assert_int_eq(buf_append(&buf, "a\0b", 3), 0);
	ck_assert_int_eq(buf_append_char(&buf, '\n'), 0);
	ck_assert_int_eq(buf_append_text(&buf, "text"), 0);
	ck_assert_int_eq(buf_append(&buf, NULL, 0), 0);
	ck_assert_int_eq(buf_append_text(&buf, ""), 0);
	ck_assert_uint_eq(buf.len, 8);
	ck_assert_int_eq(memcmp(buf.data, "a\0b\ntext", 8), 0);
}
END_TEST

START_TEST(buffer_of_nothing)
{
	struct buf buf = { 0 };
	ck_assert_int_eq(buf_append(&buf, NULL, 0), 0);
	ck_assert_int_eq(buf_reserve(&buf, 0), 0);
	buf_consume(&buf, 0);
	buf_clear(&buf);
	ck_assert_ptr_null(buf.data);
	buf_free(&buf);
	buf_free(&buf);
}
END_TEST

/* Every length around the capacities: printf needs one byte more than it adds. */
START_TEST(buffer_prints_up_to_the_brim)
{
	for (int length = 0; length < 600; length++) {
		_cleanup_(buf_free) struct buf buf = { 0 };
		ck_assert_int_eq(buf_printf(&buf, "%*s", length, ""), 0);
		ck_assert_int_eq(buf_printf(&buf, "%s", "end"), 0);
		ck_assert_uint_eq(buf.len, (size_t)length + 3);
		ck_assert_int_eq(buf_terminate(&buf), 0);
		ck_assert_str_eq(buf.data + length, "end");
	}
}
END_TEST

START_TEST(buffer_has_the_room_it_promised)
{
	static const size_t sizes[] = { 1, 127, 128, 129, 255, 256, 257, 100000 };
	for (size_t i = 0; i < COUNT(sizes); i++) {
		_cleanup_(buf_free) struct buf buf = { 0 };
		buf_append_text(&buf, "keep");
		ck_assert_int_eq(buf_reserve(&buf, sizes[i]), 0);
		ck_assert_uint_ge(buf.cap - buf.len, sizes[i]);
		memset(buf.data + buf.len, 'x', sizes[i]);
		assert_holds(&buf, "keep");
	}
}
END_TEST

START_TEST(buffer_refuses_sizes_that_overflow)
{
	static const size_t sizes[] = { SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 4, SIZE_MAX / 2 + 1,
		SIZE_MAX / 2, SIZE_MAX / 2 - 4 };
	for (size_t i = 0; i < COUNT(sizes); i++) {
		_cleanup_(buf_free) struct buf buf = { 0 };
		buf_append_text(&buf, "keep");
		ck_assert_int_eq(buf_reserve(&buf, sizes[i]), -ENOMEM);
		ck_assert(buf.failed);
		assert_holds(&buf, "keep");
	}
}
END_TEST

START_TEST(buffer_remembers_a_failure)
{
	_cleanup_(buf_free) struct buf buf = { 0 };
	buf_append_text(&buf, "keep");
	ck_assert_int_eq(buf_reserve(&buf, SIZE_MAX), -ENOMEM);
	ck_assert_int_eq(buf_append_char(&buf, 'x'), -ENOMEM);
	ck_assert_int_eq(buf_append(&buf, NULL, 0), -ENOMEM);
	ck_assert_int_eq(buf_append_text(&buf, "x"), -ENOMEM);
	ck_assert_int_eq(buf_printf(&buf, "x"), -ENOMEM);
	ck_assert_int_eq(buf_reserve(&buf, 0), -ENOMEM);
	ck_assert_int_eq(buf_terminate(&buf), -ENOMEM);
	ck_assert_ptr_null(buf_steal(&buf));
	assert_holds(&buf, "keep");
	buf_clear(&buf);
	ck_assert_int_eq(buf_append_text(&buf, "again"), 0);
	assert_holds(&buf, "again");
}
END_TEST

START_TEST(buffer_drops_what_was_consumed)
{
	_cleanup_(buf_free) struct buf buf = { 0 };
	buf_append_text(&buf, "one two three");
	buf_consume(&buf, 0);
	assert_holds(&buf, "one two three");
	buf_consume(&buf, 4);
	assert_holds(&buf, "two three");
	buf_append_text(&buf, "!");
	assert_holds(&buf, "two three!");
	buf_consume(&buf, buf.len);
	ck_assert_uint_eq(buf.len, 0);
	buf_append_text(&buf, "four");
	assert_holds(&buf, "four");
}
END_TEST

START_TEST(buffer_is_empty_once_stolen)
{
	struct buf buf = { 0 };
	buf_append_text(&buf, "mine");
	_cleanup_free_ char *text = buf_steal(&buf);
	ck_assert_str_eq(text, "mine");
	ck_assert_ptr_null(buf.data);
	ck_assert_uint_eq(buf.len, 0);
	ck_assert_uint_eq(buf.cap, 0);

	_cleanup_free_ char *nothing = buf_steal(&buf);
	ck_assert_str_eq(nothing, "");
}
END_TEST

START_TEST(buffer_cleared_keeps_its_memory)
{
	_cleanup_(buf_free) struct buf buf = { 0 };
	buf_append_text(&buf, "some text");
	const char *before = buf.data;
	buf_clear(&buf);
	ck_assert_uint_eq(buf.len, 0);
	buf_append_text(&buf, "other");
	ck_assert_ptr_eq(buf.data, before);
	assert_holds(&buf, "other");
}
END_TEST

/* Many small pieces, one check at the end. */
static int write_pieces(void *data)
{
	(void)data;
	struct buf buf = { 0 };
	for (int i = 0; i < 200; i++) {
		buf_append_text(&buf, "piece ");
		buf_printf(&buf, "%d", i);
		buf_append_char(&buf, '\n');
	}
	int r = buf_terminate(&buf);
	ck_assert_int_eq(r < 0, buf.failed);
	buf_free(&buf);
	return r;
}

static int steal_pieces(void *data)
{
	(void)data;
	struct buf buf = { 0 };
	buf_printf(&buf, "%0200d", 7);
	char *text = buf_steal(&buf);
	buf_free(&buf);
	if (!text)
		return -ENOMEM;
	ck_assert_uint_eq(strlen(text), 200);
	free(text);
	return 0;
}

START_TEST(buffer_survives_every_failed_allocation)
{
	ck_assert_uint_ge(oom_every(write_pieces, NULL), 4);
	ck_assert_uint_ge(oom_every(steal_pieces, NULL), 1);
}
END_TEST

START_TEST(buffer_is_written_to_a_stream)
{
	char *written = NULL;
	size_t len;
	FILE *stream = open_memstream(&written, &len);
	struct buf buf = { 0 };
	ck_assert(buf_write_to(&buf, stream)); /* has no memory: UBSan looks at it */
	buf_append(&buf, "a\0b", 3);
	ck_assert(buf_write_to(&buf, stream));
	fclose(stream);
	ck_assert_uint_eq(len, 3);
	ck_assert_mem_eq(written, "a\0b", 3);
	free(written);
	FILE *full = fopen("/dev/full", "w");
	setvbuf(full, NULL, _IONBF, 0);
	ck_assert(!buf_write_to(&buf, full));
	fclose(full);
	buf_free(&buf);
}
END_TEST

static const struct {
	const char *bytes, *text;
} base64[] = {
	{ "", "" },
	{ "f", "Zg==" },
	{ "fo", "Zm8=" },
	{ "foo", "Zm9v" },
	{ "foob", "Zm9vYg==" },
	{ "fooba", "Zm9vYmE=" },
	{ "foobar", "Zm9vYmFy" },
	{ "\xFF\xEF\xBE", "/+++" },
};

START_TEST(base64_is_as_the_rfc_says)
{
	for (size_t i = 0; i < COUNT(base64); i++) {
		struct buf out = { 0 };
		ck_assert_int_eq(base64_append(&out, base64[i].bytes, strlen(base64[i].bytes)), 0);
		buf_terminate(&out);
		ck_assert_str_eq(out.data, base64[i].text);
		buf_free(&out);
	}
}
END_TEST

SUITE_MAIN("base-buf", buffer_grows_and_keeps_its_content, buffer_takes_bytes_characters_and_text,
	buffer_of_nothing, buffer_prints_up_to_the_brim, buffer_has_the_room_it_promised,
	buffer_refuses_sizes_that_overflow, buffer_remembers_a_failure, buffer_drops_what_was_consumed,
	buffer_is_empty_once_stolen, buffer_cleared_keeps_its_memory,
	buffer_survives_every_failed_allocation, buffer_is_written_to_a_stream,
	base64_is_as_the_rfc_says)

/* base: what is said to people, in errors and in the log. */
#include "harness/suite.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/utf8.h"

START_TEST(err_carries_code_text_and_position)
{
	perch_err err = { 0 };
	ck_assert_int_eq(
		err_set_at(&err, PERCH_ESYNTAX, 3, 14, "expected %s", "a comma"), PERCH_ESYNTAX);
	ck_assert_int_eq(err.code, PERCH_ESYNTAX);
	ck_assert_uint_eq(err.line, 3);
	ck_assert_uint_eq(err.column, 14);
	ck_assert_str_eq(err.text, "expected a comma");

	ck_assert_int_eq(err_set(&err, -ENOENT, "no %d", 7), -ENOENT);
	ck_assert_int_eq(err.code, -ENOENT);
	ck_assert_uint_eq(err.line, 0);
	ck_assert_uint_eq(err.column, 0);
	ck_assert_str_eq(err.text, "no 7");
}
END_TEST

START_TEST(err_may_be_null)
{
	ck_assert_int_eq(err_set(NULL, -EPERM, "%s", "unheard"), -EPERM);
	ck_assert_int_eq(err_set_at(NULL, PERCH_ELIMIT, 1, 2, "%s", "unheard"), PERCH_ELIMIT);
	ck_assert_int_eq(err_no_memory(NULL), -ENOMEM);
}
END_TEST

START_TEST(err_no_memory_says_so)
{
	perch_err err = { 0 };
	ck_assert_int_eq(err_no_memory(&err), -ENOMEM);
	ck_assert_int_eq(err.code, -ENOMEM);
	ck_assert_str_eq(err.text, "out of memory");
}
END_TEST

START_TEST(err_takes_its_own_text_as_an_argument)
{
	perch_err err = { 0 };
	err_set(&err, -EIO, "short read");
	err_set(&err, err.code, "%s: %s", "plugin.toml", err.text);
	ck_assert_str_eq(err.text, "plugin.toml: short read");
	for (int i = 0; i < 100; i++)
		err_set(&err, err.code, "<%s>", err.text);
	ck_assert_uint_eq(strlen(err.text), 23 + 2 * 100);
}
END_TEST

START_TEST(err_text_of_the_full_size_is_kept)
{
	char long_text[PERCH_ERR_TEXT_MAX + 1];
	memset(long_text, 'x', sizeof(long_text));
	long_text[PERCH_ERR_TEXT_MAX] = '\0';
	perch_err err = { 0 };
	err_set(&err, -EIO, "%s", long_text + 1);
	ck_assert_str_eq(err.text, long_text + 1);
	err_set(&err, -EIO, "%s", long_text);
	ck_assert_str_eq(err.text, long_text + 1);
}
END_TEST

/* Every way a character can lie across the end of the text. */
START_TEST(err_text_is_cut_between_characters)
{
	static const char *const characters[] = { "a", "\u00e9", "\u4e2d", "\U0001f600" };
	for (size_t i = 0; i < COUNT(characters); i++) {
		for (size_t padding = 0; padding < UTF8_MAX; padding++) {
			char text[2 * PERCH_ERR_TEXT_MAX] = "aaaa";
			size_t length = strlen(characters[i]);
			for (size_t at = padding; at + length < sizeof(text); at += length)
				memcpy(text + at, characters[i], length + 1);
			perch_err err = { 0 };
			err_set(&err, -EIO, "%s", text);
			size_t kept = strlen(err.text);
			ck_assert_uint_gt(kept, PERCH_ERR_TEXT_MAX - 1 - length);
			ck_assert_int_eq(memcmp(err.text, text, kept), 0);
			ck_assert(utf8_is_valid(err.text, kept));
		}
	}
}
END_TEST

START_TEST(err_text_is_cut_between_characters_behind_a_broken_one)
{
	char text[2 * PERCH_ERR_TEXT_MAX] = "\xFF";
	for (size_t at = 1; at + 3 < sizeof(text); at += 3)
		memcpy(text + at, "\u4e2d", 4);
	perch_err err = { 0 };
	err_set(&err, -EIO, "%s", text);
	ck_assert_uint_gt(strlen(err.text), PERCH_ERR_TEXT_MAX - 4);
	ck_assert(utf8_is_valid(err.text + 1, strlen(err.text) - 1));
}
END_TEST

START_TEST(err_text_that_fits_is_not_touched)
{
	perch_err err = { 0 };
	err_set(&err, -EIO, "half: \xE4\xB8");
	ck_assert_str_eq(err.text, "half: \xE4\xB8");
}
END_TEST

START_TEST(strerror_knows_every_code)
{
	for (int code = PERCH_ESYNTAX; code >= PERCH_EBUSY; code--)
		ck_assert_str_ne(perch_strerror(code), "unknown error");
	ck_assert_str_eq(perch_strerror(PERCH_ESYNTAX), "syntax error");
	ck_assert_str_eq(perch_strerror(-ENOENT), "No such file or directory");
	ck_assert_str_eq(perch_strerror(0), "Success");
}
END_TEST

START_TEST(strerror_never_returns_null)
{
	static const int strange[] = { 1, ENOENT, INT_MAX, INT_MIN, -4095, -4096, -5000, -5999 };
	for (size_t i = 0; i < COUNT(strange); i++)
		ck_assert_str_eq(perch_strerror(strange[i]), "unknown error");
}
END_TEST

struct heard {
	unsigned count;
	perch_log_level level;
	char text[2048];
};

static void hear(void *data, perch_log_level level, const char *text)
{
	struct heard *heard = data;
	heard->count++;
	heard->level = level;
	ck_assert_uint_lt(strlen(text), sizeof(heard->text));
	strcpy(heard->text, text);
}

START_TEST(log_reaches_the_hook)
{
	struct heard heard = { 0 };
	struct log log = { .fn = hear, .data = &heard };
	log_debug(&log, "one %d", 1);
	ck_assert_int_eq(heard.level, PERCH_LOG_DEBUG);
	log_info(&log, "two");
	ck_assert_int_eq(heard.level, PERCH_LOG_INFO);
	log_warn(&log, "three");
	ck_assert_int_eq(heard.level, PERCH_LOG_WARN);
	log_error(&log, "%s", "four");
	ck_assert_int_eq(heard.level, PERCH_LOG_ERROR);
	ck_assert_uint_eq(heard.count, 4);
	ck_assert_str_eq(heard.text, "four");
}
END_TEST

START_TEST(log_leaves_out_what_is_too_quiet)
{
	struct heard heard = { 0 };
	struct log log = { .fn = hear, .data = &heard, .lowest = PERCH_LOG_WARN };
	log_debug(&log, "unheard");
	log_info(&log, "unheard");
	ck_assert_uint_eq(heard.count, 0);
	log_warn(&log, "heard");
	log_error(&log, "heard");
	ck_assert_uint_eq(heard.count, 2);
}
END_TEST

START_TEST(log_that_nobody_reads)
{
	struct log log = { 0 };
	log_error(&log, "%s", "unheard");
	log_error(NULL, "%s", "unheard");
}
END_TEST

START_TEST(log_is_one_line)
{
	struct heard heard = { 0 };
	struct log log = { .fn = hear, .data = &heard };
	log_info(&log, "one\ntwo\r\nthree%s", "\n");
	ck_assert_str_eq(heard.text, "one two  three ");
}
END_TEST

START_TEST(log_is_cut_between_characters)
{
	char text[2048] = "";
	for (size_t padding = 0; padding < 3; padding++) {
		memset(text, 'a', padding);
		for (size_t at = padding; at + 3 < sizeof(text); at += 3)
			memcpy(text + at, "\u4e2d", 4);
		struct heard heard = { 0 };
		struct log log = { .fn = hear, .data = &heard };
		log_info(&log, "%s", text);
		ck_assert_uint_gt(strlen(heard.text), 1023 - 3);
		ck_assert_uint_le(strlen(heard.text), 1023);
		ck_assert(utf8_is_valid(heard.text, strlen(heard.text)));
	}
}
END_TEST

SUITE_MAIN("base-err", err_carries_code_text_and_position, err_may_be_null, err_no_memory_says_so,
	err_takes_its_own_text_as_an_argument, err_text_of_the_full_size_is_kept,
	err_text_is_cut_between_characters, err_text_is_cut_between_characters_behind_a_broken_one,
	err_text_that_fits_is_not_touched, strerror_knows_every_code, strerror_never_returns_null,
	log_reaches_the_hook, log_leaves_out_what_is_too_quiet, log_that_nobody_reads, log_is_one_line,
	log_is_cut_between_characters)

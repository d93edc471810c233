/* Reading a trace: what each line of a file says, or what is wrong with it. */
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/fd.h"
#include "trace/reader.h"

/* What was read, in words: one line for each record. */
struct found {
	struct buf text;
	int stop_at; /* 0 = never */
	int count;
	bool is_timeless; /* how long it took is not to be told */
};

static void describe(struct buf *text, const struct trace_record *record, double seconds)
{
	const struct trace_entry *entry = &record->entry;
	buf_printf(text, "%s %.1f%s%s%s %.*s%s%.*s|", trace_direction_name(entry->direction), seconds,
		entry->is_masked ? " masked" : "", entry->is_cut ? " cut" : "",
		entry->is_open ? " open" : "", (int)entry->event.len, entry->event.data,
		record->facts ? ":" : "", (int)entry->facts.len, record->facts ? entry->facts.data : "");
	buf_append(text, entry->line.data, entry->line.len);
	buf_append_char(text, '\n');
}

static int take(void *data, const struct trace_record *record)
{
	struct found *found = data;
	struct buf *text = &found->text;
	buf_printf(text, "%llu ", (unsigned long long)record->number);
	if (record->kind == TRACE_WRONG)
		buf_printf(text, "wrong %s\n", record->why);
	else if (record->kind == TRACE_HEAD)
		buf_printf(text, "head\n");
	else
		describe(text, record, found->is_timeless ? 0 : record->seconds);
	if (text->failed)
		return -ENOMEM;
	return ++found->count == found->stop_at ? 7 : 0;
}

/* Feeds a text in pieces of so many bytes. */
static int read_text(const char *text, size_t piece, size_t record_max, struct found *found)
{
	const struct trace_reader_options options = {
		.record_max = record_max,
		.take = take,
		.data = found,
	};
	struct trace_reader *reader = NULL;
	int r = trace_reader_new(&options, &reader);
	size_t len = strlen(text);
	for (size_t at = 0; at < len && r == 0; at += piece) {
		char bytes[4096];
		size_t n = len - at < piece ? len - at : piece;
		memcpy(bytes, text + at, n);
		r = trace_reader_feed(reader, bytes, n);
	}
	if (r == 0)
		r = trace_reader_finish(reader);
	trace_reader_free(reader);
	return r;
}

static void expect(const char *text, size_t record_max, const char *expected)
{
	static const size_t pieces[] = { 1, 7, 4000 };
	for (size_t i = 0; i < COUNT(pieces); i++) {
		struct found found = { 0 };
		ck_assert_int_eq(read_text(text, pieces[i], record_max, &found), 0);
		buf_terminate(&found.text);
		ck_assert_str_eq(found.text.data, expected);
		buf_free(&found.text);
	}
}

#define HEAD "{\"trace\":1,\"perch\":\"0.1.0\",\"command\":\"x\",\"args\":[]}\n"

START_TEST(records_are_what_they_say)
{
	expect(HEAD
		"{\"t\":0.001,\"dir\":\"in\",\"line\":\"{\\\"a\\\":1}\"}\n"
		"{\"t\":0.1,\"dir\":\"out\",\"line\":\"b\",\"masked\":true}\r\n"
		"{\"t\":2,\"dir\":\"out\",\"base64\":\"//4=\",\"cut\":true}\n"
		"{\"t\":3,\"dir\":\"err\",\"line\":\"\",\"open\":true}\n"
		"{\"t\":4.5,\"dir\":\"host\",\"line\":\"words\"}\n"
		"{\"t\":5,\"dir\":\"host\",\"event\":\"exit\",\"facts\":{\"s\": 1},\"line\":\"left\"}",
		0,
		"1 head\n"
		"2 in 0.0 |{\"a\":1}\n"
		"3 out 0.1 masked |b\n"
		"4 out 2.0 cut |\xFF\xFE\n"
		"5 err 3.0 open |\n"
		"6 host 4.5 |words\n"
		"7 host 5.0 exit:{\"s\": 1}|left\n");
}
END_TEST

START_TEST(what_is_wrong_is_told_by_its_line)
{
	expect("\n"
		   "\x7F"
		   "ELF\n"
		   "[1]\n"
		   "{\"trace\":2}\n"
		   "{\"t\":0,\"dir\":\"up\",\"line\":\"\"}\n"
		   "{\"t\":-1,\"dir\":\"in\",\"line\":\"\"}\n"
		   "{\"t\":\"1\",\"dir\":\"in\",\"line\":\"\"}\n"
		   "{\"t\":0,\"dir\":\"in\",\"line\":1}\n"
		   "{\"t\":0,\"dir\":\"in\",\"base64\":\"//4\"}\n"
		   "{\"t\":1,\"dir\":\"in\",\"line\":\"fine\"}\n"
		   "{\"t\":1,\"dir\":\"in\",\"li",
		0,
		"1 wrong it is not JSON: expected a value, found the end of the text\n"
		"2 wrong it is not JSON: expected a value, found the byte 0x7F\n"
		"3 wrong it is not a JSON object\n"
		"4 wrong it is a trace of another version than 1: 2\n"
		"5 wrong its `dir` is none of in, out, err, host\n"
		"6 wrong its `t` is no time\n"
		"7 wrong its `t` is no time\n"
		"8 wrong it has neither a `line` nor `base64`\n"
		"9 wrong its `base64` is none\n"
		"10 in 1.0 |fine\n"
		"11 wrong it is cut off: expected '\"' at the end of a string, found the end of the "
		"text\n");
}
END_TEST

START_TEST(a_record_over_the_limit_is_passed_over)
{
	struct buf text = { 0 };
	buf_append_text(&text, HEAD "{\"t\":0,\"dir\":\"in\",\"line\":\"");
	for (int i = 0; i < 3000; i++)
		buf_append_char(&text, 'x');
	buf_append_text(&text, "\"}\n{\"t\":0,\"dir\":\"in\",\"line\":\"y\"}\n");
	buf_terminate(&text);
	expect(text.data, 1024,
		"1 head\n"
		"2 wrong it is longer than 1024 bytes\n"
		"3 in 0.0 |y\n");
	buf_free(&text);
}
END_TEST

START_TEST(whoever_takes_may_stop)
{
	struct found found = { .stop_at = 2 };
	ck_assert_int_eq(read_text(HEAD HEAD HEAD, 4000, 0, &found), 7);
	ck_assert_int_eq(found.count, 2);
	buf_free(&found.text);
}
END_TEST

START_TEST(what_was_recorded_is_read_again)
{
	char path[] = "/tmp/perch-reader-XXXXXX";
	_cleanup_fd_ int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	struct trace *trace = NULL;
	ck_assert_int_eq(trace_open(path, false, &trace, NULL), 0);
	trace_start(trace, "x", (const char *const[]){ NULL });
	trace_line(trace, TRACE_TO_PLUGIN, "\xFF\0\n", 3);
	trace_child_line(trace, TRACE_FROM_PLUGIN,
		&(perch_line){ .data = "half", .len = 4, .flags = PERCH_LINE_UNTERMINATED });
	trace_child_line(trace, TRACE_FROM_PLUGIN,
		&(perch_line){ .data = "long", .len = 4, .flags = PERCH_LINE_TOO_LONG });
	trace_child_bytes(trace, "a\nb\n", 4);
	trace_child_bytes(trace, "c", 1);
	trace_event(trace, "exit",
		(const struct trace_fact[]){ FACT_NUMBER("n", -3), FACT_FLAG("f", true),
			FACT_TEXT("t", STR("\"")), FACT_JSON("j", STR("[1]")), FACT_JSON("none", STR("")),
			FACTS_END },
		"left %d", 3);
	trace_result(trace, 5, STR("\"secret\""));
	trace_result(trace, 6, STR("{\"env\":{\"A\":\"b\"},\"git_log\":[]}"));
	trace_result(trace, 7, STR("{\"code\":0}"));
	ck_assert_int_eq(trace_close(trace, NULL), 0);
	struct found found = { .is_timeless = true };
	perch_err err = { 0 };
	const struct trace_reader_options options = { .take = take, .data = &found };
	ck_assert_int_eq(trace_read(fd, &options, &err), 0);
	unlink(path);
	buf_terminate(&found.text);
	const char expected[] = "1 head\n2 in 0.0 |\xFF\0\n3 out 0.0 open |half\n"
							"4 out 0.0 cut |long\n5 err 0.0 |a\nb\n6 err 0.0 open |c\n"
							"7 host 0.0 exit:{\"n\":-3,\"f\":true,\"t\":\"\\\"\",\"j\":[1],"
							"\"none\":null}|left 3\n"
							"8 host 0.0 masked result:{\"ticket\":5,\"value\":\"******\"}|"
							"request 5 has its result: 8 bytes\n"
							"9 host 0.0 masked result:{\"ticket\":6,\"value\":{\"env\":"
							"{\"A\":\"*\"},\"git_log\":[]}}|request 6 has its result: 30 bytes\n"
							"10 host 0.0 result:{\"ticket\":7,\"value\":{\"code\":0}}|"
							"request 7 has its result: 10 bytes\n";
	ck_assert_msg(found.text.len == sizeof(expected) - 1 &&
			memcmp(found.text.data, expected, sizeof(expected) - 1) == 0,
		"%s", found.text.data);
	buf_free(&found.text);
}
END_TEST

START_TEST(a_directory_cannot_be_read)
{
	struct found found = { 0 };
	perch_err err = { 0 };
	const struct trace_reader_options options = { .take = take, .data = &found };
	_cleanup_fd_ int fd = open("/", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(trace_read(fd, &options, &err), -EISDIR);
	ck_assert_ptr_nonnull(strstr(err.text, "cannot be read"));
}
END_TEST

static const struct {
	const char *text;
	const char *bytes; /* NULL = it is no base64 */
} codes[] = {
	{ "", "" },
	{ "Zg==", "f" },
	{ "Zm8=", "fo" },
	{ "Zm9v", "foo" },
	{ "Zm9vYg==", "foob" },
	{ "/+++", "\xFF\xEF\xBE" },
	{ "Zg=", NULL },
	{ "Zg", NULL },
	{ "Zh==", NULL }, /* bits that say nothing */
	{ "Zm9=", NULL },
	{ "Zg==Zg==", NULL },
	{ "Z===", NULL },
	{ "====", NULL },
	{ "Zm 9", NULL },
	{ "Zm9v\n", NULL },
	{ "Zm-_", NULL },
};

START_TEST(base64_is_read_strictly)
{
	for (size_t i = 0; i < COUNT(codes); i++) {
		struct buf out = { 0 };
		int r = base64_append_decoded(&out, str_from(codes[i].text));
		ck_assert_int_eq(r, codes[i].bytes ? 0 : -EINVAL);
		if (codes[i].bytes)
			ck_assert_msg(
				str_is((struct str){ out.data, out.len }, codes[i].bytes), "%s", codes[i].text);
		buf_free(&out);
	}
}
END_TEST

static int read_all(void *data)
{
	(void)data;
	struct found found = { 0 };
	int r = read_text(HEAD "{\"t\":2,\"dir\":\"out\",\"base64\":\"//4=\"}\nnonsense\n"
						   "{\"t\":0,\"dir\":\"in\",\"line\":\"\\u00e4\"}\n",
		9, 0, &found);
	buf_free(&found.text);
	return r;
}

START_TEST(memory_may_run_out_anywhere)
{
	ck_assert_uint_gt(oom_every(read_all, NULL), 5);
}
END_TEST

static int pass_over(void *data, const struct trace_record *record)
{
	(void)data;
	ck_assert_int_eq(record->kind, TRACE_ENTRY);
	return 0;
}

/* The last line has no end: it is read when the file has been. */
static int read_file(void *data)
{
	static const char line[] = "{\"t\":0,\"dir\":\"out\",\"line\":\"a\\nb\"}";
	(void)data;
	int pipes[2];
	ck_assert_int_eq(pipe(pipes), 0);
	_cleanup_fd_ int fd = pipes[0];
	ck_assert_int_eq(write(pipes[1], line, sizeof(line) - 1), sizeof(line) - 1);
	close(pipes[1]);
	perch_err err = { 0 };
	const struct trace_reader_options options = { .take = pass_over };
	int r = trace_read(fd, &options, &err);
	ck_assert_msg((r < 0) == (err.text[0] != '\0'), "%d without words", r);
	return r;
}

START_TEST(that_memory_ran_out_is_said)
{
	ck_assert_uint_gt(oom_every(read_file, NULL), 3);
}
END_TEST

SUITE_MAIN("trace-reader", records_are_what_they_say, what_is_wrong_is_told_by_its_line,
	a_record_over_the_limit_is_passed_over, whoever_takes_may_stop, what_was_recorded_is_read_again,
	a_directory_cannot_be_read, base64_is_read_strictly, memory_may_run_out_anywhere,
	that_memory_ran_out_is_said)

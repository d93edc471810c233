/* JSON-RPC from strings: what each line is taken for, ids, batches, what is in flight. */
#include "harness/oom.h"
#include "harness/suite.h"
#include "wire/jsonrpc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static perch_json *json;

static void begin(void)
{
	ck_assert_int_eq(perch_json_new(NULL, &json), 0);
}

static struct jsonrpc_message read_one(const char *line)
{
	struct jsonrpc_frame frame;
	static struct jsonrpc_message message;
	ck_assert_int_eq(jsonrpc_open(json, str_from(line), &frame), 0);
	ck_assert(!frame.is_batch);
	ck_assert(jsonrpc_next(&frame, &message));
	struct jsonrpc_message none;
	ck_assert(!jsonrpc_next(&frame, &none));
	return message;
}

static const struct line_case {
	const char *line;
	enum jsonrpc_kind kind;
	int code;
	bool is_answered;
	enum jsonrpc_id_kind id;
} lines[] = {
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", JSONRPC_REQUEST, 0, true,
		JSONRPC_ID_INTEGER },
	{ "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"m\",\"params\":{}}", JSONRPC_REQUEST, 0, true,
		JSONRPC_ID_TEXT },
	{ "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"m\"}", JSONRPC_REQUEST, 0, true,
		JSONRPC_ID_TEXT },
	{ "{\"jsonrpc\":\"2.0\",\"id\":-1,\"method\":\"m\"}", JSONRPC_REQUEST, 0, true,
		JSONRPC_ID_INTEGER },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"m\"}", JSONRPC_REQUEST, 0, true,
		JSONRPC_ID_INTEGER },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}", JSONRPC_NOTIFICATION, 0, false, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}", JSONRPC_RESULT, 0, false,
		JSONRPC_ID_INTEGER },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-5,\"message\":\"x\"}}", JSONRPC_ERROR, -5,
		false, JSONRPC_ID_INTEGER },
	{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-5}}", JSONRPC_ERROR, -5, false, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"error\":7}", JSONRPC_ERROR, 0, false, 0 },
	/* Not JSON. */
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,", JSONRPC_INVALID, -32700, true, 0 },
	{ "nonsense", JSONRPC_INVALID, -32700, true, 0 },
	{ "{} {}", JSONRPC_INVALID, -32700, true, 0 },
	{ "\"\xff\"", JSONRPC_INVALID, -32700, true, 0 },
	/* JSON, and no message. */
	{ "1", JSONRPC_INVALID, -32600, true, 0 },
	{ "null", JSONRPC_INVALID, -32600, true, 0 },
	{ "{}", JSONRPC_INVALID, -32600, true, 0 },
	{ "[]", JSONRPC_INVALID, -32600, true, 0 },
	{ "{\"id\":1,\"method\":\"m\"}", JSONRPC_INVALID, -32600, true, JSONRPC_ID_INTEGER },
	{ "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}", JSONRPC_INVALID, -32600, true,
		JSONRPC_ID_INTEGER },
	{ "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"m\"}", JSONRPC_INVALID, -32600, true,
		JSONRPC_ID_INTEGER },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", JSONRPC_INVALID, -32600, true,
		JSONRPC_ID_INTEGER },
	{ "{\"jsonrpc\":\"2.0\",\"method\":null}", JSONRPC_INVALID, -32600, true, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1}", JSONRPC_INVALID, -32600, true, JSONRPC_ID_INTEGER },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[]}", JSONRPC_INVALID, -32600,
		true, JSONRPC_ID_INTEGER },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":null}", JSONRPC_INVALID, -32600,
		true, JSONRPC_ID_INTEGER },
	/* Ids that are none. */
	{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", JSONRPC_INVALID, -32600, true, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"m\"}", JSONRPC_INVALID, -32600, true, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1e99,\"method\":\"m\"}", JSONRPC_INVALID, -32600, true, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"m\"}", JSONRPC_INVALID, -32600, true, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"m\"}", JSONRPC_INVALID, -32600, true, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"m\"}", JSONRPC_INVALID, -32600, true, 0 },
	/* A broken notification or response is never answered. */
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":7}", JSONRPC_INVALID, -32600, false, 0 },
	{ "{\"method\":\"m\"}", JSONRPC_INVALID, -32600, false, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"error\":{}}", JSONRPC_INVALID, -32600, false,
		JSONRPC_ID_INTEGER },
	{ "{\"jsonrpc\":\"2.0\",\"result\":1}", JSONRPC_INVALID, -32600, false, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"result\":1}", JSONRPC_INVALID, -32600, false, 0 },
	{ "{\"id\":1,\"result\":1}", JSONRPC_INVALID, -32600, false, JSONRPC_ID_INTEGER },
};

START_TEST(lines_are_taken_for_what_they_are)
{
	begin();
	for (size_t i = 0; i < COUNT(lines); i++) {
		struct jsonrpc_message message = read_one(lines[i].line);
		bool is_it = message.kind == lines[i].kind && message.code == lines[i].code &&
			message.id.kind == lines[i].id &&
			(message.kind != JSONRPC_INVALID || message.is_answered == lines[i].is_answered) &&
			(message.kind != JSONRPC_INVALID || message.text.len);
		ck_assert_msg(is_it, "%s: kind %d code %d id %d", lines[i].line, (int)message.kind,
			(int)message.code, (int)message.id.kind);
	}
	perch_json_free(json);
}
END_TEST

START_TEST(an_id_is_what_it_reads_as)
{
	begin();
	struct jsonrpc_id one = read_one("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}").id;
	struct jsonrpc_id same = read_one("{\"jsonrpc\":\"2.0\",\"id\":1e0,\"method\":\"m\"}").id;
	ck_assert(jsonrpc_id_eq(&one, &same));
	struct jsonrpc_id text = read_one("{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"m\"}").id;
	ck_assert(!jsonrpc_id_eq(&one, &text));
	struct jsonrpc_message escaped =
		read_one("{\"jsonrpc\":\"2.0\",\"id\":\"\\u0061\",\"method\":\"m\"}");
	ck_assert(str_is(escaped.id.text, "a"));
	char line[700];
	int start = snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"id\":\"");
	memset(line + start, 'x', JSONRPC_ID_MAX);
	strcpy(line + start + JSONRPC_ID_MAX, "\"}");
	ck_assert_int_eq(read_one(line).kind, JSONRPC_REQUEST);
	strcpy(line + start + JSONRPC_ID_MAX, "x\"}");
	ck_assert_int_eq(read_one(line).kind, JSONRPC_INVALID);
	perch_json_free(json);
}
END_TEST

START_TEST(a_batch_is_its_messages)
{
	begin();
	static const char line[] = "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"},7,{\"jsonrpc\":"
							   "\"2.0\",\"method\":\"b\"}]";
	struct jsonrpc_frame frame;
	struct jsonrpc_message message;
	ck_assert_int_eq(jsonrpc_open(json, str_from(line), &frame), 0);
	ck_assert(frame.is_batch);
	ck_assert_uint_eq(frame.count, 3);
	static const enum jsonrpc_kind kinds[] = { JSONRPC_REQUEST, JSONRPC_INVALID,
		JSONRPC_NOTIFICATION };
	for (size_t i = 0; i < COUNT(kinds); i++) {
		ck_assert(jsonrpc_next(&frame, &message));
		ck_assert_int_eq(message.kind, kinds[i]);
	}
	ck_assert(!jsonrpc_next(&frame, &message));
	perch_json_free(json);
}
END_TEST

START_TEST(messages_are_written)
{
	struct buf out = { 0 };
	perch_json_writer writer = json_writer_on(&out);
	struct jsonrpc_id number = { JSONRPC_ID_INTEGER, 7, { 0 } };
	struct jsonrpc_id text = { JSONRPC_ID_TEXT, 0, STR("a\"b") };
	struct jsonrpc_id none = { 0 }, null = { JSONRPC_ID_NULL, 0, { 0 } };
	perch_json_begin_array(&writer);
	jsonrpc_begin_result(&writer, &number);
	perch_json_write_bool(&writer, true);
	jsonrpc_end(&writer);
	jsonrpc_begin_request(&writer, &text, "m");
	jsonrpc_end(&writer);
	jsonrpc_begin_notification(&writer, "n");
	jsonrpc_end(&writer);
	jsonrpc_write_error(&writer, &none, -1, STR("t"), STR("[1]"));
	jsonrpc_write_error(&writer, &null, -2, STR("u"), (struct str){ 0 });
	perch_json_end_array(&writer);
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_str_eq(out.data,
		"[{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":true},"
		"{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"b\",\"method\":\"m\"},"
		"{\"jsonrpc\":\"2.0\",\"method\":\"n\"},"
		"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-1,\"message\":\"t\",\"data\":[1]}},"
		"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-2,\"message\":\"u\"}}]");
	buf_free(&out);
}
END_TEST

enum { MANY = 1000 };

static int fill(void *data)
{
	struct jsonrpc_waiting *waiting = data;
	struct jsonrpc_ids ids = { .limit = MANY };
	int r = 0;
	for (int i = 0; i < MANY && r == 0; i++) {
		waiting[i].id = (struct jsonrpc_id){ .kind = JSONRPC_ID_INTEGER, .number = i * 16 };
		r = jsonrpc_ids_add(&ids, &waiting[i]);
	}
	jsonrpc_ids_free(&ids);
	return r;
}

START_TEST(what_is_in_flight_is_found)
{
	static struct jsonrpc_waiting waiting[MANY + 1];
	ck_assert_uint_gt(oom_every(fill, waiting), 3);
	struct jsonrpc_ids ids = { .limit = MANY };
	struct jsonrpc_id absent = { .kind = JSONRPC_ID_INTEGER, .number = 5 };
	ck_assert_ptr_null(jsonrpc_ids_find(&ids, &absent));
	for (int i = 0; i < MANY; i++)
		ck_assert_int_eq(jsonrpc_ids_issue(&ids, &waiting[i]), 0);
	ck_assert_int_eq(jsonrpc_ids_issue(&ids, &waiting[MANY]), PERCH_ELIMIT);
	for (int i = 0; i < MANY; i++)
		ck_assert_ptr_eq(jsonrpc_ids_find(&ids, &waiting[i].id), &waiting[i]);
	waiting[MANY].id = waiting[3].id;
	ck_assert_int_eq(jsonrpc_ids_add(&ids, &waiting[MANY]), -EEXIST);
	for (int i = 0; i < MANY; i += 2)
		jsonrpc_ids_remove(&ids, &waiting[i]);
	for (int i = 0; i < MANY; i++)
		ck_assert_ptr_eq(jsonrpc_ids_find(&ids, &waiting[i].id), i % 2 ? &waiting[i] : NULL);
	ck_assert_uint_eq(ids.count, MANY / 2);
	jsonrpc_ids_free(&ids);
}
END_TEST

static int read_all(void *data)
{
	(void)data;
	perch_json *own = NULL;
	struct jsonrpc_frame frame;
	int r = perch_json_new(NULL, &own);
	if (r == 0)
		r = jsonrpc_open(
			own, STR("[{\"jsonrpc\":\"2.0\",\"id\":\"\\u0061\",\"method\":\"m\"}]"), &frame);
	struct jsonrpc_message message;
	while (r == 0 && jsonrpc_next(&frame, &message))
		ck_assert_int_eq(message.kind, JSONRPC_REQUEST);
	perch_json_free(own);
	return r;
}

START_TEST(without_memory_it_says_so)
{
	ck_assert_uint_gt(oom_every(read_all, NULL), 1);
}
END_TEST

SUITE_MAIN("wire-jsonrpc", lines_are_taken_for_what_they_are, an_id_is_what_it_reads_as,
	a_batch_is_its_messages, messages_are_written, what_is_in_flight_is_found,
	without_memory_it_says_so)

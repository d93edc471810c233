/* What a bridge is asked, from lines: every member, its limits, and what is wrong with it. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/sessions.h"
#include "events/turn_request.h"
#include "harness/oom.h"

static const struct {
	const char *line;
	const char *expected; /* "id profile message name from new attachments", or "! words" */
} requests[] = {
	{ "{\"id\":\"a\",\"message\":\"m\"}", "a P m - - 0 0" },
	{ "{\"id\":\"a\",\"message\":\"m\",\"profile\":\"Q\",\"session_name\":\"n\",\"from\":\"f\","
	  "\"new\":true,\"attachments\":[{\"type\":\"image\",\"url\":\"u\"},"
	  "{\"type\":\"video\",\"url\":\"v\",\"name\":\"w\"}]}",
		"a Q m n f 1 2" },
	{ "{\"id\":\"\\u0061\",\"message\":\"\\u006d\",\"attachments\":null,\"from\":null}",
		"a P m - - 0 0" },
	{ "{\"id\":\"a\",\"message\":\"\",\"attachments\":[]}", "a P  - - 0 0" },
	{ "{\"cancel\":\"a\"}", "cancel a" },
	{ "{\"id\":\"a\",\"message\":\"m\",\"x\":1}", "a P m - - 0 0 unknown x" },
	{ "{\"y\":1,\"id\":\"a\",\"message\":\"m\",\"x\":1}", "a P m - - 0 0 unknown y unknown x" },
	{ "{\"id\":\"a\",\"message\":\"m\",\"attachments\":[{\"kind\":\"file\",\"url\":\"u\",\"size\":"
	  "3}]}",
		"a P m - - 0 1 unknown attachments.size" },
	{ "{\"id\":\"a\",\"message\":\"m\",\"session_id\":\"s\",\"timeout\":1.5,\"env\":{\"A\":\"1\","
	  "\"B\":\"\"},"
	  "\"cwd\":\"/"
	  "d\",\"streaming\":false,\"attachments\":[{\"kind\":\"file\",\"url\":\"u\",\"filename\":"
	  "\"n\"}]}",
		"a P m - - 0 1 session s 1500 ms A=1 B= in /d at once u/n" },
	{ "{\"permit\":\"a\",\"request_id\":\"r\",\"allow\":true,\"message\":\"fine\"}",
		"permit a r 1 fine" },
	{ "{\"permit\":\"a\",\"request_id\":\"r\",\"allow\":false}", "permit a r 0 " },
	{ "{\"permit\":\"a\",\"request_id\":\"r\"}", "! beside it stand" },
	{ "{\"permit\":\"a\",\"allow\":true}", "! beside it stand" },
	{ "{\"permit\":7,\"request_id\":\"r\",\"allow\":true}", "! \"permit\" must be a string" },
	{ "{\"permit\":\"a\",\"request_id\":\"r\",\"allow\":\"yes\"}",
		"! \"allow\" must be true or false" },
	{ "{\"id\":\"a\",\"message\":\"m\",\"timeout\":\"1\"}", "! a number of seconds" },
	{ "{\"id\":\"a\",\"message\":\"m\",\"timeout\":-1}", "! a number of seconds" },
	{ "{\"id\":\"a\",\"message\":\"m\",\"env\":[]}", "! \"env\" must be an object" },
	{ "{\"id\":\"a\",\"message\":\"m\",\"env\":{\"A=B\":\"1\"}}", "! names of variables" },
	{ "{\"id\":\"a\",\"message\":\"m\",\"env\":{\"A\":1}}", "! names of variables" },
	{ "{\"id\":\"a\",\"message\":\"m\",\"streaming\":1}", "! \"streaming\" must be true or false" },
	{ "{\"id\":\"a\",\"message\":\"m\",\"cwd\":1}", "! \"cwd\" must be a string" },
	{ "7", "! a turn is an object" },
	{ "{}", "! needs an \"id\"" },
	{ "{\"id\":null,\"message\":\"m\"}", "! needs an \"id\"" },
	{ "{\"id\":[],\"message\":\"m\"}", "! \"id\" must be a string, not an array" },
	{ "{\"id\":\"a\\u0000\",\"message\":\"m\"}", "! NUL" },
	{ "{\"id\":\"a\"}", "! \"message\" is missing" },
	{ "{\"id\":\"a\",\"message\":{}}", "! must be a string" },
	{ "{\"id\":\"a\",\"message\":\"m\",\"new\":1}", "! true or false" },
	{ "{\"id\":\"a\",\"message\":\"m\",\"attachments\":{}}", "! must be a list" },
	{ "{\"id\":\"a\",\"message\":\"m\",\"attachments\":[1]}", "! \"kind\" is image" },
	{ "{\"id\":\"a\",\"message\":\"m\",\"attachments\":[{\"type\":\"file\"}]}",
		"! needs a \"url\"" },
	{ "{\"cancel\":null}", "! the id of a turn" },
	{ "{\"cancel\":\"a\",\"id\":\"b\",\"message\":\"m\"}", "! stands alone" },
};

static const char *or_dash(const char *text)
{
	return text ? text : "-";
}

static void describe_changes(FILE *out, const struct turn_request *request)
{
	const perch_job_request *turn = &request->turn;
	if (request->options.session_id)
		fprintf(out, " session %s", request->options.session_id);
	if (request->options.has_timeout)
		fprintf(out, " %d ms", (int)(request->options.timeout_ns / 1000000));
	for (size_t i = 0; turn->env && turn->env[i]; i++)
		fprintf(out, " %s", turn->env[i]);
	if (turn->cwd)
		fprintf(out, " in %s", turn->cwd);
	if (turn->no_stream)
		fprintf(out, " at once %s/%s", turn->attachments[0].url, turn->attachments[0].name);
	for (size_t i = 0; i < request->unknown_count; i++)
		fprintf(out, " unknown %s", request->unknown[i]);
}

static const char *describe(const struct turn_request *request)
{
	static char text[1024];
	const perch_job_request *turn = &request->turn;
	const struct turn_permit *permit = &request->permit;
	FILE *out = fmemopen(text, sizeof(text), "w");
	if (request->cancel) {
		fprintf(out, "cancel %s", request->cancel);
	} else if (permit->turn) {
		fprintf(out, "permit %s %s %d %s", permit->turn, permit->request_id, permit->is_allowed,
			permit->message);
	} else {
		fprintf(out, "%s %s %.*s %s %s %d %zu", request->id, turn->profile, (int)turn->message_len,
			turn->message, or_dash(turn->session), or_dash(turn->from), turn->is_new,
			turn->attachment_count);
		describe_changes(out, request);
	}
	fclose(out);
	return text;
}

START_TEST(requests_read_as_they_should)
{
	perch_json *json;
	ck_assert_int_eq(perch_json_new(NULL, &json), 0);
	for (size_t i = 0; i < COUNT(requests); i++) {
		const char *line = requests[i].line;
		const char *expected = requests[i].expected;
		struct arena arena = { 0 };
		const perch_json_value *root;
		struct turn_request request;
		perch_err err = { 0 };
		ck_assert_int_eq(perch_json_parse(json, line, strlen(line), &root, NULL), 0);
		int r = turn_request_read(root, "P", &arena, &request, &err);
		if (expected[0] == '!') {
			ck_assert_int_eq(r, -EINVAL);
			ck_assert_msg(strstr(err.text, expected + 2) != NULL, "%s: %s", line, err.text);
		} else {
			ck_assert_msg(r == 0, "%s: %s", line, err.text);
			ck_assert_str_eq(describe(&request), expected);
		}
		arena_free(&arena);
	}
	perch_json_free(json);
}
END_TEST

/* What is wrong with a line, its answer has an id if the line has anything like one. */
START_TEST(refused_requests_have_an_id)
{
	static char long_line[REQUEST_ID_MAX + 64];
	static char cut[REQUEST_ID_MAX + 1];
	memset(cut, 'x', REQUEST_ID_MAX - 1);
	snprintf(long_line, sizeof(long_line), "{\"id\":\"%s\u00e9\",\"message\":\"m\"}", cut);
	const struct {
		const char *line;
		const char *id;
	} cases[] = {
		{ "{\"cancel\":\"a\",\"id\":\"b\",\"message\":\"m\"}", "b" },
		{ "{\"cancel\":\"a\",\"message\":\"m\"}", NULL },
		{ "{\"cancel\":7,\"id\":7}", NULL },
		{ "{\"id\":7,\"message\":\"m\"}", NULL },
		{ "{\"id\":\"b\"}", "b" },
		{ "{\"id\":\"\\u0000b\\u0000\",\"message\":\"m\"}",
			"\xEF\xBF\xBD"
			"b\xEF\xBF\xBD" },
		{ long_line, cut },
	};
	perch_json *json;
	ck_assert_int_eq(perch_json_new(NULL, &json), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct arena arena = { 0 };
		const perch_json_value *root;
		struct turn_request request;
		const char *line = cases[i].line;
		ck_assert_int_eq(perch_json_parse(json, line, strlen(line), &root, NULL), 0);
		ck_assert_int_eq(turn_request_read(root, "P", &arena, &request, NULL), -EINVAL);
		ck_assert_ptr_null(request.cancel);
		ck_assert_pstr_eq(request.id, cases[i].id);
		arena_free(&arena);
	}
	perch_json_free(json);
}
END_TEST

START_TEST(requests_have_limits)
{
	static char line[70000];
	static char longer[REQUEST_ID_MAX + 2];
	struct arena arena = { 0 };
	struct turn_request request;
	perch_json *json;
	const perch_json_value *root;
	perch_err err = { 0 };
	memset(longer, 'x', REQUEST_ID_MAX + 1);
	snprintf(line, sizeof(line), "{\"id\":\"%s\",\"message\":\"m\"}", longer);
	ck_assert_int_eq(perch_json_new(NULL, &json), 0);
	ck_assert_int_eq(perch_json_parse(json, line, strlen(line), &root, NULL), 0);
	ck_assert_int_eq(turn_request_read(root, "P", &arena, &request, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "256"));
	strcpy(line, "{\"id\":\"a\",\"message\":\"m\",\"attachments\":[");
	for (int i = 0; i <= REQUEST_ATTACHMENTS_MAX; i++)
		strcat(
			line, i ? ",{\"type\":\"file\",\"url\":\"u\"}" : "{\"type\":\"file\",\"url\":\"u\"}");
	strcat(line, "]}");
	ck_assert_int_eq(perch_json_parse(json, line, strlen(line), &root, NULL), 0);
	ck_assert_int_eq(turn_request_read(root, "P", &arena, &request, &err), -EINVAL);
	ck_assert_str_eq(request.id, "a");
	ck_assert_int_eq(
		perch_json_parse(json, requests[0].line, strlen(requests[0].line), &root, NULL), 0);
	ck_assert_int_eq(turn_request_read(root, NULL, &arena, &request, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "--profile"));
	perch_json_free(json);
	arena_free(&arena);
}
END_TEST

static int read_one(void *data)
{
	struct arena arena = { 0 };
	struct turn_request request;
	int r = turn_request_read(data, "P", &arena, &request, NULL);
	arena_free(&arena);
	return r;
}

START_TEST(requests_without_memory)
{
	perch_json *json;
	const perch_json_value *root;
	const char *line = requests[1].line;
	ck_assert_int_eq(perch_json_new(NULL, &json), 0);
	ck_assert_int_eq(perch_json_parse(json, line, strlen(line), &root, NULL), 0);
	ck_assert_uint_ge(oom_every(read_one, (void *)root), 1);
	perch_json_free(json);
}
END_TEST

SUITE_MAIN("turn-request", requests_read_as_they_should, refused_requests_have_an_id,
	requests_have_limits, requests_without_memory)

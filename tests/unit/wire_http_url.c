/* Parts of a target, and the table of routes. */
#include "harness/suite.h"
#include "wire/http_router.h"
#include "wire/http_text.h"

#include <errno.h>
#include <string.h>

START_TEST(decoding)
{
	static const struct {
		const char *text;
		enum http_decoding decoding;
		int result;
		const char *out;
	} cases[] = {
		{ "", HTTP_DECODE_PATH, 0, "" },
		{ "abc", HTTP_DECODE_PATH, 3, "abc" },
		{ "a%20b+c", HTTP_DECODE_PATH, 5, "a b+c" },
		{ "a%20b+c", HTTP_DECODE_QUERY, 5, "a b c" },
		{ "%2B%2f%2F%25", HTTP_DECODE_QUERY, 4, "+//%" },
		{ "%c3%BC", HTTP_DECODE_PATH, 2, "\xc3\xbc" },
		{ "%2541", HTTP_DECODE_PATH, 3, "%41" },
		{ "%", HTTP_DECODE_PATH, PERCH_ESYNTAX, NULL },
		{ "a%4", HTTP_DECODE_PATH, PERCH_ESYNTAX, NULL },
		{ "%4g", HTTP_DECODE_PATH, PERCH_ESYNTAX, NULL },
		{ "%+1", HTTP_DECODE_PATH, PERCH_ESYNTAX, NULL },
		{ "a%00", HTTP_DECODE_PATH, PERCH_ESYNTAX, NULL },
		{ "%ff", HTTP_DECODE_PATH, PERCH_ESYNTAX, NULL },
		{ "%c0%af", HTTP_DECODE_PATH, PERCH_ESYNTAX, NULL },
		{ "%ed%a0%80", HTTP_DECODE_PATH, PERCH_ESYNTAX, NULL },
		{ "12345678", HTTP_DECODE_PATH, PERCH_ELIMIT, NULL },
		{ "1234567", HTTP_DECODE_PATH, 7, "1234567" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		char out[8];
		int r = http_url_decode(str_from(cases[i].text), cases[i].decoding, out, sizeof(out));
		ck_assert_int_eq(r, cases[i].result);
		if (r >= 0)
			ck_assert_str_eq(out, cases[i].out);
	}
	ck_assert_int_eq(http_url_decode(STR(""), HTTP_DECODE_PATH, NULL, 0), PERCH_ELIMIT);
}
END_TEST

START_TEST(parameters)
{
	static const struct {
		const char *query;
		int result;
		const char *value;
	} cases[] = {
		{ "", -ENOENT, NULL },
		{ "&&", -ENOENT, NULL },
		{ "xa=1&b=a", -ENOENT, NULL },
		{ "=1", -ENOENT, NULL },
		{ "a", 0, "" },
		{ "a=", 0, "" },
		{ "&b=2&&a=1=2&", 3, "1=2" },
		{ "%61=%31+2", 3, "1 2" },
		{ "a=1&a=1", -EEXIST, NULL },
		{ "a=1&%61", -EEXIST, NULL },
		{ "a=%", PERCH_ESYNTAX, NULL },
		{ "a=12345678", PERCH_ELIMIT, NULL },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		char out[8];
		int r = http_query_get(str_from(cases[i].query), "a", out, sizeof(out));
		ck_assert_msg(r == cases[i].result, "%s: %d", cases[i].query, r);
		if (r >= 0)
			ck_assert_str_eq(out, cases[i].value);
	}
	ck_assert_int_eq(http_query_get((struct str){ 0 }, "a", NULL, 0), -ENOENT);
}
END_TEST

START_TEST(segments)
{
	static const struct {
		const char *path;
		int result; /* how many, or an error */
	} cases[] = {
		{ "/", 0 },
		{ "/a", 1 },
		{ "/a/b/c", 3 },
		{ "/%2F/...", 2 },
		{ "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16", 16 },
		{ "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17", PERCH_ELIMIT },
		{ "", PERCH_ESYNTAX },
		{ "*", PERCH_ESYNTAX },
		{ "a", PERCH_ESYNTAX },
		{ "//", PERCH_ESYNTAX },
		{ "//a", PERCH_ESYNTAX },
		{ "/a/", PERCH_ESYNTAX },
		{ "/a//b", PERCH_ESYNTAX },
		{ "/.", PERCH_ESYNTAX },
		{ "/a/..", PERCH_ESYNTAX },
		{ "/%2e%2E/a", PERCH_ESYNTAX },
		{ "/.%2e/a", PERCH_ESYNTAX },
		{ "/%2e", PERCH_ESYNTAX },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct http_segments found = { .count = 0 };
		int r = http_path_split(str_from(cases[i].path), &found);
		ck_assert_msg((r < 0 ? r : (int)found.count) == cases[i].result, "%s", cases[i].path);
	}
}
END_TEST

enum { ROOT = 1, JOBS, NEW_JOB, JOB, END_JOB, ANSWER, MODEL, FILES };

static const struct http_route table[] = {
	{ HTTP_BIT(HTTP_GET), "/", ROOT },
	{ HTTP_BIT(HTTP_GET), "/api/jobs", JOBS },
	{ HTTP_BIT(HTTP_POST), "/api/jobs", NEW_JOB },
	{ HTTP_BIT(HTTP_GET), "/api/jobs/{}", JOB },
	{ HTTP_BIT(HTTP_DELETE), "/api/jobs/{}", END_JOB },
	{ HTTP_BIT(HTTP_POST), "/api/jobs/{}/answers/{}", ANSWER },
	{ HTTP_BIT(HTTP_GET), "/v1/models/{*}", MODEL },
	{ HTTP_BIT(HTTP_GET) | HTTP_BIT(HTTP_PUT), "/{}", FILES },
};
static const struct http_routes routes = { table, COUNT(table) };

START_TEST(routing)
{
	static const struct {
		enum http_method method;
		const char *path;
		int status, handler;
		const char *first, *second;
	} cases[] = {
		{ HTTP_GET, "/", 200, ROOT, NULL, NULL },
		{ HTTP_HEAD, "/", 200, ROOT, NULL, NULL },
		{ HTTP_POST, "/", 405, 0, NULL, NULL },
		{ HTTP_GET, "/api/jobs", 200, JOBS, NULL, NULL },
		{ HTTP_POST, "/api/jobs", 200, NEW_JOB, NULL, NULL },
		{ HTTP_GET, "/api/jobs/7%2f", 200, JOB, "7%2f", NULL },
		{ HTTP_DELETE, "/api/jobs/7", 200, END_JOB, "7", NULL },
		{ HTTP_PATCH, "/api/jobs/7", 405, 0, NULL, NULL },
		{ HTTP_POST, "/api/jobs/7/answers/12", 200, ANSWER, "7", "12" },
		{ HTTP_GET, "/api/jobs/7/answers/12", 405, 0, NULL, NULL },
		{ HTTP_POST, "/api/jobs/7/answers", 404, 0, NULL, NULL },
		{ HTTP_POST, "/api/jobs/7/answers/12/", 404, 0, NULL, NULL },
		{ HTTP_GET, "/v1/models/acme/bot", 200, MODEL, "acme/bot", NULL },
		{ HTTP_GET, "/v1/models", 404, 0, NULL, NULL },
		{ HTTP_GET, "/api", 200, FILES, "api", NULL },
		{ HTTP_PUT, "/x", 200, FILES, "x", NULL },
		{ HTTP_GET, "/API/jobs", 404, 0, NULL, NULL },
		{ HTTP_GET, "/%61pi/jobs", 404, 0, NULL, NULL },
		{ HTTP_GET, "/api/./jobs", 404, 0, NULL, NULL },
		{ HTTP_GET, "/x/../api/jobs", 404, 0, NULL, NULL },
		{ HTTP_GET, "//api/jobs", 404, 0, NULL, NULL },
		{ HTTP_OPTIONS, "*", 404, 0, NULL, NULL },
	};
	ck_assert(http_routes_are_valid(&routes));
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct http_match match =
			http_route_find(&routes, cases[i].method, str_from(cases[i].path));
		ck_assert_msg(match.status == cases[i].status, "%s: %d", cases[i].path, match.status);
		if (match.status != 200)
			continue;
		ck_assert_int_eq(match.handler, cases[i].handler);
		const char *wanted[] = { cases[i].first, cases[i].second };
		for (size_t j = 0; j < COUNT(wanted); j++)
			ck_assert(j < match.parameter_count ? str_is(match.parameters[j], wanted[j])
												: wanted[j] == NULL);
	}
}
END_TEST

START_TEST(methods_of_a_path)
{
	struct buf allow = { 0 };
	struct http_match match = http_route_find(&routes, HTTP_OPTIONS, STR("/api/jobs/7"));
	ck_assert_int_eq(match.status, 405);
	ck_assert_int_eq(http_methods_write(&allow, match.allowed), 0);
	buf_terminate(&allow);
	ck_assert_str_eq(allow.data, "GET, HEAD, DELETE");
	buf_free(&allow);
	/* Also where the first row has fitted. */
	match = http_route_find(&routes, HTTP_GET, STR("/api/jobs"));
	ck_assert_uint_eq(
		match.allowed, HTTP_BIT(HTTP_GET) | HTTP_BIT(HTTP_HEAD) | HTTP_BIT(HTTP_POST));
	ck_assert_int_eq(match.handler, JOBS);
}
END_TEST

START_TEST(tables_that_are_wrong)
{
	static const struct http_route wrong[][2] = {
		{ { HTTP_BIT(HTTP_GET), "/a", 1 }, { HTTP_BIT(HTTP_GET), "/a", 2 } },
		{ { HTTP_BIT(HTTP_GET), "/{}", 1 }, { HTTP_BIT(HTTP_GET), "/a", 2 } },
		{ { HTTP_BIT(HTTP_GET), "/{*}", 1 }, { HTTP_BIT(HTTP_HEAD), "/a/{}", 2 } },
		{ { HTTP_BIT(HTTP_GET), "/{*}/a", 1 }, { HTTP_BIT(HTTP_GET), "/", 2 } },
		{ { HTTP_BIT(HTTP_GET), "a", 1 }, { HTTP_BIT(HTTP_GET), "/", 2 } },
		{ { HTTP_BIT(HTTP_GET), "/a/", 1 }, { HTTP_BIT(HTTP_GET), "/", 2 } },
		{ { HTTP_BIT(HTTP_GET), "/{}/{}/{}/{}/{}", 1 }, { HTTP_BIT(HTTP_GET), "/", 2 } },
		{ { 0, "/a", 1 }, { HTTP_BIT(HTTP_GET), "/", 2 } },
		{ { HTTP_BIT(HTTP_NO_METHOD), "/a", 1 }, { HTTP_BIT(HTTP_GET), "/", 2 } },
	};
	for (size_t i = 0; i < COUNT(wrong); i++)
		ck_assert(!http_routes_are_valid(&(struct http_routes){ wrong[i], 2 }));
}
END_TEST

START_TEST(lists_and_numbers)
{
	uint64_t number = 0;
	ck_assert(http_list_has(STR("a, B ,c"), STR("b")));
	ck_assert(http_list_has(STR(",,a"), STR("A")));
	ck_assert(!http_list_has(STR("ab"), STR("a")));
	ck_assert(!http_list_has((struct str){ 0 }, STR("a")));
	ck_assert(http_read_number(STR("18446744073709551615"), &number));
	ck_assert(number == UINT64_MAX);
	ck_assert(http_read_number(STR("18446744073709551616"), &number));
	ck_assert(number == UINT64_MAX);
	ck_assert(http_read_number(STR("99999999999999999999999"), &number));
	ck_assert(number == UINT64_MAX);
	ck_assert(!http_read_number(STR(""), &number));
	ck_assert(!http_read_number(STR("1 "), &number));
}
END_TEST

/* Every byte at every place of a text, beside those that differ from it by the upper bit alone. */
START_TEST(letters_of_lines)
{
	char text[21];
	for (size_t at = 0; at < sizeof(text); at++) {
		for (int byte = 0; byte < 256; byte++) {
			memset(text, 0xa0, sizeof(text));
			text[at] = (char)byte;
			bool is_control = (byte < ' ' && byte != '\t') || byte == 0x7f;
			size_t found = http_line_span(text, sizeof(text));
			if (found != (is_control ? at : sizeof(text)))
				ck_abort_msg("byte %d at %zu: %zu", byte, at, found);
		}
	}
	ck_assert_uint_eq(http_line_span("ab\r\n", 2), 2);
	ck_assert_uint_eq(http_line_span("", 0), 0);
}
END_TEST

START_TEST(letters_of_tokens)
{
	for (int byte = 0; byte < 256; byte++) {
		bool is_mark = byte && strchr("!#$%&'*+-.^_`|~", byte);
		bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
		bool is_good = is_mark || is_letter || (byte >= '0' && byte <= '9');
		ck_assert_msg(http_is_token_char((char)byte) == is_good, "byte %d", byte);
		ck_assert_msg(http_is_alnum((char)byte) == (is_good && !is_mark), "byte %d", byte);
	}
}
END_TEST

SUITE_MAIN("wire-http-url", decoding, parameters, segments, routing, methods_of_a_path,
	tables_that_are_wrong, lists_and_numbers, letters_of_lines, letters_of_tokens)

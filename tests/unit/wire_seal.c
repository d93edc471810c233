/* The pure pieces of MCP: seals and kept results. */
#include "harness/oom.h"
#include "harness/suite.h"
#include "wire/mcp_results.h"
#include "wire/mcp_seal.h"

#include <errno.h>
#include <stdlib.h>

/* ---- seals ------------------------------------------------------------------ */

static const uint8_t key[MCP_KEY_SIZE] = { 9, 8, 7 };

static struct mcp_ticket ticket_of(void)
{
	return (struct mcp_ticket){ .handle = 12,
		.question = 3,
		.expires_ns = 5000000000,
		.method = STR("tools/call"),
		.name = STR("run_x"),
		.arguments = "abc",
		.principal = STR("anna") };
}

START_TEST(a_ticket_is_good_for_what_it_was_made_for)
{
	char text[MCP_TICKET_SIZE];
	struct mcp_ticket ticket = ticket_of();
	mcp_ticket_write(&ticket, key, text);
	ck_assert(mcp_ticket_read(&ticket, key, str_from(text)));
	ck_assert_uint_eq(ticket.handle, 12);
	ck_assert_uint_eq(ticket.question, 3);
	ck_assert_uint_eq(ticket.expires_ns, 5000000000);
	struct mcp_ticket others[4] = { ticket_of(), ticket_of(), ticket_of(), ticket_of() };
	others[0].method = STR("prompts/get");
	others[1].name = STR("run_y");
	others[2].arguments = "abd";
	others[3].principal = STR("bert");
	for (size_t i = 0; i < COUNT(others); i++)
		ck_assert(!mcp_ticket_read(&others[i], key, str_from(text)));
	static const uint8_t other_key[MCP_KEY_SIZE] = { 9, 8, 6 };
	ck_assert(!mcp_ticket_read(&ticket, other_key, str_from(text)));
	for (size_t i = 0; text[i]; i++) {
		char was = text[i];
		text[i] = (char)(was ^ 1);
		ck_assert(!mcp_ticket_read(&ticket, key, str_from(text)));
		text[i] = was;
	}
	for (size_t len = 0; len < strlen(text); len++)
		ck_assert(!mcp_ticket_read(&ticket, key, (struct str){ text, len }));
}
END_TEST

static const char *const no_tickets[] = { "", ".", "...", "1.2.3.", "1.2.3.x", "-1.2.3.x",
	"99999999999999999999999.1.1.x", "18446744073709551616.1.1.x", "01.2.3.x" };

START_TEST(what_is_no_ticket_is_refused)
{
	struct mcp_ticket ticket = ticket_of();
	for (size_t i = 0; i < COUNT(no_tickets); i++)
		ck_assert(!mcp_ticket_read(&ticket, key, str_from(no_tickets[i])));
}
END_TEST

static int digest(const char *text, char hex[SHA256_HEX_SIZE])
{
	perch_json *json = NULL;
	const perch_json_value *root;
	int r = perch_json_new(NULL, &json);
	if (r == 0)
		r = perch_json_parse(json, text, strlen(text), &root, NULL);
	if (r == 0)
		r = mcp_digest(root, hex);
	perch_json_free(json);
	return r;
}

static int digest_once(void *data)
{
	char hex[SHA256_HEX_SIZE];
	return digest(data, hex);
}

static const struct {
	const char *a, *b;
	bool is_same;
} digests[] = {
	{ "{\"a\":1,\"b\":[true,null]}", "{ \"b\" : [true,null], \"a\":1.0}", true },
	{ "{\"a\":\"x\"}", "{\"\\u0061\":\"\\u0078\"}", true },
	{ "0.5", "5e-1", true },
	{ "{\"a\":1}", "{\"a\":2}", false },
	{ "{\"a\":1}", "{\"a\":\"1\"}", false },
	{ "[1,2]", "[2,1]", false },
	{ "[[1],2]", "[[1,2]]", false },
	{ "{\"a\":\"bc\"}", "{\"ab\":\"c\"}", false },
	{ "true", "\"true\"", false },
	{ "1e999", "2e999", false },
};

START_TEST(a_digest_is_of_what_a_value_says)
{
	char a[SHA256_HEX_SIZE], b[SHA256_HEX_SIZE], none[SHA256_HEX_SIZE];
	for (size_t i = 0; i < COUNT(digests); i++) {
		ck_assert_int_eq(digest(digests[i].a, a), 0);
		ck_assert_int_eq(digest(digests[i].b, b), 0);
		ck_assert_msg((strcmp(a, b) == 0) == digests[i].is_same, "%s", digests[i].a);
	}
	ck_assert_int_eq(mcp_digest(NULL, none), 0);
	ck_assert_int_eq(digest("{}", a), 0);
	ck_assert_str_eq(none, a);
	oom_every(digest_once, (void *)"{\"a\":{\"b\":{}}}");
}
END_TEST

START_TEST(a_cursor_is_for_its_list)
{
	char text[MCP_CURSOR_SIZE];
	size_t from;
	mcp_cursor_write("tools", 50, key, text);
	ck_assert(mcp_cursor_read("tools", key, str_from(text), &from));
	ck_assert_uint_eq(from, 50);
	ck_assert(!mcp_cursor_read("prompts", key, str_from(text), &from));
	text[0] = '6';
	ck_assert(!mcp_cursor_read("tools", key, str_from(text), &from));
	ck_assert(!mcp_cursor_read("tools", key, STR("50"), &from));
	ck_assert(!mcp_cursor_read("tools", key, STR(""), &from));
}
END_TEST

/* ---- kept results ----------------------------------------------------------- */

static int keep_one(void *data)
{
	(void)data;
	struct mcp_results results = { .bytes_max = 10000, .keep_ns = 100 };
	char uri[MCP_RESULT_URI_SIZE];
	int r = mcp_results_put(&results, key, STR("anna"), STR("text"), false, 0, uri);
	mcp_results_free(&results);
	return r;
}

START_TEST(results_are_kept_for_one_and_for_a_while)
{
	struct mcp_results results = { .bytes_max = 10000, .keep_ns = 100 };
	char first[MCP_RESULT_URI_SIZE], second[MCP_RESULT_URI_SIZE];
	ck_assert_int_eq(mcp_results_put(&results, key, STR("anna"), STR("one"), false, 1, first), 0);
	ck_assert_int_eq(mcp_results_put(&results, key, STR("anna"), STR("one"), true, 2, second), 0);
	ck_assert_str_ne(first, second);
	const struct mcp_kept_result *kept =
		mcp_results_find(&results, STR("anna"), str_from(first), 3);
	ck_assert(kept && str_is(kept->text, "one") && !kept->is_json);
	ck_assert_ptr_null(mcp_results_find(&results, STR("bert"), str_from(first), 3));
	ck_assert_ptr_null(mcp_results_find(&results, STR("anna"), STR("perch://results/"), 3));
	ck_assert_ptr_null(mcp_results_find(&results, STR("anna"), STR("file:///x"), 3));
	ck_assert_uint_eq(mcp_results_tick(&results, 100), 101);
	ck_assert_ptr_null(mcp_results_find(&results, STR("anna"), str_from(first), 101));
	ck_assert_ptr_nonnull(mcp_results_find(&results, STR("anna"), str_from(second), 101));
	ck_assert_uint_eq(mcp_results_tick(&results, 102), UINT64_MAX);
	ck_assert_uint_eq(results.bytes, 0);
	mcp_results_free(&results);
	oom_every(keep_one, NULL);
}
END_TEST

START_TEST(results_are_bounded)
{
	static char text[4000];
	memset(text, 'x', sizeof(text));
	struct str large = { text, sizeof(text) };
	struct mcp_results results = { .bytes_max = 10000, .keep_ns = 100 };
	char uris[3][MCP_RESULT_URI_SIZE];
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(mcp_results_put(&results, key, STR(""), large, false, i, uris[i]), 0);
	ck_assert_uint_le(results.bytes, 10000);
	ck_assert_ptr_null(mcp_results_find(&results, STR(""), str_from(uris[0]), 3));
	ck_assert_ptr_nonnull(mcp_results_find(&results, STR(""), str_from(uris[2]), 3));
	results.bytes_max = 100;
	ck_assert_int_eq(
		mcp_results_put(&results, key, STR(""), large, false, 4, uris[0]), PERCH_ELIMIT);
	mcp_results_free(&results);
}
END_TEST

SUITE_MAIN("wire-seal", a_ticket_is_good_for_what_it_was_made_for, what_is_no_ticket_is_refused,
	a_digest_is_of_what_a_value_says, a_cursor_is_for_its_list,
	results_are_kept_for_one_and_for_a_while, results_are_bounded)

/* The pure pieces of MCP: names, forms, seals, kept results, versions. */
#include "harness/mcp_world.h"
#include "harness/oom.h"
#include "harness/suite.h"
#include "wire/mcp_names.h"
#include "wire/mcp_results.h"

#include <errno.h>
#include <stdlib.h>

/* ---- names ------------------------------------------------------------------ */

static const struct name_case {
	enum mcp_origin origin;
	const char *owner, *real;
	const char *with, *without;
} names[] = {
	{ MCP_OF_BINDING, "acme", "search", "acme_search", "search" },
	{ MCP_OF_BINDING, "a.b", "c d", "a_b_c_d", "c_d" },
	{ MCP_OF_BINDING, "x", "größe-1", "x_gr__e-1", "gr__e-1" },
	{ MCP_OF_BINDING, "x", "\xff\xfe", "x___", "__" },
	{ MCP_OF_COMMAND, "", "deploy", "run_deploy", "deploy" },
	{ MCP_OF_COMMAND, "", "", "run_", "_" },
	{ MCP_OF_AGENT, "", "bot", "agent_bot", "agent_bot" },
	{ MCP_OF_BINDING, "b", "0123456789012345678901234567890123456789012345678901234567890123456789",
		"b_0123456789012345678901234567890123456789012345678901234567",
		"012345678901234567890123456789012345678901234567890123456789" },
};

START_TEST(names_are_made_of_few_characters)
{
	for (size_t i = 0; i < COUNT(names); i++)
		for (int without = 0; without < 2; without++) {
			struct mcp_name name = { names[i].origin, str_from(names[i].owner),
				str_from(names[i].real), "" };
			ck_assert_int_eq(mcp_names_make(&name, 1, without, NULL), 0);
			ck_assert_str_eq(name.shown, without ? names[i].without : names[i].with);
		}
	ck_assert_int_eq(mcp_names_make(NULL, 0, false, NULL), 0);
}
END_TEST

static struct mcp_name clashing[] = {
	{ MCP_OF_BINDING, STR("a"), STR("b"), "" },
	{ MCP_OF_AGENT, STR(""), STR("x"), "" },
	{ MCP_OF_BINDING, STR("c"), STR("b"), "" },
};

static int make_names(void *data)
{
	(void)data;
	return mcp_names_make(clashing, COUNT(clashing), false, NULL);
}

START_TEST(two_of_one_name_are_an_error_that_names_both)
{
	perch_err err = { 0 };
	ck_assert_int_eq(mcp_names_make(clashing, 3, true, &err), -EEXIST);
	ck_assert_str_eq(err.text, "the tool a/b and the tool c/b are both called b");
	clashing[2] = (struct mcp_name){ MCP_OF_BINDING, STR("agent"), STR("x"), "" };
	ck_assert_int_eq(mcp_names_make(clashing, 3, false, &err), -EEXIST);
	ck_assert_str_eq(err.text, "the agent x and the tool agent/x are both called agent_x");
	ck_assert_int_eq(mcp_names_make(clashing, 3, true, &err), 0);
	clashing[2].owner = STR("c");
	oom_every(make_names, NULL);
}
END_TEST

/* ---- versions --------------------------------------------------------------- */

START_TEST(versions_are_of_one_era)
{
	ck_assert_ptr_nonnull(mcp_version_find(STR("2026-07-28"), true));
	ck_assert_ptr_null(mcp_version_find(STR("2026-07-28"), false));
	ck_assert_ptr_null(mcp_version_find(STR("2025-11-25"), true));
	static const char *const legacy[] = { "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05" };
	for (size_t i = 0; i < COUNT(legacy); i++)
		ck_assert_str_eq(mcp_version_find(str_from(legacy[i]), false)->name, legacy[i]);
	ck_assert_str_eq(mcp_version_fallback->name, "2025-11-25");
}
END_TEST

/* ---- forms ------------------------------------------------------------------ */

static const struct str colours[] = { STR("red"), STR("green"), STR("red"), STR("blue") };
static const size_t second_option[] = { 1 }, two_options[] = { 1, 3 };

static const struct mcp_question prompt = {
	.kind = MCP_PROMPT, .message = STR("Name?"), .has_default = true, .default_text = STR("me")
};
static const struct mcp_question confirm = {
	.kind = MCP_CONFIRM, .message = STR("Sure?"), .has_default = true, .default_yes = true
};
static const struct mcp_question choice = { .kind = MCP_SELECT,
	.message = STR("Which?"),
	.options = colours,
	.option_count = 4,
	.has_default = true,
	.defaults = second_option,
	.default_count = 1 };
static const struct mcp_question choices = { .kind = MCP_MULTI_SELECT,
	.message = STR("Which ones?"),
	.options = colours,
	.option_count = 4,
	.has_default = true,
	.defaults = two_options,
	.default_count = 2 };
static const struct mcp_question number = { .kind = MCP_PROMPT,
	.message = STR("How many?"),
	.rule = MCP_INTEGER,
	.has_default = true,
	.default_text = STR("-12") };
static const struct mcp_question no_number = { .kind = MCP_PROMPT,
	.message = STR("How many?"),
	.rule = MCP_INTEGER,
	.has_default = true,
	.default_text = STR("many") };
static const struct mcp_question address = {
	.kind = MCP_PROMPT, .message = STR("Where?"), .rule = MCP_URL
};
static const struct mcp_question something = {
	.kind = MCP_PROMPT, .message = STR("What?"), .rule = MCP_NON_EMPTY
};

static const struct form_case {
	const struct mcp_question *question;
	const char *version;
	const char *property;
} forms[] = {
	{ &prompt, "2025-11-25", "{'type':'string','default':'me'}" },
	{ &prompt, "2025-06-18", "{'type':'string'}" },
	{ &confirm, "2025-06-18", "{'type':'boolean','default':true}" },
	{ &choice, "2025-11-25", "{'type':'string','enum':['red','green','blue'],'default':'green'}" },
	{ &choice, "2025-06-18", "{'type':'string','enum':['red','green','blue']}" },
	{ &choices, "2025-11-25",
		"{'type':'array','items':{'type':'string','enum':['red','green','blue']},"
		"'default':['green','blue']}" },
	{ &number, "2025-11-25", "{'type':'integer','default':-12}" },
	{ &number, "2025-06-18", "{'type':'integer'}" },
	{ &no_number, "2025-11-25", "{'type':'integer'}" },
	{ &address, "2025-11-25", "{'type':'string','format':'uri'}" },
	{ &something, "2025-11-25", "{'type':'string','minLength':1}" },
};

START_TEST(questions_become_forms)
{
	for (size_t i = 0; i < COUNT(forms); i++) {
		const struct mcp_version *version = mcp_version_find(str_from(forms[i].version), false);
		struct buf out = { 0 };
		perch_json_writer writer = json_writer_on(&out);
		ck_assert(mcp_form_fits(forms[i].question, version));
		mcp_form_write(&writer, forms[i].question, version);
		ck_assert_int_eq(buf_terminate(&out), 0);
		char *property = world_spell(forms[i].property);
		char *expected = str_join(version->has_rich_forms ? "{\"mode\":\"form\"," : "{",
			"\"message\":\"", forms[i].question->message.data,
			"\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"answer\":", property,
			"},\"required\":[\"answer\"]}}", NULL);
		ck_assert_str_eq(out.data, expected);
		free(expected);
		free(property);
		buf_free(&out);
	}
}
END_TEST

START_TEST(what_a_client_cannot_show_is_no_form)
{
	const struct mcp_version *old = mcp_version_find(STR("2025-03-26"), false);
	const struct mcp_version *simple = mcp_version_find(STR("2025-06-18"), false);
	ck_assert(!mcp_form_fits(&prompt, old));
	ck_assert(!mcp_form_fits(&choices, simple));
	ck_assert(mcp_form_fits(&choice, simple));
	struct mcp_question huge = choice;
	huge.option_count = MCP_FORM_OPTIONS_MAX + 1;
	ck_assert(!mcp_form_fits(&huge, simple));
	huge.option_count = 0;
	ck_assert(!mcp_form_fits(&huge, simple));
}
END_TEST

static const struct {
	const char *message;
	bool is_secret;
} secrets[] = {
	{ "Your Password:", true },
	{ "passphrase for the key", true },
	{ "client SECRET", true },
	{ "Access token", true },
	{ "API key", true },
	{ "the api_key of x", true },
	{ "PIN", true },
	{ "Enter your pin.", true },
	{ "Which pinned version?", false },
	{ "Spin it?", false },
	{ "Name?", false },
};

START_TEST(secrets_are_known_by_their_words)
{
	for (size_t i = 0; i < COUNT(secrets); i++) {
		struct mcp_question question = { .message = str_from(secrets[i].message) };
		ck_assert_msg(
			mcp_form_is_secret(&question) == secrets[i].is_secret, "%s", secrets[i].message);
		question.kind = MCP_CONFIRM;
		ck_assert(!mcp_form_is_secret(&question));
	}
}
END_TEST

static const struct answer_case {
	const struct mcp_question *question;
	const char *result;
	int r;
	enum mcp_action action;
	const char *text;
	bool yes;
	size_t chosen_count, first;
} answers[] = {
	{ &prompt, "{'action':'accept','content':{'answer':'x'}}", 0, MCP_ANSWERED, "x", 0, 0, 0 },
	{ &prompt, "{'action':'accept','content':{'answer':12}}", 0, MCP_ANSWERED, "12", 0, 0, 0 },
	{ &prompt, "{'action':'accept','content':{'answer':[]}}", -EINVAL, 0, "", 0, 0, 0 },
	{ &prompt, "{'action':'accept','content':{}}", -EINVAL, 0, "", 0, 0, 0 },
	{ &prompt, "{'action':'accept'}", -EINVAL, 0, "", 0, 0, 0 },
	{ &prompt, "{'action':'decline'}", 0, MCP_DECLINED, "", 0, 0, 0 },
	{ &prompt, "{'action':'cancel'}", 0, MCP_INTERRUPTED, "", 0, 0, 0 },
	{ &prompt, "{'action':'perhaps'}", -EINVAL, 0, "", 0, 0, 0 },
	{ &prompt, "{}", -EINVAL, 0, "", 0, 0, 0 },
	{ &prompt, "[]", -EINVAL, 0, "", 0, 0, 0 },
	{ &number, "{'action':'accept','content':{'answer':5.0}}", 0, MCP_ANSWERED, "5", 0, 0, 0 },
	{ &number, "{'action':'accept','content':{'answer':5.5}}", 0, MCP_ANSWERED, "5.5", 0, 0, 0 },
	{ &number, "{'action':'accept','content':{'answer':'5'}}", 0, MCP_ANSWERED, "5", 0, 0, 0 },
	{ &number, "{'action':'accept','content':{'answer':true}}", -EINVAL, 0, "", 0, 0, 0 },
	{ &confirm, "{'action':'accept','content':{'answer':true}}", 0, MCP_ANSWERED, "", 1, 0, 0 },
	{ &confirm, "{'action':'accept','content':{'answer':'yes'}}", -EINVAL, 0, "", 0, 0, 0 },
	{ &confirm, "{'action':'decline'}", 0, MCP_ANSWERED, "", 0, 0, 0 },
	{ &confirm, "{'action':'cancel'}", 0, MCP_INTERRUPTED, "", 0, 0, 0 },
	{ &choice, "{'action':'accept','content':{'answer':'red'}}", 0, MCP_ANSWERED, "", 0, 1, 0 },
	{ &choice, "{'action':'accept','content':{'answer':'blue'}}", 0, MCP_ANSWERED, "", 0, 1, 3 },
	{ &choice, "{'action':'accept','content':{'answer':'pink'}}", -EINVAL, 0, "", 0, 0, 0 },
	{ &choice, "{'action':'accept','content':{'answer':1}}", -EINVAL, 0, "", 0, 0, 0 },
	{ &choice, "{'action':'decline'}", 0, MCP_DECLINED, "", 0, 0, 0 },
	{ &choices, "{'action':'accept','content':{'answer':['blue','green']}}", 0, MCP_ANSWERED, "", 0,
		2, 1 },
	{ &choices, "{'action':'accept','content':{'answer':[]}}", 0, MCP_ANSWERED, "", 0, 0, 0 },
	{ &choices, "{'action':'accept','content':{'answer':['pink']}}", -EINVAL, 0, "", 0, 0, 0 },
	{ &choices, "{'action':'accept','content':{'answer':'red'}}", -EINVAL, 0, "", 0, 0, 0 },
	{ &choices, "{'action':'accept','content':{'answer':['red','red','red','red','red']}}", -EINVAL,
		0, "", 0, 0, 0 },
};

static int read_answer(const struct answer_case *test)
{
	perch_json *json = NULL;
	struct arena arena = { 0 };
	struct mcp_question kept;
	struct mcp_answer answer = { 0 };
	const perch_json_value *root;
	perch_err err = { 0 };
	char *result = world_spell(test->result);
	int r = result ? perch_json_new(NULL, &json) : -ENOMEM;
	if (r == 0)
		r = perch_json_parse(json, result, strlen(result), &root, NULL);
	if (r == 0)
		r = mcp_question_keep(test->question, &arena, &kept);
	if (r == 0)
		r = mcp_form_read(&kept, root, &arena, &answer, &err);
	if (r == 0) {
		ck_assert_int_eq(answer.action, test->action);
		ck_assert(str_is(answer.text, test->text));
		ck_assert_int_eq(answer.yes, test->yes);
		ck_assert_uint_eq(answer.chosen_count, test->chosen_count);
		ck_assert(!answer.chosen_count || answer.chosen[0] == test->first);
	}
	ck_assert(r != -EINVAL || err.text[0]);
	free(result);
	arena_free(&arena);
	perch_json_free(json);
	return r;
}

START_TEST(answers_are_checked)
{
	for (size_t i = 0; i < COUNT(answers); i++)
		ck_assert_msg(read_answer(&answers[i]) == answers[i].r, "%s", answers[i].result);
}
END_TEST

static int read_choices(void *data)
{
	return read_answer(data);
}

START_TEST(answers_without_memory)
{
	for (size_t i = 0; i < COUNT(answers); i++)
		if (answers[i].r == 0)
			oom_every(read_choices, (void *)&answers[i]);
}
END_TEST

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

SUITE_MAIN("wire-pieces", names_are_made_of_few_characters,
	two_of_one_name_are_an_error_that_names_both, versions_are_of_one_era, questions_become_forms,
	what_a_client_cannot_show_is_no_form, secrets_are_known_by_their_words, answers_are_checked,
	answers_without_memory, a_ticket_is_good_for_what_it_was_made_for, what_is_no_ticket_is_refused,
	a_digest_is_of_what_a_value_says, a_cursor_is_for_its_list,
	results_are_kept_for_one_and_for_a_while, results_are_bounded)

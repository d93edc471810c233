/* The pure pieces of MCP: names, versions, forms. */
#include "harness/mcp_world.h"
#include "harness/oom.h"
#include "harness/suite.h"
#include "wire/mcp_names.h"

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

SUITE_MAIN("wire-form", names_are_made_of_few_characters,
	two_of_one_name_are_an_error_that_names_both, versions_are_of_one_era, questions_become_forms,
	what_a_client_cannot_show_is_no_form, secrets_are_known_by_their_words, answers_are_checked,
	answers_without_memory)

/* Forms of an agent of ACP as questions, from strings: what is asked, which answers fit, what the
 * agent is told. In texts ' stands for ". */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "harness/oom.h"
#include "harness/suite.h"
#include "wire/acp_form.h"

static char *form_spell(const char *text)
{
	char *spelt = strdup(text);
	for (char *at = spelt; at && *at; at++)
		*at = *at == '\'' ? '"' : *at;
	return spelt;
}

static int form_new(const char *text, struct acp_form **ret_form, perch_err *err)
{
	_cleanup_json_ perch_json *json = NULL;
	_cleanup_free_ char *spelt = form_spell(text);
	const perch_json_value *root = NULL;
	int r = spelt ? perch_json_new(NULL, &json) : -ENOMEM;
	if (r == 0)
		r = perch_json_parse(json, spelt, strlen(spelt), &root, NULL);
	return r < 0 ? r : acp_form_new(root, STR("bot"), ret_form, err);
}

static const char *const form_kinds[] = {
	[MCP_PROMPT] = "prompt",
	[MCP_CONFIRM] = "confirm",
	[MCP_SELECT] = "select",
	[MCP_MULTI_SELECT] = "multi",
};

/* "kind message [a|b] =default" */
static void form_write_question(const struct acp_form *form, struct buf *log)
{
	struct mcp_question question;
	if (!acp_form_question(form, &question)) {
		buf_append_text(log, "> ");
		acp_form_write(form, log);
		buf_append_char(log, '\n');
		return;
	}
	buf_printf(log, "%s %.*s", form_kinds[question.kind], (int)question.message.len,
		question.message.data);
	for (size_t i = 0; i < question.option_count; i++)
		buf_printf(
			log, "%s%.*s", i ? "|" : " [", (int)question.options[i].len, question.options[i].data);
	buf_append_text(log, question.option_count ? "]" : "");
	if (question.has_default && question.kind == MCP_CONFIRM)
		buf_append_text(log, question.default_yes ? " =yes" : " =no");
	else if (question.has_default && question.kind == MCP_PROMPT)
		buf_printf(log, " =%.*s", (int)question.default_text.len, question.default_text.data);
	for (size_t i = 0; question.has_default && i < question.default_count; i++)
		buf_printf(log, " =%zu", question.defaults[i]);
	buf_append_char(log, '\n');
}

/* An answer: "!" declines, "y", "n" of a confirm, numbers of options, else a text. */
static int form_answer(struct acp_form *form, const char *text, perch_err *err)
{
	struct mcp_question question;
	size_t chosen[8], count = 0;
	if (!acp_form_question(form, &question))
		return -ENOENT;
	struct mcp_answer answer = { .text = str_from(text), .yes = text[0] == 'y', .chosen = chosen };
	if (text[0] == '!')
		answer.action = MCP_DECLINED;
	bool has_options = question.kind == MCP_SELECT || question.kind == MCP_MULTI_SELECT;
	for (; has_options && text[count]; count++)
		chosen[count] = (size_t)(text[count] - '0');
	answer.chosen_count = count;
	return acp_form_take(form, &answer, err);
}

/* What is asked and answered, one line for each. */
static void form_play(const char *params, const char *const *answers, struct buf *log)
{
	struct acp_form *form = NULL;
	perch_err err = { 0 };
	int r = form_new(params, &form, &err);
	if (r < 0) {
		buf_printf(log, "refused %s\n", err.text);
		return;
	}
	form_write_question(form, log);
	for (; *answers; answers++) {
		r = form_answer(form, *answers, &err);
		if (r == -EINVAL)
			buf_printf(log, "no: %s\n", err.text);
		else
			form_write_question(form, log);
	}
	acp_form_free(form);
}

static void form_expect(const char *params, const char *const *answers, const char *log)
{
	_cleanup_(buf_free) struct buf said = { 0 };
	_cleanup_free_ char *spelt = form_spell(log);
	form_play(params, answers, &said);
	ck_assert_int_eq(buf_terminate(&said), 0);
	ck_assert_str_eq(said.data, spelt);
}

#define FORM(properties, required)                                                                \
	"{'mode':'form','message':'Go "                                                               \
	"on?','requestedSchema':{'type':'object','properties':{" properties "},'required':[" required \
	"]}}"
#define ANSWERS(...)      \
	(const char *const[]) \
	{                     \
		__VA_ARGS__, NULL \
	}

START_TEST(a_form_is_asked_field_by_field)
{
	form_expect(
		FORM("'s':{'type':'string','title':'S','description':'which',"
			 "'oneOf':[{'const':'c','title':'calm'},{'const':'w'}]},"
			 "'n':{'type':'integer','minimum':1,'maximum':5,'default':3},"
			 "'t':{'type':'array','items':{'enum':['x','y','z']},'maxItems':2,'default':['z','q']},"
			 "'b':{'type':'boolean','default':true}",
			"'s'"),
		ANSWERS("2", "01", "1", "9", "x", "4", "012", "10", "02", "n", "7", "0"),
		"select bot asks: Go on? (1 of 4) S: which [calm|w]\n"
		"no: there is no such option\n"
		"no: choose one of the options\n"
		"prompt bot asks: Go on? (2 of 4) n (may be left empty) =3\n"
		"no: the number: 5 at most\n"
		"no: it must be a whole number\n"
		"multi bot asks: Go on? (3 of 4) t (may be left empty) [x|y|z] =2\n"
		"no: options to choose: 2 at most\n"
		"no: there is no such option\n"
		"confirm bot asks: Go on? (4 of 4) b =yes\n"
		"select bot asks: Go on? Are these the answers? s = w, n = 4, t = x + z, b = no "
		"[send|change|decline]\n"
		"no: choose one of the options\n"
		"> {'action':'accept','content':{'s':'w','n':4,'t':['x','z'],'b':false}}\n");
}
END_TEST

START_TEST(answers_can_be_changed_and_declined)
{
	const char *two = FORM("'a':{'type':'string'},'b':{'type':'number'}", "");
	form_expect(two, ANSWERS("hi", "", "1", "", "1.5", "0"),
		"prompt bot asks: Go on? (1 of 2) a (may be left empty)\n"
		"prompt bot asks: Go on? (2 of 2) b (may be left empty)\n"
		"select bot asks: Go on? Are these the answers? a = hi, b = (none) [send|change|decline]\n"
		"prompt bot asks: Go on? (1 of 2) a (may be left empty) =hi\n"
		"prompt bot asks: Go on? (2 of 2) b (may be left empty)\n"
		"select bot asks: Go on? Are these the answers? a = (none), b = 1.5 "
		"[send|change|decline]\n"
		"> {'action':'accept','content':{'b':1.5}}\n");
	form_expect(two, ANSWERS("", "", "2"),
		"prompt bot asks: Go on? (1 of 2) a (may be left empty)\n"
		"prompt bot asks: Go on? (2 of 2) b (may be left empty)\n"
		"select bot asks: Go on? Are these the answers? a = (none), b = (none) "
		"[send|change|decline]\n"
		"> {'action':'decline'}\n");
	form_expect(two, ANSWERS("!"),
		"prompt bot asks: Go on? (1 of 2) a (may be left empty)\n> {'action':'decline'}\n");
	form_expect(FORM("'c':{'type':'string','enum':['x']}", ""), ANSWERS("1"),
		"select bot asks: Go on? c (may be left empty) [x|(none of these)]\n"
		"> {'action':'accept','content':{}}\n");
	form_expect(FORM("", ""), ANSWERS("y"),
		"confirm bot asks: Go on?\n> {'action':'accept','content':{}}\n");
	form_expect(FORM("", ""), ANSWERS("n"), "confirm bot asks: Go on?\n> {'action':'decline'}\n");
}
END_TEST

/* One required field, an answer, and what is wrong with it. */
START_TEST(an_answer_fits_or_is_asked_again)
{
	static const struct {
		const char *schema, *answer, *fault;
	} rows[] = {
		{ "'type':'string','minLength':2", "x", "the length, in letters: 2 at least" },
		{ "'type':'string','minLength':2", "\xC3\xA4", "the length, in letters: 2 at least" },
		{ "'type':'string','maxLength':2", "\xC3\xA4\xC3\xA4", NULL },
		{ "'type':'string','maxLength':2", "abc", "the length, in letters: 2 at most" },
		{ "'type':'string','format':'email'", "me", "it must be an address of e-mail" },
		{ "'type':'string','format':'email'", "@me", "it must be an address of e-mail" },
		{ "'type':'string','format':'email'", "me@x", NULL },
		{ "'type':'string','format':'uri'", "x", "it must be a URI" },
		{ "'type':'string','format':'uri'", "x:y", NULL },
		{ "'type':'string','format':'date'", "2026-1-1", "it must be a date: 2026-01-31" },
		{ "'type':'string','format':'date'", "2026-01-31", NULL },
		{ "'type':'string','format':'date-time'", "2026-01-31",
			"it must be a time: 2026-01-31T12:00:00Z" },
		{ "'type':'string','format':'date-time'", "2026-01-31T12:00:00Z", NULL },
		{ "'type':'string'", "\xFF", "it must be a text without NUL" },
		{ "'type':'string'", "", NULL },
		{ "'type':'integer'", "", "it must be a whole number" },
		{ "'type':'integer'", "1.5", "it must be a whole number" },
		{ "'type':'integer'", "99999999999999999999", "it must be a whole number" },
		{ "'type':'integer'", "-7", NULL },
		{ "'type':'integer'", " 7 ", NULL },
		{ "'type':'integer'", "007", "it must be a whole number" },
		{ "'type':'integer'", "-", "it must be a whole number" },
		{ "'type':'integer','minimum':-2", "-3", "the number: -2 at least" },
		{ "'type':'number'", "nan", "it must be a number" },
		{ "'type':'number'", "0x10", "it must be a number" },
		{ "'type':'number'", "+1", "it must be a number" },
		{ "'type':'number'", ".5", "it must be a number" },
		{ "'type':'number'", "5.", "it must be a number" },
		{ "'type':'number'", "5.e1", "it must be a number" },
		{ "'type':'number'", "1e999", "it must be a number" },
		{ "'type':'number'", "-1.5e-3", NULL },
		{ "'type':'number','maximum':0.5", "0.6", "the number: 0.5 at most" },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		char params[512];
		struct acp_form *form = NULL;
		perch_err err = { 0 };
		snprintf(params, sizeof(params), FORM("'f':{%s}", "'f'"), rows[i].schema);
		ck_assert_int_eq(form_new(params, &form, &err), 0);
		int r = form_answer(form, rows[i].answer, &err);
		ck_assert_msg(r == (rows[i].fault ? -EINVAL : 0), "%s %s", params, rows[i].answer);
		if (rows[i].fault)
			ck_assert_str_eq(err.text, rows[i].fault);
		struct mcp_question question;
		ck_assert_int_eq(acp_form_question(form, &question), rows[i].fault != NULL);
		acp_form_free(form);
	}
}
END_TEST

START_TEST(pages_are_shown_whole_and_opened_by_nobody)
{
#define PAGE(url) "{'mode':'url','message':'Sign in.','elicitationId':'e','url':'" url "'}"
	form_expect(PAGE("https://x.org/a?b"), ANSWERS("y"),
		"confirm bot asks: Sign in. May you be sent to a page of x.org? It is for you to open: "
		"https://x.org/a?b\n> {'action':'accept'}\n");
	form_expect(PAGE("http://xn--e1.org"), ANSWERS("n"),
		"confirm bot asks: Sign in. May you be sent to a page of xn--e1.org? It is for you to "
		"open: "
		"http://xn--e1.org (the name of the host has foreign letters in it: look twice)\n"
		"> {'action':'decline'}\n");
	static const char *const bad[] = { PAGE("file:///etc/passwd"), PAGE("javascript:alert(1)"),
		PAGE("https://"), PAGE("https:///x"), PAGE("https://good.org@evil.org/"),
		PAGE("https://a b.org"), PAGE("https://\xC3\xA4.org"), PAGE("HTTPS://x.org"),
		"{'mode':'url','message':'x','url':'https://x.org'}",
		"{'mode':'url','message':'x','elicitationId':'e'}" };
	for (size_t i = 0; i < COUNT(bad); i++)
		form_expect(bad[i], ANSWERS("y"),
			"refused a page needs an elicitationId, and a url of http or https without a user\n");
}
END_TEST

START_TEST(what_cannot_be_shown_is_refused)
{
	static const struct {
		const char *params, *why;
	} rows[] = {
		{ "{'mode':'form','requestedSchema':{}}", "it needs a message" },
		{ "{'mode':'made','message':'x'}", "there is no such mode: form and url were offered" },
		{ "{'message':'x','requestedSchema':{}}",
			"there is no such mode: form and url were offered" },
		{ "{'mode':'form','message':'x'}", "a form needs a requestedSchema with properties" },
		{ "{'mode':'form','message':'x','requestedSchema':{'properties':[]}}",
			"a form needs a requestedSchema with properties" },
		{ FORM("'f':{'type':'object'}", "'f'"), "this client has no field for 'f'" },
		{ FORM("'f':{'type':'string','enum':[]}", "'f'"), "this client has no field for 'f'" },
		{ FORM("'f':{'type':'string','enum':[7]}", "'f'"), "this client has no field for 'f'" },
		{ FORM("'f':{'type':'array','items':{'type':'string'}}", "'f'"),
			"this client has no field for 'f'" },
		{ FORM("'f':{'type':'string','title':'Your password'}", ""),
			"a form must not ask for a secret, as 'f' does" },
		{ FORM("'api_key':{'type':'string'}", ""),
			"a form must not ask for a secret, as 'api_key' does" },
	};
	char said[256];
	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(said, sizeof(said), "refused %s\n", rows[i].why);
		_cleanup_(buf_free) struct buf log = { 0 };
		form_play(rows[i].params, ANSWERS("y"), &log);
		ck_assert_int_eq(buf_terminate(&log), 0);
		ck_assert_str_eq(log.data, said);
	}
	/* A field that need not be there is left out; a number of tokens is no secret. */
	form_expect(FORM("'f':{'type':'_own'},'tokens':{'type':'integer'}", ""), ANSWERS("5"),
		"prompt bot asks: Go on? tokens (may be left empty)\n"
		"> {'action':'accept','content':{'tokens':5}}\n");
	_cleanup_(buf_free) struct buf many = { 0 };
	buf_append_text(&many, "{'mode':'form','message':'x','requestedSchema':{'properties':{'a':{}");
	for (int i = 0; i < ACP_FORM_FIELDS_MAX; i++)
		buf_printf(&many, ",'f%d':{'type':'boolean'}", i);
	buf_append_text(&many, "}}}");
	ck_assert_int_eq(buf_terminate(&many), 0);
	form_expect(many.data, ANSWERS("y"), "refused a form has at most 64 fields\n");
}
END_TEST

static int form_live(void *data)
{
	static const char *const answers[] = { "0", "4", "01", "x", "y", "1", "0", "5", "1", "y", "n",
		"0" };
	struct acp_form *form = NULL;
	perch_err err = { 0 };
	(void)data;
	int r = form_new(
		FORM("'s':{'type':'string','oneOf':[{'const':'c','title':'calm'}]},"
			 "'n':{'type':'integer','default':3},'t':{'type':'array','items':{'enum':['x','y']}},"
			 "'w':{'type':'string','default':'d'},'b':{'type':'boolean'}",
			"'s'"),
		&form, &err);
	for (size_t i = 0; r == 0 && i < COUNT(answers); i++)
		r = form_answer(form, answers[i], &err);
	struct buf result = { 0 };
	if (r == 0)
		acp_form_write(form, &result);
	r = result.failed ? -ENOMEM : r;
	buf_free(&result);
	acp_form_free(form);
	return r;
}

START_TEST(every_allocation_may_fail)
{
	ck_assert_uint_gt(oom_every(form_live, NULL), 10);
}
END_TEST

SUITE_MAIN("wire-acp-form", a_form_is_asked_field_by_field, answers_can_be_changed_and_declined,
	an_answer_fits_or_is_asked_again, pages_are_shown_whole_and_opened_by_nobody,
	what_cannot_be_shown_is_refused, every_allocation_may_fail)

/* lint: what a host lets pass, and an author should know. */
#include "harness/oom.h"
#include "harness/suite.h"

#include <string.h>

#include "plugins/lint.h"

static const struct capabilities all = {
	.exec = true,
	.store = true,
	.metadata = true,
};

#define ASK "{\"type\":\"prompt\",\"id\":\"1\",\"message\":\"m\""

static const struct {
	const char *line;
	enum finding_level level;
	const char *words; /* NULL = nothing is found */
} lines[] = {
	{ "", 0, NULL },
	{ "  \r", 0, NULL },
	{ "{\"type\":\"output\",\"text\":\"x\\n\"}", 0, NULL },
	{ "{\"type\":\"output\",\"text\":\"x\",\"id\":null,\"later\":1}", 0, NULL },
	{ "{\"type\":\"log\",\"level\":\"warn\",\"message\":\"x\"}", 0, NULL },
	{ "{\"type\":\"log\",\"message\":\"x\"}", 0, NULL },
	{ "{\"type\":\"progress\",\"message\":\"x\",\"current\":1,\"total\":2.0}", 0, NULL },
	{ "{\"type\":\"progress\",\"done\":true}", 0, NULL },
	{ "{\"type\":\"store\",\"key\":\"k\",\"value\":\"\"}", 0, NULL },
	{ "{\"type\":\"store\",\"key\":\"k\",\"value\":\"v\",\"id\":\"7\"}", 0, NULL },
	{ ASK ",\"default\":\"7\",\"validate\":\"integer\"}", 0, NULL },

	{ "hello", FINDING_ERROR, "not JSON: column 1" },
	{ "{\"type\":\"output\",\"text\":\"\xff\"}", FINDING_ERROR, "not JSON" },
	{ "{\"type\":\"output\",\"text\":\"a\",\"text\":\"b\"}", FINDING_ERROR, "not JSON" },
	{ "[1]", FINDING_ERROR, "must be an object, not an array" },
	{ "{}", FINDING_ERROR, "needs a `type`" },
	{ "{\"type\":1,\"id\":\"1\"}", FINDING_ERROR, "needs a `type`" },
	{ "{\"type\":\"outptu\",\"text\":\"x\"}", FINDING_ERROR, "did you mean `output`" },
	{ "{\"type\":\"widget\"}", FINDING_ERROR, "no message of type `widget`" },
	{ "{\"type\":\"response\",\"id\":\"1\",\"value\":1}", FINDING_ERROR, "what a host says" },
	{ "{\"type\":\"prompt\",\"message\":\"m\"}", FINDING_ERROR, "needs an `id`" },
	{ "{\"type\":\"confirm\",\"id\":7,\"message\":\"m\"}", FINDING_WARNING, "should be a string" },
	{ "{\"type\":\"confirm\",\"id\":[],\"message\":\"m\"}", FINDING_ERROR, "must be a string" },
	{ "{\"type\":\"output\"}", FINDING_ERROR, "`output` needs `text`" },
	{ "{\"type\":\"output\",\"text\":null}", FINDING_ERROR, "`output` needs `text`" },
	{ "{\"type\":\"output\",\"text\":1}", FINDING_ERROR, "`text` must be a string" },
	{ "{\"type\":\"output\",\"txt\":\"x\",\"text\":\"\"}", FINDING_WARNING, "did you mean `text`" },
	{ "{\"type\":\"log\",\"level\":\"loud\",\"message\":\"x\"}", FINDING_WARNING, "'loud'" },
	{ "{\"type\":\"progress\"}", FINDING_ERROR, "needs a `message`" },
	{ "{\"type\":\"progress\",\"message\":\"x\",\"total\":2}", FINDING_WARNING, "both" },
	{ "{\"type\":\"progress\",\"message\":\"x\",\"current\":3,\"total\":2}", FINDING_WARNING,
		"more than `total`" },
	{ "{\"type\":\"progress\",\"message\":\"x\",\"current\":\"3\"}", FINDING_ERROR, "a number" },
	{ "{\"type\":\"store\",\"key\":\"\",\"value\":\"v\"}", FINDING_ERROR, "1 to 256 bytes" },
	{ "{\"type\":\"store\",\"key\":\"k\",\"value\":{}}", FINDING_ERROR,
		"`value` must be a string" },
	{ "{\"type\":\"load\",\"id\":\"1\"}", FINDING_ERROR, "needs `key`" },
	{ "{\"type\":\"exec\",\"id\":\"1\",\"command\":\"\"}", FINDING_WARNING, "is empty" },
	{ "{\"type\":\"exec\",\"id\":\"1\",\"command\":\"x\",\"timeout\":0}", FINDING_ERROR,
		"above 0" },
	{ "{\"type\":\"metadata\",\"id\":\"1\",\"keys\":\"env\"}", FINDING_ERROR, "a list of strings" },
	{ "{\"type\":\"metadata\",\"id\":\"1\",\"keys\":[\"evn\"]}", FINDING_WARNING, "'evn'" },
	{ ASK ",\"validate\":\"number\"}", FINDING_ERROR, "no validator 'number'" },
	{ ASK ",\"validate\":\"url\",\"default\":\"x\"}", FINDING_WARNING, "does not pass" },
	{ ASK ",\"default\":7}", FINDING_ERROR, "`default` must be a string" },
	{ "{\"type\":\"confirm\",\"id\":\"1\",\"message\":\"m\",\"default\":\"y\"}", FINDING_ERROR,
		"true or false" },
	{ "{\"type\":\"select\",\"id\":\"1\",\"message\":\"m\"}", FINDING_ERROR, "needs `options`" },
	{ "{\"type\":\"select\",\"id\":\"1\",\"message\":\"m\",\"options\":[]}", FINDING_ERROR,
		"empty" },
	{ "{\"type\":\"select\",\"id\":\"1\",\"message\":\"m\",\"options\":[1]}", FINDING_ERROR,
		"a list of strings" },
	{ "{\"type\":\"select\",\"id\":\"1\",\"message\":\"m\",\"options\":[\"a\"],\"default\":1}",
		FINDING_ERROR, "the index of an option" },
	{ "{\"type\":\"select\",\"id\":\"1\",\"message\":\"m\",\"options\":[\"a\"],\"default\":\"a\"}",
		FINDING_ERROR, "the index of an option" },
	{ "{\"type\":\"multi_select\",\"id\":\"1\",\"message\":\"m\",\"options\":[\"a\"],"
	  "\"defaults\":[0,-1]}",
		FINDING_ERROR, "a list of indexes" },
};

/* A lint with all it needs. */
struct subject {
	struct arena arena;
	struct findings findings;
	struct lint lint;
};

static void begin(struct subject *subject, const struct capabilities *wishes)
{
	*subject = (struct subject){ .findings.arena = &subject->arena };
	ck_assert_int_eq(lint_init(&subject->lint, wishes, &subject->findings), 0);
}

static void end(struct subject *subject)
{
	lint_free(&subject->lint);
	findings_free(&subject->findings);
	arena_free(&subject->arena);
}

static bool has(const struct findings *findings, enum finding_level level, const char *words)
{
	for (size_t i = 0; i < findings->count; i++) {
		if (findings->items[i].level == level && strstr(findings->items[i].text, words))
			return true;
	}
	return false;
}

START_TEST(every_line_is_looked_at)
{
	for (size_t i = 0; i < COUNT(lines); i++) {
		struct subject subject;
		begin(&subject, &all);
		lint_from_plugin(&subject.lint, str_from(lines[i].line));
		const struct findings *findings = &subject.findings;
		if (lines[i].words)
			ck_assert_msg(has(findings, lines[i].level, lines[i].words), "%s: %s", lines[i].line,
				findings->count ? findings->items[0].text : "nothing");
		else
			ck_assert_msg(findings->count == 0, "%s: %s", lines[i].line,
				findings->count ? findings->items[0].text : "");
		if (findings->count)
			ck_assert_uint_eq(findings->items[0].at.line, 1);
		end(&subject);
	}
}
END_TEST

START_TEST(what_was_not_wished_for_is_not_used)
{
	static const char *const messages[] = {
		"{\"type\":\"store\",\"key\":\"k\",\"value\":\"v\"}",
		"{\"type\":\"load\",\"id\":\"1\",\"key\":\"k\"}",
		"{\"type\":\"exec\",\"id\":\"1\",\"command\":\"x\"}",
		"{\"type\":\"metadata\",\"id\":\"1\",\"keys\":[\"env\"]}",
	};
	static const char *const words[] = { "store = true", "store = true", "exec = true",
		"metadata = true" };
	const struct capabilities nothing = { 0 };
	for (size_t i = 0; i < COUNT(messages); i++) {
		struct subject subject;
		begin(&subject, &nothing);
		lint_from_plugin(&subject.lint, str_from(messages[i]));
		ck_assert(has(&subject.findings, FINDING_ERROR, words[i]));
		end(&subject);
	}
}
END_TEST

START_TEST(a_request_waits_for_its_answer)
{
	struct subject subject;
	begin(&subject, &all);
	struct lint *lint = &subject.lint;
	lint_to_plugin(lint, STR("{\"type\":\"init\",\"args\":[]}"));
	lint_from_plugin(lint, STR("{\"type\":\"load\",\"id\":\"1\",\"key\":\"k\"}"));
	lint_from_plugin(lint, STR("{\"type\":\"store\",\"id\":\"1\",\"key\":\"k\",\"value\":\"v\"}"));
	lint_from_plugin(lint, STR("{\"type\":\"exec\",\"id\":\"1\",\"command\":\"x\"}"));
	lint_from_plugin(lint, STR("{\"type\":\"store\",\"id\":\"1\",\"key\":\"k\",\"value\":\"v\"}"));
	lint_to_plugin(lint, STR("{\"type\":\"response\",\"id\":\"1\",\"value\":null}"));
	lint_to_plugin(lint, STR("{\"type\":\"response\",\"id\":\"1\",\"value\":null}"));
	lint_end(lint);
	ck_assert_uint_eq(subject.findings.count, 1);
	ck_assert_uint_eq(subject.findings.items[0].at.line, 3);
	ck_assert_ptr_nonnull(strstr(subject.findings.items[0].text, "`exec` was not answered"));
	end(&subject);
}
END_TEST

START_TEST(after_a_cancel_nothing_is_asked)
{
	struct subject subject;
	begin(&subject, &all);
	struct lint *lint = &subject.lint;
	lint_to_plugin(lint, STR("{\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"invalid_request\"}"));
	lint_from_plugin(lint, STR(ASK "}"));
	ck_assert_uint_eq(subject.findings.count, 0);
	lint_to_plugin(lint, STR("{\"type\":\"cancel\",\"reason\":\"user_interrupt\"}"));
	lint_from_plugin(lint, STR("{\"type\":\"output\",\"text\":\"bye\"}"));
	ck_assert_uint_eq(subject.findings.count, 0);
	lint_from_plugin(lint, STR(ASK "}"));
	ck_assert(has(&subject.findings, FINDING_WARNING, "after the host has cancelled"));
	end(&subject);
}
END_TEST

static int lint_without_memory(void *data)
{
	(void)data;
	struct arena arena = { 0 };
	struct findings findings = { .arena = &arena };
	struct lint lint = { 0 };
	int r = lint_init(&lint, &all, &findings);
	for (size_t i = 0; r == 0 && i < COUNT(lines); i++)
		lint_from_plugin(&lint, str_from(lines[i].line));
	if (r == 0)
		lint_end(&lint);
	if (findings.failed)
		r = -1;
	lint_free(&lint);
	findings_free(&findings);
	arena_free(&arena);
	return r;
}

START_TEST(memory_may_run_out)
{
	ck_assert_uint_gt(oom_every(lint_without_memory, NULL), 5);
}
END_TEST

SUITE_MAIN("lint", every_line_is_looked_at, what_was_not_wished_for_is_not_used,
	a_request_waits_for_its_answer, after_a_cancel_nothing_is_asked, memory_may_run_out)

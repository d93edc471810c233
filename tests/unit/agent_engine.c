/* The engine of agents: every rule of both dialects, from lines. */
#include "harness/suite.h"

#include <string.h>

#include "harness/world.h"

/* ---- 0.1 ------------------------------------------------------------------------- */

static const struct {
	struct str lines;
	const char *log;
} lines_0_1[] = {
#define T(literal) STR(literal)
	/* bodies */
	{ T(""), "#0" },
	{ T("hello\n"), "#0=hello" },
	{ T("hello"), "#0=hello" },
	{ T("a\nb\n"), "#0=a\nb" },
	{ T("a\r\nb\r\n"), "#0=a\nb" },
	{ T("a\r\r\n"), "#0=a\r" },
	{ T("a\n\n"), "#0=a\n" },
	{ T("\n\na\n"), "#0=\n\na" },
	{ T("\n"), "#0" },
	{ T(" AGENT_PARTIAL:\"x\"\n"), "#0= AGENT_PARTIAL:\"x\"" },
	{ T("AGENT_partial:\"x\"\n"), "#0=AGENT_partial:\"x\"" },
	{ T("AGENT_PARTIAL\n"), "#0=AGENT_PARTIAL" },
	{ T("x AGENT_ERROR:\"y\"\n"), "#0=x AGENT_ERROR:\"y\"" },
	{ T("a\xFF"
		"b\n"),
		"#0=a\xEF\xBF\xBD"
		"b" },
	{ T("\xC3\n\xA9\n"), "#0=\xEF\xBF\xBD\n\xEF\xBF\xBD" },
	/* sessions */
	{ T("AGENT_SESSION:s-1\n"), "s(s-1)#0" },
	{ T("AGENT_SESSION:  s-1 \t\n"), "s(s-1)#0" },
	{ T("AGENT_SESSION:a\nAGENT_SESSION:b\nAGENT_SESSION:b\n"), "s(a)s(b)#0" },
	{ T("x\nAGENT_SESSION:a\ny\n"), "s(a)#0=x\ny" },
	{ T("AGENT_SESSION:\n"), "w#0" },
	{ T("AGENT_SESSION:a b\n"), "w#0" },
	{ T("AGENT_SESSION:a\tb\n"), "w#0" },
	{ T("AGENT_SESSION:a\xC2\xA0"
		"b\n"),
		"w#0" },
	{ T("AGENT_SESSION:a:b\n"), "w#0" },
	{ T("AGENT_SESSION:../x\n"), "w#0" },
	{ T("AGENT_SESSION:a\\b\n"), "w#0" },
	{ T("AGENT_SESSION:.\nAGENT_SESSION:..\nAGENT_SESSION:-x\n"), "www#0" },
	{ T("AGENT_SESSION:...\n"), "s(...)#0" },
	{ T("AGENT_SESSION:a\x01\n"), "w#0" },
	{ T("AGENT_SESSION:a\xC2\x85"
		"b\n"),
		"w#0" },
	{ T("AGENT_SESSION:a\xFF\n"), "w#0" },
	{ T("AGENT_SESSION:gr\xC3\xBC\xC3\x9F\n"), "s(gr\xC3\xBC\xC3\x9F)#0" },
	{ T("AGENT_SESSION:good\nAGENT_SESSION:b/d\n"), "s(good)w#0" },
	/* partials */
	{ T("AGENT_PARTIAL:\"one \"\nAGENT_PARTIAL:\"two\"\n"), "p(one )p(two)#0" },
	{ T("AGENT_PARTIAL:\"\\u00e9\\n\\\"\"\n"), "p(\xC3\xA9\n\")#0" },
	{ T("AGENT_PARTIAL: \"x\" \n"), "p(x)#0" },
	{ T("AGENT_PARTIAL:\"x\"\nbody\n"), "p(x)#0=body" },
	{ T("AGENT_PARTIAL:plain text \n"), "wp(plain text)#0" },
	{ T("AGENT_PARTIAL:5\nAGENT_PARTIAL:{\"a\":1}\n"), "wp(5)wp({\"a\":1})#0" },
	{ T("AGENT_PARTIAL:\"open\n"), "wp(\"open)#0" },
	{ T("AGENT_PARTIAL:\"a\" \"b\"\n"), "wp(\"a\" \"b\")#0" },
	{ T("AGENT_PARTIAL:\n"), "wp()#0" },
	{ T("AGENT_PARTIAL:\"\"\n"), "p()#0" },
	{ T("AGENT_PARTIAL:\"a\xFF\"\n"), "p(a\xEF\xBF\xBD)#0" },
	/* errors */
	{ T("AGENT_ERROR:\"bad\"\n"), "hang#1!agent_error:bad" },
	{ T("AGENT_ERROR:plain \n"), "whang#1!agent_error:plain" },
	{ T("AGENT_ERROR:\"one\"\nAGENT_ERROR:\"two\"\n"), "hangw#1!agent_error:one" },
	{ T("AGENT_ERROR:\"\"\n"),
		"hang#1!agent_error:the agent reported an error without saying which" },
	{ T("AGENT_ERROR:\n"), "whang#1!agent_error:the agent reported an error without saying which" },
	{ T("AGENT_PARTIAL:\"a\"\nbody\nAGENT_ERROR:\"x\"\nAGENT_PARTIAL:\"b\"\nmore\n"),
		"p(a)hang#1!agent_error:x" },
	{ T("AGENT_SESSION:a\nAGENT_ERROR:\"x\"\nAGENT_SESSION:b\n"), "s(a)hangs(b)#1!agent_error:x" },
};

START_TEST(lines_of_0_1)
{
	for (size_t i = 0; i < COUNT(lines_0_1); i++) {
		struct world world;
		world_open(&world, world_options(&dialect_0_1));
		world_feed(&world, lines_0_1[i].lines);
		world_conclude(&world, clean_exit);
		ck_assert_msg(strcmp(world_log(&world), lines_0_1[i].log) == 0, "%s\ngives %s\nnot   %s",
			lines_0_1[i].lines.data, world_log(&world), lines_0_1[i].log);
		world_close(&world);
	}
}
END_TEST

START_TEST(session_ids_have_a_length)
{
	char line[1024] = "AGENT_SESSION:";
	struct world world;
	world_open(&world, world_options(&dialect_0_1));
	memset(line + 14, 'x', AGENT_SESSION_ID_MAX + 1);
	agent_engine_line(world.engine, line, 14 + AGENT_SESSION_ID_MAX + 1, false);
	ck_assert_str_eq(world_log(&world), "w");
	agent_engine_line(world.engine, line, 14 + AGENT_SESSION_ID_MAX, false);
	ck_assert_uint_eq(agent_engine_session(world.engine).len, AGENT_SESSION_ID_MAX);
	world_close(&world);
}
END_TEST

START_TEST(another_session_prefix)
{
	struct world world;
	struct agent_engine_options options = world_options(&dialect_0_1);
	options.session_prefix = STR("SID=");
	world_open(&world, options);
	world_feed(&world, STR("SID=a\nAGENT_SESSION:b\n"));
	world_conclude(&world, clean_exit);
	ck_assert_str_eq(world_log(&world), "s(a)#0=AGENT_SESSION:b");
	world_close(&world);
	/* It is looked at first. */
	options.session_prefix = STR("AGENT_PARTIAL:");
	world_open(&world, options);
	world_feed(&world, STR("AGENT_PARTIAL:\"x\"\n"));
	ck_assert_str_eq(world_log(&world), "s(\"x\")");
	world_close(&world);
}
END_TEST

START_TEST(raw_is_always_json)
{
	struct world world;
	world_open(&world, world_options(&dialect_0_1));
	world.keeps_raw = true;
	world_feed(&world, STR("AGENT_PARTIAL: \"\\u0041\"\nAGENT_PARTIAL:x\"y\n"));
	ck_assert_str_eq(world_log(&world), "p(A)r(\"\\u0041\")wp(x\"y)r(\"x\\\"y\")");
	world_close(&world);
	struct agent_engine_options options = world_options(&dialect_0_4);
	options.max_reply_chars = 3;
	world_open(&world, options);
	world.keeps_raw = true;
	world_feed(&world,
		STR("{\"type\":\"partial\",\"text\":\"ab\"}\n{\"type\":\"partial\",\"text\":\"cd\"}\n"));
	ck_assert_str_eq(world_log(&world),
		"p(ab)r({\"type\":\"partial\",\"text\":\"ab\"})p(c…)r({\"type\":\"partial\",\"text\":"
		"\"c…\"})");
	world_close(&world);
}
END_TEST

/* ---- streaming and truncation -------------------------------------------------------- */

static const struct {
	size_t most;
	bool is_streaming;
	const char *lines;
	const char *log;
} cuts[] = {
	{ 3, true, "abc\n", "#0=abc" },
	{ 3, true, "abcd\n", "#0=abc…" },
	{ 3, true, "äöüß\n", "#0=äöü…" },
	{ 3, true, "a\nbc\n", "#0=a\nb…" },
	{ 0, true, "abcd\n", "#0=abcd" },
	{ 3, true, "AGENT_PARTIAL:\"abc\"\n", "p(abc)#0" },
	{ 3, true,
		"AGENT_PARTIAL:\"abc\"\nAGENT_PARTIAL:\"\"\nAGENT_PARTIAL:\"d\"\nAGENT_PARTIAL:\"e\"\n",
		"p(abc)p()p(…)#0" },
	{ 3, true, "AGENT_PARTIAL:\"ab\"\nAGENT_PARTIAL:\"cd\"\nbodyx\n", "p(ab)p(c…)#0=bod…" },
	{ 3, true,
		"AGENT_PARTIAL:\"\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80\"\n",
		"p(\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80…)#0" },
	{ 8000, false, "AGENT_PARTIAL:\"ab\"\nbody\n", "#0=body" },
};

START_TEST(replies_are_cut_by_characters)
{
	for (size_t i = 0; i < COUNT(cuts); i++) {
		struct world world;
		struct agent_engine_options options = world_options(&dialect_0_1);
		options.max_reply_chars = cuts[i].most;
		options.is_streaming = cuts[i].is_streaming;
		world_open(&world, options);
		world_feed(&world, str_from(cuts[i].lines));
		world_conclude(&world, clean_exit);
		ck_assert_msg(strcmp(world_log(&world), cuts[i].log) == 0, "%s\ngives %s", cuts[i].lines,
			world_log(&world));
		world_close(&world);
	}
}
END_TEST

/* ---- 0.4 ------------------------------------------------------------------------------ */

static const struct {
	const char *lines;
	const char *log;
} lines_0_4[] = {
	{ "", "#0" },
	{ "\n  \n", "#0" },
	{ "{\"type\":\"result\",\"text\":\"done\"}\n", "hang#0=done" },
	{ "{\"type\":\"result\",\"text\":\"done\",\"usage\":{\"in\":1}}", "hangu({\"in\":1})#0=done" },
	{ "{\"type\":\"partial\",\"text\":\"hm\",\"role\":\"thinking\"}\n"
	  "{\"type\":\"result\",\"text\":\"a\"}\n",
		"t(hm)hang#0=a" },
	{ "{\"type\":\"partial\",\"text\":\"a\",\"usage\":{\"input_tokens\":1}}\n"
	  "{\"type\":\"error\",\"message\":\"x\",\"usage\":{\"input_tokens\":2}}\n",
		"p(a)u({\"input_tokens\":1})hangu({\"input_tokens\":2})#1!agent_error:x" },
	{ "{\"type\":\"result\",\"text\":\"\"}\n", "hang#0" },
	{ "{\"type\":\"partial\",\"text\":\"a\",\"role\":\"x\"}\n{\"type\":\"result\",\"text\":\"a\"}"
	  "\n",
		"p(a)hang#0" },
	{ "{\"type\":\"partial\",\"text\":\"\"}\n{\"type\":\"result\",\"text\":\"a\"}\n",
		"p()hang#0=a" },
	{ "{\"type\":\"result\",\"text\":\"a\"}\n{\"type\":\"result\",\"text\":\"b\"}\n", "hangw#0=a" },
	{ "{\"type\":\"result\"}\n{\"type\":\"partial\"}\n{\"type\":\"partial\",\"text\":1}\n",
		"www#0" },
	{ "{\"type\":\"error\",\"message\":\"bad\"}\n", "hang#1!agent_error:bad" },
	{ "{\"type\":\"error\"}\n",
		"hang#1!agent_error:the agent reported an error without saying which" },
	{ "{\"type\":\"result\",\"text\":\"a\"}\n{\"type\":\"error\",\"message\":\"x\"}\n",
		"hanghang#1!agent_error:x" },
	{ "{\"type\":\"error\",\"message\":\"x\"}\n{\"type\":\"partial\",\"text\":\"a\"}\n"
	  "{\"type\":\"result\",\"text\":\"b\"}\n{\"type\":\"error\",\"message\":\"y\"}\n",
		"hangw#1!agent_error:x" },
	{ "plain\n[1]\n\"x\"\n{\"type\":\"other\"}\n{\"a\":1}\n{\"type\":\"parti\n", "wwwwww#0" },
	{ "AGENT_PARTIAL:\"x\"\n", "w#0" },
	{ "{\"type\":\"partial\",\"text\":\"a\",\"session_id\":\"s1\"}\n"
	  "{\"type\":\"result\",\"text\":\"b\",\"session_id\":\"s2\"}\n",
		"s(s1)p(a)whang#0" },
	{ "{\"type\":\"partial\",\"text\":\"a\",\"session_id\":\"\"}\n"
	  "{\"type\":\"error\",\"message\":\"b\",\"session_id\":\"a b:c\"}\n",
		"p(a)s(a b:c)hang#1!agent_error:b" },
	{ "{\"type\":\"partial\",\"text\":\"\",\"session_id\":\"a/b\"}\n"
	  "{\"type\":\"partial\",\"text\":\"\",\"session_id\":\"..\"}\n"
	  "{\"type\":\"partial\",\"text\":\"\",\"session_id\":\"a\\u0000\"}\n"
	  "{\"type\":\"partial\",\"text\":\"\",\"session_id\":\"-ok\"}\n",
		"wp()wp()wp()s(-ok)p()#0" },
	{ "{\"type\":\"partial\",\"text\":\"a\",\"session_id\":5}\n"
	  "{\"type\":\"partial\",\"text\":\"b\",\"session_id\":[\"s\"]}\n"
	  "{\"type\":\"partial\",\"text\":\"c\",\"session_id\":null}\n",
		"wp(a)wp(b)p(c)#0" },
	{ "{\"type\":\"other\",\"session_id\":\"s\"}\n", "w#0" },
	{ "{\"type\":\"permission_request\",\"request_id\":\"1\",\"tool_name\":\"sh\"}\n", "w#0" },
};

START_TEST(lines_of_0_4)
{
	for (size_t i = 0; i < COUNT(lines_0_4); i++) {
		struct world world;
		world_open(&world, world_options(&dialect_0_4));
		world_feed(&world, str_from(lines_0_4[i].lines));
		world_conclude(&world, clean_exit);
		ck_assert_msg(strcmp(world_log(&world), lines_0_4[i].log) == 0, "%s\ngives %s\nnot   %s",
			lines_0_4[i].lines, world_log(&world), lines_0_4[i].log);
		world_close(&world);
	}
}
END_TEST

/* Lines of an agent whose dialect nobody said. */
static const struct {
	const char *lines;
	bool is_failure;
} guesses[] = {
	{ "{\"type\":\"result\",\"text\":\"You said: \"}\n", true },
	{ "{\"type\":\"partial\",\"text\":\"a\"}\n{\"type\":\"result\",\"text\":\"a\"}\n", true },
	{ "{\"type\":\"other\"}\n", false },
	{ "{\"type\":\"result\"\n", false },
	{ "hello\n{\"type\":\"result\",\"text\":\"b\"}\n", false },
	{ " {\"type\":\"result\",\"text\":\"b\"}\n", false },
};

START_TEST(a_wrong_guess_of_the_dialect_ends_with_the_line_to_add)
{
	for (size_t i = 0; i < COUNT(guesses); i++) {
		for (int is_guessed = 0; is_guessed < 2; is_guessed++) {
			struct world world;
			struct agent_engine_options options = world_options(&dialect_0_1);
			options.is_guessed = is_guessed;
			world_open(&world, options);
			world_feed(&world, str_from(guesses[i].lines));
			world_conclude(&world, clean_exit);
			const char *error = strstr(world_log(&world), "#1!agent_error:");
			ck_assert_msg((error != NULL) == (is_guessed && guesses[i].is_failure), "%s: %s",
				guesses[i].lines, world_log(&world));
			ck_assert(!error || strstr(error, "protocol: \"0.4\""));
			world_close(&world);
		}
	}
}
END_TEST

START_TEST(without_streaming_the_result_is_sent)
{
	struct world world;
	struct agent_engine_options options = world_options(&dialect_0_4);
	options.is_streaming = false;
	world_open(&world, options);
	world_feed(&world,
		STR("{\"type\":\"partial\",\"text\":\"a\"}\n{\"type\":\"result\",\"text\":\"all\"}\n"));
	world_conclude(&world, clean_exit);
	ck_assert_str_eq(world_log(&world), "hang#0=all");
	world_close(&world);
}
END_TEST

#define ANSWER(id, behavior)                                                                      \
	">{\"type\":\"permission_response\",\"request_id\":\"" id "\",\"behavior\":\"" behavior "\"}" \
	"\n"

START_TEST(permissions_are_answered_in_order)
{
	struct world world;
	struct agent_engine_options options = world_options(&dialect_0_4);
	options.has_permission = true;
	world_open(&world, options);
	world_feed(&world, STR(WORLD_ASK("1") WORLD_ASK("2") WORLD_ASK("1")));
	ck_assert(agent_engine_is_asking(world.engine));
	agent_engine_permit(world.engine, STR("2"), true, (struct str){ 0 });
	agent_engine_permit(world.engine, STR("nobody"), true, (struct str){ 0 });
	ck_assert_str_eq(
		world_log(&world), "?(1,sh,{ \"c\": 1})?(2,sh,{ \"c\": 1})?(1,sh,{ \"c\": 1})");
	buf_clear(&world.log);
	agent_engine_permit(world.engine, STR("1"), false, STR("no"));
	ck_assert_str_eq(world_log(&world),
		">{\"type\":\"permission_response\",\"request_id\":\"1\",\"behavior\":\"deny\","
		"\"message\":\"no\"}\n" ANSWER("2", "allow"));
	buf_clear(&world.log);
	agent_engine_permit(world.engine, STR("1"), true, (struct str){ 0 });
	ck_assert_str_eq(world_log(&world), ANSWER("1", "allow"));
	ck_assert(!agent_engine_is_asking(world.engine));
	world_close(&world);
}
END_TEST

START_TEST(pending_permissions_are_denied_at_the_end)
{
	struct world world;
	struct agent_engine_options options = world_options(&dialect_0_4);
	options.has_permission = true;
	world_open(&world, options);
	world_feed(&world, STR(WORLD_ASK("1") WORLD_ASK("2")));
	buf_clear(&world.log);
	agent_engine_deny_all(world.engine, (struct str){ 0 });
	world_feed(&world, STR(WORLD_ASK("3")));
	ck_assert_str_eq(
		world_log(&world), ANSWER("1", "deny") ANSWER("2", "deny") ANSWER("3", "deny"));
	world_feed(&world, STR("{\"type\":\"permission_request\",\"tool_name\":\"x\"}\n"));
	world_feed(&world, STR("{\"type\":\"permission_request\",\"request_id\":\"a\\u0000\"}\n"));
	ck_assert_ptr_nonnull(strstr(world_log(&world), "}\nww"));
	world_close(&world);
}
END_TEST

SUITE_MAIN("agent-engine", a_wrong_guess_of_the_dialect_ends_with_the_line_to_add, lines_of_0_1,
	session_ids_have_a_length, another_session_prefix, raw_is_always_json,
	replies_are_cut_by_characters, lines_of_0_4, without_streaming_the_result_is_sent,
	permissions_are_answered_in_order, pending_permissions_are_denied_at_the_end)

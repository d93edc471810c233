/* The engine: every rule of both dialects from lines, every end of a turn, and
 * memory that runs out. */
#include "harness/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/engine.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "harness/oom.h"

/* Everything that was wanted, in words: p(text), s(id), w(start of it), ?(id),
 * >line, hang, stop. */
struct world {
	struct buf log;
	struct agent_engine *engine;
	bool keeps_raw;
	bool denies;
};

static void say(struct world *world, const char *before, struct str text, const char *behind)
{
	buf_append_text(&world->log, before);
	buf_append(&world->log, text.data, text.len);
	buf_append_text(&world->log, behind);
}

static void on_partial(void *data, struct str text, struct str raw)
{
	struct world *world = data;
	ck_assert(utf8_is_valid(text.data, text.len));
	say(world, "p(", text, ")");
	if (world->keeps_raw)
		say(world, "r(", raw, ")");
}

static void on_session(void *data, struct str id)
{
	say(data, "s(", id, ")");
}

static void on_warning(void *data, struct str text)
{
	(void)text;
	say(data, "w", (struct str){ 0 }, "");
}

static void on_permission(void *data, const struct agent_permission *permission)
{
	struct world *world = data;
	say(world, "?(", permission->request_id, ",");
	say(world, "", permission->tool_name, ",");
	say(world, "", permission->input, ")");
	if (world->denies)
		agent_engine_permit(world->engine, permission->request_id, false, STR("no"));
}

static void on_send(void *data, struct str line)
{
	say(data, ">", line, "");
}

static void on_hang_up(void *data)
{
	say(data, "hang", (struct str){ 0 }, "");
}

static void on_stop(void *data)
{
	say(data, "stop", (struct str){ 0 }, "");
}

static const struct agent_effects effects = {
	.partial = on_partial,
	.session = on_session,
	.warning = on_warning,
	.permission = on_permission,
	.send = on_send,
	.hang_up = on_hang_up,
	.stop = on_stop,
};

static struct agent_engine_options defaults(const struct dialect *dialect)
{
	return (struct agent_engine_options){
		.dialect = dialect,
		.session_prefix = STR("AGENT_SESSION:"),
		.is_streaming = true,
		.max_reply_chars = 8000,
		.truncation_suffix = STR("…"),
		.line_limit = AGENT_LINE_LIMIT,
		.total_limit = AGENT_TOTAL_LIMIT,
	};
}

static const struct agent_exit clean_exit = { .send_error_reply = true };

static void open_world(struct world *world, struct agent_engine_options options)
{
	*world = (struct world){ 0 };
	ck_assert_int_eq(agent_engine_new(&options, &effects, world, &world->engine), 0);
}

/* Feeds a text as lines.c would cut it. */
static void feed(struct world *world, struct str text)
{
	while (text.len) {
		struct str line = str_cut(&text, '\n');
		if (line.len && line.data[line.len - 1] == '\r')
			line.len--;
		agent_engine_line(world->engine, line.data, line.len, false);
	}
}

static const char *log_of(struct world *world)
{
	buf_terminate(&world->log);
	return world->log.data;
}

static void close_world(struct world *world)
{
	agent_engine_free(world->engine);
	buf_free(&world->log);
}

/* What a turn came to: "code|error:text|…|=reply". */
static void conclude(struct world *world, struct agent_exit exit)
{
	struct agent_verdict verdict;
	agent_engine_conclude(world->engine, &exit, &verdict);
	buf_printf(&world->log, "#%d", verdict.exit_code);
	for (size_t i = 0; i < verdict.error_count; i++) {
		buf_printf(&world->log, "!%s:", verdict.errors[i].code);
		buf_append(&world->log, verdict.errors[i].text.data, verdict.errors[i].text.len);
	}
	if (verdict.has_reply) {
		buf_append_char(&world->log, '=');
		buf_append(&world->log, verdict.reply.data, verdict.reply.len);
	}
}

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
		open_world(&world, defaults(&dialect_0_1));
		feed(&world, lines_0_1[i].lines);
		conclude(&world, clean_exit);
		ck_assert_msg(strcmp(log_of(&world), lines_0_1[i].log) == 0, "%s\ngives %s\nnot   %s",
			lines_0_1[i].lines.data, log_of(&world), lines_0_1[i].log);
		close_world(&world);
	}
}
END_TEST

START_TEST(session_ids_have_a_length)
{
	char line[1024] = "AGENT_SESSION:";
	struct world world;
	open_world(&world, defaults(&dialect_0_1));
	memset(line + 14, 'x', AGENT_SESSION_ID_MAX + 1);
	agent_engine_line(world.engine, line, 14 + AGENT_SESSION_ID_MAX + 1, false);
	ck_assert_str_eq(log_of(&world), "w");
	agent_engine_line(world.engine, line, 14 + AGENT_SESSION_ID_MAX, false);
	ck_assert_uint_eq(agent_engine_session(world.engine).len, AGENT_SESSION_ID_MAX);
	close_world(&world);
}
END_TEST

START_TEST(another_session_prefix)
{
	struct world world;
	struct agent_engine_options options = defaults(&dialect_0_1);
	options.session_prefix = STR("SID=");
	open_world(&world, options);
	feed(&world, STR("SID=a\nAGENT_SESSION:b\n"));
	conclude(&world, clean_exit);
	ck_assert_str_eq(log_of(&world), "s(a)#0=AGENT_SESSION:b");
	close_world(&world);
	/* It is looked at first. */
	options.session_prefix = STR("AGENT_PARTIAL:");
	open_world(&world, options);
	feed(&world, STR("AGENT_PARTIAL:\"x\"\n"));
	ck_assert_str_eq(log_of(&world), "s(\"x\")");
	close_world(&world);
}
END_TEST

START_TEST(raw_is_always_json)
{
	struct world world;
	open_world(&world, defaults(&dialect_0_1));
	world.keeps_raw = true;
	feed(&world, STR("AGENT_PARTIAL: \"\\u0041\"\nAGENT_PARTIAL:x\"y\n"));
	ck_assert_str_eq(log_of(&world), "p(A)r(\"\\u0041\")wp(x\"y)r(\"x\\\"y\")");
	close_world(&world);
	struct agent_engine_options options = defaults(&dialect_0_4);
	options.max_reply_chars = 3;
	open_world(&world, options);
	world.keeps_raw = true;
	feed(&world,
		STR("{\"type\":\"partial\",\"text\":\"ab\"}\n{\"type\":\"partial\",\"text\":\"cd\"}\n"));
	ck_assert_str_eq(log_of(&world),
		"p(ab)r({\"type\":\"partial\",\"text\":\"ab\"})p(c…)r({\"type\":\"partial\",\"text\":"
		"\"c…\"})");
	close_world(&world);
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
		struct agent_engine_options options = defaults(&dialect_0_1);
		options.max_reply_chars = cuts[i].most;
		options.is_streaming = cuts[i].is_streaming;
		open_world(&world, options);
		feed(&world, str_from(cuts[i].lines));
		conclude(&world, clean_exit);
		ck_assert_msg(strcmp(log_of(&world), cuts[i].log) == 0, "%s\ngives %s", cuts[i].lines,
			log_of(&world));
		close_world(&world);
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
	{ "{\"type\":\"result\",\"text\":\"done\",\"usage\":{\"in\":1}}", "hang#0=done" },
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
		"s(s1)p(a)hang#0" },
	{ "{\"type\":\"partial\",\"text\":\"a\",\"session_id\":\"\"}\n"
	  "{\"type\":\"error\",\"message\":\"b\",\"session_id\":\"a b:c\"}\n",
		"p(a)s(a b:c)hang#1!agent_error:b" },
	{ "{\"type\":\"partial\",\"text\":\"\",\"session_id\":\"a/b\"}\n"
	  "{\"type\":\"partial\",\"text\":\"\",\"session_id\":\"..\"}\n"
	  "{\"type\":\"partial\",\"text\":\"\",\"session_id\":\"a\\u0000\"}\n"
	  "{\"type\":\"partial\",\"text\":\"\",\"session_id\":\"-ok\"}\n",
		"wp()wp()wp()s(-ok)p()#0" },
	{ "{\"type\":\"other\",\"session_id\":\"s\"}\n", "w#0" },
	{ "{\"type\":\"permission_request\",\"request_id\":\"1\",\"tool_name\":\"sh\"}\n", "w#0" },
};

START_TEST(lines_of_0_4)
{
	for (size_t i = 0; i < COUNT(lines_0_4); i++) {
		struct world world;
		open_world(&world, defaults(&dialect_0_4));
		feed(&world, str_from(lines_0_4[i].lines));
		conclude(&world, clean_exit);
		ck_assert_msg(strcmp(log_of(&world), lines_0_4[i].log) == 0, "%s\ngives %s\nnot   %s",
			lines_0_4[i].lines, log_of(&world), lines_0_4[i].log);
		close_world(&world);
	}
}
END_TEST

START_TEST(without_streaming_the_result_is_sent)
{
	struct world world;
	struct agent_engine_options options = defaults(&dialect_0_4);
	options.is_streaming = false;
	open_world(&world, options);
	feed(&world,
		STR("{\"type\":\"partial\",\"text\":\"a\"}\n{\"type\":\"result\",\"text\":\"all\"}\n"));
	conclude(&world, clean_exit);
	ck_assert_str_eq(log_of(&world), "hang#0=all");
	close_world(&world);
}
END_TEST

#define ASK(id)                                             \
	"{\"type\":\"permission_request\",\"request_id\":\"" id \
	"\",\"tool_name\":\"sh\",\"input\":{ \"c\": 1}}\n"
#define ANSWER(id, behavior)                                                                      \
	">{\"type\":\"permission_response\",\"request_id\":\"" id "\",\"behavior\":\"" behavior "\"}" \
	"\n"

START_TEST(permissions_are_answered_in_order)
{
	struct world world;
	struct agent_engine_options options = defaults(&dialect_0_4);
	options.has_permission = true;
	open_world(&world, options);
	feed(&world, STR(ASK("1") ASK("2") ASK("1")));
	ck_assert(agent_engine_is_asking(world.engine));
	agent_engine_permit(world.engine, STR("2"), true, (struct str){ 0 });
	agent_engine_permit(world.engine, STR("nobody"), true, (struct str){ 0 });
	ck_assert_str_eq(log_of(&world), "?(1,sh,{ \"c\": 1})?(2,sh,{ \"c\": 1})?(1,sh,{ \"c\": 1})");
	buf_clear(&world.log);
	agent_engine_permit(world.engine, STR("1"), false, STR("no"));
	ck_assert_str_eq(log_of(&world),
		">{\"type\":\"permission_response\",\"request_id\":\"1\",\"behavior\":\"deny\","
		"\"message\":\"no\"}\n" ANSWER("2", "allow"));
	buf_clear(&world.log);
	agent_engine_permit(world.engine, STR("1"), true, (struct str){ 0 });
	ck_assert_str_eq(log_of(&world), ANSWER("1", "allow"));
	ck_assert(!agent_engine_is_asking(world.engine));
	close_world(&world);
}
END_TEST

START_TEST(pending_permissions_are_denied_at_the_end)
{
	struct world world;
	struct agent_engine_options options = defaults(&dialect_0_4);
	options.has_permission = true;
	open_world(&world, options);
	feed(&world, STR(ASK("1") ASK("2")));
	buf_clear(&world.log);
	agent_engine_deny_all(world.engine, (struct str){ 0 });
	feed(&world, STR(ASK("3")));
	ck_assert_str_eq(log_of(&world), ANSWER("1", "deny") ANSWER("2", "deny") ANSWER("3", "deny"));
	feed(&world, STR("{\"type\":\"permission_request\",\"tool_name\":\"x\"}\n"));
	feed(&world, STR("{\"type\":\"permission_request\",\"request_id\":\"a\\u0000\"}\n"));
	ck_assert_ptr_nonnull(strstr(log_of(&world), "}\nww"));
	close_world(&world);
}
END_TEST

/* ---- limits ---------------------------------------------------------------------------- */

START_TEST(limits)
{
	struct world world;
	struct agent_engine_options options = defaults(&dialect_0_1);
	options.line_limit = 100;
	open_world(&world, options);
	agent_engine_line(world.engine, "AGENT_SESSION:a", 15, false);
	agent_engine_line(world.engine, "xxx", 3, true);
	agent_engine_line(world.engine, "AGENT_PARTIAL:\"x\"", 17, false);
	conclude(&world, (struct agent_exit){ .status = -1, .signal = SIGTERM });
	ck_assert_str_eq(log_of(&world),
		"s(a)stop#1!output_limit:the agent wrote a line of more than 100 bytes and was stopped");
	close_world(&world);
	options.total_limit = 12;
	open_world(&world, options);
	feed(&world, STR("hello\nhello\n"));
	ck_assert_str_eq(log_of(&world), "");
	feed(&world, STR("\nAGENT_PARTIAL:\"x\"\n"));
	conclude(&world, clean_exit);
	ck_assert_str_eq(
		log_of(&world), "stop#1!output_limit:the agent wrote more than 12 bytes and was stopped");
	close_world(&world);
}
END_TEST

START_TEST(warnings_are_not_endless)
{
	struct world world;
	open_world(&world, defaults(&dialect_0_4));
	for (int i = 0; i < 1000; i++)
		agent_engine_line(world.engine, "nonsense", 8, false);
	ck_assert_uint_eq(strlen(log_of(&world)), AGENT_WARNINGS_MAX + 1);
	close_world(&world);
}
END_TEST

/* ---- the end of a turn --------------------------------------------------------------------- */

#define ERROR_LINE "AGENT_ERROR:\"own\"\n"
#define TAIL .include_stderr = true, .stderr_tail = { "one\ntwo\xFF\n", 9 }

static const struct {
	const char *lines;
	struct agent_exit exit;
	const char *log;
} ends[] = {
	{ "body\n", { .send_error_reply = true }, "#0=body" },
	{ "body\n", { .status = 3, .send_error_reply = true },
		"#3!exit:the agent failed with exit status 3" },
	{ "body\n", { .status = 3 }, "#3" },
	{ "body\n", { .status = -1, .signal = SIGKILL, .send_error_reply = true },
		"#137!signal:the agent was ended by signal 9 (Killed)" },
	{ "body\n", { .status = -1, .signal = SIGSEGV }, "#139" },
	{ "body\n", { .status = -1, .send_error_reply = true },
		"#125!exit:how the agent ended is not known" },
	{ ERROR_LINE, { .status = 0, .send_error_reply = true }, "hang#1!agent_error:own" },
	{ ERROR_LINE, { .status = 7, .send_error_reply = true }, "hang#1!agent_error:own" },
	{ ERROR_LINE, { .status = 7 }, "hang#1!agent_error:own" },
	{ "body\n", { .timeout_ns = 1500 * NSEC_PER_MSEC, .send_error_reply = true },
		"#124!timeout:the agent took longer than 1.5 seconds and was stopped" },
	{ "body\n", { .timeout_ns = NSEC_PER_SEC, .was_idle = true, .send_error_reply = true },
		"#124!timeout:the agent said nothing for 1 seconds and was stopped" },
	{ "body\n", { .timeout_ns = NSEC_PER_SEC }, "#124" },
	{ "body\n", { .timeout_ns = NSEC_PER_SEC, .status = -1, .signal = SIGKILL }, "#124" },
	{ ERROR_LINE, { .timeout_ns = NSEC_PER_SEC, .send_error_reply = true },
		"hang#124!agent_error:own!timeout:the agent took longer than 1 seconds and was stopped" },
	{ ERROR_LINE, { .timeout_ns = NSEC_PER_SEC }, "hang#124!agent_error:own" },
	{ "body\n", { .cancelled_by = SIGINT, .status = 0 }, "#130!cancelled:cancelled" },
	{ "body\n", { .cancelled_by = SIGTERM, .status = -1, .signal = SIGTERM },
		"#143!cancelled:cancelled" },
	{ "body\n", { TAIL }, "#0=body\n\none\ntwo\xEF\xBF\xBD" },
	{ "", { TAIL }, "#0=one\ntwo\xEF\xBF\xBD" },
	{ "body\n", { .include_stderr = true }, "#0=body" },
	{ "body\n", { .status = 2, .send_error_reply = true, TAIL },
		"#2!exit:the agent failed with exit status 2\n\none\ntwo\xEF\xBF\xBD" },
	{ ERROR_LINE, { TAIL }, "hang#1!agent_error:own\n\none\ntwo\xEF\xBF\xBD" },
};

START_TEST(ends_of_a_turn)
{
	for (size_t i = 0; i < COUNT(ends); i++) {
		struct world world;
		open_world(&world, defaults(&dialect_0_1));
		feed(&world, str_from(ends[i].lines));
		conclude(&world, ends[i].exit);
		ck_assert_msg(strcmp(log_of(&world), ends[i].log) == 0, "case %zu gives %s\nnot %s", i,
			log_of(&world), ends[i].log);
		close_world(&world);
	}
}
END_TEST

START_TEST(the_body_is_kept_when_it_is_not_sent)
{
	struct world world;
	struct agent_verdict verdict;
	open_world(&world, defaults(&dialect_0_1));
	feed(&world, STR("body\n"));
	agent_engine_conclude(world.engine, &(struct agent_exit){ .status = 3 }, &verdict);
	ck_assert(!verdict.has_reply && str_is(verdict.body, "body"));
	close_world(&world);
}
END_TEST

/* ---- memory ------------------------------------------------------------------------------------
 */

static void no_partial(void *data, struct str text, struct str raw)
{
	(void)data;
	(void)text;
	(void)raw;
}

static void no_text(void *data, struct str text)
{
	(void)data;
	(void)text;
}

static void no_permission(void *data, const struct agent_permission *permission)
{
	(void)data;
	(void)permission;
}

static void nothing(void *data)
{
	(void)data;
}

static const struct agent_effects no_effects = {
	.partial = no_partial,
	.session = no_text,
	.warning = no_text,
	.permission = no_permission,
	.send = no_text,
	.hang_up = nothing,
	.stop = nothing,
};

static int talk(const struct dialect *dialect, struct str text)
{
	struct agent_engine_options options = defaults(dialect);
	options.has_permission = true;
	options.max_reply_chars = 6;
	struct agent_engine *engine;
	if (agent_engine_new(&options, &no_effects, NULL, &engine) < 0)
		return -ENOMEM;
	while (text.len) {
		struct str line = str_cut(&text, '\n');
		agent_engine_line(engine, line.data, line.len, false);
	}
	agent_engine_permit(engine, STR("1"), true, STR("m"));
	agent_engine_deny_all(engine, STR("over"));
	struct agent_verdict verdict;
	const struct agent_exit exit = { .send_error_reply = true, TAIL };
	agent_engine_conclude(engine, &exit, &verdict);
	int r = verdict.exit_code == 125 ? -ENOMEM : 0;
	agent_engine_free(engine);
	return r;
}

static int talk_0_1(void *data)
{
	(void)data;
	return talk(&dialect_0_1,
		STR("AGENT_SESSION:s\nAGENT_PARTIAL:\"a\\n\"\nAGENT_PARTIAL:plain text\nbody\xFF\nmore\n"));
}

static int talk_0_4(void *data)
{
	(void)data;
	return talk(&dialect_0_4,
		STR(ASK("1") ASK("2") "{\"type\":\"partial\",\"text\":\"\\u00e9 long one\"}\n"
							  "{\"type\":\"result\",\"text\":\"x\",\"session_id\":\"s\"}\n"));
}

START_TEST(memory_may_run_out)
{
	ck_assert_uint_gt(oom_every(talk_0_1, NULL), 5);
	ck_assert_uint_gt(oom_every(talk_0_4, NULL), 5);
}
END_TEST

SUITE_MAIN("agent-engine", lines_of_0_1, session_ids_have_a_length, another_session_prefix,
	raw_is_always_json, replies_are_cut_by_characters, lines_of_0_4,
	without_streaming_the_result_is_sent, permissions_are_answered_in_order,
	pending_permissions_are_denied_at_the_end, limits, warnings_are_not_endless, ends_of_a_turn,
	the_body_is_kept_when_it_is_not_sent, memory_may_run_out)

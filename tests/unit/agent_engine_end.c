/* The engine of agents: its limits, every end of a turn, and memory that runs out. */
#include "harness/suite.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "harness/oom.h"
#include "harness/world.h"

/* ---- limits ---------------------------------------------------------------------------- */

START_TEST(limits)
{
	struct world world;
	struct agent_engine_options options = world_options(&dialect_0_1);
	options.line_limit = 100;
	world_open(&world, options);
	agent_engine_line(world.engine, "AGENT_SESSION:a", 15, false);
	agent_engine_line(world.engine, "xxx", 3, true);
	agent_engine_line(world.engine, "AGENT_PARTIAL:\"x\"", 17, false);
	world_conclude(&world, (struct agent_exit){ .status = -1, .signal = SIGTERM });
	ck_assert_str_eq(world_log(&world),
		"s(a)stop#1!output_limit:the agent wrote a line of more than 100 bytes and was stopped");
	world_close(&world);
	options.total_limit = 12;
	world_open(&world, options);
	world_feed(&world, STR("hello\nhello\n"));
	ck_assert_str_eq(world_log(&world), "");
	world_feed(&world, STR("\nAGENT_PARTIAL:\"x\"\n"));
	world_conclude(&world, clean_exit);
	ck_assert_str_eq(world_log(&world),
		"stop#1!output_limit:the agent wrote more than 12 bytes and was stopped");
	world_close(&world);
}
END_TEST

#define USED(count) "\"usage\":{\"total_tokens\":" #count "}}\n"
#define TOO_MANY                                                                             \
	"#1!token_limit:the turn has used 101 tokens, more than max_turn_tokens of its profile " \
	"allows (100), and was ended"

/* What was already paid for is not withheld. */
START_TEST(tokens_are_counted)
{
	static const struct {
		const char *lines;
		const char *log;
	} cases[] = {
		{ "{\"type\":\"result\",\"text\":\"a\"," USED(100), "hangu({\"total_tokens\":100})#0=a" },
		{ "{\"type\":\"result\",\"text\":\"a\"," USED(101),
			"hangu({\"total_tokens\":101})stop" TOO_MANY "=a" },
		{ "{\"type\":\"partial\",\"text\":\"a\"," USED(
			  101) "{\"type\":\"result\",\"text\":\"b\"," USED(400),
			"p(a)u({\"total_tokens\":101})stop" TOO_MANY },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct world world;
		struct agent_engine_options options = world_options(&dialect_0_4);
		options.max_tokens = 100;
		world_open(&world, options);
		world_feed(&world, str_from(cases[i].lines));
		world_conclude(&world, clean_exit);
		ck_assert_str_eq(world_log(&world), cases[i].log);
		world_close(&world);
	}
}
END_TEST

START_TEST(warnings_are_not_endless)
{
	struct world world;
	world_open(&world, world_options(&dialect_0_4));
	for (int i = 0; i < 1000; i++)
		agent_engine_line(world.engine, "nonsense", 8, false);
	ck_assert_uint_eq(strlen(world_log(&world)), AGENT_WARNINGS_MAX + 1);
	world_close(&world);
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
	{ "body\n",
		{ .timeout_ns = NSEC_PER_SEC, .clock = AGENT_CLOCK_SILENCE, .send_error_reply = true },
		"#124!timeout:the agent said nothing for 1 second and was stopped" },
	{ "body\n",
		{ .timeout_ns = 90 * NSEC_PER_SEC, .clock = AGENT_CLOCK_BUDGET, .send_error_reply = true },
		"#124!timeout:the session has used up its budget_secs (90 seconds): begin a new one, or "
		"raise them" },
	{ "body\n", { .timeout_ns = NSEC_PER_SEC }, "#124" },
	{ "body\n", { .timeout_ns = NSEC_PER_SEC, .status = -1, .signal = SIGKILL }, "#124" },
	{ ERROR_LINE, { .timeout_ns = NSEC_PER_SEC, .send_error_reply = true },
		"hang#124!agent_error:own!timeout:the agent took longer than 1 second and was stopped" },
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
		world_open(&world, world_options(&dialect_0_1));
		world_feed(&world, str_from(ends[i].lines));
		world_conclude(&world, ends[i].exit);
		ck_assert_msg(strcmp(world_log(&world), ends[i].log) == 0, "case %zu gives %s\nnot %s", i,
			world_log(&world), ends[i].log);
		world_close(&world);
	}
}
END_TEST

START_TEST(the_body_is_kept_when_it_is_not_sent)
{
	struct world world;
	struct agent_verdict verdict;
	world_open(&world, world_options(&dialect_0_1));
	world_feed(&world, STR("body\n"));
	agent_engine_conclude(world.engine, &(struct agent_exit){ .status = 3 }, &verdict);
	ck_assert(!verdict.has_reply && str_is(verdict.body, "body"));
	world_close(&world);
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
	struct agent_engine_options options = world_options(dialect);
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
		STR(WORLD_ASK("1")
				WORLD_ASK("2") "{\"type\":\"partial\",\"role\":\"thinking\",\"text\":\"hm\"}\n"
							   "{\"type\":\"partial\",\"usage\":{\"input_tokens\":1},\"text\":"
							   "\"\\u00e9 long one\"}\n"
							   "{\"type\":\"result\",\"text\":\"x\",\"session_id\":\"s\"}\n"));
}

START_TEST(memory_may_run_out)
{
	ck_assert_uint_gt(oom_every(talk_0_1, NULL), 5);
	ck_assert_uint_gt(oom_every(talk_0_4, NULL), 5);
}
END_TEST

SUITE_MAIN("agent-engine-end", limits, tokens_are_counted, warnings_are_not_endless, ends_of_a_turn,
	the_body_is_kept_when_it_is_not_sent, memory_may_run_out)

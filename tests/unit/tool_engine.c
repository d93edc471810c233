/* The plugin runtime protocol from strings: what happens when, rows A, 2, 3, 11, 13, 14
 * and 15 of the verdicts; size, depth and memory of a frame. */
#include "harness/oom.h"
#include "harness/suite.h"
#include "harness/tool_world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* A script: each character is an event.
 *   q request   h handshake   r ok response   f error response   g "farewell"
 *   b blank line   p half a frame without newline   s a blank without newline
 *   l too long a line   c stdin closed   e end of output
 *   0 exit 0   3 exit 3   9 signal 9   ? exit unknown
 *   I H T clocks   X cancel   S strict from here on */
static const struct script_case {
	const char *name;
	const char *script;
	perch_tool_code code;
	const char *stage;
	const char *words;
	bool responded;
	uint64_t extra;
} scripts[] = {
	{ "success", "qhre0", PERCH_TOOL_OK, "teardown", NULL, true, 0 },
	{ "success of a request that came late", "hqre0", PERCH_TOOL_OK, "teardown", NULL, true, 0 },
	{ "success without an end of output", "qhr0", PERCH_TOOL_OK, "teardown", NULL, true, 0 },
	{ "handshake: time is up", "qH", PERCH_TOOL_TIMEOUT, "handshake", "no handshake within 1.5 s",
		0, 0 },
	{ "handshake: all time is up", "qI", PERCH_TOOL_TIMEOUT, "handshake", "no handshake", 0, 0 },
	{ "handshake: the teardown does not count", "qThre0", PERCH_TOOL_OK, NULL, NULL, true, 0 },
	{ "response: the handshake does not count", "qhHre0", PERCH_TOOL_OK, NULL, NULL, true, 0 },
	{ "response: time is up", "qhI", PERCH_TOOL_TIMEOUT, "response", "no response", 0, 0 },
	{ "teardown: the handshake does not count", "qhrHe0", PERCH_TOOL_OK, NULL, NULL, true, 0 },
	{ "teardown: all time is up", "qhrI", PERCH_TOOL_TIMEOUT, "teardown", "did not exit", true, 0 },
	{ "teardown: still alive", "qhrT", PERCH_TOOL_CRASHED, "teardown", "still alive 1.5 s", true,
		0 },
	{ "teardown: still alive, and then gone", "qhrTe0", PERCH_TOOL_CRASHED, NULL, "alive", true,
		0 },
	{ "cancelled before the handshake", "qX", PERCH_TOOL_CANCELLED, "handshake", NULL, 0, 0 },
	{ "cancelled while idle", "hX", PERCH_TOOL_CANCELLED, "handshake", NULL, 0, 0 },
	{ "cancelled before the response", "qhX", PERCH_TOOL_CANCELLED, "response", NULL, 0, 0 },
	{ "cancelled in the teardown", "qhrX", PERCH_TOOL_CANCELLED, "teardown", NULL, true, 0 },
	{ "cancelled when it is over", "qhre0X", PERCH_TOOL_OK, NULL, NULL, true, 0 },
	{ "a verdict stays: timeout, then exit", "qhIe0", PERCH_TOOL_TIMEOUT, NULL, NULL, 0, 0 },
	{ "a verdict stays: timeout, then response", "qhIre0", PERCH_TOOL_TIMEOUT, NULL, NULL, 0, 0 },
	{ "a verdict stays: cancel, then timeout", "qhXI", PERCH_TOOL_CANCELLED, NULL, NULL, 0, 0 },
	{ "a verdict stays: blank, then handshake", "qbhre0", MALFORMED, "handshake", NULL, 0, 0 },
	{ "nothing, then the end", "qe", PERCH_TOOL_CRASHED, "handshake", "without a handshake", 0, 0 },
	{ "nothing, then exit 0", "qe0", PERCH_TOOL_CRASHED, "handshake", "exited with status 0", 0,
		0 },
	{ "nothing, then exit 3", "qe3", PERCH_TOOL_CRASHED, "handshake", "exited with status 3", 0,
		0 },
	{ "nothing, then a signal", "qe9", PERCH_TOOL_CRASHED, "handshake", "signal 9", 0, 0 },
	{ "nothing, exit without an end", "q3", PERCH_TOOL_CRASHED, "handshake", "status 3", 0, 0 },
	{ "a blank without newline, then the end", "qse", PERCH_TOOL_CRASHED, "handshake", NULL, 0, 0 },
	{ "a blank line, then the end", "qbe", MALFORMED, "handshake", "blank", 0, 0 },
	{ "half a frame, then the end", "qpe", MALFORMED, "handshake", NULL, 0, 0 },
	{ "hung up, then the end", "qce", PERCH_TOOL_CRASHED, "handshake", NULL, 0, 0 },
	{ "hung up, half a frame, then the end", "qcpe", PERCH_TOOL_CRASHED, "handshake", NULL, 0, 0 },
	{ "hung up, a whole frame of nonsense", "qcge", MALFORMED, "handshake", NULL, 0, 0 },
	{ "hung up, handshake, then the end", "qchce", PERCH_TOOL_CRASHED, "response", NULL, 0, 0 },
	{ "hung up, and it answers", "qhcre0", PERCH_TOOL_OK, NULL, NULL, true, 0 },
	{ "no response, exit 0", "qhe0", PERCH_TOOL_CRASHED, "response", "without a response", 0, 0 },
	{ "no response, exit 3", "qhe3", PERCH_TOOL_CRASHED, "response", "status 3", 0, 0 },
	{ "no response, killed", "qhe9", PERCH_TOOL_CRASHED, "response", "signal 9", 0, 0 },
	{ "half a response", "qhpe0", MALFORMED, "response", NULL, 0, 0 },
	{ "half a response after hanging up", "qhcpe3", PERCH_TOOL_CRASHED, "response", "status 3", 0,
		0 },
	{ "the spare dies", "he3", PERCH_TOOL_CRASHED, "handshake", NULL, 0, 0 },
	{ "the spare talks", "hg", MALFORMED, "handshake", "without being asked", 0, 0 },
	{ "too long a handshake", "ql", MALFORMED, "handshake", "longer than 1048576", 0, 0 },
	{ "too long a response", "qhl", MALFORMED, "response", "longer than 1048576", 0, 0 },
	{ "ok, then exit 3", "qhre3", PERCH_TOOL_CRASHED, "teardown", "status 3 after its response",
		true, 0 },
	{ "ok, then a signal", "qhre9", PERCH_TOOL_CRASHED, "teardown", "signal 9", true, 0 },
	{ "ok, then nobody knows", "qhre?", PERCH_TOOL_CRASHED, "teardown", "nobody knows", true, 0 },
	{ "error, then exit 0", "qhfe0", PERCH_TOOL_EXECUTION_ERROR, "response", "cannot", true, 0 },
	{ "error, then exit 3", "qhfe3", PERCH_TOOL_EXECUTION_ERROR, "response", "cannot", true, 0 },
	{ "error, then a signal", "qhfe9", PERCH_TOOL_EXECUTION_ERROR, NULL, NULL, true, 0 },
	{ "error, then no exit", "qhfT", PERCH_TOOL_EXECUTION_ERROR, NULL, NULL, true, 0 },
	{ "error, then time is up", "qhfI", PERCH_TOOL_EXECUTION_ERROR, NULL, NULL, true, 0 },
	{ "error, then cancelled", "qhfX", PERCH_TOOL_EXECUTION_ERROR, NULL, NULL, true, 0 },
	{ "a farewell", "qhrge0", PERCH_TOOL_OK, NULL, NULL, true, 9 },
	{ "two farewells", "qhrgge0", PERCH_TOOL_OK, NULL, NULL, true, 18 },
	{ "a farewell without newline", "qhrpe0", PERCH_TOOL_OK, NULL, NULL, true, 8 },
	{ "a second response", "qhrre0", PERCH_TOOL_OK, NULL, NULL, true, sizeof(ANSWER) },
	{ "a blank line behind", "qhrbe0", PERCH_TOOL_OK, NULL, NULL, true, 1 },
	{ "a farewell and exit 3", "qhrge3", PERCH_TOOL_CRASHED, NULL, NULL, true, 9 },
	{ "a farewell after an error", "qhfge0", PERCH_TOOL_EXECUTION_ERROR, NULL, NULL, true, 9 },
	{ "strict: no farewell", "qSbhre0", MALFORMED, "handshake", NULL, false, 0 },
	{ "strict: nothing behind", "qShre0", PERCH_TOOL_OK, NULL, NULL, true, 0 },
	{ "strict: a farewell", "qShrge0", MALFORMED, "response", "wrote more", true, 9 },
	{ "strict: a blank line behind", "qShrbe0", MALFORMED, "response", NULL, true, 1 },
	{ "strict: a farewell and exit 3", "qShrge3", MALFORMED, "response", NULL, true, 9 },
	{ "strict: a farewell after an error", "qShfge0", MALFORMED, "response", NULL, true, 9 },
	{ "strict: a verdict stays", "qShrTg", PERCH_TOOL_CRASHED, "teardown", NULL, true, 9 },
};

static void too_long(struct world *world)
{
	size_t len = TOOL_FRAME_MAX + 1;
	char *text = malloc(len);
	memset(text, ' ', len);
	feed_n(world, text, len);
	free(text);
	ck_assert(tool_engine_is_flooded(world->engine));
}

/* Bytes of the plugin; NULL = no such event. */
static const char *words_of(char event)
{
	static const struct {
		char event;
		const char *words;
	} said[] = {
		{ 'h', GOOD "\n" },
		{ 'r', ANSWER "\n" },
		{ 'f', REFUSAL "\n" },
		{ 'g', "farewell\n" },
		{ 'b', "\n" },
		{ 'p', "{\"type\":" },
		{ 's', " " },
	};
	for (size_t i = 0; i < COUNT(said); i++) {
		if (said[i].event == event)
			return said[i].words;
	}
	return NULL;
}

static const struct tool_exit *exit_of(char event)
{
	static const struct {
		char event;
		struct tool_exit exit;
	} exits[] = {
		{ '0', { .is_known = true } },
		{ '3', { .is_known = true, .status = 3 } },
		{ '9', { .is_known = true, .status = -1, .signal = 9 } },
		{ '?', { .status = -1 } },
	};
	for (size_t i = 0; i < COUNT(exits); i++) {
		if (exits[i].event == event)
			return &exits[i].exit;
	}
	return NULL;
}

static void play(struct world *world, char event)
{
	static const uint64_t after = UINT64_C(1500000000);
	struct tool_engine *engine = world->engine;
	const struct tool_exit *exited = exit_of(event);
	const char *words = words_of(event);
	if (words)
		feed(world, words);
	else if (exited)
		tool_engine_exit(engine, exited);
	else if (event == 'q')
		tool_engine_request(engine, &world->request);
	else if (event == 'l')
		too_long(world);
	else if (event == 'c')
		tool_engine_stdin_closed(engine);
	else if (event == 'e')
		finish_output(world);
	else if (event == 'I')
		tool_engine_deadline(engine, TOOL_CLOCK_INVOCATION, after);
	else if (event == 'H')
		tool_engine_deadline(engine, TOOL_CLOCK_HANDSHAKE, after);
	else if (event == 'T')
		tool_engine_deadline(engine, TOOL_CLOCK_TEARDOWN, after);
	else if (event == 'X')
		tool_engine_cancel(engine);
	else if (event == 'S')
		world->request.strict = true;
	else
		ck_abort_msg("no such event: %c", event);
}

START_TEST(scripts_end_as_they_must)
{
	for (size_t i = 0; i < COUNT(scripts); i++) {
		const struct script_case *now = &scripts[i];
		struct world world;
		ck_assert_int_eq(begin(&world, none), 0);
		for (const char *event = now->script; *event; event++)
			play(&world, *event);
		ck_assert_msg(tool_engine_stage(world.engine) == TOOL_OVER, "%s: not over", now->name);
		const perch_tool_result *verdict = tool_engine_verdict(world.engine);
		assert_verdict(now->name, verdict, now->code, now->stage, now->words);
		ck_assert_msg(verdict->responded == now->responded, "%s: responded", now->name);
		ck_assert_msg(verdict->extra_bytes == now->extra, "%s: %llu extra bytes", now->name,
			(unsigned long long)verdict->extra_bytes);
		if (now->responded && strchr(now->script, 'r'))
			ck_assert_msg(
				str_is(str_of(verdict->output), "{\"ok\":true}"), "%s: output", now->name);
		ck_assert_uint_eq(tool_engine_take(world.engine).len, 0);
		end(&world);
	}
}
END_TEST

/* ---- handshake alone, late requests --------------------------------------- */

START_TEST(a_handshake_can_be_all_that_is_wanted)
{
	struct world world;
	ck_assert_int_eq(begin(&world, one), 0);
	world.options.handshake_only = true;
	feed(&world, CAPS("[\"tool.execute\"]") "\n");
	ck_assert_int_eq(tool_engine_stage(world.engine), TOOL_OVER);
	assert_verdict(
		"handshake only", tool_engine_verdict(world.engine), PERCH_TOOL_OK, "handshake", NULL);
	tool_engine_exit(world.engine, &(struct tool_exit){ .is_known = true, .status = 1 });
	ck_assert_int_eq(tool_engine_verdict(world.engine)->code, PERCH_TOOL_OK);
	end(&world);
	ck_assert_int_eq(begin(&world, one), 0);
	world.options.handshake_only = true;
	feed(&world, GOOD "\n");
	assert_verdict("handshake only", tool_engine_verdict(world.engine), UNDECLARED, NULL, NULL);
	end(&world);
}
END_TEST

START_TEST(a_late_request_for_a_tool_that_is_not_there)
{
	struct world world;
	ck_assert_int_eq(begin(&world, none), 0);
	tool_engine_take(world.engine);
	feed(&world, GOOD "\n");
	ck_assert_int_eq(tool_engine_stage(world.engine), TOOL_READY);
	ck_assert_uint_eq(tool_engine_take(world.engine).len, 0);
	world.request.tool = STR("t.y");
	tool_engine_request(world.engine, &world.request);
	assert_verdict(
		"late", tool_engine_verdict(world.engine), PERCH_TOOL_NOT_EXPOSED, "handshake", "\"t.y\"");
	ck_assert_uint_eq(tool_engine_take(world.engine).len, 0);
	end(&world);
}
END_TEST

/* ---- size and depth -------------------------------------------------------- */

/* A response whose line has exactly this many bytes. */
static void respond_with(struct world *world, size_t bytes)
{
	static const char head[] =
		"{\"type\":\"response\",\"request_id\":\"" ID "\",\"status\":\"ok\",\"output\":\"";
	char *line = malloc(bytes + 1);
	memset(line, 'x', bytes);
	memcpy(line, head, sizeof(head) - 1);
	memcpy(line + bytes - 2, "\"}\n", 3);
	for (size_t done = 0; done < bytes + 1;) {
		size_t part = bytes + 1 - done < 4096 ? bytes + 1 - done : 4096;
		feed_n(world, line + done, part);
		done += part;
	}
	free(line);
}

START_TEST(a_frame_has_a_mebibyte_and_not_a_byte_more)
{
	for (size_t more = 0; more <= 1; more++) {
		struct world world;
		ck_assert_int_eq(begin(&world, none), 0);
		tool_engine_request(world.engine, &world.request);
		feed(&world, GOOD "\n");
		respond_with(&world, 1048576 + more);
		finish_output(&world);
		tool_engine_exit(world.engine, &(struct tool_exit){ .is_known = true });
		const perch_tool_result *verdict = tool_engine_verdict(world.engine);
		assert_verdict("size", verdict, more ? MALFORMED : PERCH_TOOL_OK, NULL, NULL);
		ck_assert(tool_engine_is_flooded(world.engine) == (more > 0));
		end(&world);
	}
}
END_TEST

START_TEST(a_frame_may_be_512_deep_and_not_deeper)
{
	for (int depth = 511; depth <= 512; depth++) {
		char frame[2048];
		char inside[1100];
		memset(inside, '[', (size_t)depth);
		memset(inside + depth, ']', (size_t)depth);
		inside[2 * depth] = '\0';
		snprintf(frame, sizeof(frame),
			"{\"type\":\"response\",\"request_id\":\"" ID "\",\"status\":\"ok\",\"output\":%s}",
			inside);
		struct world world;
		ck_assert_int_eq(begin(&world, none), 0);
		const perch_tool_result *verdict = converse(&world, GOOD, frame);
		assert_verdict("depth", verdict, depth == 511 ? PERCH_TOOL_OK : MALFORMED, NULL, NULL);
		end(&world);
	}
}
END_TEST

/* A NUL is data, not the end of it. */
START_TEST(a_nul_in_a_frame_is_malformed)
{
	static const char frame[] = GOOD "\0\n";
	struct world world;
	ck_assert_int_eq(begin(&world, none), 0);
	feed_n(&world, frame, sizeof(frame) - 1);
	assert_verdict("NUL", tool_engine_verdict(world.engine), MALFORMED, "handshake", NULL);
	end(&world);
}
END_TEST

START_TEST(a_million_capabilities_are_no_work)
{
	struct buf frame = { 0 };
	buf_append_text(&frame,
		"{\"type\":\"handshake\",\"manifest\":{" IDENTITY "," PROTOCOL "," TOOLS
		",\"capabilities\":[\"a\"");
	while (frame.len < 1000000)
		buf_append_text(&frame, ",\"b\"");
	buf_append_text(&frame, "]}}\n");
	struct world world;
	ck_assert_int_eq(begin(&world, two), 0);
	feed_n(&world, frame.data, frame.len);
	assert_verdict("many", tool_engine_verdict(world.engine), UNDECLARED, NULL, "before");
	end(&world);
	buf_free(&frame);
}
END_TEST

/* ---- memory ----------------------------------------------------------------- */

static int whole_exchange(void *data)
{
	const char *response = data;
	struct world world;
	if (begin(&world, one) < 0) {
		lines_free(&world.lines);
		return -ENOMEM;
	}
	static char handshake[] = CAPS("[\"tool.execute\"]") "\n\n";
	char copy[512];
	tool_engine_request(world.engine, &world.request);
	memcpy(copy, handshake, sizeof(handshake));
	lines_feed(&world.lines, copy, sizeof(handshake) - 2);
	snprintf(copy, sizeof(copy), "%s\n", response);
	lines_feed(&world.lines, copy, strlen(copy));
	tool_engine_exit(world.engine, &(struct tool_exit){ .is_known = true });
	const perch_tool_result *verdict = tool_engine_verdict(world.engine);
	bool is_broken = tool_engine_is_broken(world.engine);
	if (is_broken && (verdict->code != PERCH_TOOL_CRASHED || !verdict->message.len))
		ck_abort_msg("without memory: %s", perch_tool_code_name(verdict->code));
	end(&world);
	return is_broken ? -ENOMEM : 0;
}

START_TEST(every_allocation_may_fail)
{
	ck_assert_uint_gt(oom_every(whole_exchange, (void *)ANSWER), 3);
	ck_assert_uint_gt(oom_every(whole_exchange, (void *)REFUSAL), 3);
	ck_assert_uint_gt(oom_every(whole_exchange, (void *)R("\"status\":\"\\ud800\"")), 3);
}
END_TEST

START_TEST(every_code_has_its_name)
{
	static const char *const names[] = { "ok", "execution_error", "launch_failed",
		"handshake_failed", "timeout", "crashed", "malformed_response", "tool_not_exposed",
		"protocol_version_mismatch", "capability_not_declared", "capability_not_allowed",
		"invalid_request", "cancelled" };
	ck_assert_uint_eq(COUNT(names), TOOL_CODES);
	for (size_t i = 0; i < COUNT(names); i++) {
		ck_assert_str_eq(perch_tool_code_name((perch_tool_code)i), names[i]);
		ck_assert_int_eq(tool_codes[i].exit_code == 0, i == PERCH_TOOL_OK);
	}
}
END_TEST

SUITE_MAIN("tool-engine", scripts_end_as_they_must, a_handshake_can_be_all_that_is_wanted,
	a_late_request_for_a_tool_that_is_not_there, a_frame_has_a_mebibyte_and_not_a_byte_more,
	a_frame_may_be_512_deep_and_not_deeper, a_nul_in_a_frame_is_malformed,
	a_million_capabilities_are_no_work, every_allocation_may_fail, every_code_has_its_name)

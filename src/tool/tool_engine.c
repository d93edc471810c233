/* The plugin runtime protocol: where an exchange is, and how it ends. */
#include "tool/tool_engine.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macros.h"
#include "base/utf8.h"
#include "tool/tool_engine_parts.h"

/* The name of a stage in a verdict. */
static const char *const stage_names[] = {
	[TOOL_HANDSHAKE] = "handshake",
	[TOOL_READY] = "handshake",
	[TOOL_RESPONSE] = "response",
	[TOOL_TEARDOWN] = "teardown",
	[TOOL_OVER] = "teardown",
};

/* ---- the object ---------------------------------------------------------- */

static int tool_engine_write_hello(struct tool_engine *engine)
{
	_cleanup_(buf_free) struct buf line = { 0 };
	struct perch_json_writer writer = json_writer_on(&line);
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, "type");
	perch_json_write_string(&writer, "handshake");
	perch_json_write_name(&writer, "protocol_version");
	perch_json_write_string_n(
		&writer, engine->options->protocol.data, engine->options->protocol.len);
	perch_json_end_object(&writer);
	buf_append_char(&line, '\n');
	if (line.failed)
		return -ENOMEM;
	engine->outgoing = str_of(engine_keep(engine, (struct str){ line.data, line.len }));
	return engine->is_broken ? -ENOMEM : 0;
}

int tool_engine_new(const struct tool_engine_options *options, struct tool_engine **ret_engine)
{
	struct tool_engine *engine = calloc(1, sizeof(*engine));
	if (!engine)
		return -ENOMEM;
	engine->options = options;
	engine->verdict = tool_result_empty();
	engine->verdict.stage = stage_names[TOOL_HANDSHAKE];
	perch_json_options json_options = PERCH_JSON_OPTIONS_INIT;
	json_options.duplicates = PERCH_JSON_DUPLICATES_REJECT;
	int r = perch_json_new(&json_options, &engine->json);
	if (r == 0)
		r = tool_engine_write_hello(engine);
	if (r < 0) {
		tool_engine_free(engine);
		return r;
	}
	*ret_engine = engine;
	return 0;
}

void tool_engine_free(struct tool_engine *engine)
{
	if (!engine)
		return;
	perch_json_free(engine->json);
	arena_free(&engine->arena);
	free(engine);
}

enum tool_stage tool_engine_stage(const struct tool_engine *engine)
{
	return engine->stage;
}

const perch_tool_result *tool_engine_verdict(const struct tool_engine *engine)
{
	return &engine->verdict;
}

bool tool_engine_is_flooded(const struct tool_engine *engine)
{
	return engine->is_flooded;
}

bool tool_engine_is_broken(const struct tool_engine *engine)
{
	return engine->is_broken;
}

struct str tool_engine_take(struct tool_engine *engine)
{
	struct str line = engine->outgoing;
	engine->outgoing = (struct str){ 0 };
	return line;
}

/* ---- the verdict --------------------------------------------------------- */

perch_text engine_keep(struct tool_engine *engine, struct str text)
{
	char *copy = arena_dup(&engine->arena, text);
	if (!copy)
		engine->is_broken = true;
	return copy ? (perch_text){ copy, text.len } : NO_TEXT;
}

/* A message quotes the plugin, and may be shown on a terminal: no control
 * characters, neither C0 nor C1. */
static void tool_engine_blank_controls(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)text[i];
		bool begins_c1 = byte == 0xC2 && i + 1 < len && (unsigned char)text[i + 1] < 0xA0;
		if (begins_c1)
			text[i] = text[i + 1] = '?';
		else if (byte < 0x20 || byte == 0x7F)
			text[i] = '?';
	}
}

void engine_decide(
	struct tool_engine *engine, perch_tool_code code, const char *stage, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	int len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	size_t kept = len < 0 ? 0 : (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1;
	kept = utf8_whole_prefix(text, kept);
	tool_engine_blank_controls(text, kept);
	engine->verdict.code = code;
	engine->verdict.stage = stage;
	engine->verdict.message = engine_keep(engine, (struct str){ text, kept });
	engine->stage = TOOL_OVER;
	engine->outgoing = (struct str){ 0 };
}

/* After every line: when memory ran out, the line cannot be relied on. */
static void tool_engine_settle(struct tool_engine *engine)
{
	if (!engine->is_broken)
		return;
	engine->stage = TOOL_OVER;
	engine->outgoing = (struct str){ 0 };
	engine->verdict.code = PERCH_TOOL_CRASHED;
	engine->verdict.message = text_from("the host ran out of memory during the exchange");
}

static void tool_engine_succeed(struct tool_engine *engine, const char *stage)
{
	engine->verdict.code = PERCH_TOOL_OK;
	engine->verdict.stage = stage;
	engine->stage = TOOL_OVER;
	engine->outgoing = (struct str){ 0 };
}

/* ---- what happens -------------------------------------------------------- */

/* The plugin has passed; as soon as there is a request, it is sent. */
static void tool_engine_go_on(struct tool_engine *engine)
{
	if (engine->stage != TOOL_READY)
		return;
	if (engine->options->handshake_only) {
		tool_engine_succeed(engine, stage_names[TOOL_HANDSHAKE]);
	} else if (engine->request) {
		engine->stage = TOOL_RESPONSE;
		engine->outgoing = engine->request->line;
	}
}

void tool_engine_request(struct tool_engine *engine, const struct tool_engine_request *request)
{
	engine->request = request;
	if (engine->stage == TOOL_READY)
		handshake_judge_tool(engine);
	tool_engine_go_on(engine);
	tool_engine_settle(engine);
}

/* Nothing is expected behind the response; further bytes are counted. */
static void tool_engine_count_extra(struct tool_engine *engine, const struct tool_line *line)
{
	perch_tool_result *verdict = &engine->verdict;
	verdict->extra_bytes += line->text.len + !line->is_unterminated;
	bool is_open = engine->stage == TOOL_TEARDOWN || verdict->code == PERCH_TOOL_EXECUTION_ERROR;
	if (is_open && engine->request->strict)
		engine_decide(engine, PERCH_TOOL_MALFORMED_RESPONSE, "response",
			"the plugin wrote more after its response");
}

void tool_engine_line(struct tool_engine *engine, const struct tool_line *line)
{
	switch (engine->stage) {
	case TOOL_HANDSHAKE:
		handshake_judge(engine, line);
		tool_engine_go_on(engine);
		break;
	case TOOL_READY:
		engine_decide(engine, PERCH_TOOL_MALFORMED_RESPONSE, stage_names[TOOL_READY],
			"the plugin wrote more after its handshake without being asked");
		break;
	case TOOL_RESPONSE:
		response_judge(engine, line);
		break;
	case TOOL_TEARDOWN:
	case TOOL_OVER:
		if (engine->verdict.responded)
			tool_engine_count_extra(engine, line);
		break;
	}
	tool_engine_settle(engine);
}

void tool_engine_eof(struct tool_engine *engine)
{
	if (engine->stage >= TOOL_TEARDOWN)
		return;
	const char *stage = stage_names[engine->stage];
	bool is_idle = engine->stage == TOOL_READY;
	engine_decide(engine, PERCH_TOOL_CRASHED, stage, "the plugin ended its output %s %s",
		is_idle ? "after its" : "without a", stage);
	engine->ended_silently = true;
	tool_engine_settle(engine);
}

void tool_engine_stdin_closed(struct tool_engine *engine)
{
	engine->stdin_closed = true;
}

bool tool_engine_has_hung_up(const struct tool_engine *engine)
{
	return engine->stdin_closed;
}

enum { EXIT_TEXT = 64 };

static const char *tool_engine_describe_exit(const struct tool_exit *exit, char text[EXIT_TEXT])
{
	if (!exit->is_known)
		snprintf(text, EXIT_TEXT, "ended, nobody knows how (somebody else waited for it),");
	else if (exit->signal)
		snprintf(text, EXIT_TEXT, "was ended by signal %d", exit->signal);
	else
		snprintf(text, EXIT_TEXT, "exited with status %d", exit->status);
	return text;
}

void tool_engine_exit(struct tool_engine *engine, const struct tool_exit *exit)
{
	char text[EXIT_TEXT];
	tool_engine_eof(engine);
	if (engine->ended_silently && !engine->is_broken) {
		const char *stage = engine->verdict.stage;
		engine_decide(engine, PERCH_TOOL_CRASHED, stage, "the plugin %s without a %s",
			tool_engine_describe_exit(exit, text), stage);
	} else if (engine->stage == TOOL_TEARDOWN) {
		if (exit->is_known && !exit->signal && exit->status == 0)
			tool_engine_succeed(engine, stage_names[TOOL_TEARDOWN]);
		else
			engine_decide(engine, PERCH_TOOL_CRASHED, stage_names[TOOL_TEARDOWN],
				"the plugin %s after its response", tool_engine_describe_exit(exit, text));
	}
	tool_engine_settle(engine);
}

/* Which clocks count at which stage. */
static const bool counts[TOOL_OVER + 1][TOOL_CLOCK_TEARDOWN + 1] = {
	[TOOL_HANDSHAKE] = { [TOOL_CLOCK_INVOCATION] = true, [TOOL_CLOCK_HANDSHAKE] = true },
	[TOOL_READY] = { [TOOL_CLOCK_INVOCATION] = true },
	[TOOL_RESPONSE] = { [TOOL_CLOCK_INVOCATION] = true },
	[TOOL_TEARDOWN] = { [TOOL_CLOCK_INVOCATION] = true, [TOOL_CLOCK_TEARDOWN] = true },
};

void tool_engine_deadline(struct tool_engine *engine, enum tool_clock clock, uint64_t after_ns)
{
	if (!counts[engine->stage][clock])
		return;
	const char *stage = stage_names[engine->stage];
	double seconds = (double)after_ns / (double)NSEC_PER_SEC;
	if (clock == TOOL_CLOCK_TEARDOWN)
		engine_decide(engine, PERCH_TOOL_CRASHED, stage,
			"the plugin was still alive %g s after its response", seconds);
	else if (engine->verdict.responded)
		engine_decide(engine, PERCH_TOOL_TIMEOUT, stage,
			"the plugin responded, and did not exit within the %g s of the call", seconds);
	else
		engine_decide(
			engine, PERCH_TOOL_TIMEOUT, stage, "the plugin sent no %s within %g s", stage, seconds);
	tool_engine_settle(engine);
}

void tool_engine_cancel(struct tool_engine *engine)
{
	if (engine->stage == TOOL_OVER)
		return;
	engine_decide(
		engine, PERCH_TOOL_CANCELLED, stage_names[engine->stage], "the call was cancelled");
	tool_engine_settle(engine);
}

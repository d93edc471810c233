/* The tool engine against any plugin: it always comes to a verdict, success is
 * never given away, the request is sent once and only after a good handshake, and
 * a verdict that was reached stays. The first byte chooses what is asked and how
 * it ends; "@" in the bytes stands for the request's id. */
#include "fuzz.h"

#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "proc/lines.h"
#include "tool/tool_engine.h"

struct world {
	struct tool_engine *engine;
	const struct tool_engine_request *request;
	unsigned requests;
	bool has_request;
};

static void look(struct world *world)
{
	struct str line = tool_engine_take(world->engine);
	if (line.len && str_eq(line, world->request->line)) {
		check(world->has_request && tool_engine_stage(world->engine) == TOOL_RESPONSE);
		world->requests++;
	}
	check(world->requests <= 1);
	const perch_tool_result *verdict = tool_engine_verdict(world->engine);
	check(!verdict->responded || world->requests == 1);
	check(utf8_is_valid(verdict->message.data, verdict->message.len));
	for (size_t i = 0; i < verdict->message.len; i++)
		check((unsigned char)verdict->message.data[i] >= 0x20);
}

static bool take_line(void *data, const perch_line *line)
{
	struct world *world = data;
	bool was_over = tool_engine_stage(world->engine) == TOOL_OVER;
	perch_tool_code code = tool_engine_verdict(world->engine)->code;
	tool_engine_line(world->engine,
		&(struct tool_line){
			.text = { line->data, line->len },
			.is_too_long = line->flags & PERCH_LINE_TOO_LONG,
			.is_unterminated = line->flags & PERCH_LINE_UNTERMINATED,
		});
	look(world);
	bool may_change = world->request->strict && code == PERCH_TOOL_EXECUTION_ERROR;
	check(!was_over || may_change || tool_engine_verdict(world->engine)->code == code);
	return true;
}

static void feed(struct world *world, const uint8_t *data, size_t size)
{
	struct buf bytes = { 0 };
	for (size_t i = 0; i < size; i++) {
		if (data[i] == '@')
			buf_append(&bytes, world->request->request_id.data, world->request->request_id.len);
		else
			buf_append(&bytes, &data[i], 1);
	}
	struct lines lines;
	lines_init(&lines, 4096, take_line, world);
	if (buf_terminate(&bytes) == 0)
		lines_feed(&lines, bytes.data, bytes.len);
	lines_finish(&lines);
	lines_free(&lines);
	buf_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const allowed[] = { "a", "b", NULL };
	if (!size)
		return 0;
	uint8_t how = data[0];
	const struct tool_engine_options options = {
		.protocol = STR("v"),
		.name = STR("p"),
		.capabilities = how & 1 ? allowed : NULL,
		.handshake_only = how & 2,
	};
	const struct tool_engine_request request = {
		.tool = STR("x"),
		.request_id = STR("plugin_req_1"),
		.line = STR("{request}\n"),
		.strict = how & 4,
	};
	struct world world = { .request = &request, .has_request = how & 8 };
	if (tool_engine_new(&options, &world.engine) < 0)
		return 0;
	if (world.has_request)
		tool_engine_request(world.engine, &request);
	if (how & 16)
		tool_engine_stdin_closed(world.engine);
	look(&world);
	feed(&world, data + 1, size - 1);
	if (!world.has_request && !options.handshake_only) {
		world.has_request = true;
		tool_engine_request(world.engine, &request);
		look(&world);
	}
	if (how & 32)
		tool_engine_deadline(world.engine, (enum tool_clock)((how >> 6) % 3), 1);
	tool_engine_eof(world.engine);
	const struct tool_exit exit = { .is_known = true, .status = how >> 7 };
	tool_engine_exit(world.engine, &exit);
	look(&world);
	const perch_tool_result *verdict = tool_engine_verdict(world.engine);
	check(tool_engine_stage(world.engine) == TOOL_OVER);
	check(verdict->code != PERCH_TOOL_OK || options.handshake_only ||
		(verdict->responded && exit.status == 0 && verdict->output.data));
	check((verdict->code == PERCH_TOOL_OK) == !verdict->message.len);
	tool_engine_free(world.engine);
	return 0;
}

/* A plugin made of strings. */
#include "harness/tool_world.h"

#include <stdlib.h>

const char *const none[] = { NULL };
const char *const one[] = { "tool.execute", NULL };
const char *const two[] = { "a", "b", NULL };

static bool take_line(void *data, const perch_line *line)
{
	struct world *world = data;
	tool_engine_line(world->engine,
		&(struct tool_line){
			.text = { line->data, line->len },
			.is_too_long = line->flags & PERCH_LINE_TOO_LONG,
			.is_unterminated = line->flags & PERCH_LINE_UNTERMINATED,
		});
	return true;
}

int begin(struct world *world, const char *const *allowed)
{
	*world = (struct world){
		.options = { .protocol = STR("rterm.plugin.v1"),
			.name = STR("t.p"),
			.capabilities = allowed },
		.request = { .tool = STR("t.x"), .request_id = STR(ID), .line = STR("{request}\n") },
	};
	lines_init(&world->lines, TOOL_FRAME_MAX, take_line, world);
	return tool_engine_new(&world->options, &world->engine);
}

void end(struct world *world)
{
	tool_engine_free(world->engine);
	lines_free(&world->lines);
}

void feed_n(struct world *world, const char *bytes, size_t len)
{
	char *copy = malloc(len + 1);
	if (!copy)
		return;
	memcpy(copy, bytes, len);
	lines_feed(&world->lines, copy, len);
	free(copy);
}

void feed(struct world *world, const char *text)
{
	feed_n(world, text, strlen(text));
}

void finish_output(struct world *world)
{
	lines_finish(&world->lines);
	tool_engine_eof(world->engine);
}

const perch_tool_result *converse(struct world *world, const char *handshake, const char *response)
{
	tool_engine_request(world->engine, &world->request);
	feed(world, handshake);
	feed(world, "\n");
	if (tool_engine_stage(world->engine) == TOOL_RESPONSE) {
		feed(world, response);
		feed(world, "\n");
	}
	if (tool_engine_stage(world->engine) != TOOL_OVER) {
		finish_output(world);
		tool_engine_exit(world->engine, &(struct tool_exit){ .is_known = true });
	}
	ck_assert_int_eq(tool_engine_stage(world->engine), TOOL_OVER);
	return tool_engine_verdict(world->engine);
}

void assert_verdict(const char *name, const perch_tool_result *verdict, perch_tool_code code,
	const char *stage, const char *words)
{
	ck_assert_msg(verdict->code == code, "%s: %s instead of %s (%.*s)", name,
		perch_tool_code_name(verdict->code), perch_tool_code_name(code), (int)verdict->message.len,
		verdict->message.data);
	ck_assert_msg(
		!stage || strcmp(verdict->stage, stage) == 0, "%s: at stage %s", name, verdict->stage);
	bool is_said = !words || (verdict->message.len && strstr(verdict->message.data, words));
	ck_assert_msg(is_said, "%s: the message is: %.*s", name, (int)verdict->message.len,
		verdict->message.data);
	ck_assert_msg(
		(code == PERCH_TOOL_OK) == (verdict->message.len == 0), "%s: words and code", name);
}

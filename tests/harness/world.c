/* An agent's engine whose wishes are written down. */
#include "harness/world.h"

#include "base/utf8.h"
#include "harness/suite.h"

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

static void on_thinking(void *data, struct str text, struct str raw)
{
	(void)raw;
	say(data, "t(", text, ")");
}

static void on_usage(void *data, struct str json)
{
	say(data, "u(", json, ")");
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
	.thinking = on_thinking,
	.usage = on_usage,
	.session = on_session,
	.warning = on_warning,
	.permission = on_permission,
	.send = on_send,
	.hang_up = on_hang_up,
	.stop = on_stop,
};

struct agent_engine_options world_options(const struct dialect *dialect)
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

const struct agent_exit clean_exit = { .send_error_reply = true };

void world_open(struct world *world, struct agent_engine_options options)
{
	*world = (struct world){ 0 };
	ck_assert_int_eq(agent_engine_new(&options, &effects, world, &world->engine), 0);
}

void world_feed(struct world *world, struct str text)
{
	while (text.len) {
		struct str line = str_cut(&text, '\n');
		if (line.len && line.data[line.len - 1] == '\r')
			line.len--;
		agent_engine_line(world->engine, line.data, line.len, false);
	}
}

const char *world_log(struct world *world)
{
	buf_terminate(&world->log);
	return world->log.data;
}

void world_close(struct world *world)
{
	agent_engine_free(world->engine);
	buf_free(&world->log);
}

void world_conclude(struct world *world, struct agent_exit exit)
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

/* The agent engine against any agent, in either dialect: what is forwarded is
 * UTF-8 and within its limit, a session id is one that may be stored, every
 * permission is answered once, and a turn has one verdict. The first byte chooses
 * dialect, streaming and limits. */
#include "fuzz.h"

#include <signal.h>

#include "agent/agent_engine.h"
#include "base/utf8.h"

enum { CHARS_MAX = 20, TOTAL_MAX = 4096, TOKENS_MAX = 100 };

struct world {
	struct agent_engine *engine;
	size_t chars;
	size_t asked;
	size_t answered;
	unsigned stops;
	bool is_limited;
};

static void on_partial(void *data, struct str text, struct str raw)
{
	struct world *world = data;
	check(utf8_is_valid(text.data, text.len) && raw.len);
	world->chars += utf8_count(text.data, text.len);
	check(!world->is_limited || world->chars <= CHARS_MAX + 1);
}

static void on_thinking(void *data, struct str text, struct str raw)
{
	(void)data;
	check(utf8_is_valid(text.data, text.len) && raw.len);
}

static void on_usage(void *data, struct str json)
{
	struct world *world = data;
	const perch_agent_usage *usage = agent_engine_usage(world->engine);
	check(json.len && !memchr(json.data, '\n', json.len));
	check(
		usage->total_tokens >= usage->input_tokens && usage->total_tokens >= usage->output_tokens);
}

static void on_session(void *data, struct str id)
{
	(void)data;
	check(id.len && utf8_is_valid(id.data, id.len));
	for (size_t i = 0; i < id.len; i++)
		check((unsigned char)id.data[i] >= ' ' && id.data[i] != '/' && id.data[i] != '\\');
}

static void on_warning(void *data, struct str text)
{
	(void)data;
	check(text.len && utf8_is_valid(text.data, text.len));
}

static void on_permission(void *data, const struct agent_permission *permission)
{
	struct world *world = data;
	world->asked++;
	if (permission->request_id.len % 3 == 0)
		agent_engine_permit(world->engine, permission->request_id, true, STR("fine"));
}

static void on_send(void *data, struct str line)
{
	struct world *world = data;
	check(line.len > 2 && line.data[0] == '{' && line.data[line.len - 1] == '\n');
	check(!memchr(line.data, '\n', line.len - 1));
	world->answered++;
}

static void on_hang_up(void *data)
{
	(void)data;
}

static void on_stop(void *data)
{
	struct world *world = data;
	check(++world->stops == 1);
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

static void conclude(struct world *world, uint8_t how)
{
	const struct agent_exit exit = {
		.timeout_ns = how & 1,
		.cancelled_by = how & 2 ? SIGINT : 0,
		.status = how & 4 ? 3 : 0,
		.send_error_reply = how & 8,
		.include_stderr = how & 16,
		.stderr_tail = STR("tail\xFF\n"),
	};
	struct agent_verdict verdict;
	agent_engine_conclude(world->engine, &exit, &verdict);
	check(verdict.exit_code >= 0 && verdict.exit_code < 256);
	bool is_spent = verdict.error_count &&
		strcmp(verdict.errors[verdict.error_count - 1].code, "token_limit") == 0;
	check(!verdict.has_reply || verdict.exit_code == 0 || is_spent);
	check(utf8_is_valid(verdict.reply.data, verdict.reply.len));
	for (size_t i = 0; i < verdict.error_count; i++)
		check(verdict.errors[i].text.len && verdict.exit_code != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	struct world world = { .is_limited = data[0] & 2 };
	const struct agent_engine_options options = {
		.dialect = data[0] & 1 ? &dialect_0_4 : &dialect_0_1,
		.session_prefix = STR("AGENT_SESSION:"),
		.is_streaming = !(data[0] & 4),
		.has_permission = data[0] & 8,
		.max_tokens = data[0] & 16 ? TOKENS_MAX : 0,
		.max_reply_chars = world.is_limited ? CHARS_MAX : 0,
		.truncation_suffix = STR("~"),
		.line_limit = 100,
		.total_limit = TOTAL_MAX,
	};
	if (agent_engine_new(&options, &effects, &world, &world.engine) < 0)
		return 0;
	struct str rest = { (const char *)data + 2, size - 2 };
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		bool too_long = line.len && (uint8_t)line.data[line.len - 1] == 0xFE;
		agent_engine_line(world.engine, line.data, line.len, too_long);
	}
	agent_engine_deny_all(world.engine, STR("over"));
	check(world.answered == world.asked && !agent_engine_is_asking(world.engine));
	conclude(&world, data[1]);
	agent_engine_free(world.engine);
	return 0;
}

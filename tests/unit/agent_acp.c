/* What an agent says in ACP, as the events and the end of a turn: from lines, without a process,
 * and with every allocation failing. In texts ' stands for ". */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent_engine.h"
#include "base/cleanup.h"
#include "harness/oom.h"
#include "harness/suite.h"
#include "wire/acp_client.h"

static struct scene {
	struct agent_engine *engine;
	struct acp_client *client;
	struct acp_talk *talk;
	struct buf log;
	size_t bytes;
} scene;

static void scene_add(const char *word, struct str text)
{
	buf_append_text(&scene.log, word);
	buf_append(&scene.log, text.data ? text.data : "", text.len);
	buf_append_char(&scene.log, '\n');
}

static void scene_partial(void *data, struct str text, struct str raw)
{
	(void)data;
	ck_assert(raw.len);
	scene_add("partial ", text);
}

static void scene_thinking(void *data, struct str text, struct str raw)
{
	(void)data;
	(void)raw;
	scene_add("thinking ", text);
}

static void scene_usage(void *data, struct str json)
{
	(void)data;
	scene_add("usage ", json);
}

static void scene_activity(void *data, const char *what, struct str json)
{
	(void)data;
	scene_add(what, json);
}

static void scene_session(void *data, struct str id)
{
	(void)data;
	scene_add("session ", id);
}

static void scene_warning(void *data, struct str text)
{
	(void)data;
	scene_add("warning ", text);
}

static void scene_quiet(void *data)
{
	(void)data;
}

static void scene_stop(void *data)
{
	(void)data;
	scene_add("stop", STR(""));
}

static const struct agent_effects effects = {
	.partial = scene_partial,
	.thinking = scene_thinking,
	.usage = scene_usage,
	.activity = scene_activity,
	.session = scene_session,
	.warning = scene_warning,
	.hang_up = scene_quiet,
	.stop = scene_stop,
};

static void scene_send(void *data, struct str line)
{
	(void)data;
	(void)line;
}

static void scene_said(void *data, const struct acp_said *said)
{
	(void)data;
	dialect_acp_take(scene.engine, said, scene.bytes);
}

static const struct acp_client_table table = { .send = scene_send, .said = scene_said };

static int scene_hear(const char *line)
{
	_cleanup_free_ char *text = strdup(line);
	if (!text)
		return -ENOMEM;
	for (char *c = text; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	scene.bytes = strlen(text) + 1;
	acp_client_line(scene.client, str_from(text), false);
	return acp_client_is_broken(scene.client) || agent_engine_is_broken(scene.engine) ? -ENOMEM : 0;
}

/* With a prompt under way. */
static int scene_begin(size_t total_limit)
{
	static const struct acp_client_options hello = { STR("perch"), STR("1"), true, true, true };
	static const struct acp_talk_options talk = { .cwd = STR("/w") };
	const struct agent_engine_options options = {
		.dialect = &dialect_acp,
		.is_streaming = true,
		.max_reply_chars = 8,
		.truncation_suffix = STR("…"),
		.line_limit = 1000,
		.total_limit = total_limit,
	};
	scene = (struct scene){ 0 };
	int r = agent_engine_new(&options, &effects, NULL, &scene.engine);
	if (r == 0)
		r = acp_client_new(&hello, &table, NULL, &scene.client);
	if (r == 0)
		r = scene_hear("{'jsonrpc':'2.0','id':1,'result':{'protocolVersion':1}}");
	if (r == 0)
		r = acp_talk_open(scene.client, &talk, &scene.talk);
	if (r == 0)
		r = scene_hear("{'jsonrpc':'2.0','id':2,'result':{'sessionId':'a/b: c'}}");
	return r == 0 ? acp_talk_prompt(scene.talk, STR("[]")) : r;
}

static void scene_end(void)
{
	acp_client_free(scene.client);
	agent_engine_free(scene.engine);
	buf_free(&scene.log);
}

static void scene_expect(const char *log)
{
	_cleanup_free_ char *text = strdup(log);
	for (char *c = text; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	buf_terminate(&scene.log);
	ck_assert_str_eq(scene.log.data ? scene.log.data : "", text);
	buf_clear(&scene.log);
}

#define UPDATE(update)                                                                     \
	"{'jsonrpc':'2.0','method':'session/update','params':{'sessionId':'a/b: c','update':{" \
	"'sessionUpdate':" update "}}}"
#define SAY(text) UPDATE("'agent_message_chunk','content':{'type':'text','text':'" text "'}")
#define STOP(reason) "{'jsonrpc':'2.0','id':3,'result':{'stopReason':'" reason "'}}"

static struct agent_verdict scene_conclude(void)
{
	static const struct agent_exit well = { .send_error_reply = true };
	struct agent_verdict verdict;
	agent_engine_conclude(scene.engine, &well, &verdict);
	return verdict;
}

START_TEST(what_it_says_becomes_events)
{
	ck_assert_int_eq(scene_begin(100000), 0);
	scene_expect("session a/b: c\n");
	scene_hear(UPDATE("'agent_thought_chunk','content':{'type':'text','text':'hm'}"));
	scene_hear(
		UPDATE("'tool_call','toolCallId':'t','title':'Look','kind':null,'rawInput':{'a':1}"));
	scene_hear(UPDATE("'tool_call_update','toolCallId':'t','status':'failed','extra':1"));
	scene_hear(UPDATE("'plan','entries':[{'content':'x'}],'_meta':{}"));
	scene_hear(UPDATE("'usage_update','used':1,'size':2,'cost':null"));
	scene_expect("thinking hm\n"
				 "tool{'id':'t','title':'Look','input':{'a':1}}\n"
				 "tool{'id':'t','status':'failed'}\n"
				 "plan{'entries':[{'content':'x'}]}\n"
				 "usage {'used':1,'size':2}\n");
	scene_hear(SAY("1234"));
	scene_hear(SAY("56789"));
	scene_hear(SAY("more"));
	scene_expect("partial 1234\npartial 5678…\n");
	scene_hear(STOP("end_turn"));
	const struct agent_verdict verdict = scene_conclude();
	ck_assert_int_eq(verdict.exit_code, 0);
	ck_assert(!verdict.has_reply);
	ck_assert_str_eq(verdict.body.data, "123456789more");
	ck_assert_str_eq(agent_engine_stop_reason(scene.engine), "end_turn");
	scene_end();
}
END_TEST

/* What it ends with, the exit code, and what is told. */
static const struct {
	const char *line;
	int exit_code;
	const char *told;
} ends[] = {
	{ STOP("end_turn"), 0, "" },
	{ STOP("made_up"), 0, "" },
	{ STOP("max_tokens"), 0, "warning the agent stopped at its limit of tokens\n" },
	{ STOP("max_turn_requests"), 0,
		"warning the agent stopped at its limit of requests to its model\n" },
	{ STOP("refusal"), 1, "" },
	{ "{'jsonrpc':'2.0','id':3,'error':{'code':1,'message':'no'}}", 1, "" },
	{ "{'jsonrpc':'2.0','id':3,'result':{}}", 1, "" },
	{ "nonsense", 0, "warning the agent says what is no message: not JSON\n" },
};

START_TEST(how_it_ends)
{
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		ck_assert_int_eq(scene_begin(100000), 0);
		buf_clear(&scene.log);
		scene_hear(ends[i].line);
		buf_terminate(&scene.log);
		const char *told = scene.log.data ? scene.log.data : "";
		size_t len = strcspn(ends[i].told, ":");
		ck_assert_msg(strncmp(told, ends[i].told, len) == 0, "row %zu: %s", i, told);
		ck_assert_int_eq(scene_conclude().exit_code, ends[i].exit_code);
		scene_end();
	}
}
END_TEST

START_TEST(too_much_is_stopped)
{
	ck_assert_int_eq(scene_begin(1000), 0);
	for (int i = 0; i < 50; i++)
		scene_hear(SAY("x"));
	buf_terminate(&scene.log);
	const char *first = strstr(scene.log.data, "stop\n");
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_null(strstr(first + 1, "stop\n"));
	const struct agent_verdict verdict = scene_conclude();
	ck_assert_int_eq(verdict.exit_code, 1);
	ck_assert_str_eq(verdict.errors[0].code, "output_limit");
	scene_end();
}
END_TEST

START_TEST(session_ids)
{
	char longest[ACP_TALK_ID_MAX + 1];
	memset(longest, 'x', sizeof(longest));
	ck_assert(dialect_acp.is_session_id(STR("a/b\\c: d")));
	ck_assert(dialect_acp.is_session_id((struct str){ longest, sizeof(longest) - 1 }));
	ck_assert(!dialect_acp.is_session_id((struct str){ longest, sizeof(longest) }));
	ck_assert(!dialect_acp.is_session_id(STR("")));
	ck_assert(!dialect_acp.is_session_id(STR("a\nb")));
	ck_assert(!dialect_acp.is_session_id(STR("\xff")));
}
END_TEST

static int live(void *data)
{
	(void)data;
	int r = scene_begin(100000);
	static const char *const lines[] = { UPDATE("'tool_call','toolCallId':'t','title':'Look'"),
		UPDATE("'plan','entries':[]"), UPDATE("'usage_update','used':1,'size':2"), SAY("hello"),
		SAY("and much more"), "nonsense", STOP("max_tokens") };
	for (size_t i = 0; r == 0 && i < sizeof(lines) / sizeof(lines[0]); i++)
		r = scene_hear(lines[i]);
	if (r == 0 && scene_conclude().exit_code != 0)
		r = -ENOMEM;
	if (r == 0 && scene.log.failed)
		r = -ENOMEM;
	scene_end();
	return r;
}

START_TEST(without_memory_it_says_so)
{
	ck_assert_uint_gt(oom_every(live, NULL), 10);
}
END_TEST

SUITE_MAIN("agent-acp", what_it_says_becomes_events, how_it_ends, too_much_is_stopped, session_ids,
	without_memory_it_says_so)

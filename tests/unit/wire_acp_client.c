/* ACP's client side from strings, and agents that misbehave: at every stage, whatever an agent
 * says, what it may not say is noise, and the conversation goes on, or ends with words. In texts '
 * stands for ", and @J for "jsonrpc":"2.0". */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "harness/oom.h"
#include "harness/suite.h"
#include "wire/acp_client.h"

static struct scene {
	struct acp_client *client;
	struct acp_talk *talk;
	struct buf log;
	uint64_t number; /* of the last permission */
} scene;

static void scene_add(const char *word, struct str text)
{
	buf_append_text(&scene.log, word);
	buf_append(&scene.log, text.data ? text.data : "", text.len);
	buf_append_char(&scene.log, '\n');
}

static void scene_send(void *data, struct str line)
{
	(void)data;
	ck_assert_int_eq(line.data[line.len], '\n');
	scene_add("> ", line);
}

static void scene_said(void *data, const struct acp_said *said)
{
	static const char *const names[] = { "ready ", "failed ", "noise ", "open ", "anew ", "text ",
		"thought ", "tool ", "plan ", "usage ", "permission ", "asked ", "form ", "withdrawn ",
		"stopped ", "error " };
	struct str text = said->text;
	(void)data;
	if (said->value && said->kind >= ACP_SAID_TOOL)
		text.data = perch_json_raw(said->value, &text.len);
	if (said->kind == ACP_SAID_ASKED || said->kind == ACP_SAID_FORM)
		scene.number = said->number;
	if (said->kind == ACP_SAID_PERMISSION) {
		text = said->wanted->title;
		scene.number = said->wanted->number;
	}
	scene_add(names[said->kind], text);
}

static void scene_keep(void *data, struct acp_talk *talk, struct str line)
{
	(void)data;
	(void)line;
	ck_assert_ptr_nonnull(talk);
	buf_append_text(&scene.log, "kept\n");
}

static const struct acp_client_table scene_table = {
	.send = scene_send, .said = scene_said, .keep = scene_keep
};

static char *scene_spell(const char *text)
{
	struct buf out = { 0 };
	for (; *text; text++) {
		if (text[0] == '@' && text[1] == 'J') {
			buf_append_text(&out, "\"jsonrpc\":\"2.0\"");
			text++;
		} else {
			buf_append_char(&out, *text == '\'' ? '"' : *text);
		}
	}
	buf_terminate(&out);
	char *spelt = buf_steal(&out);
	buf_free(&out);
	return spelt;
}

static void scene_hear(const char *line)
{
	_cleanup_free_ char *spelt = scene_spell(line);
	if (spelt)
		acp_client_line(scene.client, str_from(spelt), false);
}

static bool scene_has(const char *text)
{
	_cleanup_free_ char *spelt = scene_spell(text);
	buf_terminate(&scene.log);
	return spelt && scene.log.data && strstr(scene.log.data, spelt);
}

static void scene_expect(const char *log)
{
	_cleanup_free_ char *spelt = scene_spell(log);
	ck_assert_ptr_nonnull(spelt);
	buf_terminate(&scene.log);
	ck_assert_str_eq(scene.log.data ? scene.log.data : "", spelt);
	buf_clear(&scene.log);
}

#define HELLO                                                                      \
	"{@J,'id':1,'result':{'protocolVersion':1,'agentCapabilities':{'loadSession':" \
	"true,'sessionCapabilities':{'close':{}}}}}"
#define MADE "{@J,'id':2,'result':{'sessionId':'s'}}"
#define STOPPED "{@J,'id':3,'result':{'stopReason':'end_turn'}}"
#define UPDATE(update) \
	"{@J,'method':'session/update','params':{'sessionId':'s','update':{" update "}}}"
#define CHUNK UPDATE("'sessionUpdate':'agent_message_chunk','content':{'type':'text','text':'hi'}")
#define MAY(params) "{@J,'id':'q','method':'session/request_permission','params':{" params "}}"
#define OPTIONS "'options':[{'optionId':'y','name':'Yes','kind':'allow_once'}]"

enum stage { BEFORE, READY, OPEN, BUSY, ASKED, OVER };

static bool scene_offers; /* files and terminals */

static int scene_begin(void)
{
	scene = (struct scene){ 0 };
	const struct acp_client_options options = { STR("perch"), STR("1"), scene_offers, scene_offers,
		scene_offers };
	return acp_client_new(&options, &scene_table, NULL, &scene.client);
}

static int scene_open(const char *id)
{
	const struct acp_talk_options options = { .cwd = STR("/w"), .id = str_from(id) };
	return acp_talk_open(scene.client, &options, &scene.talk);
}

static int scene_prompt(void)
{
	return acp_talk_prompt(scene.talk, STR("[{\"type\":\"text\",\"text\":\"hi\"}]"));
}

/* One stage further, as a good agent has it. */
static void scene_step(enum stage from)
{
	if (from == BEFORE) {
		scene_hear(HELLO);
		ck_assert_int_eq(scene_open(""), 0);
	} else if (from == READY) {
		scene_hear(MADE);
	} else if (from == OPEN) {
		ck_assert_int_eq(scene_prompt(), 0);
	} else if (from == BUSY) {
		scene_hear(MAY("'sessionId':'s','toolCall':{'toolCallId':'c','title':'look'}," OPTIONS));
	} else if (from == ASKED) {
		acp_talk_permit(scene.talk, scene.number, STR("y"));
		scene_hear(STOPPED);
	}
}

static void scene_end(void)
{
	acp_client_free(scene.client);
	buf_free(&scene.log);
}

/* Where, what the agent says, and what becomes of it; all of them, at the end, go on as if nothing
 * had been, unless they fail. */
static const struct {
	enum stage stage;
	const char *line;
	const char *told;
} rows[] = {
	{ BEFORE, "", "noise " },
	{ BEFORE, "garbage", "noise " },
	{ BEFORE, "{", "noise " },
	{ BEFORE, "[]", "noise " },
	{ BEFORE, "[" HELLO "]", "noise " },
	{ BEFORE, "null", "noise " },
	{ BEFORE, "{@J}", "noise " },
	{ BEFORE, "{'id':1,'result':{}}", "noise " },
	{ BEFORE, "{@J,'id':1}", "noise " },
	{ BEFORE, "{@J,'id':1,'result':1,'error':{}}", "noise " },
	{ BEFORE, "{@J,'id':9,'result':{}}", "noise the agent answers" },
	{ BEFORE, "{@J,'id':'1','result':{}}", "noise the agent answers" },
	{ BEFORE, "{@J,'id':null,'error':{'code':1,'message':'x'}}", "noise the agent answers" },
	{ BEFORE, CHUNK, "noise the agent speaks of a session" },
	{ BEFORE, MAY("'sessionId':'s'"), "'code':-32602" },
	{ BEFORE, "{@J,'id':5,'method':'fs/read_text_file','params':{}}", "'code':-32601" },
	{ BEFORE, "{@J,'method':'$/cancel_request','params':{'requestId':1}}", "" },
	{ BEFORE, "{@J,'method':'later/things'}", "" },
	{ BEFORE, "{@J,'id':1,'error':{'code':-32603,'message':'no'}}", "failed the agent refuses" },
	{ BEFORE, "{@J,'id':1,'result':null}", "failed the agent does not speak" },
	{ BEFORE, "{@J,'id':1,'result':{}}", "failed the agent does not speak" },
	{ BEFORE, "{@J,'id':1,'result':{'protocolVersion':2}}", "failed the agent does not speak" },
	{ BEFORE, "{@J,'id':1,'result':{'protocolVersion':'1'}}", "failed the agent does not speak" },
	{ READY, HELLO, "noise the agent answers" },
	{ READY, CHUNK, "noise the agent speaks of a session" },
	{ READY, STOPPED, "noise the agent answers" },
	{ READY, MAY("'sessionId':'s','toolCall':{'toolCallId':'c'}," OPTIONS), "'code':-32602" },
	{ READY, "{@J,'id':5,'method':'initialize','params':{}}", "'code':-32601" },
	{ READY, "{@J,'id':2,'error':{'code':-32000,'message':'log in'}}", "error log in" },
	{ READY, "{@J,'id':2,'error':{}}", "error the agent gives no reason" },
	{ READY, "{@J,'id':2,'error':7}", "error the agent gives no reason" },
	{ READY, "{@J,'id':2,'result':{}}", "error the agent gives the session no id" },
	{ READY, "{@J,'id':2,'result':null}", "error the agent gives the session no id" },
	{ READY, "{@J,'id':2,'result':{'sessionId':''}}", "error the agent gives the session no id" },
	{ READY, "{@J,'id':2,'result':{'sessionId':7}}", "error the agent gives the session no id" },
	{ OPEN, MADE, "noise the agent answers" },
	{ OPEN, CHUNK, "noise the agent goes on behind" },
	{ OPEN, STOPPED, "noise the agent answers" },
	{ OPEN, UPDATE("'sessionUpdate':'available_commands_update','availableCommands':[]"), "" },
	{ OPEN, MAY("'sessionId':'s','toolCall':{'toolCallId':'c'}," OPTIONS), "'code':-32602" },
	{ BUSY, UPDATE(""), "noise the agent sends an update" },
	{ BUSY, UPDATE("'sessionUpdate':7"), "noise the agent sends an update" },
	{ BUSY, UPDATE("'sessionUpdate':'unheard_of'"), "" },
	{ BUSY, UPDATE("'sessionUpdate':'agent_message_chunk'"), "" },
	{ BUSY, UPDATE("'sessionUpdate':'agent_message_chunk','content':[]"), "" },
	{ BUSY, UPDATE("'sessionUpdate':'agent_message_chunk','content':{'type':'image'}"), "" },
	{ BUSY, UPDATE("'sessionUpdate':'tool_call'"), "noise the agent speaks of a tool call" },
	{ BUSY, UPDATE("'sessionUpdate':'tool_call_update','toolCallId':7"), "noise " },
	{ BUSY, UPDATE("'sessionUpdate':'user_message_chunk','content':{}"), "" },
	{ BUSY, "{@J,'method':'session/update'}", "noise the agent speaks of a session" },
	{ BUSY, "{@J,'method':'session/update','params':{'sessionId':'t','update':{}}}", "noise " },
	{ BUSY, "{@J,'method':'session/update','params':[]}", "noise " },
	{ BUSY, "{@J,'id':4,'method':'session/update','params':{}}", "'code':-32601" },
	{ BUSY, MADE, "noise the agent answers" },
	{ BUSY, MAY(""), "'code':-32602" },
	{ BUSY, MAY("'sessionId':'t','toolCall':{'toolCallId':'c'}," OPTIONS), "'code':-32602" },
	{ BUSY, MAY("'sessionId':'s'," OPTIONS), "'code':-32602" },
	{ BUSY, MAY("'sessionId':'s','toolCall':{'toolCallId':'c'}"), "'code':-32602" },
	{ BUSY, MAY("'sessionId':'s','toolCall':{'toolCallId':'c'},'options':[]"), "'code':-32602" },
	{ BUSY, MAY("'sessionId':'s','toolCall':{'toolCallId':'c'},'options':[7,{}]"),
		"'code':-32602" },
	{ BUSY, "{@J,'id':5,'method':'terminal/create','params':{}}", "'code':-32601" },
	{ BUSY, "{@J,'id':5,'method':'fs/write_text_file','params':{}}", "'code':-32601" },
	{ BUSY, "{@J,'id':5,'method':'elicitation/create','params':{}}", "'code':-32601" },
	{ BUSY, "{@J,'id':null,'method':'fs/read_text_file'}", "noise " },
	{ BUSY, "{@J,'id':3,'error':{'code':-32603,'message':'broken'}}", "error broken" },
	{ BUSY, "{@J,'id':3,'error':{'code':1,'message':'broken','data':{'details':'a pipe'}}}",
		"error broken: a pipe" },
	{ BUSY, "{@J,'id':3,'error':{'code':1,'message':'broken','data':'a pipe'}}",
		"error broken: a pipe" },
	{ BUSY, "{@J,'id':3,'error':{'code':1,'message':'broken','data':'broken'}}", "error broken\n" },
	{ BUSY, "{@J,'id':3,'error':{'code':1,'message':'','data':{'details':7}}}",
		"error the agent gives" },
	{ BUSY, "{@J,'id':3,'result':{}}", "error the agent ends its turn without" },
	{ BUSY, "{@J,'id':3,'result':{'stopReason':7}}", "error the agent ends its turn without" },
	{ ASKED, "{@J,'method':'$/cancel_request','params':{'requestId':'r'}}", "" },
	{ ASKED, "{@J,'method':'$/cancel_request','params':{'requestId':'q'}}", "withdrawn " },
	{ ASKED, "{@J,'method':'$/cancel_request'}", "" },
	{ ASKED, CHUNK, "text hi" },
	{ OVER, STOPPED, "noise the agent answers" },
	{ OVER, CHUNK, "noise the agent goes on behind" },
	{ OVER, MAY("'sessionId':'s','toolCall':{'toolCallId':'c'}," OPTIONS), "'code':-32602" },
};
_Static_assert(sizeof(rows) / sizeof(rows[0]) >= 60, "there are many ways to be wrong");

START_TEST(whatever_an_agent_says_the_conversation_goes_on)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_int_eq(scene_begin(), 0);
		for (enum stage at = BEFORE; at < rows[i].stage; at++)
			scene_step(at);
		buf_clear(&scene.log);
		scene_hear(rows[i].line);
		bool is_told = rows[i].told[0] ? scene_has(rows[i].told) : !scene.log.len;
		ck_assert_msg(
			is_told, "row %zu: %s: %s", i, rows[i].line, scene.log.data ? scene.log.data : "");
		bool has_failed = scene_has("failed ") || scene_has("error ");
		buf_clear(&scene.log);
		for (enum stage at = rows[i].stage; at < OVER && !has_failed; at++)
			scene_step(at);
		ck_assert_msg(has_failed || rows[i].stage == OVER || scene_has("stopped end_turn"),
			"row %zu: %s: it does not go on", i, rows[i].line);
		ck_assert(!acp_client_is_broken(scene.client));
		scene_end();
	}
}
END_TEST

START_TEST(a_conversation)
{
	ck_assert_int_eq(scene_begin(), 0);
	scene_expect("> {@J,'id':1,'method':'initialize','params':{'protocolVersion':1,"
				 "'clientCapabilities':{'fs':{'readTextFile':false,'writeTextFile':false},"
				 "'terminal':false},'clientInfo':{'name':'perch','version':'1'}}}\n");
	ck_assert_int_eq(scene_open(""), -EAGAIN);
	scene_hear(HELLO);
	ck_assert_int_eq(scene_open(""), 0);
	scene_expect("ready \n> {@J,'id':2,'method':'session/new','params':{'cwd':'/w','mcpServers':"
				 "[]}}\n");
	ck_assert_int_eq(scene_prompt(), -EBUSY);
	scene_hear(MADE);
	ck_assert_int_eq(scene_prompt(), 0);
	ck_assert_int_eq(scene_prompt(), -EBUSY);
	scene_expect("open s\n> {@J,'id':3,'method':'session/prompt','params':{'sessionId':'s','prompt'"
				 ":[{'type':'text','text':'hi'}]}}\n");
	scene_hear(CHUNK);
	scene_hear(
		UPDATE("'sessionUpdate':'agent_thought_chunk','content':{'type':'text','text':'h'}"));
	scene_hear(UPDATE("'sessionUpdate':'plan','entries':[]"));
	scene_expect("text hi\nthought h\nplan {'sessionUpdate':'plan','entries':[]}\n");
	scene_step(BUSY);
	acp_talk_permit(scene.talk, 99, STR("y"));
	acp_talk_permit(scene.talk, scene.number, STR("y"));
	acp_talk_permit(scene.talk, scene.number, STR("y"));
	scene_expect("permission look\n> {@J,'id':'q','result':{'outcome':{'outcome':'selected',"
				 "'optionId':'y'}}}\n");
	scene_hear(STOPPED);
	acp_talk_close(scene.talk);
	scene_expect("stopped end_turn\n> {@J,'id':4,'method':'session/close','params':{'sessionId':"
				 "'s'}}\n");
	scene_hear("{@J,'id':4,'result':{}}");
	scene_expect("");
	scene_end();
}
END_TEST

#define READ(session) \
	"{@J,'id':'f','method':'fs/read_text_file','params':{'sessionId':'" session "','path':'/p'}}"

START_TEST(what_is_offered_is_asked_for_and_answered)
{
	scene_offers = true;
	ck_assert_int_eq(scene_begin(), 0);
	ck_assert(scene_has("'fs':{'readTextFile':true,'writeTextFile':true},'terminal':true"));
	for (enum stage at = BEFORE; at < BUSY; at++)
		scene_step(at);
	buf_clear(&scene.log);
	scene_hear(READ("other"));
	scene_expect("> {@J,'id':'f','error':{'code':-32602,'message':'there is no such session, or no "
				 "prompt of it'}}\n");
	scene_hear(READ("s"));
	acp_talk_permit(scene.talk, scene.number, STR("y")); /* it is no permission */
	acp_talk_answer(scene.talk, 99, STR("{}"));
	acp_talk_answer(scene.talk, scene.number, STR("{\"content\":\"c\"}"));
	acp_talk_answer(scene.talk, scene.number, STR("{}"));
	scene_expect("asked {'sessionId':'s','path':'/p'}\n> {@J,'id':'f','result':{'content':'c'}}\n");
	scene_hear(READ("s"));
	acp_talk_refuse(scene.talk, scene.number, -32603, STR("no"));
	acp_talk_refuse(scene.talk, scene.number, -32603, STR("no"));
	scene_expect("asked {'sessionId':'s','path':'/p'}\n> {@J,'id':'f','error':{'code':-32603,"
				 "'message':'no'}}\n");
	scene_hear(READ("s"));
	scene_hear("{@J,'method':'$/cancel_request','params':{'requestId':'f'}}");
	ck_assert(scene_has("'code':-32800,'message':'the request or its prompt was cancelled'") &&
		scene_has("withdrawn "));
	scene_hear(READ("s"));
	buf_clear(&scene.log);
	acp_talk_cancel(scene.talk); /* what is done for it goes on until its end */
	scene_expect("> {@J,'method':'session/cancel','params':{'sessionId':'s'}}\n");
	scene_hear(STOPPED);
	scene_expect("> {@J,'id':'f','error':{'code':-32800,'message':'the request or its prompt was "
				 "cancelled'}}\nstopped "
				 "end_turn\n");
	acp_talk_answer(scene.talk, scene.number, STR("{}"));
	scene_hear(READ("s"));
	ck_assert(scene_has("'code':-32602"));
	scene_end();
	scene_offers = false;
}
END_TEST

#define ELICIT(scope) \
	"{@J,'id':'e','method':'elicitation/create','params':{" scope ",'mode':'form'}}"

START_TEST(forms_are_of_a_prompt_or_of_what_opens_a_session)
{
	scene_offers = true;
	ck_assert_int_eq(scene_begin(), 0);
	ck_assert(scene_has("'elicitation':{'form':{},'url':{}}"));
	scene_hear(ELICIT("'requestId':1")); /* the greeting has no user yet */
	ck_assert(scene_has("'code':-32602"));
	scene_step(BEFORE);
	buf_clear(&scene.log);
	scene_hear(ELICIT("'requestId':2"));
	scene_expect("form {'requestId':2,'mode':'form'}\n");
	scene_hear(MADE); /* it goes on without an answer */
	scene_expect("> {@J,'id':'e','result':{'action':'cancel'}}\nopen s\n");
	scene_hear(ELICIT("'sessionId':'s'"));
	ck_assert(scene_has("'code':-32602"));
	scene_step(OPEN);
	buf_clear(&scene.log);
	scene_hear(ELICIT("'sessionId':'s'"));
	acp_talk_permit(scene.talk, scene.number, STR("y")); /* it is no permission */
	acp_talk_answer(scene.talk, scene.number, STR("{\"action\":\"decline\"}"));
	scene_expect("form {'sessionId':'s','mode':'form'}\n> {@J,'id':'e','result':{'action':"
				 "'decline'}}\n");
	scene_hear(ELICIT("'requestId':3"));
	scene_hear("{@J,'method':'$/cancel_request','params':{'requestId':'e'}}");
	scene_expect("form {'requestId':3,'mode':'form'}\n> {@J,'id':'e','result':{'action':'cancel'}}"
				 "\nwithdrawn \n");
	scene_hear(ELICIT("'requestId':77"));
	ck_assert(scene_has("'code':-32602"));
	scene_hear(ELICIT("'sessionId':'s'"));
	buf_clear(&scene.log);
	acp_talk_cancel(scene.talk);
	scene_hear(ELICIT("'sessionId':'s'"));
	scene_expect("> {@J,'method':'session/cancel','params':{'sessionId':'s'}}\n"
				 "> {@J,'id':'e','result':{'action':'cancel'}}\n"
				 "> {@J,'id':'e','result':{'action':'cancel'}}\n");
	scene_hear(STOPPED);
	scene_hear("{@J,'method':'elicitation/complete','params':{'elicitationId':'none'}}");
	scene_expect("stopped end_turn\n");
	scene_end();
	scene_offers = false;
}
END_TEST

START_TEST(requests_without_end_are_refused)
{
	scene_offers = true;
	ck_assert_int_eq(scene_begin(), 0);
	for (enum stage at = BEFORE; at < BUSY; at++)
		scene_step(at);
	for (int i = 0; i < ACP_QUIZZES_MAX; i++)
		scene_hear(READ("s"));
	ck_assert(!scene_has("too many"));
	scene_hear(READ("s"));
	ck_assert(scene_has("too many questions are open"));
	scene_end();
	scene_offers = false;
}
END_TEST

START_TEST(an_old_session_is_gone_on_with_or_made_anew)
{
	ck_assert_int_eq(scene_begin(), 0);
	scene_hear(HELLO);
	buf_clear(&scene.log);
	ck_assert_int_eq(scene_open("s"), 0);
	scene_hear(CHUNK); /* a replay */
	scene_expect("> {@J,'id':2,'method':'session/load','params':{'sessionId':'s','cwd':'/w',"
				 "'mcpServers':[]}}\n");
	scene_hear("{@J,'id':2,'result':null}");
	scene_expect("open s\n");
	acp_talk_close(scene.talk);
	buf_clear(&scene.log);
	ck_assert_int_eq(scene_open("t"), 0);
	buf_clear(&scene.log);
	scene_hear("{@J,'id':4,'error':{'code':-32002,'message':'gone'}}");
	scene_expect("anew gone\n> {@J,'id':5,'method':'session/new','params':{'cwd':'/w',"
				 "'mcpServers':[]}}\n");
	scene_hear("{@J,'id':5,'result':{'sessionId':'u'}}");
	scene_expect("open u\n");
	struct acp_talk *first = scene.talk;
	ck_assert_int_eq(scene_open(""), 0);
	ck_assert_ptr_ne(first, scene.talk);
	buf_clear(&scene.log);
	scene_hear("{@J,'id':6,'result':{'sessionId':'u'}}");
	scene_expect("error the agent gives the session no id that can be used\n");
	scene_end();
}
END_TEST

START_TEST(a_cancelled_prompt_still_ends)
{
	ck_assert_int_eq(scene_begin(), 0);
	for (enum stage at = BEFORE; at < ASKED; at++)
		scene_step(at);
	buf_clear(&scene.log);
	acp_talk_cancel(scene.talk);
	acp_talk_cancel(scene.talk);
	scene_expect("> {@J,'method':'session/cancel','params':{'sessionId':'s'}}\n"
				 "> {@J,'id':'q','result':{'outcome':{'outcome':'cancelled'}}}\n");
	scene_hear(MAY("'sessionId':'s','toolCall':{'toolCallId':'d'}," OPTIONS));
	scene_expect("> {@J,'id':'q','result':{'outcome':{'outcome':'cancelled'}}}\n");
	scene_hear("{@J,'id':3,'result':{'stopReason':'cancelled'}}");
	scene_expect("stopped cancelled\n");
	scene_end();
}
END_TEST

/* All of its session is kept, and what takes back a question that may be among that. */
START_TEST(a_talk_that_is_held_is_not_told)
{
	ck_assert_int_eq(scene_begin(), 0);
	for (enum stage stage = BEFORE; stage < BUSY; stage++)
		scene_step(stage);
	acp_talk_hold(scene.talk, true);
	buf_clear(&scene.log);
	scene_hear(CHUNK);
	scene_hear(MAY("'sessionId':'s','toolCall':{'toolCallId':'c'}," OPTIONS));
	scene_hear("{@J,'method':'$/cancel_request','params':{'requestId':'q'}}");
	scene_hear(STOPPED);
	scene_expect("kept\nkept\nkept\nkept\n");
	scene_hear("{@J,'id':99,'result':{}}");
	ck_assert(!scene_has("kept"));
	acp_talk_hold(scene.talk, false);
	buf_clear(&scene.log);
	scene_hear(CHUNK);
	scene_hear(STOPPED);
	ck_assert(!scene_has("kept") && scene_has("hi"));
	scene_end();
}
END_TEST

/* Where several are held, what is told to one of them is not kept for the others again. */
START_TEST(what_is_taken_back_is_kept_once_for_each_talk)
{
	static const char cancel[] =
		"{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":\"q\"}}";
	ck_assert_int_eq(scene_begin(), 0);
	for (enum stage stage = BEFORE; stage < BUSY; stage++)
		scene_step(stage);
	struct acp_talk *first = scene.talk;
	ck_assert_int_eq(scene_open(""), 0);
	scene_hear("{@J,'id':4,'result':{'sessionId':'t'}}");
	acp_talk_hold(first, true);
	acp_talk_hold(scene.talk, true);
	buf_clear(&scene.log);
	acp_client_line(scene.client, STR(cancel), false);
	scene_expect("kept\nkept\n");
	acp_talk_again(first, STR(cancel));
	scene_expect("");
	acp_talk_hold(first, true);
	acp_client_line(scene.client, STR(cancel), false);
	scene_expect("kept\nkept\n");
	scene_end();
}
END_TEST

START_TEST(questions_and_lines_have_limits)
{
	ck_assert_int_eq(scene_begin(), 0);
	for (enum stage at = BEFORE; at < BUSY; at++)
		scene_step(at);
	for (int i = 0; i < ACP_QUIZZES_MAX; i++)
		scene_step(BUSY);
	ck_assert(!scene_has("too many questions"));
	scene_step(BUSY);
	ck_assert(scene_has("too many questions"));
	buf_clear(&scene.log);
	acp_client_line(scene.client, STR(""), true);
	scene_hear(STOPPED);
	scene_expect("failed the agent writes a line that is too long\n");
	scene_end();
}
END_TEST

static int live_once(void *data)
{
	(void)data;
	scene_offers = true;
	int r = scene_begin();
	scene_offers = false;
	if (r == 0) {
		scene_hear(HELLO);
		r = scene_open("");
		if (r == 0) {
			scene_hear(MADE);
			r = scene_prompt();
			scene_step(BUSY);
			scene_hear(CHUNK);
			scene_hear(READ("s"));
			acp_talk_answer(scene.talk, scene.number, STR("{}"));
			scene_hear(ELICIT("'sessionId':'s'"));
			acp_talk_cancel(scene.talk);
			scene_hear(STOPPED);
		}
		if (acp_client_is_broken(scene.client) || scene.log.failed || !scene_has("stopped "))
			r = -ENOMEM;
	}
	scene_end();
	return r;
}

START_TEST(without_memory_it_says_so)
{
	ck_assert_uint_gt(oom_every(live_once, NULL), 10);
}
END_TEST

SUITE_MAIN("wire-acp-client", whatever_an_agent_says_the_conversation_goes_on, a_conversation,
	what_is_offered_is_asked_for_and_answered, forms_are_of_a_prompt_or_of_what_opens_a_session,
	requests_without_end_are_refused, an_old_session_is_gone_on_with_or_made_anew,
	a_cancelled_prompt_still_ends, questions_and_lines_have_limits, a_talk_that_is_held_is_not_told,
	what_is_taken_back_is_kept_once_for_each_talk, without_memory_it_says_so)

/* ACP's agent side from strings: lines of an editor in, what is sent and wished for out. In texts '
 * stands for ", and @J for "jsonrpc":"2.0". */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "harness/oom.h"
#include "harness/suite.h"
#include "wire/acp_agent.h"

enum { REQUESTS = 16 };

static struct scene {
	struct acp_agent *agent;
	struct buf log;
	struct acp_request *requests[REQUESTS]; /* in the order of their wishes */
	size_t request_count;
	struct acp_session *session; /* the newest */
	bool stops_at_once;
} scene;

static void scene_add(const char *word, struct str text)
{
	buf_append_text(&scene.log, word);
	buf_append(&scene.log, text.data, text.len);
	buf_append_char(&scene.log, '\n');
}

static void scene_send(void *data, struct str line, bool is_response)
{
	(void)data;
	(void)is_response;
	ck_assert_int_eq(line.data[line.len], '\n');
	scene_add("> ", line);
}

static void scene_open(const struct acp_wish *wish, struct str id)
{
	scene_add("place ", wish->place.cwd);
	if (acp_session_open(scene.agent, id, NULL, &scene.session) == 0)
		acp_request_session(wish->request, scene.session, (struct str){ 0 });
	else
		acp_request_fail(wish->request, JSONRPC_INTERNAL_ERROR, STR("full"), (struct str){ 0 });
}

static void scene_wish(void *data, const struct acp_wish *wish)
{
	static const char *const names[] = { "new ", "load ", "resume ", "list ", "delete ",
		"configure ", "prompt ", "cancel ", "answer ", "forget " };
	(void)data;
	struct str text = wish->id.data ? wish->id : wish->cursor.data ? wish->cursor : wish->value;
	if (wish->kind == ACP_WISH_PROMPT && wish->block_count)
		text = wish->blocks[0].text;
	if (wish->kind == ACP_WISH_ANSWER)
		text = wish->answer->outcome == ACP_CHOSEN  ? wish->answer->option
			: wish->answer->outcome == ACP_ANSWERED ? STR("(form)")
													: STR("(none)");
	scene_add(names[wish->kind], text.data ? text : STR(""));
	if (wish->kind == ACP_WISH_NEW)
		scene_open(wish, STR("s"));
	else if (wish->kind == ACP_WISH_PROMPT && scene.stops_at_once)
		acp_request_stop(wish->request, ACP_END_TURN, (struct str){ 0 });
	else if (wish->kind <= ACP_WISH_PROMPT && scene.request_count < REQUESTS)
		scene.requests[scene.request_count++] = wish->request;
}

static const struct acp_agent_table scene_table = { .send = scene_send, .wish = scene_wish };

static int scene_begin(struct acp_agent_options options)
{
	scene = (struct scene){ 0 };
	options.name = STR("perch");
	options.version = STR("1");
	return acp_agent_new(&options, &scene_table, NULL, &scene.agent);
}

static void scene_end(void)
{
	acp_agent_free(scene.agent);
	buf_free(&scene.log);
}

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

static void scene_say(const char *line)
{
	_cleanup_free_ char *spelt = scene_spell(line);
	if (spelt)
		acp_agent_line(scene.agent, str_from(spelt), false);
}

static void scene_expect(const char *log)
{
	_cleanup_free_ char *spelt = scene_spell(log);
	ck_assert_ptr_nonnull(spelt);
	buf_terminate(&scene.log);
	ck_assert_str_eq(scene.log.data ? scene.log.data : "", spelt);
	buf_clear(&scene.log);
}

#define HELLO                                                         \
	"{@J,'id':0,'method':'initialize','params':{'protocolVersion':1," \
	"'clientCapabilities':{'elicitation':{'form':{}}}}}"
#define NEW_WITH(server) \
	"{@J,'id':1,'method':'session/new','params':{'cwd':'/','mcpServers':[" server "]}}"
#define NEW "{@J,'id':'n','method':'session/new','params':{'cwd':'/w','mcpServers':[]}}"
#define PROMPT(id, text)                                                            \
	"{@J,'id':" id ",'method':'session/prompt','params':{'sessionId':'s','prompt':" \
	"[{'type':'text','text':'" text "'}]}}"
#define STOPPED(id, reason) "> {@J,'id':" id ",'result':{'stopReason':'" reason "'}}\n"

static void scene_greet(void)
{
	ck_assert_int_eq(scene_begin((struct acp_agent_options){ .has_store = true }), 0);
	scene_say(HELLO);
	scene_say(NEW);
	buf_clear(&scene.log);
}

/* Each row: a line, and the code that answers it; 0 = nothing is said. */
static const struct {
	const char *line;
	int code;
} bent[] = {
	{ "{", JSONRPC_PARSE_ERROR },
	{ "\x01", JSONRPC_PARSE_ERROR },
	{ "7", JSONRPC_INVALID_REQUEST },
	{ "[]", JSONRPC_INVALID_REQUEST },
	{ "[" HELLO "]", JSONRPC_INVALID_REQUEST },
	{ "{'id':1,'method':'session/list'}", JSONRPC_INVALID_REQUEST },
	{ "{@J,'id':null,'method':'session/list'}", JSONRPC_INVALID_REQUEST },
	{ "{@J,'id':1,'method':7}", JSONRPC_INVALID_REQUEST },
	{ "{@J,'id':1,'method':'session/list','params':[]}", JSONRPC_INVALID_REQUEST },
	{ "{@J,'id':1}", JSONRPC_INVALID_REQUEST },
	{ "{@J,'id':1,'result':1,'error':{}}", 0 },
	{ "{@J,'id':77,'result':{}}", 0 },
	{ "{@J,'id':77,'error':{'code':1,'message':'x'}}", 0 },
	{ "{@J,'method':'session/cancel','params':{'sessionId':'other'}}", 0 },
	{ "{@J,'method':'session/cancel'}", 0 },
	{ "{@J,'method':'$/cancel_request','params':{'requestId':9}}", 0 },
	{ "{@J,'method':'$/cancel_request','params':{'requestId':[]}}", 0 },
	{ "{@J,'method':'anything'}", 0 },
	{ "{@J,'method':'session/prompt'}", 0 },
	{ HELLO, JSONRPC_INVALID_REQUEST },
	{ "{@J,'id':1,'method':'session/cancel'}", JSONRPC_METHOD_NOT_FOUND },
	{ "{@J,'id':1,'method':'authenticate','params':{}}", JSONRPC_METHOD_NOT_FOUND },
	{ "{@J,'id':1,'method':'_perch/x'}", JSONRPC_METHOD_NOT_FOUND },
	{ "{@J,'id':1,'method':'session/new'}", JSONRPC_INVALID_PARAMS },
	{ "{@J,'id':1,'method':'session/new','params':{'cwd':7}}", JSONRPC_INVALID_PARAMS },
	{ "{@J,'id':1,'method':'session/new','params':{'cwd':'w'}}", JSONRPC_INVALID_PARAMS },
	{ "{@J,'id':1,'method':'session/new','params':{'cwd':'/\\u0000'}}", JSONRPC_INVALID_PARAMS },
	{ "{@J,'id':1,'method':'session/new','params':{'cwd':'/','mcpServers':{}}}",
		JSONRPC_INVALID_PARAMS },
	{ "{@J,'id':1,'method':'session/new','params':{'cwd':'/','mcpServers':[1]}}",
		JSONRPC_INVALID_PARAMS },
	{ NEW_WITH("{'command':'/m'}"), JSONRPC_INVALID_PARAMS },
	{ NEW_WITH("{'name':'m'}"), JSONRPC_INVALID_PARAMS },
	{ NEW_WITH("{'name':'m','command':7}"), JSONRPC_INVALID_PARAMS },
	{ NEW_WITH("{'name':'m','command':'/m','args':{}}"), JSONRPC_INVALID_PARAMS },
	{ NEW_WITH("{'name':'m','command':'/m','args':[7]}"), JSONRPC_INVALID_PARAMS },
	{ NEW_WITH("{'name':'m','command':'/m','env':[{'name':'A'}]}"), JSONRPC_INVALID_PARAMS },
	{ NEW_WITH("{'name':'m','type':'http'}"), JSONRPC_INVALID_PARAMS },
	{ NEW_WITH("{'name':'m','type':'http','url':'u','headers':7}"), JSONRPC_INVALID_PARAMS },
	{ NEW_WITH("{'name':'m','type':'odd','url':'u'}"), JSONRPC_INVALID_PARAMS },
	{ "{@J,'id':1,'method':'session/new','params':{'cwd':'/','additionalDirectories':['a']}}",
		JSONRPC_INVALID_PARAMS },
	{ "{@J,'id':1,'method':'session/load','params':{'cwd':'/'}}", JSONRPC_INVALID_PARAMS },
	{ "{@J,'id':1,'method':'session/list','params':{'cwd':'x'}}", JSONRPC_INVALID_PARAMS },
	{ "{@J,'id':1,'method':'session/list','params':{'cursor':1}}", JSONRPC_INVALID_PARAMS },
	{ "{@J,'id':1,'method':'session/delete','params':{}}", JSONRPC_INVALID_PARAMS },
	{ "{@J,'id':1,'method':'session/close','params':{'sessionId':'x'}}", ACP_NOT_FOUND },
	{ "{@J,'id':1,'method':'session/set_config_option','params':{'sessionId':'s'}}",
		JSONRPC_INVALID_PARAMS },
	{ "{@J,'id':1,'method':'session/prompt','params':{'sessionId':'x','prompt':[]}}",
		ACP_NOT_FOUND },
	{ "{@J,'id':1,'method':'session/prompt','params':{'sessionId':'s'}}", JSONRPC_INVALID_PARAMS },
	{ "{@J,'id':1,'method':'session/prompt','params':{'sessionId':'s','prompt':[7]}}",
		JSONRPC_INVALID_PARAMS },
	{ "{@J,'id':1,'method':'session/prompt','params':{'sessionId':'s','prompt':[{'type':'x'}]}}",
		JSONRPC_INVALID_PARAMS },
	{ "{@J,'id':1,'method':'session/prompt','params':{'sessionId':'s','prompt':"
	  "[{'type':'text'}]}}",
		JSONRPC_INVALID_PARAMS },
	{ "{@J,'id':1,'method':'session/prompt','params':{'sessionId':'s','prompt':"
	  "[{'type':'resource','resource':{'uri':'u'}}]}}",
		JSONRPC_INVALID_PARAMS },
	{ "{@J,'id':1,'method':'session/prompt','params':{'sessionId':'s','prompt':"
	  "[{'type':'image','data':'','mimeType':'image/png'}]}}",
		JSONRPC_INVALID_PARAMS },
};

START_TEST(a_bent_line_is_answered_by_its_code)
{
	scene_greet();
	for (size_t i = 0; i < sizeof(bent) / sizeof(bent[0]); i++) {
		char code[32];
		snprintf(code, sizeof(code), "\"code\":%d,", bent[i].code);
		scene_say(bent[i].line);
		buf_terminate(&scene.log);
		const char *log = scene.log.data ? scene.log.data : "";
		bool is_right = bent[i].code ? strstr(log, code) != NULL : !log[0];
		ck_assert_msg(is_right, "%s: %s", bent[i].line, log);
		buf_clear(&scene.log);
	}
	acp_agent_line(scene.agent, STR(""), true);
	scene_expect("> {@J,'id':null,'error':{'code':-32600,'message':'a message may have 32 MiB at "
				 "most'}}\n");
	scene_say(PROMPT("5", "still"));
	scene_expect("prompt still\n");
	scene_end();
}
END_TEST

START_TEST(nothing_comes_before_initialize)
{
	ck_assert_int_eq(scene_begin((struct acp_agent_options){ 0 }), 0);
	scene_say(NEW);
	scene_expect("> {@J,'id':'n','error':{'code':-32600,'message':'initialize must be said "
				 "first'}}\n");
	scene_say("{@J,'id':0,'method':'initialize','params':{'protocolVersion':'1'}}");
	scene_expect("> {@J,'id':0,'error':{'code':-32602,'message':'\\'protocolVersion\\' must be a "
				 "small integer'}}\n");
	scene_say("{@J,'id':0,'method':'initialize','params':{'protocolVersion':7}}");
	scene_expect("> {@J,'id':0,'result':{'protocolVersion':1,'agentCapabilities':{'loadSession':"
				 "false,'promptCapabilities':{'image':false,'audio':false,'embeddedContext':true},"
				 "'mcpCapabilities':{'http':false,'sse':false},'sessionCapabilities':{'close':{}}},"
				 "'agentInfo':{'name':'perch','version':'1'},'authMethods':[]}}\n");
	scene_say("{@J,'id':1,'method':'session/list'}");
	scene_expect("> {@J,'id':1,'error':{'code':-32601,'message':'there is no method "
				 "session/list'}}\n");
	scene_end();
}
END_TEST

START_TEST(prompts_of_a_session_wait)
{
	scene_greet();
	scene_say(PROMPT("1", "a"));
	scene_say(PROMPT("2", "b"));
	scene_say(PROMPT("1", "again"));
	scene_expect("prompt a\n> {@J,'id':1,'error':{'code':-32600,'message':'the id is that of a "
				 "request under way'}}\n");
	acp_session_chunk(scene.session, ACP_AGENT_SAYS, STR("x\n"), (struct str){ 0 });
	scene_expect("> {@J,'method':'session/update','params':{'sessionId':'s','update':"
				 "{'sessionUpdate':'agent_message_chunk','content':{'type':'text','text':'x\\n'}}}}"
				 "\n");
	acp_request_stop(scene.requests[0], ACP_END_TURN, (struct str){ 0 });
	scene_expect(STOPPED("1", "end_turn") "prompt b\n");
	scene_say("{@J,'method':'$/cancel_request','params':{'requestId':2}}");
	scene_say("{@J,'method':'session/cancel','params':{'sessionId':'s'}}");
	scene_expect("cancel \n");
	acp_request_stop(scene.requests[1], ACP_STOP_CANCELLED, (struct str){ 0 });
	scene_expect(STOPPED("2", "cancelled"));
	scene.stops_at_once = true;
	scene_say(PROMPT("3", "c"));
	scene_expect("prompt c\n" STOPPED("3", "end_turn"));
	scene_end();
}
END_TEST

START_TEST(too_many_prompts_are_refused)
{
	ck_assert_int_eq(
		scene_begin((struct acp_agent_options){ .waiting_max = 1, .sessions_max = 1 }), 0);
	scene_say(HELLO);
	scene_say(NEW);
	buf_clear(&scene.log);
	scene_say(NEW);
	scene_expect("new \nplace /w\n> {@J,'id':'n','error':{'code':-32603,'message':'full'}}\n");
	scene_say(PROMPT("1", "a"));
	scene_say(PROMPT("2", "b"));
	scene_say(PROMPT("3", "c"));
	scene_expect("prompt a\n> {@J,'id':3,'error':{'code':-32600,'message':'too many prompts of "
				 "this session wait already'}}\n");
	scene_say("{@J,'method':'session/cancel','params':{'sessionId':'s'}}");
	scene_expect(STOPPED("2", "cancelled") "cancel \n");
	scene_end();
}
END_TEST

START_TEST(a_session_is_closed_behind_its_turn)
{
	scene_greet();
	scene_say(PROMPT("1", "a"));
	scene_say("{@J,'id':2,'method':'session/close','params':{'sessionId':'s'}}");
	scene_say(PROMPT("3", "late"));
	scene_say("{@J,'id':4,'method':'session/delete','params':{'sessionId':'s'}}");
	scene_say("{@J,'id':5,'method':'session/load','params':{'sessionId':'s','cwd':'/'}}");
	scene_expect("prompt a\ncancel \n"
				 "> {@J,'id':3,'error':{'code':-32600,'message':'the session is being closed'}}\n"
				 "> {@J,'id':4,'error':{'code':-32600,'message':'the session is being closed'}}\n"
				 "> {@J,'id':5,'error':{'code':-32600,'message':'a prompt of this session is under "
				 "way'}}\n");
	acp_request_stop(scene.requests[0], ACP_STOP_CANCELLED, (struct str){ 0 });
	scene_expect(STOPPED("1", "cancelled") "forget \n> {@J,'id':2,'result':{}}\n");
	scene_say(NEW);
	buf_clear(&scene.log);
	scene_say("{@J,'id':2,'method':'session/delete','params':{'sessionId':'s'}}");
	scene_expect("forget \ndelete s\n");
	acp_request_object(scene.requests[1], STR("{}"));
	scene_expect("> {@J,'id':2,'result':{}}\n");
	scene_end();
}
END_TEST

static const struct acp_option yes = { STR("y"), STR("Yes"), STR("allow_once") };
static const struct acp_permission may = {
	.call = STR("c"), .title = STR("look"), .input = STR("{\n}"), .options = &yes, .option_count = 1
};
static const struct mcp_question sure = { .kind = MCP_CONFIRM, .message = STR("sure?") };

START_TEST(questions_are_answered_once)
{
	scene_greet();
	scene_say(PROMPT("1", "a"));
	buf_clear(&scene.log);
	ck_assert_int_eq(acp_request_permission(scene.requests[0], 7, &may), 0);
	scene_expect("> {@J,'id':1,'method':'session/request_permission','params':{'sessionId':'s',"
				 "'toolCall':{'toolCallId':'c','title':'look','rawInput':{ }},'options':[{"
				 "'optionId':'y','name':'Yes','kind':'allow_once'}]}}\n");
	scene_say("{@J,'id':1,'result':{'outcome':{'outcome':'selected','optionId':'y'}}}");
	scene_say("{@J,'id':1,'result':{'outcome':{'outcome':'selected','optionId':'y'}}}");
	scene_expect("answer y\n");
	static const char *const none[] = { "'result':{'outcome':{'outcome':'cancelled'}}",
		"'result':{}", "'result':7", "'error':{'code':-32800,'message':'x'}",
		"'result':{'outcome':{'outcome':'selected','optionId':7}}" };
	for (size_t i = 0; i < 5; i++) {
		char line[200];
		ck_assert_int_eq(acp_request_permission(scene.requests[0], 7, &may), 0);
		buf_clear(&scene.log);
		snprintf(line, sizeof(line), "{@J,'id':%zu,%s}", i + 2, none[i]);
		scene_say(line);
		scene_expect("answer (none)\n");
	}
	ck_assert_int_eq(acp_request_form(scene.requests[0], 8, &sure), 0);
	buf_clear(&scene.log);
	scene_say("{@J,'id':7,'result':{'action':'accept','content':{'answer':true}}}");
	scene_expect("answer (form)\n");
	scene_end();
}
END_TEST

START_TEST(questions_are_withdrawn)
{
	scene_greet();
	scene_say(PROMPT("1", "a"));
	ck_assert_int_eq(acp_request_permission(scene.requests[0], 7, &may), 0);
	ck_assert_int_eq(acp_request_permission(scene.requests[0], 8, &may), 0);
	buf_clear(&scene.log);
	acp_request_withdraw(scene.requests[0], 7);
	acp_request_withdraw(scene.requests[0], 99);
	scene_expect("> {@J,'method':'$/cancel_request','params':{'requestId':1}}\n");
	acp_request_fail(scene.requests[0], -32603, STR("no"), STR("{\"a\":1}"));
	scene_expect("> {@J,'method':'$/cancel_request','params':{'requestId':2}}\n"
				 "> {@J,'id':1,'error':{'code':-32603,'message':'no','data':{'a':1}}}\n");
	scene_say("{@J,'id':2,'result':{'outcome':{'outcome':'selected','optionId':'y'}}}");
	scene_expect("");
	scene_end();
}
END_TEST

START_TEST(without_forms_there_are_none)
{
	const struct mcp_question secret = { .kind = MCP_PROMPT, .message = STR("Password:") };
	ck_assert_int_eq(scene_begin((struct acp_agent_options){ 0 }), 0);
	scene_say("{@J,'id':0,'method':'initialize','params':{'protocolVersion':1,"
			  "'clientCapabilities':{'elicitation':{}}}}");
	scene_say(NEW);
	scene_say(PROMPT("1", "a"));
	ck_assert_int_eq(acp_request_form(scene.requests[0], 8, &sure), -ENOTSUP);
	ck_assert_int_eq(acp_request_form(scene.requests[0], 8, &secret), -EACCES);
	scene_end();
}
END_TEST

static int live_once(void *data)
{
	(void)data;
	int r = scene_begin((struct acp_agent_options){ .has_store = true });
	if (r == 0) {
		scene_say(HELLO);
		scene_say("{@J,'id':'text','method':'session/list','params':{}}");
		if (scene.request_count == 1)
			acp_request_object(scene.requests[0], STR("{\"sessions\":[]}"));
		scene_say(NEW);
		scene_say(PROMPT("1", "\\u0061"));
		scene_say(PROMPT("2", "b"));
		if (scene.request_count == 2 &&
			(acp_request_permission(scene.requests[1], 1, &may) < 0 ||
				acp_request_form(scene.requests[1], 2, &sure) < 0))
			r = -ENOMEM;
		scene_say("{@J,'id':2,'result':{'action':'accept','content':{'answer':true}}}");
		if (scene.request_count == 2)
			acp_request_stop(scene.requests[1], ACP_END_TURN, (struct str){ 0 });
		bool is_broken = acp_agent_is_broken(scene.agent) || scene.log.failed || !scene.session ||
			scene.request_count < 3;
		r = is_broken ? -ENOMEM : r;
	}
	scene_end();
	return r;
}

START_TEST(without_memory_it_says_so)
{
	ck_assert_uint_gt(oom_every(live_once, NULL), 15);
}
END_TEST

SUITE_MAIN("wire-acp-agent", a_bent_line_is_answered_by_its_code, nothing_comes_before_initialize,
	prompts_of_a_session_wait, too_many_prompts_are_refused, a_session_is_closed_behind_its_turn,
	questions_are_answered_once, questions_are_withdrawn, without_forms_there_are_none,
	without_memory_it_says_so)

/* The MCP client engine from strings: lines of a server in, what is sent and told out; and the two
 * engines of perch with each other. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "harness/mcp_world.h"
#include "harness/oom.h"
#include "harness/suite.h"
#include "wire/mcp_upstream.h"

/* What an upstream says and does, as a text. */
static struct scene {
	struct mcp_upstream *upstream;
	struct buf log;
	struct mcp_quiz *quiz; /* the newest */
	const char *reply;     /* to a quiz, at once; NULL = later; "" = refused */
	bool cancels;          /* the call whose quiz it is */
} scene;

static void scene_add(const char *word, struct str text)
{
	buf_append_text(&scene.log, word);
	buf_append(&scene.log, text.data, text.len);
	buf_append_char(&scene.log, '\n');
}

static struct str raw_of(const perch_json_value *value)
{
	struct str raw = { "", 0 };
	if (value)
		raw.data = perch_json_raw(value, &raw.len);
	return raw;
}

static void scene_send(void *data, struct str line)
{
	(void)data;
	scene_add("> ", line);
}

static void scene_told(void *data, const struct mcp_told *told)
{
	static const char *const words[] = { "open ", "failed ", "changed ", "updated ", "log ",
		"noise " };
	(void)data;
	struct str text = told->text;
	if (told->kind == MCP_TOLD_OPEN)
		text = str_from(mcp_upstream_facts(scene.upstream)->version->name);
	scene_add(words[told->kind], told->kind == MCP_TOLD_LOG ? raw_of(told->value) : text);
}

static void scene_news(void *data, struct mcp_call *call, const struct mcp_news *news)
{
	static const char *const words[] = { "progress ", "page ", "result ", "error " };
	(void)data;
	buf_append_text(&scene.log, mcp_call_data(call) ? mcp_call_data(call) : "");
	bool has_text = news->kind == MCP_NEWS_PROGRESS || news->kind == MCP_NEWS_ERROR;
	scene_add(words[news->kind], has_text ? news->text : raw_of(news->value));
}

static void scene_quizzed(void *data, const struct mcp_quizzed *quizzed)
{
	static const char *const words[] = { "elicit ", "sample ", "roots " };
	(void)data;
	scene.quiz = quizzed->quiz;
	scene_add(words[quizzed->kind], raw_of(quizzed->params));
	if (scene.cancels)
		mcp_call_cancel(quizzed->call, STR(""));
	else if (scene.reply && !scene.reply[0])
		mcp_quiz_refuse(quizzed->quiz, STR("no"));
	else if (scene.reply)
		mcp_quiz_answer(quizzed->quiz, str_from(scene.reply));
}

static void scene_withdrawn(void *data, struct mcp_quiz *quiz)
{
	(void)data;
	ck_assert_ptr_eq(quiz, scene.quiz);
	scene_add("withdrawn", STR(""));
}

static const struct mcp_upstream_table scene_table = {
	.send = scene_send,
	.told = scene_told,
	.news = scene_news,
	.quizzed = scene_quizzed,
	.withdrawn = scene_withdrawn,
};

static const struct mcp_upstream_options scene_all = {
	.name = STR("c"),
	.version = STR("1"),
	.abilities = MCP_CAN_ALL,
	.hello_abilities = MCP_CAN_ALL,
};

static void scene_open(const struct mcp_upstream_options *options)
{
	scene = (struct scene){ 0 };
	ck_assert_int_eq(mcp_upstream_new(options, &scene_table, NULL, &scene.upstream), 0);
	mcp_upstream_tick(scene.upstream, 0);
	mcp_upstream_open(scene.upstream);
}

static void scene_close(void)
{
	mcp_upstream_free(scene.upstream);
	buf_free(&scene.log);
}

static void says(const char *line)
{
	_cleanup_free_ char *spelt = world_spell(line);
	mcp_upstream_line(scene.upstream, str_from(spelt), false);
}

static void expect(const char *log)
{
	_cleanup_free_ char *spelt = world_spell(log);
	buf_terminate(&scene.log);
	ck_assert_str_eq(scene.log.data ? scene.log.data : "", spelt);
	buf_clear(&scene.log);
}

static struct mcp_call *call_with(struct mcp_call_options options)
{
	struct mcp_call *call = NULL;
	options.log_level = MCP_LEVEL_NONE;
	options.abilities = MCP_CAN_ALL;
	ck_assert_int_eq(mcp_call_begin(scene.upstream, &options, &call), 0);
	return call;
}

#define UP_META                                                                                 \
	"'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/" \
	"clientInfo':{'name':'c','version':'1'},'io.modelcontextprotocol/clientCapabilities':"      \
	"{'elicitation':{'form':{}},'roots':{},'sampling':{}}}"
#define DISCOVER(id) "> {@J,'id':" id ",'method':'server/discover','params':{" UP_META "}}\n"
#define REFUSED(id)                                                     \
	"{@J,'id':" id ",'error':{'code':-32022,'message':'what?','data':{" \
	"'supported':['2026-07-28']}}}"
#define INITIALIZE(id)                                                                          \
	"> {@J,'id':" id ",'method':'initialize','params':{'protocolVersion':'2025-11-25',"         \
	"'capabilities':{'elicitation':{'form':{}},'roots':{},'sampling':{}},'clientInfo':{'name':" \
	"'c','version':'1'}}}\n"
#define GREETED(id, version)                                                                 \
	"{@J,'id':" id ",'result':{'protocolVersion':'" version "','capabilities':{'tools':{}}," \
	"'serverInfo':{'name':'s','version':'2'},'instructions':'be kind'}}"
#define DISCOVERED                                                                        \
	"{@J,'id':1,'result':{'resultType':'complete','supportedVersions':['2026-07-28'],"    \
	"'capabilities':{'tools':{},'prompts':{}},'ttlMs':0,'cacheScope':'private','_meta':{" \
	"'io.modelcontextprotocol/serverInfo':{'name':'m','version':'3'}}}}"
#define GAVE_UP                                                                                \
	"> {@J,'method':'notifications/cancelled','params':{'requestId':1,'reason':'it takes too " \
	"long'}}\n"
#define READY "> {@J,'method':'notifications/initialized'}\n"

static void open_legacy(void)
{
	struct mcp_upstream_options options = scene_all;
	options.era = MCP_ONLY_LEGACY;
	scene_open(&options);
	says(GREETED("1", "2025-11-25"));
	expect(INITIALIZE("1") READY "open 2025-11-25\n");
}

static void open_modern(void)
{
	scene_open(&scene_all);
	says(DISCOVERED);
	expect(DISCOVER("1") "open 2026-07-28\n");
}

/* ---- hello ------------------------------------------------------------------- */

START_TEST(a_modern_server_is_found_out)
{
	open_modern();
	const struct mcp_upstream_facts *facts = mcp_upstream_facts(scene.upstream);
	ck_assert(str_is(facts->name, "m") && str_is(facts->server_version, "3"));
	ck_assert(facts->has_tools && facts->has_prompts && !facts->has_resources);
	ck_assert_uint_eq(mcp_upstream_deadline(scene.upstream), UINT64_MAX);
	scene_close();
}
END_TEST

START_TEST(a_server_that_does_not_know_discover_is_a_legacy_one)
{
	static const char *const answers[] = {
		"{@J,'id':1,'error':{'code':-32601,'message':'what?'}}",
		"{@J,'id':1,'error':{'code':-32022,'message':'what?','data':{'supported':['2025-06-18']}}}",
		"{@J,'id':1,'result':{'supportedVersions':['2030-01-01']}}",
		"{@J,'id':1,'result':{}}",
	};
	for (size_t i = 0; i < COUNT(answers); i++) {
		scene_open(&scene_all);
		says(answers[i]);
		expect(DISCOVER("1") INITIALIZE("2"));
		says(GREETED("2", "2024-11-05"));
		expect(READY "open 2024-11-05\n");
		ck_assert(str_is(mcp_upstream_facts(scene.upstream)->instructions, "be kind"));
		scene_close();
	}
}
END_TEST

START_TEST(a_server_that_refuses_what_it_supports_is_asked_again)
{
	scene_open(&scene_all);
	says(REFUSED("1"));
	expect(DISCOVER("1") DISCOVER("2"));
	says(REFUSED("2")); /* … and not for ever */
	expect(INITIALIZE("3"));
	scene_close();
}
END_TEST

START_TEST(a_silent_server_is_a_legacy_one_and_then_none)
{
	scene_open(&scene_all);
	ck_assert_uint_eq(mcp_upstream_deadline(scene.upstream), 3 * SECOND);
	mcp_upstream_tick(scene.upstream, 3 * SECOND);
	expect(DISCOVER("1") INITIALIZE("2"));
	mcp_upstream_tick(scene.upstream, 33 * SECOND);
	expect(GAVE_UP "failed it does not answer initialize\n");
	ck_assert_ptr_null(mcp_upstream_facts(scene.upstream));
	says(GREETED("2", "2025-11-25"));
	expect("");
	scene_close();
}
END_TEST

START_TEST(a_slow_server_is_what_it_answers_as)
{
	scene_open(&scene_all);
	mcp_upstream_now(scene.upstream, 4 * SECOND); /* its answer is there before the time is told */
	says(DISCOVERED);
	mcp_upstream_tick(scene.upstream, 4 * SECOND);
	expect(DISCOVER("1") "open 2026-07-28\n");
	scene_close();
	scene_open(&scene_all); /* a modern one, asked for both, answers the first … */
	mcp_upstream_tick(scene.upstream, 3 * SECOND);
	says(DISCOVERED);
	expect(DISCOVER("1") INITIALIZE("2") "open 2026-07-28\n");
	says("{@J,'id':2,'error':{'code':-32601,'message':'what?'}}");
	expect("");
	scene_close();
	scene_open(&scene_all); /* … in any order */
	mcp_upstream_tick(scene.upstream, 3 * SECOND);
	says("{@J,'id':2,'error':{'code':-32601,'message':'what?'}}");
	says(DISCOVERED);
	expect(DISCOVER("1") INITIALIZE("2") "open 2026-07-28\n");
	scene_close();
	scene_open(&scene_all); /* a legacy one that does not say what it does not know */
	mcp_upstream_tick(scene.upstream, 3 * SECOND);
	says(GREETED("2", "2025-11-25"));
	expect(DISCOVER("1") INITIALIZE("2") GAVE_UP READY "open 2025-11-25\n");
	says(DISCOVERED);
	expect("");
	scene_close();
	scene_open(&scene_all); /* one that is neither */
	mcp_upstream_tick(scene.upstream, 3 * SECOND);
	says("{@J,'id':2,'error':{'code':-32601,'message':'what?'}}");
	says("{@J,'id':1,'error':{'code':-32601,'message':'what?'}}");
	expect(DISCOVER("1") INITIALIZE("2") "failed it refuses initialize, and does not speak "
										 "2026-07-28\n");
	scene_close();
}
END_TEST

START_TEST(a_resource_is_watched_in_both_eras)
{
	int64_t watch;
	open_legacy();
	ck_assert_int_eq(mcp_upstream_watch(scene.upstream, STR("a:b"), &watch), 0);
	mcp_upstream_unwatch(scene.upstream, STR("a:b"), watch);
	expect("> {@J,'id':2,'method':'resources/subscribe','params':{'uri':'a:b'}}\n"
		   "> {@J,'id':3,'method':'resources/unsubscribe','params':{'uri':'a:b'}}\n");
	says("{@J,'id':2,'result':{}}");
	ck_assert_int_eq(mcp_upstream_set_level(scene.upstream, MCP_LEVEL_INFO), 0);
	expect(""); /* it has no log */
	scene_close();
	open_modern();
	ck_assert_int_eq(mcp_upstream_watch(scene.upstream, STR("a:b"), &watch), 0);
	expect("> {@J,'id':2,'method':'subscriptions/listen','params':{'notifications':"
		   "{'resourceSubscriptions':['a:b']}," UP_META "}}\n");
	says("{@J,'method':'notifications/resources/updated','params':{'uri':'a:b'}}");
	expect("updated a:b\n");
	mcp_upstream_unwatch(scene.upstream, STR("a:b"), watch);
	expect("> {@J,'method':'notifications/cancelled','params':{'requestId':2,'reason':'nobody "
		   "listens any more'}}\n");
	mcp_upstream_unwatch(scene.upstream, STR("a:b"), watch);
	expect("");
	scene_close();
}
END_TEST

START_TEST(what_does_not_fit_is_told)
{
	struct mcp_upstream_options options = scene_all;
	scene_open(&options);
	says("{@J,'id':1,'error':{'code':1,'message':''}}");
	says(GREETED("2", "1999-01-01"));
	expect(
		DISCOVER("1") INITIALIZE("2") "failed it speaks version 1999-01-01, which perch does not "
									  "know\n");
	scene_close();
	options.era = MCP_ONLY_LEGACY;
	scene_open(&options);
	says("{@J,'id':1,'result':[]}");
	expect(INITIALIZE("1") "failed it does not say which version it speaks\n");
	scene_close();
	scene_open(&options);
	mcp_upstream_line(scene.upstream, STR(""), true);
	expect(INITIALIZE("1") "noise it writes a line of more than 8388608 bytes\n"
						   "failed the server wrote a line that was too long\n");
	mcp_upstream_end(scene.upstream, STR("it has died"));
	expect("");
	scene_close();
	options.era = MCP_ONLY_MODERN;
	scene_open(&options);
	says("{@J,'id':1,'error':{'code':-32601,'message':'what?'}}");
	expect(DISCOVER("1") "failed it does not speak 2026-07-28: what?\n");
	scene_close();
	scene_open(&options);
	mcp_upstream_end(scene.upstream, STR("it has died"));
	expect(DISCOVER("1") "failed it has died\n");
	struct mcp_call *call;
	ck_assert_int_eq(
		mcp_call_begin(scene.upstream, &(struct mcp_call_options){ .method = "x" }, &call),
		-ENOTCONN);
	scene_close();
}
END_TEST

START_TEST(changes_of_a_modern_server_are_asked_for)
{
	struct mcp_upstream_options options = scene_all;
	options.listens = true;
	scene_open(&options);
	says(DISCOVERED);
	expect(DISCOVER("1") "> {@J,'id':2,'method':'subscriptions/listen','params':{'notifications':{"
						 "'toolsListChanged':true,'resourcesListChanged':false,'promptsListChanged'"
						 ":true}," UP_META "}}\nopen 2026-07-28\n");
	says("{@J,'method':'notifications/subscriptions/acknowledged','params':{}}");
	says("{@J,'method':'notifications/tools/list_changed','params':{}}");
	expect("changed \n");
	says("{@J,'id':2,'result':{'resultType':'complete'}}"); /* it listens no more */
	expect("");
	scene_close();
}
END_TEST

/* ---- calls ------------------------------------------------------------------- */

START_TEST(calls_are_answered_in_any_order)
{
	open_legacy();
	call_with((struct mcp_call_options){ .method = "tools/call",
		.params = STR("{\"name\":\"a\",\"_meta\":1}"),
		.data = (char[]){ "A " } });
	call_with((struct mcp_call_options){ .method = "tools/call", .data = (char[]){ "B " } });
	expect("> {@J,'id':2,'method':'tools/call','params':{'name':'a'}}\n"
		   "> {@J,'id':3,'method':'tools/call','params':{}}\n");
	says("{@J,'id':3,'error':{'code':-5,'message':'oh'}}");
	says("{@J,'id':2,'result':{'content':[]}}");
	expect("B error oh\nA result {'content':[]}\n");
	says("{@J,'id':2,'result':{'content':[]}}");
	says("{@J,'id':'2','result':{}}");
	expect("noise it answers what it was not asked\nnoise it answers what it was not asked\n");
	call_with((struct mcp_call_options){ .method = "x" });
	says("{@J,'id':4,'result':7}");
	expect("> {@J,'id':4,'method':'x','params':{}}\nerror the result of the server is no object\n");
	struct mcp_call *call;
	struct mcp_call_options wrong = { .method = "x", .params = STR("[]") };
	ck_assert_int_eq(mcp_call_begin(scene.upstream, &wrong, &call), -EINVAL);
	scene_close();
}
END_TEST

START_TEST(progress_finds_its_call)
{
	open_legacy();
	call_with((struct mcp_call_options){ .method = "x",
		.wants_progress = true,
		.traceparent = STR("00-1"),
		.data = (char[]){ "A " } });
	call_with((struct mcp_call_options){ .method = "x" });
	expect("> {@J,'id':2,'method':'x','params':{'_meta':{'progressToken':2,'traceparent':'00-1'}}}"
		   "\n> {@J,'id':3,'method':'x','params':{}}\n");
	says("{@J,'method':'notifications/progress','params':{'progressToken':2,'progress':1,'message':"
		 "'m'}}");
	says("{@J,'method':'notifications/progress','params':{'progressToken':3,'progress':1}}");
	says("{@J,'method':'notifications/progress','params':{'progressToken':77,'progress':1}}");
	says("{@J,'method':'notifications/progress'}");
	expect("A progress m\n");
	scene_close();
}
END_TEST

START_TEST(lists_are_asked_for_to_their_end)
{
	open_legacy();
	call_with((struct mcp_call_options){ .method = "tools/list", .wants_all_pages = true });
	says("{@J,'id':2,'result':{'tools':[1],'nextCursor':'a'}}");
	says("{@J,'id':3,'result':{'tools':[2]}}");
	expect("> {@J,'id':2,'method':'tools/list','params':{}}\n"
		   "> {@J,'id':3,'method':'tools/list','params':{'cursor':'a'}}\n"
		   "page {'tools':[1],'nextCursor':'a'}\nresult {'tools':[2]}\n");
	call_with((struct mcp_call_options){ .method = "tools/list", .wants_all_pages = true });
	says("{@J,'id':4,'result':{'tools':[1],'nextCursor':'a'}}");
	says("{@J,'id':5,'result':{'tools':[1],'nextCursor':'a'}}");
	expect("> {@J,'id':4,'method':'tools/list','params':{}}\n"
		   "> {@J,'id':5,'method':'tools/list','params':{'cursor':'a'}}\n"
		   "page {'tools':[1],'nextCursor':'a'}\nerror its list has no end\n");
	call_with((struct mcp_call_options){ .method = "tools/list" });
	says("{@J,'id':6,'result':{'tools':[1],'nextCursor':'a'}}");
	expect("> {@J,'id':6,'method':'tools/list','params':{}}\n"
		   "result {'tools':[1],'nextCursor':'a'}\n");
	scene_close();
}
END_TEST

START_TEST(pages_end_somewhere)
{
	char line[200];
	open_legacy();
	call_with((struct mcp_call_options){ .method = "l", .wants_all_pages = true });
	for (int i = 0; i <= MCP_UPSTREAM_PAGES_MAX; i++) {
		buf_clear(&scene.log);
		snprintf(line, sizeof(line), "{@J,'id':%d,'result':{'nextCursor':'%d'}}", i + 2, i);
		says(line);
	}
	expect("error its list has no end\n");
	scene_close();
}
END_TEST

START_TEST(what_is_given_up_may_still_be_answered)
{
	open_modern();
	struct mcp_call *call = call_with((struct mcp_call_options){ .method = "x" });
	mcp_call_cancel(call, STR("enough"));
	expect(
		"> {@J,'id':2,'method':'x','params':{" UP_META "}}\n"
		"> {@J,'method':'notifications/cancelled','params':{'requestId':2,'reason':'enough'}}\n");
	says("{@J,'id':2,'result':{}}");
	expect("");
	scene_close();
}
END_TEST

START_TEST(the_end_fails_all_that_waits)
{
	open_legacy();
	call_with((struct mcp_call_options){ .method = "x", .data = (char[]){ "A " } });
	call_with((struct mcp_call_options){ .method = "x", .data = (char[]){ "B " } });
	says("{@J,'id':9,'method':'roots/list'}");
	buf_clear(&scene.log);
	mcp_upstream_end(scene.upstream, STR("it has died"));
	expect("A error it has died\nB error it has died\nwithdrawn\n");
	says("{@J,'id':2,'result':{}}");
	expect("");
	scene_close();
	open_legacy();
	call_with((struct mcp_call_options){ .method = "x" });
	buf_clear(&scene.log);
	mcp_upstream_line(scene.upstream, STR(""), true);
	expect("noise it writes a line of more than 8388608 bytes\n"
		   "error the server wrote a line that was too long\n");
	scene_close();
}
END_TEST

START_TEST(so_many_calls_and_no_more)
{
	struct mcp_upstream_options options = scene_all;
	options.era = MCP_ONLY_LEGACY;
	options.in_flight_max = 2;
	scene_open(&options);
	says(GREETED("1", "2025-11-25"));
	struct mcp_call *call;
	const struct mcp_call_options one = { .method = "x", .log_level = MCP_LEVEL_NONE };
	ck_assert_int_eq(mcp_call_begin(scene.upstream, &one, &call), 0);
	ck_assert_int_eq(mcp_call_begin(scene.upstream, &one, &call), 0);
	ck_assert_int_eq(mcp_call_begin(scene.upstream, &one, &call), PERCH_ELIMIT);
	scene_close();
}
END_TEST

/* ---- what the server says by itself --------------------------------------------- */

START_TEST(notifications_and_noise)
{
	open_legacy();
	says(
		"{@J,'method':'notifications/message','params':{'level':'error','logger':'l','data':[1]}}");
	says("{@J,'method':'notifications/resources/updated','params':{'uri':'u'}}");
	says("{@J,'method':'notifications/prompts/list_changed'}");
	says("{@J,'method':'notifications/nonsense'}");
	says("7");
	says("  ");
	says("{@J,'id':4,'method':'ping'}");
	says("{@J,'id':5,'method':'tools/list'}");
	expect("log [1]\nupdated u\nchanged \nnoise it sends notifications/nonsense, which perch does "
		   "not know\nnoise it writes what is no message: a message must be an object\n"
		   "> {@J,'id':4,'result':{}}\n"
		   "> {@J,'id':5,'error':{'code':-32601,'message':'this client does not do that'}}\n"
		   "noise it asks for tools/list, which is not granted\n");
	scene_close();
}
END_TEST

START_TEST(a_legacy_server_asks)
{
	open_legacy();
	says("{@J,'id':'q','method':'elicitation/create','params':{'message':'m'}}");
	mcp_quiz_answer(scene.quiz, STR("{\"action\":\"accept\"}"));
	expect("elicit {'message':'m'}\n> {@J,'id':'q','result':{'action':'accept'}}\n");
	says("{@J,'id':'q','method':'elicitation/create','params':{'message':'m'}}");
	mcp_quiz_refuse(scene.quiz, STR("no"));
	expect("elicit {'message':'m'}\n> {@J,'id':'q','result':{'action':'cancel'}}\n");
	says("{@J,'id':'q','method':'sampling/createMessage','params':{}}");
	says("{@J,'id':'q','method':'sampling/createMessage','params':{}}");
	mcp_quiz_refuse(scene.quiz, STR("no"));
	expect("sample {}\n> {@J,'id':'q','error':{'code':-32603,'message':'this id is in use'}}\n"
		   "> {@J,'id':'q','error':{'code':-32603,'message':'no'}}\n");
	says("{@J,'id':1,'method':'roots/list'}");
	says("{@J,'method':'notifications/cancelled','params':{'requestId':1}}");
	says("{@J,'method':'notifications/cancelled','params':{'requestId':1}}");
	expect("roots \nwithdrawn\n");
	scene_close();
}
END_TEST

START_TEST(a_server_that_asks_without_end_is_stopped)
{
	char line[100];
	open_legacy();
	for (int i = 0; i < MCP_UPSTREAM_QUIZZES_MAX; i++) {
		snprintf(line, sizeof(line), "{@J,'id':%d,'method':'roots/list'}", i);
		says(line);
	}
	buf_clear(&scene.log);
	says("{@J,'id':64,'method':'roots/list'}");
	expect("> {@J,'id':64,'error':{'code':-32603,'message':'too many questions are open'}}\n");
	scene_close();
	open_modern();
	scene.reply = "{}";
	call_with((struct mcp_call_options){ .method = "x" });
	for (int i = 0; i <= MCP_UPSTREAM_ROUNDS_MAX; i++) {
		buf_clear(&scene.log);
		snprintf(line, sizeof(line),
			"{@J,'id':%d,'result':{'resultType':'input_required','requestState':'s'}}", i + 2);
		says(line);
	}
	expect("error the server asks for something that it was not granted, or without end\n");
	scene_close();
}
END_TEST

#define ROUND(id)                                                                          \
	"{@J,'id':" id                                                                         \
	",'result':{'resultType':'input_required','requestState':'s\\n','inputRequests'"       \
	":{'k':{'method':'elicitation/create','params':{'message':'m'}},'r':{'method':'roots/" \
	"list'}}}}"

START_TEST(a_modern_server_asks)
{
	open_modern();
	scene.reply = "{\"roots\":[]}";
	call_with((struct mcp_call_options){ .method = "x", .params = STR("{\"name\":\"n\"}") });
	says(ROUND("2"));
	says("{@J,'id':3,'result':{'resultType':'complete','content':[]}}");
	expect("> {@J,'id':2,'method':'x','params':{'name':'n'," UP_META "}}\n"
		   "elicit {'message':'m'}\nroots \n"
		   "> {@J,'id':3,'method':'x','params':{'name':'n','requestState':'s\\n','inputResponses':{"
		   "'k':{'roots':[]},'r':{'roots':[]}}," UP_META "}}\n"
		   "result {'resultType':'complete','content':[]}\n");
	scene.reply = NULL;
	struct mcp_call *call = call_with((struct mcp_call_options){ .method = "x" });
	says("{@J,'id':4,'result':{'resultType':'input_required','inputRequests':{'k':{'method':"
		 "'roots/list'}}}}");
	buf_clear(&scene.log);
	mcp_call_cancel(call, STR("")); /* between rounds there is nothing to cancel */
	expect("withdrawn\n");
	scene_close();
}
END_TEST

START_TEST(a_modern_server_is_refused)
{
	static const char *const rounds[] = {
		"'inputRequests':{'k':{'method':'tools/list'}}",
		"'inputRequests':{'k':{}}",
		"'inputRequests':7",
		"'inputRequests':{}",
		"'requestState':7",
	};
	char line[300];
	for (size_t i = 0; i < COUNT(rounds); i++) {
		open_modern();
		call_with((struct mcp_call_options){ .method = "x" });
		buf_clear(&scene.log);
		snprintf(line, sizeof(line), "{@J,'id':2,'result':{'resultType':'input_required',%s}}",
			rounds[i]);
		says(line);
		expect("error the server asks for something that it was not granted, or without end\n");
		scene_close();
	}
	open_modern();
	scene.reply = "";
	call_with((struct mcp_call_options){ .method = "x" });
	buf_clear(&scene.log);
	says(ROUND("2")); /* a form can be cancelled, roots cannot */
	expect("elicit {'message':'m'}\nroots \nerror the server asks for something that it was not "
		   "granted, or without end\n");
	scene.reply = NULL;
	scene.cancels = true;
	call_with((struct mcp_call_options){ .method = "x" });
	buf_clear(&scene.log);
	says(ROUND("3"));
	expect("elicit {'message':'m'}\nwithdrawn\n");
	says("{@J,'id':7,'method':'roots/list'}");
	expect("> {@J,'id':7,'error':{'code':-32601,'message':'this client does not do that'}}\n"
		   "noise it asks for roots/list, which is not granted\n");
	scene_close();
}
END_TEST

/* ---- without memory ------------------------------------------------------------- */

/* Lines of the server, spelt before memory runs out. */
static char *lines[3];

static int talk(void *data)
{
	(void)data;
	struct mcp_call *call;
	const struct mcp_call_options options = {
		.method = "x",
		.params = STR("{\"a\":1}"),
		.log_level = MCP_LEVEL_NONE,
		.abilities = MCP_CAN_ALL,
	};
	scene = (struct scene){ .reply = "{}" };
	int r = mcp_upstream_new(&scene_all, &scene_table, NULL, &scene.upstream);
	if (r < 0)
		return r;
	mcp_upstream_open(scene.upstream);
	mcp_upstream_line(scene.upstream, str_from(lines[0]), false);
	r = mcp_call_begin(scene.upstream, &options, &call);
	if (r == 0) {
		mcp_upstream_line(scene.upstream, str_from(lines[1]), false);
		mcp_upstream_line(scene.upstream, str_from(lines[2]), false);
		buf_terminate(&scene.log);
		bool is_done = !scene.log.failed && strstr(scene.log.data, "result {");
		r = is_done ? 0 : -ENOMEM;
	}
	scene_close();
	return r;
}

START_TEST(memory_may_run_out)
{
	static const char *const short_ones[] = { DISCOVERED, ROUND("2"),
		"{@J,'id':3,'result':{'content':[]}}" };
	for (size_t i = 0; i < COUNT(lines); i++)
		lines[i] = world_spell(short_ones[i]);
	ck_assert_uint_gt(oom_every(talk, NULL), 8);
	for (size_t i = 0; i < COUNT(lines); i++)
		free(lines[i]);
}
END_TEST

SUITE_MAIN("wire-mcp-upstream", a_modern_server_is_found_out,
	a_server_that_does_not_know_discover_is_a_legacy_one,
	a_server_that_refuses_what_it_supports_is_asked_again,
	a_silent_server_is_a_legacy_one_and_then_none, a_slow_server_is_what_it_answers_as,
	a_resource_is_watched_in_both_eras, what_does_not_fit_is_told,
	changes_of_a_modern_server_are_asked_for, calls_are_answered_in_any_order,
	progress_finds_its_call, lists_are_asked_for_to_their_end, pages_end_somewhere,
	what_is_given_up_may_still_be_answered, the_end_fails_all_that_waits, so_many_calls_and_no_more,
	notifications_and_noise, a_legacy_server_asks, a_server_that_asks_without_end_is_stopped,
	a_modern_server_asks, a_modern_server_is_refused, memory_may_run_out)

/* The MCP server engine from strings: what jobs say while they run, how they end, lists and
 * results that are too long. */
#include "harness/mcp_world.h"
#include "harness/suite.h"

#include <math.h>
#include <stdlib.h>

static struct mcp_world world;

/* ---- jobs -------------------------------------------------------------------- */

START_TEST(a_call_has_a_result)
{
	world_greet(&world, LEGACY_HELLO(NOW, "{}"));
	world_say(
		&world, "{@J,'id':1,'method':'tools/call','params':{'name':'x','arguments':{'a':1}}}");
	world_expect(&world, "!call x {'a':1}\n");
	mcp_job_result(world_job(&world), &(struct mcp_result){ .text = STR("hi") });
	world_expect(&world, "{@J,'id':1,'result':{'content':[{'type':'text','text':'hi'}]}}\n");
	world_say(&world, "{@J,'id':2,'method':'tools/call','params':{'name':'x'}}");
	mcp_job_result(world_job(&world),
		&(struct mcp_result){ .structured = STR("{\"a\":\n1}"), .is_error = true });
	world_expect(&world,
		"!call x\n{@J,'id':2,'result':{'content':[{'type':'text','text':'{\\'a\\':\\n1}'}],"
		"'structuredContent':{'a': 1},'isError':true}}\n");
	world_say(&world, "{@J,'id':3,'method':'tools/call','params':{'name':'x'}}");
	mcp_job_result(world_job(&world), &(struct mcp_result){ .structured = STR("[1]") });
	world_expect(
		&world, "!call x\n{@J,'id':3,'result':{'content':[{'type':'text','text':'[1]'}]}}\n");
	world_say(&world, "{@J,'id':4,'method':'tools/call','params':{'name':'x'}}");
	mcp_job_unknown(world_job(&world), STR("there is no tool x"));
	world_expect(
		&world, "!call x\n{@J,'id':4,'error':{'code':-32602,'message':'there is no tool x'}}\n");
	world_say(&world, "{@J,'id':5,'method':'tools/call','params':{'name':'x'}}");
	mcp_job_result(world_job(&world),
		&(struct mcp_result){ .content = STR("[{\"type\":\"text\",\"text\":\"t\"}]") });
	world_expect(
		&world, "!call x\n{@J,'id':5,'result':{'content':[{'type':'text','text':'t'}]}}\n");
	world_close(&world);
}
END_TEST

START_TEST(other_results_are_objects)
{
	world_greet(&world, LEGACY_HELLO(NOW, "{}"));
	world_say(&world, "{@J,'id':1,'method':'prompts/get','params':{'name':'p'}}");
	mcp_job_object(world_job(&world),
		STR("{\"messages\":[],\"resultType\":\"complete\",\"ttlMs\":1,\"cacheScope\":\"public\"}"));
	world_expect(&world, "!prompt p\n{@J,'id':1,'result':{'messages':[]}}\n");
	world_say(&world, "{@J,'id':2,'method':'resources/read','params':{'uri':'file:///x'}}");
	mcp_job_unknown(world_job(&world), STR("no"));
	world_expect(&world, "!read file:///x\n{@J,'id':2,'error':{'code':-32002,'message':'no'}}\n");
	world_say(&world,
		"{@J,'id':3,'method':'completion/complete','params':{'ref':{'type':'ref/"
		"prompt','name':'p'},"
		"'argument':{'name':'a','value':'b'}}}");
	mcp_job_object(
		world_job(&world), STR("{\"completion\":{\"values\":[]},\"structuredContent\":1}"));
	world_expect(&world, "!complete\n{@J,'id':3,'result':{'completion':{'values':[]}}}\n");
	world_say(&world, "{@J,'id':4,'method':'prompts/get','params':{'name':'p'}}");
	mcp_job_object(world_job(&world), STR("nonsense"));
	world_expect(&world,
		"!prompt p\n{@J,'id':4,'error':{'code':-32603,'message':'what came back is no JSON "
		"object'}}\n");
	world_close(&world);
}
END_TEST

START_TEST(progress_rises)
{
	world_greet(&world, LEGACY_HELLO(NOW, "{}"));
	world_say(&world, "{@J,'id':1,'method':'tools/call','params':{'name':'x'}}");
	mcp_job_progress(world_job(&world), 1, 2, STR("unwanted"));
	world_expect(&world, "!call x\n");
	world_say(&world,
		"{@J,'id':2,'method':'tools/call','params':{'name':'x','_meta':{'progressToken':'t'}}}");
	world_forget(&world);
	struct mcp_job *job = world_job(&world);
	mcp_job_progress(job, 0, 10, STR("begin"));
	mcp_job_progress(job, 5, 10, STR("half"));
	mcp_job_progress(job, 5, 10, STR("still"));
	mcp_job_progress(job, 2, INFINITY, STR(""));
	mcp_job_progress(job, -1, -1, STR(""));
	mcp_job_progress(job, 6, -1, STR(""));
#define P "{@J,'method':'notifications/progress','params':{'progressToken':'t','progress':"
	world_expect(&world,
		P "0,'total':10,'message':'begin'}}\n" P "5,'total':10,'message':'half'}}\n" P
		  "5.000000001,'total':10,'message':'still'}}\n" P "5.000000002}}\n" P "5.000000003}}\n" P
		  "6}}\n");
	mcp_job_progress(job, 1e17, -1, STR(""));
	mcp_job_progress(job, 1e17, -1, STR(""));
	world_expect(&world, P "100000000000000000}}\n" P "100000000000000110}}\n");
	world_close(&world);
}
END_TEST

START_TEST(a_heart_beats_while_nothing_is_said)
{
	world_greet(&world, LEGACY_HELLO(NOW, "{}"));
	mcp_server_tick(world.server, 100 * SECOND);
	ck_assert_uint_eq(mcp_server_deadline(world.server), UINT64_MAX);
	world_say(&world,
		"{@J,'id':1,'method':'tools/call','params':{'name':'x','_meta':{'progressToken':'t'}}}");
	world_say(&world, "{@J,'id':2,'method':'tools/call','params':{'name':'y'}}");
	world_forget(&world);
	ck_assert_uint_eq(mcp_server_deadline(world.server), 120 * SECOND);
	mcp_server_tick(world.server, 119 * SECOND);
	ck_assert_uint_eq(world.log.len, 0);
	mcp_server_tick(world.server, 120 * SECOND);
	world_expect(&world, P "0}}\n");
	mcp_server_tick(world.server, 130 * SECOND);
	mcp_job_progress(world.jobs[0], 1, -1, STR(""));
	world_forget(&world);
	ck_assert_uint_eq(mcp_server_deadline(world.server), 150 * SECOND);
	mcp_job_result(world.jobs[0], &(struct mcp_result){ .text = STR("") });
	ck_assert_uint_eq(mcp_server_deadline(world.server), UINT64_MAX);
	world_close(&world);
}
END_TEST

START_TEST(logging_is_for_those_who_ask)
{
	world_greet(&world, LEGACY_HELLO(NOW, "{}"));
	world_say(&world, "{@J,'id':1,'method':'tools/call','params':{'name':'x'}}");
	struct mcp_job *job = world_job(&world);
	ck_assert(!mcp_job_wants_log(job, MCP_LEVEL_EMERGENCY));
	mcp_job_log(job, MCP_LEVEL_EMERGENCY, STR("l"), STR("1"));
	world_expect(&world, "!call x\n");
	world_say(&world, "{@J,'id':2,'method':'logging/setLevel','params':{'level':'warning'}}");
	world_expect(&world, "{@J,'id':2,'result':{}}\n!log level 3\n");
	mcp_job_log(job, MCP_LEVEL_NOTICE, STR("l"), STR("1"));
	mcp_job_log(job, MCP_LEVEL_WARNING, STR("l"), STR("\"x\""));
	mcp_job_log(job, MCP_LEVEL_ERROR, STR(""), STR("{\"a\":1}"));
	world_expect(&world,
		"{@J,'method':'notifications/"
		"message','params':{'level':'warning','logger':'l','data':'x'}}\n"
		"{@J,'method':'notifications/message','params':{'level':'error','data':{'a':1}}}\n");
	world_close(&world);
}
END_TEST

START_TEST(a_cancelled_call_is_not_answered)
{
	world_greet(&world, LEGACY_HELLO(NOW, "{}"));
	world_say(&world, "{@J,'id':1,'method':'tools/call','params':{'name':'x'}}");
	world_say(&world, "{@J,'method':'notifications/cancelled','params':{'requestId':'1'}}");
	world_expect(&world, "!call x\n");
	world_say(
		&world, "{@J,'method':'notifications/cancelled','params':{'requestId':1,'reason':'r'}}");
	world_expect(&world, "!cancel x (r)\n");
	world_say(&world, "{@J,'method':'notifications/cancelled','params':{'requestId':1}}");
	world_say(&world, "{@J,'id':1,'method':'ping'}");
	world_expect(&world, "{@J,'id':1,'result':{}}\n");
	world_say(&world, "{@J,'id':2,'method':'tools/call','params':{'name':'y'}}");
	world_leave(&world, 0);
	world_expect(&world, "!call y\n!cancel y (the client is gone)\n");
	world_close(&world);
}
END_TEST

/* ---- lists ------------------------------------------------------------------- */

static void write_number(void *data, size_t item, const struct mcp_page *page)
{
	(void)data;
	char name[] = { (char)('a' + item), '\0' };
	mcp_tool_write(page, &(struct mcp_tool){ .name = str_from(name) });
}

#define TOOL(name)                                                                            \
	"{'name':'" name "','inputSchema':{'type':'object'},'annotations':{'readOnlyHint':false," \
	"'destructiveHint':false,'openWorldHint':true}}"

START_TEST(a_list_comes_in_pages)
{
	struct mcp_server_options options = mcp_world_options;
	options.page_size = 2;
	ck_assert_int_eq(world_open(&world, &options), 0);
	world_say(&world, LEGACY_HELLO(NOW, "{}"));
	world_forget(&world);
	char cursor[100];
	world_say(&world, "{@J,'id':1,'method':'tools/list','params':{}}");
	mcp_job_list(world_job(&world), 5, write_number, NULL);
	ck_assert(world_log_has(&world, "[" TOOL("a") "," TOOL("b") "],'nextCursor':"));
	for (int page = 1; page < 3; page++) {
		world_pick(&world, "nextCursor", cursor, sizeof(cursor));
		world_forget(&world);
		char *next =
			str_join("{@J,'id':2,'method':'tools/list','params':{'cursor':'", cursor, "'}}", NULL);
		world_say(&world, next);
		mcp_job_list(world_job(&world), 5, write_number, NULL);
		free(next);
	}
	world_expect(&world, "!list tools\n{@J,'id':2,'result':{'tools':[" TOOL("e") "]}}\n");
	char *late =
		str_join("{@J,'id':3,'method':'tools/list','params':{'cursor':'", cursor, "'}}", NULL);
	world_say(&world, late);
	mcp_job_list(world_job(&world), 4, write_number, NULL);
	world_expect(&world,
		"!list tools\n{@J,'id':3,'error':{'code':-32602,'message':'the list has changed: begin it "
		"again'}}\n");
	char *foreign =
		str_join("{@J,'id':4,'method':'prompts/list','params':{'cursor':'", cursor, "'}}", NULL);
	world_say(&world, foreign);
	world_expect(
		&world, "{@J,'id':4,'error':{'code':-32602,'message':'the cursor is none of ours'}}\n");
	free(late);
	free(foreign);
	world_close(&world);
}
END_TEST

static const struct tool_case {
	const char *version, *written;
	const char *output_schema;
} tools[] = {
	{ LEGACY_HELLO("2024-11-05", "{}"),
		"{'name':'n','description':'D','inputSchema':{'type':'object','properties':{'a':{}}}}",
		"{\"type\":\"object\"}" },
	{ LEGACY_HELLO("2025-03-26", "{}"),
		"{'name':'n','description':'D','inputSchema':{'type':'object','properties':{'a':{}}},"
		"'annotations':{'readOnlyHint':true,'destructiveHint':false,'openWorldHint':false}}",
		"{\"type\":\"object\"}" },
	{ LEGACY_HELLO("2025-06-18", "{}"),
		"{'name':'n','title':'T','description':'D','inputSchema':{'type':'object','properties':{'a'"
		":"
		"{}}},'annotations':{'readOnlyHint':true,'destructiveHint':false,'openWorldHint':false}}",
		"{\"type\":\"array\"}" },
	{ LEGACY_HELLO("2025-11-25", "{}"),
		"{'name':'n','title':'T','description':'D','inputSchema':{'type':'object','properties':{'a'"
		":"
		"{}}},'outputSchema':{'type':'object'},"
		"'annotations':{'readOnlyHint':true,'destructiveHint':false,'openWorldHint':false}}",
		"{ \"type\":\n\"object\" }" },
};

START_TEST(a_tool_is_shown_as_the_version_has_it)
{
	for (size_t i = 0; i < COUNT(tools); i++) {
		struct mcp_tool shown = mcp_world_tool;
		shown.output_schema = str_from(tools[i].output_schema);
		world_greet(&world, tools[i].version);
		world_say(&world, "{@J,'id':1,'method':'tools/list'}");
		mcp_job_list(world_job(&world), 1, mcp_world_write_tool, &shown);
		char *expected = str_join(
			"!list tools\n{@J,'id':1,'result':{'tools':[", tools[i].written, "]}}\n", NULL);
		world_expect(&world, expected);
		free(expected);
		world_close(&world);
	}
}
END_TEST

/* A schema of an object is shown as it was stored. */
START_TEST(a_tool_tells_which_verdict_is_in_force)
{
	struct mcp_tool shown = { .name = STR("n"),
		.input_schema = STR("{\"required\":[\"a\"], \"type\":\"object\"}"),
		.verdict = STR("response"),
		.is_destructive = true };
	world_greet(&world, LEGACY_HELLO(NOW, "{}"));
	world_say(&world, "{@J,'id':1,'method':'tools/list'}");
	mcp_job_list(world_job(&world), 1, mcp_world_write_tool, &shown);
	world_expect(&world,
		"!list tools\n{@J,'id':1,'result':{'tools':[{'name':'n','inputSchema':{'required':['a'],"
		"'type':'object'},'annotations':{'readOnlyHint':false,'destructiveHint':true,"
		"'openWorldHint':true},'_meta':{'perch/verdict':'response'}}]}}\n");
	world_close(&world);
}
END_TEST

/* ---- cutting ----------------------------------------------------------------- */

START_TEST(a_long_result_is_cut_and_kept)
{
	struct mcp_server_options options = mcp_world_options;
	options.result_chars_max = 4;
	ck_assert_int_eq(world_open(&world, &options), 0);
	ck_assert_int_eq(world_join(&world, 1, "other"), 0);
	world_say(&world, LEGACY_HELLO(NOW, "{}"));
	world_say_as(&world, 1, LEGACY_HELLO(NOW, "{}"));
	world_say(&world, "{@J,'id':1,'method':'tools/call','params':{'name':'x'}}");
	world_forget(&world);
	mcp_job_result(
		world_job(&world), &(struct mcp_result){ .text = STR("größer"), .structured = STR("{}") });
	ck_assert(world_log_has(&world,
		"{@J,'id':1,'result':{'content':[{'type':'text','text':'größ'},{'type':'text','text':'[The "
		"result has 6 characters; 4 of them are shown here. The whole is the resource perch://"));
	ck_assert(world_log_has(&world, "'name':'the whole result','mimeType':'text/plain'}]}}\n"));
	char uri[100];
	world_pick(&world, "uri", uri, sizeof(uri));
	world_forget(&world);
	char *read =
		str_join("{@J,'id':2,'method':'resources/read','params':{'uri':'", uri, "'}}", NULL);
	char *got = str_join("{@J,'id':2,'result':{'contents':[{'uri':'", uri,
		"','mimeType':'text/plain','text':'größer'}]}}\n", NULL);
	world_say(&world, read);
	world_expect(&world, got);
	world_say_as(&world, 1, read);
	ck_assert(world_log_has(&world, "1: {@J,'id':2,'error':{'code':-32002"));
	world_forget(&world);
	ck_assert_uint_eq(mcp_server_deadline(world.server), 600 * SECOND);
	mcp_server_tick(world.server, 600 * SECOND);
	world_say(&world, read);
	ck_assert(world_log_has(&world, "{@J,'id':2,'error':{'code':-32002"));
	free(read);
	free(got);
	world_close(&world);
}
END_TEST

START_TEST(what_is_cut_depends_on_what_is_long)
{
	struct mcp_server_options options = mcp_world_options;
	options.result_chars_max = 4;
	ck_assert_int_eq(world_open(&world, &options), 0);
	world_say(&world, LEGACY_HELLO("2025-03-26", "{}"));
	world_say(&world, "{@J,'id':1,'method':'tools/call','params':{'name':'x'}}");
	world_forget(&world);
	mcp_job_result(world_job(&world), &(struct mcp_result){ .text = STR("12345") });
	ck_assert(world_log_has(&world, "'text':'1234'") && !world_log_has(&world, "resource_link"));
	world_say(&world, LEGACY_HELLO(NOW, "{}"));
	world_say(&world, "{@J,'id':2,'method':'tools/call','params':{'name':'x'}}");
	world_forget(&world);
	mcp_job_result(world_job(&world), &(struct mcp_result){ .content = STR("[1,2,3]") });
	ck_assert(world_log_has(
		&world, "{'content':[{'type':'text','text':'[The result has 7 characters; 0"));
	ck_assert(world_log_has(&world, "'mimeType':'application/json'"));
	world_say(&world, "{@J,'id':3,'method':'tools/call','params':{'name':'x'}}");
	world_forget(&world);
	mcp_job_result(world_job(&world),
		&(struct mcp_result){ .text = STR("ok"), .structured = STR("{\"a\":1}") });
	ck_assert(world_log_has(&world, "{'content':[{'type':'text','text':'ok'},{'type':'text'"));
	ck_assert(!world_log_has(&world, "structuredContent"));
	world_say(&world, "{@J,'id':4,'method':'tools/call','params':{'name':'x'}}");
	world_forget(&world);
	mcp_job_result(world_job(&world), &(struct mcp_result){ .text = STR("1234") });
	world_expect(&world, "{@J,'id':4,'result':{'content':[{'type':'text','text':'1234'}]}}\n");
	world_close(&world);
}
END_TEST

START_TEST(what_is_too_long_to_be_kept_is_lost)
{
	struct mcp_server_options options = mcp_world_options;
	options.result_chars_max = 4;
	options.results_bytes = 10;
	ck_assert_int_eq(world_open(&world, &options), 0);
	world_say(&world, LEGACY_HELLO(NOW, "{}"));
	world_say(&world, "{@J,'id':1,'method':'tools/call','params':{'name':'x'}}");
	world_forget(&world);
	mcp_job_result(world_job(&world), &(struct mcp_result){ .text = STR("12345") });
	world_expect(&world,
		"{@J,'id':1,'result':{'content':[{'type':'text','text':'1234'},{'type':'text','text':'[The "
		"result has 5 characters; 4 of them are shown here. The rest is lost: it is too long to be "
		"kept.]'}]}}\n");
	world_close(&world);
}
END_TEST

SUITE_MAIN("wire-mcp-jobs", a_call_has_a_result, other_results_are_objects, progress_rises,
	a_heart_beats_while_nothing_is_said, logging_is_for_those_who_ask,
	a_cancelled_call_is_not_answered, a_list_comes_in_pages, a_tool_is_shown_as_the_version_has_it,
	a_tool_tells_which_verdict_is_in_force, a_long_result_is_cut_and_kept,
	what_is_cut_depends_on_what_is_long, what_is_too_long_to_be_kept_is_lost)

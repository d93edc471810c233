/* The MCP server engine from strings: legacy clients, and what both eras share. */
#include "harness/mcp_world.h"
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define CAPABILITIES                                                                \
	"'capabilities':{'tools':{'listChanged':true},'resources':{'listChanged':true," \
	"'subscribe':true},'prompts':{'listChanged':true},'completions':{},'logging':{}}"
#define INFO "'serverInfo':{'name':'perch','title':'Perch','version':'1'}"
#define READY "{@J,'method':'notifications/initialized'}"
#define NOW "2025-11-25"

static struct mcp_world world;

static void open_world(void)
{
	ck_assert_int_eq(world_open(&world, NULL), 0);
}

/* A client of that version that has said hello. */
static void greet(const char *hello)
{
	open_world();
	world_say(&world, hello);
	world_say(&world, READY);
	world_forget(&world);
}

/* ---- initialize -------------------------------------------------------------- */

static const struct hello_case {
	const char *asked, *answered;
} hellos[] = {
	{ LEGACY_HELLO("2025-11-25", "{}"), "2025-11-25'," CAPABILITIES "," INFO },
	{ LEGACY_HELLO("2025-06-18", "{}"), "2025-06-18'," CAPABILITIES "," INFO },
	{ LEGACY_HELLO("2025-03-26", "{}"),
		"2025-03-26'," CAPABILITIES ",'serverInfo':{'name':'perch','version':'1'}" },
	{ LEGACY_HELLO("2024-11-05", "{}"),
		"2024-11-05','capabilities':{'tools':{'listChanged':true},'resources':{'listChanged':true,"
		"'subscribe':true},'prompts':{'listChanged':true},'logging':{}},"
		"'serverInfo':{'name':'perch','version':'1'}" },
	{ LEGACY_HELLO("2026-07-28", "{}"), "2025-11-25'," CAPABILITIES "," INFO },
	{ LEGACY_HELLO("1999-01-01", "{}"), "2025-11-25'," CAPABILITIES "," INFO },
};

START_TEST(a_version_is_agreed_on)
{
	for (size_t i = 0; i < COUNT(hellos); i++) {
		open_world();
		world_say(&world, hellos[i].asked);
		char *expected =
			str_join("{@J,'id':0,'result':{'protocolVersion':'", hellos[i].answered, "}}\n", NULL);
		world_expect(&world, expected);
		free(expected);
		world_close(&world);
	}
}
END_TEST

START_TEST(little_is_offered_where_there_is_little)
{
	struct mcp_server_options options = {
		.name = STR("p"), .version = STR("2"), .instructions = STR("Do.")
	};
	ck_assert_int_eq(world_open(&world, &options), 0);
	world_say(&world, LEGACY_HELLO(NOW, "{}"));
	world_expect(&world,
		"{@J,'id':0,'result':{'protocolVersion':'2025-11-25','capabilities':{'tools':"
		"{'listChanged':true},'resources':{},'logging':{}},'serverInfo':{'name':'p','version':'2'},"
		"'instructions':'Do.'}}\n");
	static const char *const absent[] = { "prompts/list", "prompts/get", "completion/complete",
		"resources/subscribe", "resources/unsubscribe" };
	for (size_t i = 0; i < COUNT(absent); i++) {
		char *request = str_join("{@J,'id':1,'method':'", absent[i], "'}", NULL);
		char *error = str_join("{@J,'id':1,'error':{'code':-32601,'message':'there is no method ",
			absent[i], "'}}\n", NULL);
		world_say(&world, request);
		world_expect(&world, error);
		free(request);
		free(error);
	}
	world_say(&world, "{@J,'id':2,'method':'resources/list'}");
	world_say(&world, "{@J,'id':3,'method':'resources/templates/list'}");
	world_say(&world, "{@J,'id':4,'method':'resources/read','params':{'uri':'file:///x'}}");
	world_expect(&world,
		"{@J,'id':2,'result':{'resources':[]}}\n"
		"{@J,'id':3,'result':{'resourceTemplates':[]}}\n"
		"{@J,'id':4,'error':{'code':-32002,'message':'there is no resource file:///x'}}\n");
	world_close(&world);
}
END_TEST

/* ---- refusals ---------------------------------------------------------------- */

/* To a client that has said hello. */
static const struct refusal_case {
	const char *line, *answer;
} refusals[] = {
	{ "{@J,'id':1,'method':'nonsense'}",
		"{@J,'id':1,'error':{'code':-32601,'message':'there is no method nonsense'}}\n" },
	{ "{@J,'id':1,'method':'server/discover'}",
		"{@J,'id':1,'error':{'code':-32601,'message':'there is no method server/discover'}}\n" },
	{ "{@J,'id':1,'method':'subscriptions/listen'}",
		"{@J,'id':1,'error':{'code':-32601,'message':'there is no method "
		"subscriptions/listen'}}\n" },
	{ "{@J,'id':1.5,'method':'ping'}",
		"{@J,'error':{'code':-32600,'message':'the id must be a string of at most 512 bytes or an "
		"integer of 64 bits'}}\n" },
	{ "{@J,'id':1,'method':'ping','params':3}",
		"{@J,'id':1,'error':{'code':-32600,'message':'params must be an object'}}\n" },
	{ "{@J,'id':1,'method':'tools/call'}",
		"{@J,'id':1,'error':{'code':-32602,'message':'name must be a string'}}\n" },
	{ "{@J,'id':1,'method':'tools/call','params':{'name':7}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'name must be a string'}}\n" },
	{ "{@J,'id':1,'method':'tools/call','params':{'name':'x','arguments':[]}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'arguments must be an object'}}\n" },
	{ "{@J,'id':1,'method':'tools/call','params':{'name':'x','_meta':1}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'_meta must be an object'}}\n" },
	{ "{@J,'id':1,'method':'tools/call','params':{'name':'x','_meta':{'progressToken':1.5}}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'the progressToken must be a string of at "
		"most "
		"512 bytes or an integer of 64 bits'}}\n" },
	{ "{@J,'id':1,'method':'tools/list','params':{'cursor':'x'}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'the cursor is none of ours'}}\n" },
	{ "{@J,'id':1,'method':'tools/list','params':{'cursor':null}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'the cursor is none of ours'}}\n" },
	{ "{@J,'id':1,'method':'resources/read','params':{}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'uri must be a string'}}\n" },
	{ "{@J,'id':1,'method':'resources/subscribe','params':{'uri':1}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'uri must be a string'}}\n" },
	{ "{@J,'id':1,'method':'resources/unsubscribe'}",
		"{@J,'id':1,'error':{'code':-32602,'message':'uri must be a string'}}\n" },
	{ "{@J,'id':1,'method':'resources/read','params':{'uri':'perch://results/0'}}",
		"{@J,'id':1,'error':{'code':-32002,'message':'there is no resource "
		"perch://results/0'}}\n" },
	{ "{@J,'id':1,'method':'logging/setLevel','params':{'level':'loud'}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'there is no such level'}}\n" },
	{ "{@J,'id':1,'method':'completion/complete','params':{'ref':{}}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'ref must be an object, argument an object "
		"with a name and a value'}}\n" },
	{ "{@J,'id':1,'method':'initialize'}",
		"{@J,'id':1,'error':{'code':-32602,'message':'initialize needs a protocolVersion, which is "
		"a string'}}\n" },
	{ "[{@J,'id':1,'method':'ping'}]",
		"{@J,'error':{'code':-32600,'message':'only version 2025-03-26 has batches'}}\n" },
	{ "[]", "{@J,'error':{'code':-32600,'message':'a batch must not be empty'}}\n" },
	/* Nothing is said to these. */
	{ "", "" },
	{ " \t", "" },
	{ "{@J,'method':'nonsense'}", "" },
	{ "{@J,'method':'tools/call'}", "" },
	{ "{@J,'method':'notifications/cancelled'}", "" },
	{ "{@J,'method':'notifications/cancelled','params':{'requestId':99}}", "" },
	{ "{@J,'method':'notifications/cancelled','params':{'requestId':1.5}}", "" },
	{ "{@J,'method':'notifications/roots/list_changed'}", "" },
	{ "{@J,'id':99,'result':{}}", "" },
	{ "{@J,'id':'x','error':{'code':1,'message':'m'}}", "" },
};

START_TEST(what_is_wrong_is_refused)
{
	greet(LEGACY_HELLO(NOW, "{}"));
	for (size_t i = 0; i < COUNT(refusals); i++) {
		world_say(&world, refusals[i].line);
		if (*refusals[i].answer || world.log.len)
			world_expect(&world, refusals[i].answer);
	}
	world_close(&world);
}
END_TEST

START_TEST(a_client_has_to_say_hello_first)
{
	open_world();
	world_say(&world, "{@J,'id':1,'method':'tools/list'}");
	world_say(&world, "{@J,'id':2,'method':'nonsense','params':{'_meta':{}}}");
	world_say(&world, "{@J,'id':3,'method':'ping'}");
	world_expect(&world,
		"{@J,'id':1,'error':{'code':-32602,'message':'neither _meta with a protocolVersion nor an "
		"earlier initialize says which version this is'}}\n"
		"{@J,'id':2,'error':{'code':-32602,'message':'neither _meta with a protocolVersion nor an "
		"earlier initialize says which version this is'}}\n"
		"{@J,'id':3,'result':{}}\n");
	world_say(&world, LEGACY_HELLO(NOW, "{}"));
	world_forget(&world);
	world_say(&world, "{@J,'id':4,'method':'tools/list'}");
	world_expect(&world, "!list tools\n");
	world_close(&world);
}
END_TEST

START_TEST(a_line_that_is_too_long_is_an_error)
{
	open_world();
	struct mcp_line line = { .text = STR("{\"jsonrpc\":"), .is_too_long = true };
	mcp_connection_line(world.clients[0], &line);
	world_expect(&world, "{@J,'error':{'code':-32700,'message':'the message is too long'}}\n");
	world_close(&world);
}
END_TEST

START_TEST(a_name_that_is_too_long_is_an_error)
{
	greet(LEGACY_HELLO(NOW, "{}"));
	static char name[MCP_NAME_BYTES_MAX + 2];
	memset(name, 'x', MCP_NAME_BYTES_MAX + 1);
	for (int i = 0; i < 2; i++) {
		char *call =
			str_join("{@J,'id':1,'method':'tools/call','params':{'name':'", name + i, "'}}", NULL);
		world_say(&world, call);
		free(call);
		ck_assert(world_log_has(&world,
			i ? "!call x" : "{@J,'id':1,'error':{'code':-32602,'message':'name is too long'}}"));
		world_forget(&world);
	}
	world_close(&world);
}
END_TEST

START_TEST(an_id_is_used_once_at_a_time)
{
	greet(LEGACY_HELLO(NOW, "{}"));
	world_say(&world, "{@J,'id':'a','method':'tools/list'}");
	world_say(&world, "{@J,'id':'\\u0061','method':'ping'}");
	world_expect(&world,
		"!list tools\n"
		"{@J,'id':'a','error':{'code':-32600,'message':'a request of this id is in flight'}}\n");
	mcp_job_list(world_job(&world), 0, NULL, NULL);
	world_expect(&world, "{@J,'id':'a','result':{'tools':[]}}\n");
	world_say(&world, "{@J,'id':'a','method':'ping'}");
	world_expect(&world, "{@J,'id':'a','result':{}}\n");
	world_close(&world);
}
END_TEST

START_TEST(so_many_requests_may_be_in_flight)
{
	struct mcp_server_options options = mcp_world_options;
	options.in_flight_max = 2;
	ck_assert_int_eq(world_open(&world, &options), 0);
	world_say(&world, LEGACY_HELLO(NOW, "{}"));
	world_say(&world, "{@J,'id':1,'method':'tools/list'}");
	world_say(&world, "{@J,'id':2,'method':'tools/list'}");
	world_forget(&world);
	world_say(&world, "{@J,'id':3,'method':'tools/list'}");
	world_say(&world, "{@J,'id':4,'method':'ping'}");
	world_expect(&world,
		"{@J,'id':3,'error':{'code':-32603,'message':'too many requests at once: 2 are in "
		"flight'}}\n{@J,'id':4,'result':{}}\n");
	world_close(&world);
}
END_TEST

/* ---- jobs -------------------------------------------------------------------- */

START_TEST(a_call_has_a_result)
{
	greet(LEGACY_HELLO(NOW, "{}"));
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
	greet(LEGACY_HELLO(NOW, "{}"));
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
	greet(LEGACY_HELLO(NOW, "{}"));
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

#define SECOND ((uint64_t)1000000000)

START_TEST(a_heart_beats_while_nothing_is_said)
{
	greet(LEGACY_HELLO(NOW, "{}"));
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
	greet(LEGACY_HELLO(NOW, "{}"));
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
	greet(LEGACY_HELLO(NOW, "{}"));
	world_say(&world, "{@J,'id':1,'method':'tools/call','params':{'name':'x'}}");
	world_say(&world, "{@J,'method':'notifications/cancelled','params':{'requestId':'1'}}");
	world_expect(&world, "!call x\n");
	world_say(
		&world, "{@J,'method':'notifications/cancelled','params':{'requestId':1,'reason':'r'}}");
	world_expect(&world, "!cancel x\n");
	world_say(&world, "{@J,'method':'notifications/cancelled','params':{'requestId':1}}");
	world_say(&world, "{@J,'id':1,'method':'ping'}");
	world_expect(&world, "{@J,'id':1,'result':{}}\n");
	world_say(&world, "{@J,'id':2,'method':'tools/call','params':{'name':'y'}}");
	world_leave(&world, 0);
	world_expect(&world, "!call y\n!cancel y\n");
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

static const struct mcp_tool tool = {
	.name = STR("n"),
	.title = STR("T"),
	.description = STR("D"),
	.input_schema = STR("{\"properties\":{\"a\":{}},\n\"type\":\"array\"}"),
	.output_schema = STR("{\"type\":\"array\"}"),
	.is_read_only = true,
	.is_closed = true,
};

static void write_tool(void *data, size_t item, const struct mcp_page *page)
{
	(void)item;
	mcp_tool_write(page, data);
}

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
		struct mcp_tool shown = tool;
		shown.output_schema = str_from(tools[i].output_schema);
		greet(tools[i].version);
		world_say(&world, "{@J,'id':1,'method':'tools/list'}");
		mcp_job_list(world_job(&world), 1, write_tool, &shown);
		char *expected = str_join(
			"!list tools\n{@J,'id':1,'result':{'tools':[", tools[i].written, "]}}\n", NULL);
		world_expect(&world, expected);
		free(expected);
		world_close(&world);
	}
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

/* ---- questions --------------------------------------------------------------- */

static const struct mcp_question confirm = { .kind = MCP_CONFIRM, .message = STR("Sure?") };
static const struct mcp_question prompt = { .kind = MCP_PROMPT, .message = STR("Name?") };
static const struct mcp_question secret = { .kind = MCP_PROMPT, .message = STR("Password?") };

#define ASKS "{'elicitation':{}}"
#define FORM(id, message, type)                                                                 \
	"{@J,'id':" id ",'method':'elicitation/create','params':{'mode':'form','message':'" message \
	"','requestedSchema':{'type':'object','properties':{'answer':{'type':'" type                \
	"'}},'required':['answer']}}}\n"

static void call_x(const char *hello)
{
	greet(hello);
	world_say(&world, "{@J,'id':1,'method':'tools/call','params':{'name':'x'}}");
	world_forget(&world);
}

START_TEST(a_question_is_a_request_of_ours)
{
	call_x(LEGACY_HELLO(NOW, ASKS));
	struct mcp_job *job = world_job(&world);
	ck_assert_int_eq(mcp_job_ask(job, &confirm, 0), 0);
	ck_assert_int_eq(mcp_job_ask(job, &prompt, 0), -EBUSY);
	world_expect(&world, FORM("1", "Sure?", "boolean"));
	world_say(&world, "{@J,'id':2,'result':{'action':'accept','content':{'answer':true}}}");
	world_say(&world, "{@J,'id':'1','result':{'action':'accept','content':{'answer':true}}}");
	ck_assert_uint_eq(world.log.len, 0);
	world_say(&world, "{@J,'id':1,'result':{'action':'accept','content':{'answer':true}}}");
	world_say(&world, "{@J,'id':1,'result':{'action':'accept','content':{'answer':true}}}");
	world_expect(&world, "!answer x answered text= yes=1 chosen=\n");
	ck_assert_int_eq(mcp_job_ask(job, &prompt, 0), 0);
	world_expect(&world, FORM("2", "Name?", "string"));
	world_say(&world, "{@J,'id':2,'error':{'code':-1,'message':'no window'}}");
	world_expect(&world, "!answer x unanswered text=no window yes=0 chosen=\n");
	ck_assert_int_eq(mcp_job_ask(job, &prompt, 0), 0);
	world_forget(&world);
	world_say(&world, "{@J,'id':3,'result':{'action':'accept','content':{'answer':{}}}}");
	world_expect(
		&world, "!answer x unanswered text=content.answer must be a string yes=0 chosen=\n");
	mcp_job_result(job, &(struct mcp_result){ .text = STR("done") });
	world_expect(&world, "{@J,'id':1,'result':{'content':[{'type':'text','text':'done'}]}}\n");
	world_close(&world);
}
END_TEST

START_TEST(a_question_is_taken_back)
{
	static const char taken_back[] = "{@J,'method':'notifications/cancelled','params':{'requestId':"
									 "1,'reason':'the question is no longer open'}}\n";
	call_x(LEGACY_HELLO(NOW, ASKS));
	ck_assert_int_eq(mcp_job_ask(world_job(&world), &confirm, 0), 0);
	world_forget(&world);
	mcp_job_withdraw(world_job(&world));
	mcp_job_withdraw(world_job(&world));
	world_expect(&world, taken_back);
	world_say(&world, "{@J,'id':1,'result':{'action':'accept','content':{'answer':true}}}");
	ck_assert_uint_eq(world.log.len, 0);
	world_close(&world);
	call_x(LEGACY_HELLO(NOW, ASKS));
	ck_assert_int_eq(mcp_job_ask(world_job(&world), &confirm, 0), 0);
	world_forget(&world);
	mcp_job_result(world_job(&world), &(struct mcp_result){ .text = STR("d") });
	ck_assert(world_log_has(&world, taken_back));
	world_close(&world);
	call_x(LEGACY_HELLO(NOW, ASKS));
	ck_assert_int_eq(mcp_job_ask(world_job(&world), &confirm, 0), 0);
	world_forget(&world);
	world_say(&world, "{@J,'method':'notifications/cancelled','params':{'requestId':1}}");
	ck_assert(world_log_has(&world, "!cancel x\n") && world_log_has(&world, taken_back));
	world_close(&world);
}
END_TEST

static const struct {
	const char *hello;
	const struct mcp_question *question;
	int r;
} askings[] = {
	{ LEGACY_HELLO(NOW, "{}"), &confirm, -ENOTSUP },
	{ LEGACY_HELLO(NOW, "{'elicitation':{'url':{}}}"), &confirm, -ENOTSUP },
	{ LEGACY_HELLO(NOW, "{'elicitation':{'url':{},'form':{}}}"), &confirm, 0 },
	{ LEGACY_HELLO(NOW, "{'elicitation':true}"), &confirm, -ENOTSUP },
	{ LEGACY_HELLO("2025-06-18", ASKS), &confirm, 0 },
	{ LEGACY_HELLO("2025-03-26", ASKS), &confirm, -ENOTSUP },
	{ LEGACY_HELLO(NOW, ASKS), &secret, -EACCES },
};

START_TEST(who_can_be_asked)
{
	for (size_t i = 0; i < COUNT(askings); i++) {
		call_x(askings[i].hello);
		ck_assert_int_eq(mcp_job_ask(world_job(&world), askings[i].question, 0), askings[i].r);
		world_close(&world);
	}
}
END_TEST

/* ---- batches ----------------------------------------------------------------- */

START_TEST(a_batch_is_answered_together)
{
	greet(LEGACY_HELLO("2025-03-26", "{}"));
	world_say(&world,
		"[{@J,'id':1,'method':'ping'},{@J,'id':2,'method':'tools/call','params':{'name':'x'}},"
		"{@J,'id':3,'method':'tools/call','params':{'name':'y'}},7,{@J,'method':'n'},"
		"{@J,'id':4,'method':'initialize','params':{'protocolVersion':'2025-11-25'}}]");
	world_expect(&world, "!call x\n!call y\n");
	world_say(&world, "{@J,'method':'notifications/cancelled','params':{'requestId':3}}");
	world_expect(&world, "!cancel y\n");
	mcp_job_result(world.jobs[0], &(struct mcp_result){ .text = STR("d") });
	world_expect(&world,
		"[{@J,'id':1,'result':{}},{@J,'error':{'code':-32600,'message':'a message must be an "
		"object'}},{@J,'id':4,'error':{'code':-32600,'message':'initialize must not be part of a "
		"batch'}},{@J,'id':2,'result':{'content':[{'type':'text','text':'d'}]}}]\n");
	world_say(&world, "[{@J,'method':'n'},{@J,'id':9,'result':{}}]");
	ck_assert_uint_eq(world.log.len, 0);
	world_say(&world, "[{@J,'id':1,'method':'tools/list','params':{@M}}]");
	world_expect(
		&world, "[{@J,'id':1,'error':{'code':-32600,'message':'this version has no batches'}}]\n");
	world_say(&world, "[{@J,'id':1,'method':'tools/list'}]");
	world_close(&world);
}
END_TEST

/* ---- changes ----------------------------------------------------------------- */

START_TEST(changes_are_told)
{
	open_world();
	world_say(&world, LEGACY_HELLO(NOW, "{}"));
	world_forget(&world);
	mcp_server_list_changed(world.server, MCP_TOOLS);
	ck_assert_uint_eq(world.log.len, 0);
	world_say(&world, READY);
	mcp_server_list_changed(world.server, MCP_TOOLS);
	mcp_server_list_changed(world.server, MCP_RESOURCES);
	mcp_server_list_changed(world.server, MCP_PROMPTS);
	world_expect(&world,
		"{@J,'method':'notifications/tools/list_changed'}\n"
		"{@J,'method':'notifications/resources/list_changed'}\n"
		"{@J,'method':'notifications/prompts/list_changed'}\n");
	mcp_server_resource_updated(world.server, STR("file:///x"));
	ck_assert_uint_eq(world.log.len, 0);
	world_say(&world, "{@J,'id':1,'method':'resources/subscribe','params':{'uri':'file:///x'}}");
	world_say(&world, "{@J,'id':2,'method':'resources/subscribe','params':{'uri':'file:///x'}}");
	world_expect(
		&world, "{@J,'id':1,'result':{}}\n!subscribe file:///x\n{@J,'id':2,'result':{}}\n");
	mcp_server_resource_updated(world.server, STR("file:///x"));
	mcp_server_resource_updated(world.server, STR("file:///y"));
	world_expect(
		&world, "{@J,'method':'notifications/resources/updated','params':{'uri':'file:///x'}}\n");
	world_say(&world, "{@J,'id':1,'method':'resources/unsubscribe','params':{'uri':'file:///x'}}");
	world_say(&world, "{@J,'id':2,'method':'resources/unsubscribe','params':{'uri':'file:///x'}}");
	world_expect(
		&world, "{@J,'id':1,'result':{}}\n!unsubscribe file:///x\n{@J,'id':2,'result':{}}\n");
	mcp_server_resource_updated(world.server, STR("file:///x"));
	ck_assert_uint_eq(world.log.len, 0);
	world_close(&world);
}
END_TEST

START_TEST(subscriptions_are_bounded)
{
	greet(LEGACY_HELLO(NOW, "{}"));
	char line[200];
	for (int i = 0; i <= MCP_SUBSCRIPTIONS_MAX; i++) {
		world_forget(&world);
		snprintf(line, sizeof(line),
			"{@J,'id':1,'method':'resources/subscribe','params':{'uri':'file:///%d'}}", i);
		world_say(&world, line);
	}
	world_expect(&world,
		"{@J,'id':1,'error':{'code':-32603,'message':'too many subscriptions: 256 are the "
		"limit'}}\n");
	world_close(&world);
}
END_TEST

/* ---- many, and memory --------------------------------------------------------- */

static void answer_at_once(struct mcp_world *there, const struct mcp_wish *wish)
{
	(void)there;
	if (wish->kind == MCP_CALL_TOOL)
		mcp_job_result(wish->job, &(struct mcp_result){ .text = STR("d") });
}

START_TEST(ten_thousand_requests_at_once)
{
	greet(LEGACY_HELLO(NOW, "{}"));
	enum { REQUESTS = 10000 };
	static struct mcp_job *jobs[REQUESTS];
	char line[200];
	world.is_quiet = true;
	for (int i = 0; i < REQUESTS; i++) {
		snprintf(line, sizeof(line), "{@J,'id':%d,'method':'tools/call','params':{'name':'x'}}", i);
		world.job_count = 0;
		world_say(&world, line);
		jobs[i] = world_job(&world);
	}
	world.sent = 0;
	for (int i = 0; i < REQUESTS; i++)
		mcp_job_result(jobs[i], &(struct mcp_result){ .text = STR("d") });
	ck_assert_uint_eq(world.sent, REQUESTS);
	world.at_once = answer_at_once;
	world_say(&world, "{@J,'id':0,'method':'tools/call','params':{'name':'x'}}");
	ck_assert_uint_eq(world.sent, REQUESTS + 1);
	world_close(&world);
}
END_TEST

/* All that allocates, in one life; the harness may run out too. */
static int live_once(void *data)
{
	(void)data;
	struct mcp_server_options options = mcp_world_options;
	options.result_chars_max = 4;
	struct mcp_world there;
	int r = world_open(&there, &options);
	if (r == 0) {
		world_say(&there, LEGACY_HELLO("2025-03-26", "{}"));
		world_say(&there,
			"[{@J,'id':1,'method':'tools/"
			"call','params':{'name':'x','_meta':{'progressToken':'t'}}},"
			"{@J,'id':2,'method':'ping'}]");
		if (there.job_count == 1) {
			mcp_job_progress(there.jobs[0], 1, 2, STR("m"));
			mcp_job_result(there.jobs[0], &(struct mcp_result){ .text = STR("longer") });
		}
		world_say(&there, LEGACY_HELLO("2025-11-25", ASKS));
		world_say(&there, "{@J,'id':'\\u0061','method':'tools/call','params':{'name':'x'}}");
		if (there.job_count == 2 && mcp_job_ask(there.jobs[1], &confirm, 0) < 0)
			there.ran_out = true;
		world_say(&there, "{@J,'id':1,'result':{'action':'accept','content':{'answer':true}}}");
		world_say(&there, "{@J,'id':3,'method':'resources/subscribe','params':{'uri':'u'}}");
		world_say(&there, "{@J,'id':4,'method':'prompts/get','params':{'name':'p'}}");
		if (there.job_count == 3)
			mcp_job_object(there.jobs[2], STR("{\"messages\":[]}"));
		world_say(&there, "{@J,'id':5,'method':'tools/list'}");
		if (there.job_count == 4)
			mcp_job_list(there.jobs[3], 1, write_tool, (void *)&tool);
		bool is_broken = mcp_connection_is_broken(there.clients[0]) || there.log.failed;
		r = there.ran_out || is_broken ? -ENOMEM : 0;
		ck_assert(r < 0 || there.job_count == 4);
	}
	world_close(&there);
	return r;
}

START_TEST(without_memory_it_says_so)
{
	ck_assert_uint_gt(oom_every(live_once, NULL), 30);
}
END_TEST

SUITE_MAIN("wire-mcp", a_version_is_agreed_on, little_is_offered_where_there_is_little,
	what_is_wrong_is_refused, a_client_has_to_say_hello_first, a_line_that_is_too_long_is_an_error,
	a_name_that_is_too_long_is_an_error, an_id_is_used_once_at_a_time,
	so_many_requests_may_be_in_flight, a_call_has_a_result, other_results_are_objects,
	progress_rises, a_heart_beats_while_nothing_is_said, logging_is_for_those_who_ask,
	a_cancelled_call_is_not_answered, a_list_comes_in_pages, a_tool_is_shown_as_the_version_has_it,
	a_long_result_is_cut_and_kept, what_is_cut_depends_on_what_is_long,
	what_is_too_long_to_be_kept_is_lost, a_question_is_a_request_of_ours, a_question_is_taken_back,
	who_can_be_asked, a_batch_is_answered_together, changes_are_told, subscriptions_are_bounded,
	ten_thousand_requests_at_once, without_memory_it_says_so)

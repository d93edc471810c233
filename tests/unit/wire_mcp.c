/* The MCP server engine from strings: how a legacy client is greeted, what is refused,
 * batches. */
#include "harness/mcp_world.h"
#include "harness/suite.h"

#include <stdlib.h>

#define CAPABILITIES                                                                \
	"'capabilities':{'tools':{'listChanged':true},'resources':{'listChanged':true," \
	"'subscribe':true},'prompts':{'listChanged':true},'completions':{},'logging':{}}"
#define INFO "'serverInfo':{'name':'perch','title':'Perch','version':'1'}"

static struct mcp_world world;

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
		ck_assert_int_eq(world_open(&world, NULL), 0);
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
	{ "{@J,'id':1,'id':2,'method':'ping'}",
		"{@J,'error':{'code':-32700,'message':'the name \\'id\\' occurs twice in an object'}}\n" },
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
	world_greet(&world, LEGACY_HELLO(NOW, "{}"));
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
	ck_assert_int_eq(world_open(&world, NULL), 0);
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
	ck_assert_int_eq(world_open(&world, NULL), 0);
	struct mcp_line line = { .text = STR("{\"jsonrpc\":"), .is_too_long = true };
	mcp_connection_line(world.clients[0], &line);
	world_expect(&world, "{@J,'error':{'code':-32700,'message':'the message is too long'}}\n");
	world_close(&world);
}
END_TEST

START_TEST(a_name_that_is_too_long_is_an_error)
{
	world_greet(&world, LEGACY_HELLO(NOW, "{}"));
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
	world_greet(&world, LEGACY_HELLO(NOW, "{}"));
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

/* ---- batches ----------------------------------------------------------------- */

START_TEST(a_batch_is_answered_together)
{
	world_greet(&world, LEGACY_HELLO("2025-03-26", "{}"));
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

/* ---- streams ------------------------------------------------------------------ */

START_TEST(what_belongs_together_goes_one_way)
{
	world_greet(&world, LEGACY_HELLO("2025-03-26", "{}"));
	static char one[] = "one", two[] = "two";
	world.headers.stream = one;
	world_say(&world,
		"{@J,'id':1,'method':'tools/call','params':{'name':'x','_meta':{'progressToken':'t'}}}");
	world.headers.stream = two;
	world_say(&world, "[{@J,'id':2,'method':'tools/call','params':{'name':'y'}}]");
	world_say(&world, "{@J,'id':3,'method':'ping'}");
	mcp_job_progress(world.jobs[0], 1, -1, STR(""));
	mcp_server_list_changed(world.server, MCP_TOOLS);
	world_expect(&world,
		"!call x\n!call y\ntwo: {@J,'id':3,'result':{}}\n"
		"one: {@J,'method':'notifications/progress','params':{'progressToken':'t','progress':1}}\n"
		"{@J,'method':'notifications/tools/list_changed'}\n");
	ck_assert_ptr_eq(mcp_job_stream(world.jobs[1]), two);
	ck_assert(mcp_connection_waits(world.clients[0], two));
	mcp_connection_forget_stream(world.clients[0], two);
	ck_assert(!mcp_connection_waits(world.clients[0], two));
	ck_assert_ptr_null(mcp_job_stream(world.jobs[1]));
	mcp_job_result(world.jobs[0], &(struct mcp_result){ .text = STR("a") });
	mcp_job_result(world.jobs[1], &(struct mcp_result){ .text = STR("b") });
	world_expect(&world,
		"one: {@J,'id':1,'result':{'content':[{'type':'text','text':'a'}]}}\n"
		"[{@J,'id':2,'result':{'content':[{'type':'text','text':'b'}]}}]\n");
	world_close(&world);
}
END_TEST

SUITE_MAIN("wire-mcp", a_version_is_agreed_on, little_is_offered_where_there_is_little,
	what_is_wrong_is_refused, a_client_has_to_say_hello_first, a_line_that_is_too_long_is_an_error,
	a_name_that_is_too_long_is_an_error, an_id_is_used_once_at_a_time,
	so_many_requests_may_be_in_flight, a_batch_is_answered_together,
	what_belongs_together_goes_one_way)

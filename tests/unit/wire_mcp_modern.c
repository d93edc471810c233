/* The MCP server engine from strings: modern clients, their subscriptions, and both eras side
 * by side. */
#include "harness/mcp_world.h"
#include "harness/suite.h"

#include <stdio.h>

#define PRE "io.modelcontextprotocol/"
#define META(rest) "'_meta':{'" PRE "protocolVersion':'2026-07-28'" rest "}"
#define LISTED ",'ttlMs':60000,'cacheScope':'private',@S"

static struct mcp_world world;

/* ---- each request for itself -------------------------------------------------- */

static const struct modern_case {
	const char *line, *answer;
} refusals[] = {
	{ "{@J,'id':1,'method':'tools/list','params':{'_meta':{'" PRE
	  "protocolVersion':'1900-01-01','" PRE "clientCapabilities':{}}}}",
		"{@J,'id':1,'error':{'code':-32022,'message':'Unsupported protocol version','data':"
		"{'supported':['2026-07-28'],"
		"'requested':'1900-01-01'}}}\n" },
	{ "{@J,'id':1,'method':'server/discover','params':{'_meta':{'" PRE
	  "protocolVersion':'2025-11-25'}}}",
		"{@J,'id':1,'error':{'code':-32022,'message':'Unsupported protocol version','data':"
		"{'supported':['2026-07-28'],"
		"'requested':'2025-11-25'}}}\n" },
	{ "{@J,'id':1,'method':'tools/list','params':{'_meta':{'" PRE "protocolVersion':7}}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'_meta: the protocolVersion must be a "
		"string'}}\n" },
	{ "{@J,'id':1,'method':'tools/list','params':{" META("") "}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'_meta: the clientCapabilities must be an "
		"object'}}\n" },
	{ "{@J,'id':1,'method':'tools/list','params':{" META(
		  ",'" PRE "clientCapabilities':{},'" PRE "logLevel':'loud'") "}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'_meta: there is no such logLevel'}}\n" },
	{ "{@J,'id':1,'method':'ping','params':{@M}}",
		"{@J,'id':1,'error':{'code':-32601,'message':'there is no method ping'}}\n" },
	{ "{@J,'id':1,'method':'initialize','params':{@M,'protocolVersion':'2025-11-25'}}",
		"{@J,'id':1,'error':{'code':-32601,'message':'there is no method initialize'}}\n" },
	{ "{@J,'id':1,'method':'logging/setLevel','params':{@M,'level':'info'}}",
		"{@J,'id':1,'error':{'code':-32601,'message':'there is no method logging/setLevel'}}\n" },
	{ "{@J,'id':1,'method':'resources/subscribe','params':{@M,'uri':'u'}}",
		"{@J,'id':1,'error':{'code':-32601,'message':'there is no method "
		"resources/subscribe'}}\n" },
	{ "{@J,'id':1,'method':'resources/read','params':{@M,'uri':'perch://results/0'}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'there is no resource "
		"perch://results/0'}}\n" },
	{ "{@J,'id':1,'method':'subscriptions/listen','params':{@M}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'notifications must be an object'}}\n" },
	{ "{@J,'id':1,'method':'subscriptions/listen','params':{@M,'notifications':{'toolsListChanged':"
	  "1}}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'what notifications asks for must be true or "
		"false'}}\n" },
	{ "{@J,'id':1,'method':'subscriptions/listen','params':{@M,'notifications':"
	  "{'resourceSubscriptions':'u'}}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'resourceSubscriptions must be a list of "
		"URIs'}}\n" },
	{ "{@J,'id':1,'method':'subscriptions/listen','params':{@M,'notifications':"
	  "{'resourceSubscriptions':[1]}}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'resourceSubscriptions must be a list of "
		"URIs'}}\n" },
	{ "{@J,'id':1,'method':'tools/call','params':{@M,'name':'x','requestState':'1.1.1.x'}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'the requestState is not valid here, was used "
		"already, or has expired'}}\n" },
	{ "{@J,'id':1,'method':'tools/call','params':{@M,'name':'x','requestState':7}}",
		"{@J,'id':1,'error':{'code':-32602,'message':'the requestState is not valid here, was used "
		"already, or has expired'}}\n" },
	{ "[{@J,'id':1,'method':'tools/list','params':{@M}}]",
		"{@J,'error':{'code':-32600,'message':'only version 2025-03-26 has batches'}}\n" },
};

START_TEST(what_is_wrong_is_refused)
{
	ck_assert_int_eq(world_open(&world, NULL), 0);
	for (size_t i = 0; i < COUNT(refusals); i++) {
		world_say(&world, refusals[i].line);
		world_expect(&world, refusals[i].answer);
	}
	world_close(&world);
}
END_TEST

START_TEST(a_server_can_be_discovered)
{
	ck_assert_int_eq(world_open(&world, NULL), 0);
	world_say(&world, "{@J,'id':'d','method':'server/discover','params':{@M}}");
	world_expect(&world,
		"{@J,'id':'d','result':{'resultType':'complete','supportedVersions':['2026-07-28'],"
		"'capabilities':{'tools':{'listChanged':true},'resources':{'listChanged':true,'subscribe':"
		"true},'prompts':{'listChanged':true},'completions':{},'logging':{}}" LISTED "}}\n");
	world_close(&world);
	struct mcp_server_options options = mcp_world_options;
	options.is_public = true;
	options.list_ttl_ms = 5;
	options.instructions = STR("Do.");
	ck_assert_int_eq(world_open(&world, &options), 0);
	world_say(&world, "{@J,'id':'d','method':'server/discover','params':{@M}}");
	ck_assert(world_log_has(&world, "'instructions':'Do.','ttlMs':5,'cacheScope':'public',@S}}\n"));
	world_close(&world);
}
END_TEST

static void write_tool(void *data, size_t item, const struct mcp_page *page)
{
	(void)data;
	(void)item;
	mcp_tool_write(
		page, &(struct mcp_tool){ .name = STR("n"), .output_schema = STR("{\"type\":\"array\"}") });
}

START_TEST(results_say_who_we_are)
{
	ck_assert_int_eq(world_open(&world, NULL), 0);
	world_say(&world, "{@J,'id':1,'method':'tools/list','params':{@M}}");
	mcp_job_list(world_job(&world), 1, write_tool, NULL);
	world_expect(&world,
		"!list "
		"tools\n{@J,'id':1,'result':{'resultType':'complete','tools':[{'name':'n','inputSchema'"
		":{'type':'object'},'outputSchema':{'type':'array'},'annotations':{'readOnlyHint':false,"
		"'destructiveHint':false,'openWorldHint':true}}]" LISTED "}}\n");
	world_say(&world, "{@J,'id':2,'method':'tools/call','params':{@M,'name':'x'}}");
	mcp_job_result(world_job(&world), &(struct mcp_result){ .structured = STR("[1]") });
	world_expect(&world,
		"!call x\n{@J,'id':2,'result':{'resultType':'complete','content':[{'type':'text','text':"
		"'[1]'}],'structuredContent':[1],@S}}\n");
	world_say(&world, "{@J,'id':3,'method':'resources/read','params':{@M,'uri':'u'}}");
	mcp_job_object(world_job(&world),
		STR("{\"contents\":[],\"_meta\":{\"a\":1,\"io.modelcontextprotocol/serverInfo\":{}}}"));
	world_expect(&world,
		"!read "
		"u\n{@J,'id':3,'result':{'resultType':'complete','contents':[],'ttlMs':0,'cacheScope':"
		"'private','_meta':{'" PRE
		"serverInfo':{'name':'perch','title':'Perch','version':'1'},'a':1}}}\n");
	world_say(&world, "{@J,'id':4,'method':'resources/read','params':{@M,'uri':'u'}}");
	mcp_job_object(
		world_job(&world), STR("{\"contents\":[],\"ttlMs\":9,\"cacheScope\":\"public\"}"));
	world_expect(&world,
		"!read "
		"u\n{@J,'id':4,'result':{'resultType':'complete','contents':[],'ttlMs':9,'cacheScope':"
		"'public',@S}}\n");
	world_say(&world, "{@J,'id':5,'method':'prompts/get','params':{@M,'name':'p'}}");
	mcp_job_object(world_job(&world), STR("{\"messages\":[]}"));
	world_expect(
		&world, "!prompt p\n{@J,'id':5,'result':{'resultType':'complete','messages':[],@S}}\n");
	world_say(&world, "{@J,'id':6,'method':'resources/read','params':{@M,'uri':'u'}}");
	mcp_job_unknown(world_job(&world), STR("no"));
	world_expect(&world, "!read u\n{@J,'id':6,'error':{'code':-32602,'message':'no'}}\n");
	world_close(&world);
}
END_TEST

START_TEST(a_request_says_which_log_it_wants)
{
	ck_assert_int_eq(world_open(&world, NULL), 0);
	world_say(&world, "{@J,'id':1,'method':'tools/call','params':{@M,'name':'x'}}");
	world_say(&world,
		"{@J,'id':2,'method':'tools/call','params':{'name':'y'," META(
			",'" PRE "clientCapabilities':{},'" PRE "logLevel':'info','progressToken':3") "}}");
	world_forget(&world);
	mcp_job_log(world.jobs[0], MCP_LEVEL_EMERGENCY, STR(""), STR("1"));
	mcp_job_log(world.jobs[1], MCP_LEVEL_DEBUG, STR(""), STR("1"));
	mcp_job_log(world.jobs[1], MCP_LEVEL_INFO, STR(""), STR("1"));
	mcp_job_progress(world.jobs[1], 1, -1, STR("m"));
	world_expect(&world,
		"{@J,'method':'notifications/message','params':{'level':'info','data':1}}\n"
		"{@J,'method':'notifications/progress','params':{'progressToken':3,'progress':1,'message':"
		"'m'}}\n");
	world_close(&world);
}
END_TEST

START_TEST(both_eras_at_one_time)
{
	ck_assert_int_eq(world_open(&world, NULL), 0);
	world_say(&world, LEGACY_HELLO("2025-11-25", "{}"));
	world_forget(&world);
	world_say(&world, "{@J,'id':1,'method':'tools/call','params':{@M,'name':'x'}}");
	world_say(&world, "{@J,'id':2,'method':'tools/call','params':{'name':'y'}}");
	mcp_job_result(world.jobs[1], &(struct mcp_result){ .text = STR("a") });
	mcp_job_result(world.jobs[0], &(struct mcp_result){ .text = STR("b") });
	world_expect(&world,
		"!call x\n!call y\n{@J,'id':2,'result':{'content':[{'type':'text','text':'a'}]}}\n"
		"{@J,'id':1,'result':{'resultType':'complete','content':[{'type':'text','text':'b'}],@S}}"
		"\n");
	world_close(&world);
}
END_TEST

static void check_client(struct mcp_world *there, const struct mcp_wish *wish)
{
	(void)there;
	bool is_modern = wish->version->is_modern;
	ck_assert(str_is(wish->client.name, is_modern ? "m" : "c"));
	ck_assert(str_is(wish->client.version, is_modern ? "2" : "1"));
	ck_assert(str_is(wish->client.traceparent, is_modern ? "00-1" : "00-2"));
}

START_TEST(it_is_told_who_asks)
{
	ck_assert_int_eq(world_open(&world, NULL), 0);
	ck_assert_ptr_null(mcp_connection_version(world.clients[0]));
	world_say(&world, LEGACY_HELLO(NOW, "{}"));
	ck_assert_str_eq(mcp_connection_version(world.clients[0])->name, NOW);
	world.at_once = check_client;
	world_say(&world,
		"{@J,'id':1,'method':'tools/call','params':{'name':'x'," META(
			",'" PRE "clientCapabilities':{},'" PRE
			"clientInfo':{'name':'m','version':'2'},'traceparent':'00-1'") "}}");
	world_say(&world,
		"{@J,'id':2,'method':'tools/call','params':{'name':'x','_meta':{'traceparent':'00-2'}}}");
	ck_assert_uint_eq(world.job_count, 2);
	world_close(&world);
}
END_TEST

START_TEST(a_message_says_what_it_is)
{
	ck_assert_int_eq(world_open(&world, NULL), 0);
	world_say(&world, "{@J,'id':1,'method':'nonsense','params':{@M}}");
	ck_assert(world.last_kind == JSONRPC_ERROR && world.last_code == -32601);
	world_say(&world, "{@J,'id':1,'method':'server/discover','params':{@M}}");
	ck_assert(world.last_kind == JSONRPC_RESULT && world.last_code == 0);
	world_say(
		&world, "{@J,'id':1,'method':'subscriptions/listen','params':{@M,'notifications':{}}}");
	ck_assert(world.last_kind == JSONRPC_NOTIFICATION);
	world_close(&world);
}
END_TEST

START_TEST(headers_must_say_what_the_body_says)
{
	ck_assert_int_eq(world_open(&world, NULL), 0);
	world.headers = (struct mcp_line){ .header_version = STR("2026-07-28"),
		.header_method = STR("tools/call"),
		.header_name = STR("x") };
	world_say(&world, "{@J,'id':1,'method':'tools/call','params':{@M,'name':'x'}}");
	world_expect(&world, "!call x\n");
	world_say(&world, "{@J,'id':2,'method':'tools/call','params':{@M,'name':'y'}}");
	world_say(&world, "{@J,'id':3,'method':'tools/list','params':{@M}}");
	world.headers.header_version = STR("");
	world_say(&world, "{@J,'id':4,'method':'tools/call','params':{@M,'name':'x'}}");
	world_expect(&world,
		"{@J,'id':2,'error':{'code':-32020,'message':'the header Mcp-Name says something else than "
		"the body'}}\n"
		"{@J,'id':3,'error':{'code':-32020,'message':'the header Mcp-Method says something else "
		"than "
		"the body'}}\n"
		"{@J,'id':4,'error':{'code':-32020,'message':'the header MCP-Protocol-Version is "
		"missing'}}\n");
	world_close(&world);
}
END_TEST

/* ---- subscriptions ------------------------------------------------------------ */

#define ID(id) "'_meta':{'" PRE "subscriptionId':" id "}"

START_TEST(a_client_listens)
{
	ck_assert_int_eq(world_open(&world, NULL), 0);
	world_say(&world,
		"{@J,'id':1,'method':'subscriptions/listen','params':{@M,'notifications':{"
		"'toolsListChanged':true,'promptsListChanged':false,'resourceSubscriptions':['x:u','x:u']}}"
		"}");
	world_say(&world,
		"{@J,'id':'b','method':'subscriptions/listen','params':{@M,'notifications':{"
		"'promptsListChanged':true}}}");
	world_expect(&world,
		"{@J,'method':'notifications/subscriptions/acknowledged','params':{" ID(
			"1") ",'notifications'"
				 ":{'toolsListChanged':true,'resourceSubscriptions':['x:u']}}}\n!subscribe x:u\n"
				 "{@J,'method':'notifications/subscriptions/acknowledged','params':{" ID(
					 "'b'") ",'notifications'"
							":{'promptsListChanged':true}}}\n");
	mcp_server_list_changed(world.server, MCP_TOOLS);
	mcp_server_list_changed(world.server, MCP_PROMPTS);
	mcp_server_list_changed(world.server, MCP_RESOURCES);
	mcp_server_resource_updated(world.server, STR("x:u"));
	mcp_server_resource_updated(world.server, STR("x:v"));
	world_expect(&world,
		"{@J,'method':'notifications/tools/list_changed','params':{" ID(
			"1") "}}\n"
				 "{@J,'method':'notifications/prompts/list_changed','params':{" ID(
					 "'b'") "}}\n"
							"{@J,'method':'notifications/resources/updated','params':{" ID(
								"1") ",'uri':'x:u'}}\n");
	world_say(&world, "{@J,'method':'notifications/cancelled','params':{'requestId':1}}");
	mcp_server_list_changed(world.server, MCP_TOOLS);
	world_expect(&world, "!unsubscribe x:u\n");
	mcp_connection_finish(world.clients[0]);
	world_expect(&world,
		"{@J,'method':'notifications/cancelled','params':{" ID(
			"'b'") ",'requestId':'b','reason':'the "
				   "server ends'}}\n"
				   "{@J,'id':'b','result':{'resultType':'complete','_meta':{'" PRE
				   "serverInfo':{'name':'perch','title':'Perch','version':'1'},'" PRE
				   "subscriptionId':'b'}}}\n");
	world_close(&world);
}
END_TEST

START_TEST(what_is_not_there_cannot_be_listened_to)
{
	struct mcp_server_options options = { .name = STR("p"), .version = STR("1") };
	ck_assert_int_eq(world_open(&world, &options), 0);
	world_say(&world,
		"{@J,'id':1,'method':'subscriptions/listen','params':{@M,'notifications':{"
		"'toolsListChanged':true,'promptsListChanged':true,'resourcesListChanged':true,"
		"'resourceSubscriptions':['u']}}}");
	world_expect(&world,
		"{@J,'method':'notifications/subscriptions/acknowledged','params':{" ID(
			"1") ",'notifications'"
				 ":{'toolsListChanged':true}}}\n");
	mcp_server_list_changed(world.server, MCP_PROMPTS);
	mcp_server_list_changed(world.server, MCP_RESOURCES);
	ck_assert_uint_eq(world.log.len, 0);
	world_close(&world);
}
END_TEST

START_TEST(so_many_may_listen)
{
	ck_assert_int_eq(world_open(&world, NULL), 0);
	char line[300];
	for (int i = 0; i <= MCP_LISTENS_MAX; i++) {
		world_forget(&world);
		snprintf(line, sizeof(line),
			"{@J,'id':%d,'method':'subscriptions/listen','params':{@M,'notifications':{}}}", i);
		world_say(&world, line);
	}
	world_expect(&world,
		"{@J,'id':64,'error':{'code':-32603,'message':'too many subscriptions/listen: 64 are the "
		"limit'}}\n");
	world_close(&world);
}
END_TEST

SUITE_MAIN("wire-mcp-modern", what_is_wrong_is_refused, a_server_can_be_discovered,
	results_say_who_we_are, a_request_says_which_log_it_wants, both_eras_at_one_time,
	it_is_told_who_asks, a_message_says_what_it_is, headers_must_say_what_the_body_says,
	a_client_listens, what_is_not_there_cannot_be_listened_to, so_many_may_listen)

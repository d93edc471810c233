/* The MCP server engine from strings: modern clients, their tickets and subscriptions, and
 * both eras side by side. */
#include "harness/mcp_world.h"
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>

#define PRE "io.modelcontextprotocol/"
#define META(rest) "'_meta':{'" PRE "protocolVersion':'2026-07-28'" rest "}"
#define LISTED ",'ttlMs':60000,'cacheScope':'private',@S"
#define SECOND ((uint64_t)1000000000)

static struct mcp_world world;

static void open_world(void)
{
	ck_assert_int_eq(world_open(&world, NULL), 0);
}

/* ---- each request for itself -------------------------------------------------- */

static const struct modern_case {
	const char *line, *answer;
} refusals[] = {
	{ "{@J,'id':1,'method':'tools/list','params':{'_meta':{'" PRE
	  "protocolVersion':'1900-01-01','" PRE "clientCapabilities':{}}}}",
		"{@J,'id':1,'error':{'code':-32022,'message':'Unsupported protocol version','data':"
		"{'supported':['2026-07-28','2025-11-25','2025-06-18','2025-03-26','2024-11-05'],"
		"'requested':'1900-01-01'}}}\n" },
	{ "{@J,'id':1,'method':'server/discover','params':{'_meta':{'" PRE
	  "protocolVersion':'2025-11-25'}}}",
		"{@J,'id':1,'error':{'code':-32022,'message':'Unsupported protocol version','data':"
		"{'supported':['2026-07-28','2025-11-25','2025-06-18','2025-03-26','2024-11-05'],"
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
	open_world();
	for (size_t i = 0; i < COUNT(refusals); i++) {
		world_say(&world, refusals[i].line);
		world_expect(&world, refusals[i].answer);
	}
	world_close(&world);
}
END_TEST

START_TEST(a_server_can_be_discovered)
{
	open_world();
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
	open_world();
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
	open_world();
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
	open_world();
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

START_TEST(headers_must_say_what_the_body_says)
{
	open_world();
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
		"{@J,'id':4,'error':{'code':-32020,'message':'the header MCP-Protocol-Version says "
		"something "
		"else than the body'}}\n");
	world_close(&world);
}
END_TEST

/* ---- parked runs -------------------------------------------------------------- */

static const struct mcp_question confirm = { .kind = MCP_CONFIRM, .message = STR("Sure?") };

#define FORM                                                                                      \
	"{'method':'elicitation/create','params':{'mode':'form','message':'Sure?','requestedSchema':" \
	"{'type':'object','properties':{'answer':{'type':'boolean'}},'required':['answer']}}}"
#define YES "{'action':'accept','content':{'answer':true}}"
#define REFUSED                                                                                \
	"'error':{'code':-32602,'message':'the requestState is not valid here, was used already, " \
	"or has expired'}}\n"

static char state[MCP_TICKET_SIZE];

/* A call of x that asks and is parked; `state` is its ticket. */
static void park(size_t client, const char *arguments)
{
	char *call =
		str_join("{@J,'id':1,'method':'tools/call','params':{@E,'name':'x','arguments':", arguments,
			"}}", NULL);
	world_say_as(&world, client, call);
	world_forget(&world);
	ck_assert_int_eq(mcp_job_ask(world_job(&world), &confirm, 10 * SECOND), 0);
	world_pick(&world, "requestState", state, sizeof(state));
	free(call);
}

static void come_back(size_t client, const char *name, const char *arguments, const char *ticket,
	const char *responses)
{
	char *call = str_join("{@J,'id':2,'method':'tools/call','params':{@E,'name':'", name,
		"','arguments':", arguments, ",'requestState':'", ticket, "','inputResponses':", responses,
		"}}", NULL);
	world_say_as(&world, client, call);
	free(call);
}

START_TEST(a_run_is_parked_and_goes_on)
{
	open_world();
	park(0, "{'a':1}");
	char *expected = str_join("{@J,'id':1,'result':{'resultType':'input_required','inputRequests':"
							  "{'q1':" FORM "},'requestState':'",
		state, "',@S}}\n", NULL);
	world_expect(&world, expected);
	free(expected);
	mcp_job_progress(world_job(&world), 1, 2, STR("nobody hears"));
	ck_assert_uint_eq(world.log.len, 0);
	come_back(0, "x", "{ 'a' : 1.0 }", state, "{'q1':" YES ",'other':1}");
	world_expect(&world, "!answer x answered text= yes=1 chosen=\n");
	/* A second question is another one. */
	ck_assert_int_eq(mcp_job_ask(world_job(&world), &confirm, 10 * SECOND), 0);
	ck_assert(world_log_has(&world, "{@J,'id':2,'result':{'resultType':'input_required'"));
	ck_assert(world_log_has(&world, "{'q2':" FORM "}"));
	char second[MCP_TICKET_SIZE];
	world_pick(&world, "requestState", second, sizeof(second));
	world_forget(&world);
	come_back(0, "x", "{'a':1}", state, "{'q1':" YES "}");
	world_expect(&world, "{@J,'id':2," REFUSED);
	come_back(0, "x", "{'a':1}", second, "{'q2':{'action':'decline'}}");
	world_expect(&world, "!answer x answered text= yes=0 chosen=\n");
	mcp_job_result(world_job(&world), &(struct mcp_result){ .text = STR("d") });
	world_expect(&world,
		"{@J,'id':2,'result':{'resultType':'complete','content':[{'type':'text','text':'d'}],@S}}"
		"\n");
	come_back(0, "x", "{'a':1}", second, "{'q2':" YES "}");
	world_expect(&world, "{@J,'id':2," REFUSED);
	world_close(&world);
}
END_TEST

START_TEST(a_ticket_is_used_once_and_not_by_a_refusal)
{
	open_world();
	ck_assert_int_eq(world_join(&world, 1, "bert"), 0);
	park(0, "{}");
	world_forget(&world);
	static const struct {
		size_t client;
		const char *name, *arguments;
	} foreign[] = { { 0, "y", "{}" }, { 0, "x", "{'a':1}" }, { 1, "x", "{}" } };
	for (size_t i = 0; i < COUNT(foreign); i++) {
		come_back(
			foreign[i].client, foreign[i].name, foreign[i].arguments, state, "{'q1':" YES "}");
		ck_assert(world_log_has(&world, "{@J,'id':2," REFUSED));
		world_forget(&world);
	}
	char tampered[MCP_TICKET_SIZE];
	strcpy(tampered, state);
	tampered[strlen(tampered) - 1] ^= 1;
	come_back(0, "x", "{}", tampered, "{'q1':" YES "}");
	world_expect(&world, "{@J,'id':2," REFUSED);
	come_back(0, "x", "{}", state, "[]");
	come_back(0, "x", "{}", state, "{'q1':{'action':'accept','content':{'answer':'yes'}}}");
	come_back(0, "x", "{}", state, "{'q1':7}");
	world_expect(&world,
		"{@J,'id':2,'error':{'code':-32602,'message':'inputResponses must be an object'}}\n"
		"{@J,'id':2,'error':{'code':-32602,'message':'inputResponses.q1: content.answer must be "
		"true "
		"or false'}}\n"
		"{@J,'id':2,'error':{'code':-32602,'message':'inputResponses.q1: action must be accept, "
		"decline or cancel'}}\n");
	/* Nothing was answered: asked again, with the same ticket. */
	char again[MCP_TICKET_SIZE];
	come_back(0, "x", "{}", state, "{}");
	world_pick(&world, "requestState", again, sizeof(again));
	ck_assert_str_eq(again, state);
	world_forget(&world);
	come_back(0, "x", "{}", state, "{'q1':{'action':'cancel'}}");
	world_expect(&world, "!answer x interrupted text= yes=0 chosen=\n");
	char *late =
		str_join("{@J,'id':3,'method':'tools/call','params':{@E,'name':'x','requestState':'", state,
			"','inputResponses':{'q1':" YES "}}}", NULL);
	world_say(&world, late);
	world_expect(&world, "{@J,'id':3," REFUSED);
	free(late);
	world_close(&world);
}
END_TEST

START_TEST(a_ticket_expires)
{
	open_world();
	park(0, "{}");
	world_forget(&world);
	ck_assert_uint_eq(mcp_server_deadline(world.server), 10 * SECOND);
	mcp_server_tick(world.server, 10 * SECOND - 1);
	ck_assert_uint_eq(world.log.len, 0);
	mcp_server_tick(world.server, 10 * SECOND);
	world_expect(&world, "!cancel x\n");
	come_back(0, "x", "{}", state, "{'q1':" YES "}");
	world_expect(&world, "{@J,'id':2," REFUSED);
	ck_assert_uint_eq(mcp_server_deadline(world.server), UINT64_MAX);
	world_close(&world);
}
END_TEST

START_TEST(a_parked_run_outlives_its_connection)
{
	open_world();
	ck_assert_int_eq(world_join(&world, 1, "anna"), 0);
	park(1, "{}");
	world_leave(&world, 1);
	world_forget(&world);
	ck_assert_int_eq(world_join(&world, 2, "anna"), 0);
	come_back(2, "x", "{}", state, "{'q1':" YES "}");
	world_expect(&world, "!answer x answered text= yes=1 chosen=\n");
	mcp_job_error(world_job(&world), -5, STR("t"), STR("{\"a\":1}"));
	world_expect(&world, "2: {@J,'id':2,'error':{'code':-5,'message':'t','data':{'a':1}}}\n");
	park(2, "{}");
	world_forget(&world);
	world_leave(&world, 2);
	ck_assert_uint_eq(world.log.len, 0);
	world_leave(&world, 0);
	mcp_server_free(world.server);
	world.server = NULL;
	world_expect(&world, "!cancel x\n");
	world_close(&world);
}
END_TEST

START_TEST(a_run_that_ends_while_it_is_parked_keeps_its_result)
{
	open_world();
	park(0, "{}");
	world_forget(&world);
	mcp_job_result(world_job(&world), &(struct mcp_result){ .text = STR("d") });
	ck_assert_uint_eq(world.log.len, 0);
	come_back(0, "x", "{}", state, "{}");
	world_expect(&world,
		"{@J,'id':2,'result':{'resultType':'complete','content':[{'type':'text','text':'d'}],@S}}"
		"\n");
	come_back(0, "x", "{}", state, "{}");
	world_expect(&world, "{@J,'id':2," REFUSED);
	park(0, "{}");
	mcp_job_error(world_job(&world), -7, STR("e"), (struct str){ 0 });
	world_forget(&world);
	come_back(0, "x", "{}", state, "{}");
	world_expect(&world, "{@J,'id':2,'error':{'code':-7,'message':'e'}}\n");
	/* Nobody comes: forgotten, and nothing to cancel. */
	park(0, "{}");
	mcp_job_error(world_job(&world), -7, STR("e"), (struct str){ 0 });
	world_forget(&world);
	mcp_server_tick(world.server, 10 * SECOND);
	ck_assert_uint_eq(world.log.len, 0);
	world_close(&world);
}
END_TEST

START_TEST(a_question_that_is_taken_back_leaves_the_run)
{
	open_world();
	park(0, "{}");
	world_forget(&world);
	mcp_job_withdraw(world_job(&world));
	ck_assert_int_eq(mcp_job_ask(world_job(&world), &confirm, 0), -ENOTSUP);
	come_back(0, "x", "{}", state, "{'q1':" YES "}");
	ck_assert_uint_eq(world.log.len, 0);
	mcp_job_result(world_job(&world), &(struct mcp_result){ .text = STR("d") });
	ck_assert(world_log_has(&world, "{@J,'id':2,'result':{'resultType':'complete'"));
	world_close(&world);
}
END_TEST

START_TEST(so_many_runs_may_be_parked)
{
	struct mcp_server_options options = mcp_world_options;
	options.parked_max = 5;
	options.parked_each_max = 3;
	ck_assert_int_eq(world_open(&world, &options), 0);
	ck_assert_int_eq(world_join(&world, 1, "anna"), 0);
	ck_assert_int_eq(world_join(&world, 2, "bert"), 0);
	for (int i = 0; i < 3; i++)
		park(1, "{}");
	world_say_as(&world, 1, "{@J,'id':9,'method':'tools/call','params':{@E,'name':'x'}}");
	ck_assert_int_eq(mcp_job_ask(world_job(&world), &confirm, SECOND), PERCH_ELIMIT);
	park(2, "{}");
	park(2, "{}");
	world_say_as(&world, 2, "{@J,'id':9,'method':'tools/call','params':{@E,'name':'x'}}");
	struct mcp_job *job = world_job(&world);
	ck_assert_int_eq(mcp_job_ask(job, &confirm, SECOND), PERCH_ELIMIT);
	mcp_server_tick(world.server, 10 * SECOND);
	ck_assert_int_eq(mcp_job_ask(job, &confirm, 11 * SECOND), 0);
	world_close(&world);
}
END_TEST

START_TEST(the_limits_are_64_and_8)
{
	ck_assert_int_eq(MCP_PARKED_MAX, 64);
	open_world();
	for (int i = 0; i < 8; i++)
		park(0, "{}");
	world_say(&world, "{@J,'id':9,'method':'tools/call','params':{@E,'name':'x'}}");
	ck_assert_int_eq(mcp_job_ask(world_job(&world), &confirm, SECOND), PERCH_ELIMIT);
	world_close(&world);
}
END_TEST

START_TEST(who_cannot_ask_is_not_asked)
{
	open_world();
	world_say(&world, "{@J,'id':1,'method':'tools/call','params':{@M,'name':'x'}}");
	ck_assert_int_eq(mcp_job_ask(world_job(&world), &confirm, SECOND), -ENOTSUP);
	world_say(&world, "{@J,'id':2,'method':'tools/list','params':{@E}}");
	ck_assert_int_eq(mcp_job_ask(world_job(&world), &confirm, SECOND), -ENOTSUP);
	world_say(&world, "{@J,'id':3,'method':'prompts/get','params':{@E,'name':'p'}}");
	ck_assert_int_eq(mcp_job_ask(world_job(&world), &confirm, SECOND), 0);
	world_close(&world);
}
END_TEST

/* ---- subscriptions ------------------------------------------------------------ */

#define ID(id) "'_meta':{'" PRE "subscriptionId':" id "}"

START_TEST(a_client_listens)
{
	open_world();
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
	open_world();
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

/* ---- memory ------------------------------------------------------------------- */

static int live_once(void *data)
{
	(void)data;
	struct mcp_world there;
	int r = world_open(&there, NULL);
	if (r == 0) {
		world_say(&there,
			"{@J,'id':'\\u0061','method':'subscriptions/listen','params':{@M,'notifications':{"
			"'toolsListChanged':true,'resourceSubscriptions':['u']}}}");
		mcp_server_list_changed(there.server, MCP_TOOLS);
		world_say(&there,
			"{@J,'id':1,'method':'tools/call','params':{@E,'name':'x','arguments':{'a':{}}}}");
		char ticket[MCP_TICKET_SIZE];
		if (there.job_count == 1 && mcp_job_ask(there.jobs[0], &confirm, SECOND) < 0)
			there.ran_out = true;
		world_pick(&there, "requestState", ticket, sizeof(ticket));
		char *call =
			str_join("{@J,'id':2,'method':'tools/call','params':{@E,'name':'x','arguments':"
					 "{'a':{}},'requestState':'",
				ticket, "','inputResponses':{'q1':" YES "}}}", NULL);
		if (call)
			world_say(&there, call);
		there.ran_out |= !call;
		free(call);
		if (there.job_count == 1 && !there.ran_out && !mcp_connection_is_broken(there.clients[0]) &&
			!there.log.failed)
			mcp_job_result(there.jobs[0], &(struct mcp_result){ .text = STR("d") });
		world_say(&there,
			"{@J,'id':3,'method':'tools/list','params':{'_meta':{'" PRE "protocolVersion':'x'}}}");
		bool is_broken = mcp_connection_is_broken(there.clients[0]) || there.log.failed;
		r = there.ran_out || is_broken ? -ENOMEM : 0;
		ck_assert(r < 0 || world_log_has(&there, "{@J,'id':2,'result':{'resultType':'complete'"));
	}
	world_close(&there);
	return r;
}

START_TEST(without_memory_it_says_so)
{
	ck_assert_uint_gt(oom_every(live_once, NULL), 30);
}
END_TEST

SUITE_MAIN("wire-mcp-modern", what_is_wrong_is_refused, a_server_can_be_discovered,
	results_say_who_we_are, a_request_says_which_log_it_wants, both_eras_at_one_time,
	headers_must_say_what_the_body_says, a_run_is_parked_and_goes_on,
	a_ticket_is_used_once_and_not_by_a_refusal, a_ticket_expires,
	a_parked_run_outlives_its_connection, a_run_that_ends_while_it_is_parked_keeps_its_result,
	a_question_that_is_taken_back_leaves_the_run, so_many_runs_may_be_parked,
	the_limits_are_64_and_8, who_cannot_ask_is_not_asked, a_client_listens,
	what_is_not_there_cannot_be_listened_to, so_many_may_listen, without_memory_it_says_so)

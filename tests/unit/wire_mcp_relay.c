/* The MCP server engine from strings: what a server behind us asks, handed on to the client as it
 * is, and what comes back. */
#include "harness/mcp_world.h"
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>

static struct mcp_world world;

#define FORM "{'mode':'form','message':'m','requestedSchema':{'type':'object','properties':{}}}"
#define THOUGHT "{'messages':[],'maxTokens':1}"
#define SAID "{'role':'assistant','content':{'type':'text','text':'t'},'model':'m'}"
#define CAN LEGACY_HELLO(NOW, "{'elicitation':{},'sampling':{}}")
#define CANCELLED(id)                                                  \
	"{@J,'method':'notifications/cancelled','params':{'requestId':" id \
	",'reason':'the question is no longer open'}}\n"

/* Hands it in; its number, its method, what the server calls it and its params, or "". */
static int relay(struct mcp_world *there, uint64_t number, const char *method, const char *key,
	const char *params)
{
	char *spelt = world_spell(params);
	if (!spelt)
		return -ENOMEM;
	const struct mcp_relay given = { number, method, str_from(key), str_from(spelt) };
	int r = mcp_job_relay(world_job(there), &given, 10 * SECOND);
	free(spelt);
	return r;
}

static int elicit(uint64_t number, const char *key)
{
	return relay(&world, number, "elicitation/create", key, FORM);
}

static void call_x(const char *hello)
{
	world_greet(&world, hello);
	world_say(&world, "{@J,'id':1,'method':'tools/call','params':{'name':'x'}}");
	world_forget(&world);
}

/* ---- to a legacy client ------------------------------------------------------------ */

START_TEST(a_legacy_client_gets_a_request_for_each)
{
	call_x(CAN);
	mcp_server_relay_all(world.server);
	ck_assert_int_eq(elicit(7, "k"), 0);
	ck_assert_int_eq(relay(&world, 8, "sampling/createMessage", "", THOUGHT), 0);
	ck_assert_uint_eq(world.log.len, 0);
	mcp_server_relay_all(world.server);
	world_expect(&world,
		"{@J,'id':1,'method':'elicitation/create','params':" FORM "}\n"
		"{@J,'id':2,'method':'sampling/createMessage','params':" THOUGHT "}\n");
	mcp_server_relay_all(world.server);
	ck_assert_uint_eq(world.log.len, 0);
	world_say(&world, "{@J,'id':2,'result':" SAID "}");
	world_expect(&world, "!relayed x 8 " SAID "\n");
	world_say(&world, "{@J,'id':2,'result':" SAID "}");
	world_say(&world, "{@J,'id':1,'error':{'code':-1,'message':'no window'}}");
	world_expect(&world, "!relayed x 7 (no window)\n");
	ck_assert_int_eq(elicit(9, ""), 0);
	mcp_server_relay_all(world.server);
	world_forget(&world);
	world_say(&world, "{@J,'id':3,'result':5}");
	ck_assert(world_log_has(&world, "!relayed x 9 ("));
	world_forget(&world);
	mcp_job_result(world_job(&world), &(struct mcp_result){ .text = STR("d") });
	ck_assert(world_log_has(&world, "{@J,'id':1,'result':"));
	world_close(&world);
}
END_TEST

START_TEST(what_is_no_longer_wanted_is_taken_back)
{
	call_x(CAN);
	for (uint64_t number = 1; number <= 3; number++)
		ck_assert_int_eq(elicit(number, ""), 0);
	mcp_job_unrelay(world_job(&world), 2); /* was never sent */
	mcp_job_unrelay(world_job(&world), 9);
	mcp_server_relay_all(world.server);
	world_forget(&world);
	mcp_job_unrelay(world_job(&world), 1);
	world_expect(&world, CANCELLED("1"));
	world_say(&world, "{@J,'id':1,'result':{'action':'cancel'}}");
	ck_assert_uint_eq(world.log.len, 0);
	world_say(&world, "{@J,'method':'notifications/cancelled','params':{'requestId':1}}");
	ck_assert(world_log_has(&world, "!cancel x\n") && world_log_has(&world, CANCELLED("2")));
	world_close(&world);
}
END_TEST

START_TEST(who_can_be_asked_what)
{
	call_x(LEGACY_HELLO(NOW, "{'elicitation':{}}"));
	ck_assert_int_eq(relay(&world, 1, "roots/list", "", ""), -ENOTSUP);
	ck_assert_int_eq(relay(&world, 1, "sampling/createMessage", "", THOUGHT), -ENOTSUP);
	ck_assert_int_eq(relay(&world, 1, "tools/call", "", "{}"), -ENOTSUP);
	for (uint64_t number = 1; number <= MCP_RELAYS_MAX; number++)
		ck_assert_int_eq(elicit(number, "k"), 0);
	ck_assert_int_eq(elicit(100, "k"), PERCH_ELIMIT);
	world_close(&world);
	call_x(LEGACY_HELLO(NOW, "{'roots':{}}"));
	ck_assert_int_eq(elicit(1, ""), -ENOTSUP);
	ck_assert_int_eq(relay(&world, 1, "roots/list", "", ""), 0);
	mcp_server_relay_all(world.server);
	world_expect(&world, "{@J,'id':1,'method':'roots/list'}\n");
	world_close(&world);
}
END_TEST

/* ---- to a modern client ------------------------------------------------------------ */

static char ticket[MCP_TICKET_SIZE];

static void call_modern(struct mcp_world *there)
{
	world_say(there, "{@J,'id':1,'method':'tools/call','params':{@E,'name':'x'}}");
	world_forget(there);
}

static void come_back(struct mcp_world *there, const char *responses)
{
	char *call = str_join("{@J,'id':2,'method':'tools/call','params':{@E,'name':'x',"
						  "'requestState':'",
		ticket, "','inputResponses':", responses, "}}", NULL);
	if (call)
		world_say(there, call);
	else
		there->ran_out = true;
	free(call);
}

/* What it sends when two are asked, the second by a key that the first one has. */
static void expect_both(const char *id)
{
	world_pick(&world, "requestState", ticket, sizeof(ticket));
	char *expected = str_join("{@J,'id':", id,
		",'result':{'resultType':'input_required','inputRequests':{'k':{'method':"
		"'elicitation/create','params':" FORM "},'r8':{'method':'elicitation/create','params':" FORM
		"}},'requestState':'",
		ticket, "',@S}}\n", NULL);
	world_expect(&world, expected);
	free(expected);
}

START_TEST(a_modern_client_gets_all_of_them_and_comes_back)
{
	ck_assert_int_eq(world_open(&world, NULL), 0);
	call_modern(&world);
	ck_assert_int_eq(elicit(7, "k"), 0);
	ck_assert_int_eq(elicit(8, "k"), 0);
	mcp_server_relay_all(world.server);
	expect_both("1");
	ck_assert_int_eq(elicit(9, ""), 0); /* waits for the client */
	mcp_server_relay_all(world.server);
	ck_assert_uint_eq(world.log.len, 0);
	come_back(&world, "[]");
	world_expect(&world,
		"{@J,'id':2,'error':{'code':-32602,'message':'inputResponses must be an object'}}\n");
	come_back(&world, "{'k':5,'r8':{}}");
	world_expect(&world,
		"{@J,'id':2,'error':{'code':-32602,'message':'each of inputResponses must be an "
		"object'}}\n");
	come_back(&world, "{'r8':{'action':'cancel'}}");
	expect_both("2");
	come_back(&world, "{'k':{'action':'cancel'},'r8':{'action':'decline'}}");
	world_expect(&world, "!relayed x 7 {'action':'cancel'}\n!relayed x 8 {'action':'decline'}\n");
	mcp_server_relay_all(world.server);
	ck_assert(world_log_has(&world, "'inputRequests':{'r9':{'method':'elicitation/create'"));
	world_close(&world);
}
END_TEST

START_TEST(where_nothing_can_be_parked_nobody_is_asked)
{
	struct mcp_server_options options = mcp_world_options;
	options.parked_each_max = 1;
	ck_assert_int_eq(world_open(&world, &options), 0);
	for (int i = 0; i < 2; i++) {
		call_modern(&world);
		ck_assert_int_eq(elicit(7, ""), 0);
		mcp_server_relay_all(world.server);
	}
	world_expect(&world, "!relayed x 7 (too many questions are open)\n");
	world_close(&world);
}
END_TEST

/* ---- without memory ---------------------------------------------------------------- */

/* Asks in the one call that there is; the answer has come back where all went well. */
static int ask_and_end(struct mcp_world *there, const char *key)
{
	if (there->job_count == 1 && relay(there, 1, "elicitation/create", key, FORM) < 0)
		there->ran_out = true;
	mcp_server_relay_all(there->server);
	world_pick(there, "requestState", ticket, sizeof(ticket));
	if (ticket[0])
		come_back(there, "{'k':{'action':'cancel'}}");
	else
		world_say(there, "{@J,'id':1,'result':{'action':'cancel'}}");
	bool is_told = world_log_has(there, "!relayed x 1 {'action':'cancel'}\n");
	bool is_broken = mcp_connection_is_broken(there->clients[0]) || there->log.failed;
	int r = there->ran_out || is_broken || !is_told ? -ENOMEM : 0;
	world_close(there);
	return r;
}

static int live_legacy(void *data)
{
	struct mcp_world *there = data;
	if (world_open(there, NULL) == 0) {
		world_say(there, CAN);
		world_say(there, "{@J,'id':1,'method':'tools/call','params':{'name':'x'}}");
		return ask_and_end(there, "");
	}
	world_close(there);
	return -ENOMEM;
}

static int live_modern(void *data)
{
	struct mcp_world *there = data;
	if (world_open(there, NULL) == 0) {
		call_modern(there);
		return ask_and_end(there, "k");
	}
	world_close(there);
	return -ENOMEM;
}

START_TEST(without_memory_it_says_so)
{
	ck_assert_uint_gt(oom_every(live_legacy, &world), 10);
	ck_assert_uint_gt(oom_every(live_modern, &world), 10);
}
END_TEST

SUITE_MAIN("wire-mcp-relay", a_legacy_client_gets_a_request_for_each,
	what_is_no_longer_wanted_is_taken_back, who_can_be_asked_what,
	a_modern_client_gets_all_of_them_and_comes_back, where_nothing_can_be_parked_nobody_is_asked,
	without_memory_it_says_so)

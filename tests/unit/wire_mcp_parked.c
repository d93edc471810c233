/* The MCP server engine from strings: runs of modern clients that wait for an answer, and
 * their tickets. */
#include "harness/mcp_world.h"
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>

#define PRE "io.modelcontextprotocol/"

static struct mcp_world world;

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
	ck_assert_int_eq(world_open(&world, NULL), 0);
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
	ck_assert_int_eq(world_open(&world, NULL), 0);
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
	ck_assert_int_eq(world_open(&world, NULL), 0);
	park(0, "{}");
	world_forget(&world);
	ck_assert_uint_eq(mcp_server_deadline(world.server), 10 * SECOND);
	mcp_server_tick(world.server, 10 * SECOND - 1);
	ck_assert_uint_eq(world.log.len, 0);
	mcp_server_tick(world.server, 10 * SECOND);
	world_expect(&world, "!cancel x (nobody has answered in time)\n");
	come_back(0, "x", "{}", state, "{'q1':" YES "}");
	world_expect(&world, "{@J,'id':2," REFUSED);
	ck_assert_uint_eq(mcp_server_deadline(world.server), UINT64_MAX);
	world_close(&world);
}
END_TEST

START_TEST(a_parked_run_outlives_its_connection)
{
	ck_assert_int_eq(world_open(&world, NULL), 0);
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
	world_expect(&world, "!cancel x (the server ends)\n");
	world_close(&world);
}
END_TEST

START_TEST(a_run_that_ends_while_it_is_parked_keeps_its_result)
{
	ck_assert_int_eq(world_open(&world, NULL), 0);
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
	ck_assert_int_eq(world_open(&world, NULL), 0);
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
	ck_assert_int_eq(world_open(&world, NULL), 0);
	for (int i = 0; i < 8; i++)
		park(0, "{}");
	world_say(&world, "{@J,'id':9,'method':'tools/call','params':{@E,'name':'x'}}");
	ck_assert_int_eq(mcp_job_ask(world_job(&world), &confirm, SECOND), PERCH_ELIMIT);
	world_close(&world);
}
END_TEST

START_TEST(who_cannot_ask_is_not_asked)
{
	ck_assert_int_eq(world_open(&world, NULL), 0);
	world_say(&world, "{@J,'id':1,'method':'tools/call','params':{@M,'name':'x'}}");
	ck_assert_int_eq(mcp_job_ask(world_job(&world), &confirm, SECOND), -ENOTSUP);
	world_say(&world, "{@J,'id':2,'method':'tools/list','params':{@E}}");
	ck_assert_int_eq(mcp_job_ask(world_job(&world), &confirm, SECOND), -ENOTSUP);
	world_say(&world, "{@J,'id':3,'method':'prompts/get','params':{@E,'name':'p'}}");
	ck_assert_int_eq(mcp_job_ask(world_job(&world), &confirm, SECOND), 0);
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

SUITE_MAIN("wire-mcp-parked", a_run_is_parked_and_goes_on,
	a_ticket_is_used_once_and_not_by_a_refusal, a_ticket_expires,
	a_parked_run_outlives_its_connection, a_run_that_ends_while_it_is_parked_keeps_its_result,
	a_question_that_is_taken_back_leaves_the_run, so_many_runs_may_be_parked,
	the_limits_are_64_and_8, who_cannot_ask_is_not_asked, without_memory_it_says_so)

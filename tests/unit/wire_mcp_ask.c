/* The MCP server engine from strings: questions to legacy clients, changes they are told of,
 * many requests, and no memory. */
#include "harness/mcp_world.h"
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>

static struct mcp_world world;

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
	world_greet(&world, hello);
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

/* ---- changes ----------------------------------------------------------------- */

START_TEST(changes_are_told)
{
	ck_assert_int_eq(world_open(&world, NULL), 0);
	world_say(&world, LEGACY_HELLO(NOW, "{}"));
	world_forget(&world);
	mcp_server_list_changed(world.server, MCP_TOOLS);
	ck_assert_uint_eq(world.log.len, 0);
	world_say(&world, "{@J,'method':'notifications/initialized'}");
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
	world_greet(&world, LEGACY_HELLO(NOW, "{}"));
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
	world_greet(&world, LEGACY_HELLO(NOW, "{}"));
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
			mcp_job_list(there.jobs[3], 1, mcp_world_write_tool, (void *)&mcp_world_tool);
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

SUITE_MAIN("wire-mcp-ask", a_question_is_a_request_of_ours, a_question_is_taken_back,
	who_can_be_asked, changes_are_told, subscriptions_are_bounded, ten_thousand_requests_at_once,
	without_memory_it_says_so)

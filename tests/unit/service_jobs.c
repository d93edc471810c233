/* Jobs of a service: what each kind tells, that each ends once whenever it is cancelled, limits,
 * order, time, and that one which is held holds nobody else. */
#include "harness/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/proc.h"
#include "harness/served.h"

#define A_MOMENT_NS UINT64_C(50000000)
#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* ---- the kinds ------------------------------------------------------------- */

START_TEST(a_call_of_a_tool)
{
	struct served_job job = { 0 };
	served_open(NULL);
	served_bind("echo", "echo", "");
	perch_job_request request = served_tool("echo/t.x", "{\"n\":1}");
	request.caller.name = "ann";
	request.caller.client = "test/1";
	served_submit(request, &job);
	ck_assert_str_eq(served_wait(&job), "start: result: {\"n\":1} end: ");
	ck_assert(job.end.success && job.end.exit_code == 0);
	ck_assert_ptr_nonnull(job.end.tool);
	char *audit = folder_read(folder_path("state/perch/audit.jsonl"));
	ck_assert_ptr_nonnull(strstr(audit, "\"caller\":\"ann\",\"client\":\"test/1\""));
	ck_assert_ptr_nonnull(strstr(audit, "\"approval\":\"binding\""));
	free(audit);
	served_free(&job);
	served_close();
}
END_TEST

START_TEST(what_is_wrong_with_a_tool_is_its_result)
{
	struct served_job missing = { 0 };
	struct served_job nameless = { 0 };
	struct served_job refused = { .frees = true };
	served_open(NULL);
	served_bind("no", "refuse", "");
	served_submit(served_tool("missing/t.x", NULL), &missing);
	served_submit(served_tool("no/t.x", NULL), &refused);
	ck_assert_int_eq(served_try(served_tool("nothing", NULL), &nameless, NULL), -EINVAL);
	ck_assert_ptr_nonnull(strstr(served_wait(&missing), "no tool is bound as 'missing'"));
	ck_assert_int_eq(missing.code, PERCH_TOOL_INVALID_REQUEST);
	ck_assert_int_eq(missing.end.exit_code, 64);
	served_wait(&refused);
	ck_assert_int_eq(refused.code, PERCH_TOOL_EXECUTION_ERROR);
	ck_assert_int_eq(refused.end.exit_code, 1);
	char *lines = folder_run("wc -l <state/perch/audit.jsonl");
	ck_assert_int_eq(atoi(lines), 2);
	free(lines);
	served_free(&missing);
	served_free(&refused);
	served_close();
}
END_TEST

START_TEST(a_run_of_a_command)
{
	struct served_job job = { 0 };
	struct served_job unknown = { 0 };
	served_open(NULL);
	served_submit(served_command(ARGS("hello")), &job);
	const char *log = served_wait(&job);
	ck_assert_msg(strstr(log, "start: ") == log && strstr(log, "shown:hello\n "), "%s", log);
	ck_assert(job.end.success && job.end.run);
	perch_job_request request = served_command(NULL);
	request.name = "nowhere";
	served_submit(request, &unknown);
	log = served_wait(&unknown);
	ck_assert_msg(strstr(log, "error:start"), "%s", log);
	ck_assert_int_eq(unknown.end.exit_code, 127);
	served_free(&job);
	served_free(&unknown);
	served_close();
}
END_TEST

/* How a command is run: by whom its questions are answered, in which sandbox; and its trace. */
START_TEST(a_run_with_options_of_its_own)
{
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	perch_fledge_options run = PERCH_FLEDGE_OPTIONS_INIT;
	struct served_job strict = { 0 };
	struct served_job confined = { 0 };
	struct served_job loose = { 0 };
	served_open(NULL); /* the home */
	served_close();
	options.trace = folder_path("trace");
	served_open(&options);
	perch_job_request request = served_command(ARGS("ask"));
	run.asking = PERCH_ASKING_STRICT;
	request.run = &run;
	served_submit(request, &strict);
	served_wait(&strict);
	ck_assert(!strict.end.success && !strict.asked);
	request = served_command(ARGS("hello"));
	request.sandbox = PERCH_SANDBOX_ON;
	served_submit(request, &confined);
	served_wait(&confined);
	request.sandbox = PERCH_SANDBOX_OFF;
	served_submit(request, &loose);
	served_wait(&loose);
	ck_assert(confined.is_confined && !loose.is_confined && loose.end.success);
	served_free(&strict);
	served_free(&confined);
	served_free(&loose);
	served_close();
	struct buf trace = { 0 };
	ck_assert_int_eq(file_read(folder_path("trace"), 1 << 20, &trace, NULL), 0);
	buf_terminate(&trace);
	ck_assert_ptr_nonnull(strstr(trace.data, "{\"trace\":1"));
	ck_assert_ptr_nonnull(strstr(trace.data, "\"args\":[\"ask\"]"));
	ck_assert_ptr_nonnull(strstr(trace.data, "hello"));
	buf_free(&trace);
}
END_TEST

START_TEST(questions_have_one_number)
{
	struct served_job job = { .answers = true };
	struct served_job open = { 0 };
	const struct served *served = served_open(NULL);
	served_submit(served_command(ARGS("ask")), &job);
	const char *log = served_wait(&job);
	ck_assert_uint_eq(job.asked, 4);
	ck_assert_msg(strstr(log, "\"me\"") && strstr(log, "true"), "%s", log);
	/* What is no answer leaves it open; a cancel interrupts the run. */
	served_submit(served_command(ARGS("ask")), &open);
	while (!open.asked)
		perch_host_wait(served->host, -1);
	perch_answer answer = PERCH_ANSWER_INIT;
	answer.text = "";
	ck_assert_int_eq(perch_job_answer(open.job, 1, &answer, NULL), -EINVAL);
	ck_assert_int_eq(perch_job_answer(open.job, 2, &answer, NULL), -ESTALE);
	answer.cancel = true;
	ck_assert_int_eq(perch_job_answer(open.job, 1, &answer, NULL), 0);
	served_wait(&open);
	ck_assert(!open.end.success);
	served_free(&job);
	served_free(&open);
	served_close();
}
END_TEST

START_TEST(nobody_can_be_asked)
{
	struct served_job job = { 0 };
	served_open(NULL);
	perch_job_request request = served_command(ARGS("ask"));
	request.non_interactive = true;
	request.answers = ARGS("Name?=given");
	served_submit(request, &job);
	const char *log = served_wait(&job);
	ck_assert_msg(strstr(log, "given") && !strstr(log, "ask:"), "%s", log);
	served_free(&job);
	served_close();
}
END_TEST

static const char *agent_command(void)
{
	static char path[8192];
	return proc_in_build("agent", path, sizeof(path));
}

START_TEST(a_turn_of_an_agent)
{
	struct served_job job = { 0 };
	struct served_job again = { 0 };
	struct served_job unknown = { 0 };
	perch_err err = { 0 };
	served_open(NULL);
	folder_write("config/perch/agents/bot.yaml", "");
	char text[9000];
	snprintf(text, sizeof(text), "command: \"%s\"\nstdin: message\n", agent_command());
	folder_write("config/perch/agents/bot.yaml", text);
	perch_job_request request = served_turn("bot", "hello you", "s");
	request.caller.name = "ann";
	served_submit(request, &job);
	const char *log = served_wait(&job);
	ck_assert_msg(strstr(log, "start: ") == log && strstr(log, "reply:"), "%s", log);
	ck_assert(job.end.success && job.end.turn);
	served_submit(served_turn("bot", "and again", "s"), &again);
	served_wait(&again);
	ck_assert(again.end.success);
	ck_assert_int_eq(served_try(served_turn("nobody", "x", NULL), &unknown, &err), -ENOENT);
	ck_assert_str_eq(err.text, "there is no agent 'nobody'");
	ck_assert_int_eq(served_try(served_turn("../bot", "x", NULL), &unknown, NULL), -ENOENT);
	served_free(&job);
	served_free(&again);
	served_close();

	perch_sessions *sessions;
	const perch_session *list;
	size_t count;
	ck_assert_int_eq(perch_sessions_open(&sessions, NULL), 0);
	ck_assert_int_eq(perch_sessions_list(sessions, NULL, &list, &count, NULL), 0);
	ck_assert_uint_eq(count, 2); /* ann's, and nobody's */
	ck_assert_str_eq(list[0].name, "s");
	ck_assert_str_eq(list[1].from[0] ? list[1].from : list[0].from, "ann");
	char *profile = strdup(list[0].profile);
	ck_assert_int_eq(perch_sessions_forget(sessions, profile, "ann", "s", NULL), 1);
	ck_assert_int_eq(perch_sessions_forget(sessions, profile, "ann", "s", NULL), 0);
	free(profile);
	perch_sessions_free(sessions);
}
END_TEST

/* It asks twice at once, and replies with what it was told. */
static void write_asker(void)
{
	folder_write("asker.sh",
		"read turn\n"
		"echo '{\"type\":\"permission_request\",\"request_id\":\"a\",\"tool_name\":\"sh\","
		"\"input\":{\"x\":1}}'\n"
		"echo '{\"type\":\"permission_request\",\"request_id\":\"b\",\"tool_name\":\"rm\"}'\n"
		"read first; read second\n"
		"case $first in *allow*) first=yes ;; *) first=no ;; esac\n"
		"case $second in *allow*) second=yes ;; *) second=no ;; esac\n"
		"echo \"{\\\"type\\\":\\\"result\\\",\\\"text\\\":\\\"$first $second\\\"}\"\n");
	char text[4200];
	snprintf(text, sizeof(text), "protocol: '0.4'\ncommand: sh\nargs: [\"%s\"]\npermission: true\n",
		folder_path("asker.sh"));
	folder_write("config/perch/agents/asker.yaml", text);
}

START_TEST(permissions_of_an_agent)
{
	struct served_job job = { 0 };
	struct served_job alone = { 0 };
	struct served_job cancelled = { 0 };
	const struct served *served = served_open(NULL);
	write_asker();
	served_submit(served_turn("asker", "x", NULL), &job);
	while (job.asked < 2)
		perch_host_wait(served->host, -1);
	ck_assert_int_eq(job.ask_kind, PERCH_ASK_PERMISSION);
	perch_answer answer = PERCH_ANSWER_INIT;
	answer.option = "other";
	ck_assert_int_eq(perch_job_answer(job.job, 2, &answer, NULL), -EINVAL);
	answer.option = NULL;
	ck_assert_int_eq(perch_job_answer(job.job, 2, &answer, NULL), 0);
	ck_assert_int_eq(perch_job_answer(job.job, 2, &answer, NULL), -ESTALE);
	answer.yes = true;
	ck_assert_int_eq(perch_job_answer(job.job, 1, &answer, NULL), 0);
	ck_assert_msg(strstr(served_wait(&job), "reply:yes no "), "%s", served_log(&job));
	perch_job_request request = served_turn("asker", "x", NULL);
	request.non_interactive = true;
	served_submit(request, &alone);
	ck_assert_msg(strstr(served_wait(&alone), "reply:no no "), "%s", served_log(&alone));
	served_submit(served_turn("asker", "x", NULL), &cancelled);
	while (cancelled.asked < 2)
		perch_host_wait(served->host, -1);
	perch_job_cancel(cancelled.job, SIGTERM);
	ck_assert_ptr_nonnull(strstr(served_wait(&cancelled), "withdraw: withdraw: "));
	ck_assert_int_eq(perch_job_answer(cancelled.job, 1, &answer, NULL), -ESTALE);
	served_free(&job);
	served_free(&alone);
	served_free(&cancelled);
	served_close();
}
END_TEST

START_TEST(what_an_agent_thinks_and_uses)
{
	struct served_job job = { 0 };
	served_open(NULL);
	folder_write("thinker.sh",
		"read turn\n"
		"echo '{\"type\":\"partial\",\"role\":\"thinking\",\"text\":\"hm\"}'\n"
		"echo '{\"type\":\"result\",\"text\":\"yes\",\"usage\":{\"tokens\":2}}'\n");
	char text[4200];
	snprintf(text, sizeof(text), "protocol: '0.4'\ncommand: sh\nargs: [\"%s\"]\n",
		folder_path("thinker.sh"));
	folder_write("config/perch/agents/thinker.yaml", text);
	served_submit(served_turn("thinker", "x", NULL), &job);
	ck_assert_str_eq(served_wait(&job), "start: thinking:hm usage:{\"tokens\":2} reply:yes end: ");
	served_free(&job);
	served_close();
}
END_TEST

/* ---- approval -------------------------------------------------------------- */

#define ASKS "[[tools]]\nname = \"t.x\"\nask = true\n"

START_TEST(a_tool_that_asks)
{
	struct served_job yes = { .answers = true };
	struct served_job no = { .answers = true, .is_no = true };
	struct served_job alone = { 0 };
	struct served_job given = { 0 };
	served_open(NULL);
	served_bind("echo", "echo", ASKS);
	served_submit(served_tool("echo/t.x", NULL), &yes);
	ck_assert_str_eq(served_wait(&yes), "ask: start: result: {} end: ");
	ck_assert_int_eq(yes.ask_kind, PERCH_ASK_APPROVAL);
	served_submit(served_tool("echo/t.x", NULL), &no);
	ck_assert_str_eq(served_wait(&no), "ask: result: rather not end: ");
	ck_assert_int_eq(no.code, PERCH_TOOL_INVALID_REQUEST);
	perch_job_request request = served_tool("echo/t.x", NULL);
	request.non_interactive = true;
	served_submit(request, &alone);
	ck_assert_ptr_nonnull(strstr(served_wait(&alone), "nobody can be asked"));
	request.approved_by = "page";
	served_submit(request, &given);
	ck_assert_str_eq(served_wait(&given), "start: result: {} end: ");
	char *audit = folder_run("grep -o '\"approval\":\"[a-z]*\"' state/perch/audit.jsonl");
	ck_assert_str_eq(audit,
		"\"approval\":\"tester\"\n\"approval\":\"none\"\n\"approval\":\"none\"\n\"approval\":"
		"\"page\"");
	free(audit);
	served_free(&yes);
	served_free(&no);
	served_free(&alone);
	served_free(&given);
	served_close();
}
END_TEST

START_TEST(an_approval_that_is_pending_takes_no_place)
{
	struct served_job asks = { 0 };
	struct served_job other = { 0 };
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.max_jobs = 1;
	served_open(&options);
	served_bind("asks", "echo", ASKS);
	served_bind("echo", "echo", "");
	served_submit(served_tool("asks/t.x", NULL), &asks);
	served_submit(served_tool("echo/t.x", NULL), &other);
	served_wait(&other);
	ck_assert(other.end.success && asks.asked == 1 && !asks.has_ended);
	perch_job_cancel(asks.job, SIGTERM);
	ck_assert_int_eq(perch_job_answer(asks.job, 1, &(perch_answer){ 0 }, NULL), -ESTALE);
	ck_assert_str_eq(
		served_wait(&asks), "ask: withdraw: result: the call was cancelled before it began end: ");
	ck_assert(asks.end.was_cancelled);
	served_free(&asks);
	served_free(&other);
	served_close();
}
END_TEST

static bool say_yes(void *data, const char *tool, const char *input)
{
	ck_assert_str_eq(tool, "t.x");
	ck_assert_str_eq(input, "{}");
	return *(bool *)data;
}

START_TEST(the_librarys_calls_ask_too)
{
	struct served *served = served_open(NULL);
	served_bind("echo", "echo", ASKS);
	bool is_yes = true;
	perch_tool_binding *binding;
	perch_tool_call *call;
	perch_tool_pool *pool;
	ck_assert_int_eq(perch_tool_binding_find("echo", &binding, NULL), 0);
	perch_tool_request request = PERCH_TOOL_REQUEST_INIT;
	request.tool = "t.x";
	request.caller = "eve";
	request.data = &is_yes;
	ck_assert_int_eq(perch_tool_call_run(served->host, binding, &request, &call, NULL), 0);
	ck_assert_int_eq(perch_tool_call_result(call)->code, PERCH_TOOL_INVALID_REQUEST);
	ck_assert_ptr_nonnull(strstr(perch_tool_call_result(call)->message.data, "nobody said yes"));
	perch_tool_call_free(call);
	request.approve = say_yes;
	ck_assert_int_eq(perch_tool_call_run(served->host, binding, &request, &call, NULL), 0);
	ck_assert_int_eq(perch_tool_call_result(call)->code, PERCH_TOOL_OK);
	perch_tool_call_free(call);
	is_yes = false;
	ck_assert_int_eq(perch_tool_pool_new(served->host, &pool, NULL), 0);
	ck_assert_int_eq(perch_tool_pool_call(pool, binding, &request, &call, NULL), 0);
	while (!perch_tool_call_result(call))
		perch_host_wait(served->host, -1);
	ck_assert_int_eq(perch_tool_call_result(call)->code, PERCH_TOOL_INVALID_REQUEST);
	perch_tool_call_free(call);
	perch_tool_pool_free(pool);
	perch_tool_binding_free(binding);
	char *audit = folder_run("grep -c '\"caller\":\"eve\"' state/perch/audit.jsonl");
	ck_assert_str_eq(audit, "3");
	free(audit);
	served_close();
}
END_TEST

START_TEST(what_must_be_recorded_is_not_called)
{
	struct served_job job = { 0 };
	served_open(NULL);
	served_close();
	folder_write("config/perch/config.toml", "audit = \"required\"\n");
	free(folder_run("mkdir -p state/perch/audit.jsonl"));
	served_open(NULL);
	served_bind("echo", "echo", "");
	served_submit(served_tool("echo/t.x", NULL), &job);
	ck_assert_ptr_nonnull(strstr(served_wait(&job), "the audit log is required"));
	ck_assert_int_eq(job.code, PERCH_TOOL_LAUNCH_FAILED);
	served_free(&job);
	served_close();
}
END_TEST

/* ---- the end, whenever it comes --------------------------------------------- */

START_TEST(cancelled_in_each_state)
{
	struct served_job running = { 0 };
	struct served_job waiting = { 0 };
	struct served_job command = { .cancels = true };
	struct served_job turn = { .cancels = true };
	struct served_job behind = { 0 };
	struct served_job ended = { 0 };
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.max_jobs = 1;
	served_open(&options);
	served_bind("silent", "silent", "");
	served_bind("echo", "echo", "");
	served_profile("sleeper", "sleep 60");
	served_submit(served_tool("silent/t.x", NULL), &running);
	served_submit(served_tool("echo/t.x", NULL), &waiting);
	served_submit(served_turn("sleeper", "x", "s"), &turn);
	served_submit(served_turn("sleeper", "x", "s"), &behind);
	served_submit(served_command(ARGS("wait")), &command);
	served_submit(served_tool("echo/t.x", NULL), &ended);
	served_until(&running.has_started);
	ck_assert_uint_eq(perch_job_position(running.job), 0);
	ck_assert_uint_eq(perch_job_position(waiting.job), 1);
	perch_job_cancel(waiting.job, SIGINT);
	perch_job_cancel(waiting.job, SIGINT);
	perch_job_cancel(behind.job, SIGINT);
	perch_job_cancel(running.job, SIGTERM);
	served_wait(&waiting);
	served_wait(&running);
	ck_assert_int_eq(waiting.code, PERCH_TOOL_CANCELLED);
	ck_assert_uint_eq(waiting.starts, 0);
	ck_assert_int_eq(running.code, PERCH_TOOL_CANCELLED);
	const char *log = served_wait(&behind);
	ck_assert_str_eq(log, "error:cancelledcancelled end: ");
	ck_assert_int_eq(behind.end.exit_code, 130);
	served_wait(&turn);
	ck_assert(turn.end.was_cancelled && turn.end.exit_code == 143);
	served_wait(&command);
	ck_assert_int_eq(command.end.exit_code, 143);
	served_wait(&ended);
	perch_job_cancel(ended.job, SIGTERM);
	ck_assert(ended.end.success);
	struct served_job *all[] = { &running, &waiting, &command, &turn, &behind, &ended };
	for (size_t i = 0; i < COUNT(all); i++)
		served_free(all[i]);
	served_close();
}
END_TEST

START_TEST(freed_in_each_state)
{
	struct served_job jobs[6] = { 0 };
	struct served *served;
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.max_jobs = 2;
	served = served_open(&options);
	served_bind("silent", "silent", "");
	served_bind("asks", "echo", ASKS);
	served_profile("sleeper", "sleep 60");
	served_submit(served_tool("asks/t.x", NULL), &jobs[0]);
	served_submit(served_tool("silent/t.x", NULL), &jobs[1]);
	served_submit(served_turn("sleeper", "x", "s"), &jobs[2]);
	served_submit(served_turn("sleeper", "x", "s"), &jobs[3]);
	served_until(&jobs[1].has_started);
	served_until(&jobs[2].has_started);
	served_submit(served_tool("silent/t.x", NULL), &jobs[4]);
	ck_assert_uint_eq(perch_service_jobs(served->service), 5);
	served_free(&jobs[0]);
	served_free(&jobs[4]);
	served_free(&jobs[2]);
	ck_assert_uint_eq(perch_service_jobs(served->service), 2);
	served_until(&jobs[3].has_started); /* the session is free, and the place */
	buf_free(&jobs[1].log);
	buf_free(&jobs[3].log);
	served_close(); /* the rest goes with the service */
}
END_TEST

START_TEST(time_is_up)
{
	struct served_job tool = { 0 };
	struct served_job waits = { 0 };
	struct served_job turn = { 0 };
	struct served_job command = { 0 };
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.max_jobs = 3;
	served_open(&options);
	served_bind("silent", "silent-later", "");
	served_profile("sleeper", "sleep 60");
	perch_job_request request = served_tool("silent/t.x", NULL);
	request.timeout_ns = 20 * A_MOMENT_NS;
	served_submit(request, &tool);
	request = served_turn("sleeper", "x", NULL);
	request.timeout_ns = 20 * A_MOMENT_NS;
	served_submit(request, &turn);
	served_until(&turn.has_started);
	request = served_command(ARGS("wait"));
	request.timeout_ns = 20 * A_MOMENT_NS;
	served_submit(request, &command);
	served_until(&command.has_started);
	request = served_tool("silent/t.x", NULL);
	request.timeout_ns = A_MOMENT_NS;
	served_submit(request, &waits);
	served_wait(&waits);
	served_wait(&tool);
	served_wait(&turn);
	served_wait(&command);
	ck_assert(waits.end.timed_out && waits.code == PERCH_TOOL_TIMEOUT && !waits.starts);
	ck_assert(tool.end.timed_out && tool.code == PERCH_TOOL_TIMEOUT);
	ck_assert(turn.end.timed_out && turn.end.exit_code == 124);
	ck_assert(command.end.timed_out && !command.end.success);
	served_free(&tool);
	served_free(&waits);
	served_free(&turn);
	served_free(&command);
	served_close();
}
END_TEST

/* ---- limits, order, back-pressure ------------------------------------------- */

START_TEST(a_queue_that_is_full)
{
	struct served_job jobs[5] = { 0 };
	struct served_job more = { 0 };
	perch_err err = { 0 };
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.max_jobs = 2;
	options.queue = 2;
	options.queue_bytes = 1000;
	struct served *served = served_open(&options);
	served_bind("silent", "silent", "");
	for (size_t i = 0; i < 4; i++)
		served_submit(served_tool("silent/t.x", NULL), &jobs[i]);
	ck_assert_int_eq(served_try(served_tool("silent/t.x", NULL), &more, &err), -EBUSY);
	ck_assert_str_eq(err.text, "2 calls run and 2 wait, as many as may");
	served_until(&jobs[1].has_started);
	ck_assert_int_eq(served_try(served_tool("silent/t.x", NULL), &more, &err), -EBUSY);
	perch_job_cancel(jobs[3].job, SIGTERM);
	served_wait(&jobs[3]);
	char long_input[1200];
	snprintf(long_input, sizeof(long_input), "\"%01100d\"", 1);
	ck_assert_int_eq(served_try(served_tool("silent/t.x", long_input), &more, &err), -EBUSY);
	ck_assert_ptr_nonnull(strstr(err.text, "too much text"));
	served_submit(served_tool("silent/t.x", NULL), &jobs[4]);
	perch_service_close(served->service);
	ck_assert_int_eq(served_try(served_tool("silent/t.x", NULL), &more, &err), -ESHUTDOWN);
	perch_service_cancel(served->service, SIGTERM);
	for (size_t i = 0; i < COUNT(jobs); i++) {
		served_wait(&jobs[i]);
		served_free(&jobs[i]);
	}
	ck_assert_uint_eq(perch_service_jobs(served->service), 0);
	served_close();
}
END_TEST

START_TEST(nobody_waits_where_none_may)
{
	struct served_job first = { 0 };
	struct served_job second = { 0 };
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.max_jobs = 2;
	options.queue = SIZE_MAX;
	served_open(&options);
	served_profile("sleeper", "sleep 60");
	served_submit(served_turn("sleeper", "x", "s"), &first);
	ck_assert_int_eq(served_try(served_turn("sleeper", "x", "s"), &second, NULL), -EBUSY);
	served_submit(served_turn("sleeper", "x", "t"), &second);
	served_free(&first);
	served_free(&second);
	served_close();
}
END_TEST

enum { THOUSAND = 1000 };

START_TEST(a_thousand_jobs)
{
	static struct served_job jobs[THOUSAND];
	struct served *served = served_open(NULL);
	served_bind("echo", "fast", "[sandbox]\nmode = \"off\"\n");
	for (size_t i = 0; i < THOUSAND; i++) {
		jobs[i].frees = true;
		served_submit(served_tool("echo/t.x", NULL), &jobs[i]);
	}
	ck_assert_uint_eq(perch_service_jobs(served->service), THOUSAND);
	ck_assert_uint_eq(perch_job_position(jobs[THOUSAND - 1].job), THOUSAND);
	for (size_t i = 0; i < THOUSAND; i++) {
		served_wait(&jobs[i]);
		ck_assert_int_eq(jobs[i].code, PERCH_TOOL_OK);
		served_free(&jobs[i]);
	}
	served_close();
}
END_TEST

static void order_of(bool no_store)
{
	enum { TURNS = 24, SESSIONS = 3 };
	static struct served_job jobs[TURNS];
	memset(jobs, 0, sizeof(jobs));
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.max_jobs = 4;
	options.no_store = no_store;
	served_open(&options);
	/* Whoever finds the marker of its session has met another one of it. */
	served_profile(
		"bot", "sh\nargs: [\"-c\", \"mkdir $AGENT_SESSION_NAME && rmdir $AGENT_SESSION_NAME\"]");
	for (int i = 0; i < TURNS; i++) {
		char session[8];
		snprintf(session, sizeof(session), "s%d", i % SESSIONS);
		perch_job_request request = served_turn("bot", "x", session);
		request.cwd = folder_path("project");
		served_submit(request, &jobs[i]);
	}
	for (int i = 0; i < TURNS; i++) {
		served_wait(&jobs[i]);
		ck_assert_msg(jobs[i].end.success, "%d: %s", i, served_log(&jobs[i]));
		for (int k = i + SESSIONS; k < TURNS; k += SESSIONS)
			ck_assert(!jobs[k].has_ended || jobs[i].has_ended);
	}
	for (int i = 0; i < TURNS; i++)
		served_free(&jobs[i]);
	served_close();
}

START_TEST(turns_of_a_session_run_in_order)
{
	order_of(false);
}
END_TEST

START_TEST(turns_of_a_session_run_in_order_where_nothing_is_stored)
{
	order_of(true);
}
END_TEST

START_TEST(one_that_is_held_holds_nobody_else)
{
	struct served_job held = { .holds = true };
	struct served_job free_one = { 0 };
	struct served_job tool = { .holds = true };
	struct served_job command = { .holds = true };
	struct served_job waits = { 0 };
	served_open(NULL);
	served_bind("echo", "echo", "");
	served_profile("talker", "sh\nargs: [\"-c\", \"echo AGENT_PARTIAL:1; echo done\"]");
	served_submit(served_turn("talker", "x", "a"), &held);
	served_submit(served_tool("echo/t.x", NULL), &tool);
	served_submit(served_command(ARGS("hello")), &command);
	served_submit(served_tool("echo/t.x", NULL), &waits);
	perch_job_hold(waits.job, true);
	served_until(&command.has_started);
	served_until(&tool.has_started);
	served_until(&held.has_started);
	size_t before = held.log.len;
	for (int i = 0; i < 4; i++) {
		struct served_job other = { 0 };
		served_submit(served_tool("echo/t.x", NULL), &other);
		served_wait(&other);
		served_free(&other);
	}
	served_submit(served_turn("talker", "x", "b"), &free_one);
	served_wait(&free_one);
	ck_assert_uint_eq(held.log.len, before);
	ck_assert(!held.has_ended);
	ck_assert(!tool.has_ended);
	ck_assert(!command.has_ended);
	ck_assert(!waits.has_started);
	perch_job_hold(held.job, false);
	perch_job_hold(tool.job, false);
	perch_job_hold(command.job, false);
	perch_job_hold(waits.job, false);
	served_wait(&held);
	served_wait(&tool);
	served_wait(&command);
	served_wait(&waits);
	ck_assert(held.end.success && tool.end.success && command.end.success && waits.end.success);
	served_free(&held);
	served_free(&free_one);
	served_free(&tool);
	served_free(&command);
	served_free(&waits);
	served_close();
}
END_TEST

/* ---- what is on disk -------------------------------------------------------- */

static int64_t turns_at_end;

static void look_at_end(perch_job *job, void *data, const perch_event *event)
{
	(void)job;
	perch_sessions *sessions;
	const perch_session *list;
	size_t count;
	if (event->kind != PERCH_EVENT_END)
		return;
	ck_assert_int_eq(perch_sessions_open(&sessions, NULL), 0);
	ck_assert_int_eq(perch_sessions_list(sessions, NULL, &list, &count, NULL), 0);
	ck_assert_uint_eq(count, 1);
	turns_at_end = list[0].turns;
	perch_sessions_free(sessions);
	*(bool *)data = true;
}

START_TEST(the_end_of_a_turn_is_recorded_before_it_is_told)
{
	struct served *served = served_open(NULL);
	served_profile("bot", "echo");
	for (int64_t i = 1; i <= 3; i++) {
		bool is_over = false;
		perch_job *job;
		perch_job_request request = served_turn("bot", "x", NULL);
		request.sink = look_at_end;
		request.data = &is_over;
		ck_assert_int_eq(perch_job_submit(served->service, &request, &job, NULL), 0);
		served_until(&is_over);
		ck_assert_int_eq(turns_at_end, i);
		perch_job_free(job);
	}
	served_close();
}
END_TEST

/* ---- without memory --------------------------------------------------------- */

static int run_jobs_without_memory(void *data)
{
	perch_host *host = data;
	perch_service *service = NULL;
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	int r = perch_service_new(host, &options, &service, NULL);
	if (r < 0)
		return r;
	struct served_job job = { .answers = true };
	perch_job_request request = served_tool("asks/t.x", "{\"n\":1}");
	r = served_try_in(service, request, &job, NULL);
	while (r == 0 && !job.has_ended)
		r = perch_host_wait(host, -1) < 0 ? -EIO : 0;
	if (r == 0)
		r = job.end.success && !job.log.failed ? 0 : -ENOMEM;
	perch_service_free(service);
	buf_free(&job.log);
	return r;
}

START_TEST(each_allocation_may_fail)
{
	struct served *served = served_open(NULL);
	served_bind("asks", "fast", ASKS "[sandbox]\nmode = \"off\"\n");
	ck_assert_int_eq(run_jobs_without_memory(served->host), 0); /* what the host keeps is there */
	ck_assert_uint_ge(oom_every(run_jobs_without_memory, served->host), 20);
	served_close();
}
END_TEST

SUITE_MAIN("service-jobs", a_call_of_a_tool, what_is_wrong_with_a_tool_is_its_result,
	a_run_of_a_command, a_run_with_options_of_its_own, questions_have_one_number,
	nobody_can_be_asked, a_turn_of_an_agent, permissions_of_an_agent, what_an_agent_thinks_and_uses,
	a_tool_that_asks, an_approval_that_is_pending_takes_no_place, the_librarys_calls_ask_too,
	what_must_be_recorded_is_not_called, cancelled_in_each_state, freed_in_each_state, time_is_up,
	a_queue_that_is_full, nobody_waits_where_none_may, a_thousand_jobs,
	turns_of_a_session_run_in_order, turns_of_a_session_run_in_order_where_nothing_is_stored,
	one_that_is_held_holds_nobody_else, the_end_of_a_turn_is_recorded_before_it_is_told,
	each_allocation_may_fail)

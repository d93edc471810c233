/* The front of MCP clients with two servers behind it, all in this process but the servers: lists
 * that are gathered, what is asked of the one that has it, what is given up; and each allocation
 * that fails on the way. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/proc.h"
#include "harness/served.h"
#include "mcp/front.h"

/* A client, and what it has heard. */
static struct scene {
	perch_host *host;
	perch_service *service;
	struct mcp_front *front;
	struct mcp_caller caller;
	struct mcp_connection *connection;
	struct buf heard;
	unsigned answers;
	unsigned faults; /* answers that are errors */
} scene;

static void scene_hear(struct mcp_caller *caller, const struct mcp_outgoing *outgoing)
{
	(void)caller;
	scene.answers += outgoing->kind == JSONRPC_RESULT || outgoing->kind == JSONRPC_ERROR;
	scene.faults += outgoing->kind == JSONRPC_ERROR ||
		memmem(outgoing->line.data, outgoing->line.len, "\"isError\":true", 14);
	buf_append(&scene.heard, outgoing->line.data, outgoing->line.len);
	buf_append_char(&scene.heard, '\n');
}

static void scene_told(perch_service *service, void *data, const perch_service_told *told)
{
	(void)service;
	(void)data;
	if (scene.front)
		mcp_front_told(scene.front, told);
}

static int scene_open(perch_host *host)
{
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	scene = (struct scene){ .host = host };
	scene.caller =
		(struct mcp_caller){ .send = scene_hear, .name = "", .session = "", .advice = "" };
	options.frontend = "mcp";
	options.no_store = true;
	options.told = scene_told;
	int r = perch_service_new(host, &options, &scene.service, NULL);
	if (r == 0)
		r = mcp_front_new(
			host, scene.service, &(struct mcp_front_options){ 0 }, &scene.front, NULL);
	return r < 0
		? r
		: mcp_front_connect(scene.front, &scene.caller, (struct str){ 0 }, &scene.connection);
}

/* What was begun ends by itself. */
static void scene_close(void)
{
	if (scene.front)
		mcp_front_disconnect(scene.front, scene.connection);
	if (scene.service)
		perch_service_close(scene.service);
	while (scene.service &&
		perch_service_jobs(scene.service) + perch_service_servers(scene.service) > 0)
		ck_assert_int_ge(perch_host_wait(scene.host, -1), 0);
	perch_service_free(scene.service);
	mcp_front_free(scene.front);
	buf_free(&scene.heard);
}

static void say(const char *text)
{
	const struct mcp_line line = { .text = str_from(text) };
	if (!mcp_connection_is_broken(scene.connection))
		mcp_front_line(scene.front, scene.connection, &line);
}

#define HELLO                                                                    \
	"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"        \
	"{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"elicitation\":{}}," \
	"\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}"
#define ASK(id, method, params) \
	"{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"method\":\"" method "\",\"params\":" params "}"

/* Until there are so many answers; -EIO: the client would be told goodbye. */
static int wait_for(unsigned answers)
{
	while (scene.answers < answers && !mcp_connection_is_broken(scene.connection)) {
		mcp_front_settle(scene.front);
		if (perch_host_wait(scene.host, -1) < 0)
			return -EIO;
	}
	return mcp_connection_is_broken(scene.connection) ? -EIO : 0;
}

/* bind NAME STAGE ACT [LINES]: a server of tests/tool/bent.c. */
static void bind(const char *name, const char *stage, const char *act, const char *lifetime)
{
	char bent[4096], path[256], text[8192];
	proc_in_build("bent", bent, sizeof(bent));
	snprintf(path, sizeof(path), "config/perch/tools/%s.toml", name);
	snprintf(text, sizeof(text),
		"name = \"%s\"\ncommand = \"%s\"\nargs = [\"%s\", \"%s\"]\nprotocol = \"mcp\"\n"
		"[sandbox]\nmode = \"off\"\n[mcp]\nera = \"legacy\"\nlifetime = \"%s\"\nsampling = "
		"\"agent:bot\"\n"
		"offers = [\"tools\", \"resources\", \"prompts\", \"completions\"]\n"
		"[[tools]]\nname = \"echo\"\ndescription = \"says it\"\n"
		"input_schema = \"{\\\"type\\\":\\\"object\\\"}\"\n"
		"pin = \"c5a5f67de2a624b5599494d3f18aafa76453580c85154670614c9408e5a6ae31\"\n",
		name, bent, stage, act, lifetime);
	folder_write(path, text);
}

/* furnish LIFETIME: two servers, of which the first has what is asked for below. */
static struct served *furnish(const char *lifetime)
{
	struct served *served = served_open(NULL);
	folder_write("config/perch/config.toml",
		"[expose.mcp]\nresources = [\"left\", \"right\"]\nprompts = [\"*\"]\n");
	bind("left", "start", "well", lifetime);
	bind("right", "start", "well", lifetime);
	return served;
}

static const char *heard(void)
{
	return buf_terminate(&scene.heard) < 0 ? "" : scene.heard.data;
}

static void expect(const char *words)
{
	ck_assert_msg(strstr(heard(), words), "no %s in %s", words, heard());
}

START_TEST(what_servers_have_is_one_list_and_asked_of_one)
{
	struct served *served = furnish("session");
	ck_assert_int_eq(scene_open(served->host), 0);
	say(HELLO);
	say(ASK(1, "resources/list", "{}"));
	say(ASK(2, "resources/read", "{\"uri\":\"bent:one\"}"));
	say(ASK(3, "prompts/list", "{}"));
	say(ASK(4, "tools/call", "{\"name\":\"left_echo\"}"));
	say(ASK(5, "resources/read", "{\"uri\":\"bent:none\"}"));
	ck_assert_int_eq(wait_for(6), 0);
	expect("\"uri\":\"bent:one\"");
	expect("\"contents\":[");
	expect("\"name\":\"bent-prompt\"");
	expect("\"text\":\"here\"");
	expect("there is no such resource or prompt");
	scene_close();
	served_close();
}
END_TEST

/* The servers never answer: every job of the list ends at once when it is given up, and with the
 * last of them the list. */
START_TEST(a_list_is_given_up)
{
	struct served *served = furnish("session");
	bind("left", "resources", "another-id", "session");
	bind("right", "resources", "another-id", "session");
	ck_assert_int_eq(scene_open(served->host), 0);
	say(HELLO);
	say(ASK(1, "tools/call", "{\"name\":\"left_echo\"}"));
	say(ASK(2, "tools/call", "{\"name\":\"right_echo\"}"));
	ck_assert_int_eq(wait_for(3), 0); /* both run */
	say(ASK(3, "resources/list", "{}"));
	say(ASK(4, "resources/subscribe", "{\"uri\":\"bent:one\"}"));
	say(ASK(5, "tools/call", "{\"name\":\"left_echo\"}")); /* what is behind has been made */
	ck_assert_int_eq(wait_for(5), 0);
	say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
		"cancelled\",\"params\":{\"requestId\":3}}");
	say(ASK(6, "resources/unsubscribe", "{\"uri\":\"bent:one\"}"));
	say(ASK(7, "ping", "{}"));
	ck_assert_int_eq(wait_for(7), 0);
	ck_assert_uint_eq(scene.faults, 0);
	scene_close();
	served_close();
}
END_TEST

/* ---- without memory ---------------------------------------------------------- */

static int pass_without_memory(void *data)
{
	int r = scene_open(data);
	if (r == 0) {
		say(HELLO);
		say(ASK(1, "resources/list", "{}"));
		say(ASK(2, "resources/read", "{\"uri\":\"bent:one\"}"));
		r = wait_for(3);
	}
	if (r == 0 &&
		(scene.faults || !strstr(heard(), "\"contents\":[") ||
			!strstr(heard(), "\"name\":\"one\"")))
		r = -ENOMEM;
	scene_close();
	return r;
}

static int call_without_memory(void *data)
{
	int r = scene_open(data);
	if (r == 0) {
		say(HELLO);
		say(ASK(1, "tools/call", "{\"name\":\"left_echo\"}"));
		say(ASK(2, "resources/subscribe", "{\"uri\":\"bent:one\"}"));
		say(ASK(3, "resources/unsubscribe", "{\"uri\":\"bent:one\"}"));
		r = wait_for(4);
	}
	if (r == 0 && (scene.faults || !strstr(heard(), "\"text\":\"here\"")))
		r = -ENOMEM;
	scene_close();
	return r;
}

START_TEST(memory_may_run_out_while_something_passes)
{
	struct served *served = furnish("call");
	ck_assert_int_eq(pass_without_memory(served->host), 0); /* what the host keeps is there */
	ck_assert_uint_ge(oom_every(pass_without_memory, served->host), 50);
	served_close();
}
END_TEST

static int sample_without_memory(void *data)
{
	int r = scene_open(data);
	if (r == 0) {
		say(HELLO);
		say(ASK(1, "tools/call", "{\"name\":\"left_echo\"}"));
		r = wait_for(2);
	}
	if (r == 0 && (scene.faults || !strstr(heard(), "\"text\":\"here\"")))
		r = -ENOMEM;
	scene_close();
	return r;
}

START_TEST(memory_may_run_out_while_an_agent_answers)
{
	struct served *served = furnish("call");
	served_profile("bot", "echo");
	bind("left", "call", "samples", "call");
	ck_assert_int_eq(pass_without_memory(served->host), 0);
	ck_assert_int_eq(sample_without_memory(served->host), 0);
	ck_assert_uint_ge(oom_every(sample_without_memory, served->host), 50);
	served_close();
}
END_TEST

/* The client leaves, or all ends, while the agent works. */
START_TEST(an_agent_that_answers_ends_with_the_call)
{
	struct served *served = furnish("session");
	served_profile("bot", "sleep\nargs: [\"600\"]");
	bind("left", "call", "samples", "session");
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(scene_open(served->host), 0);
		say(HELLO);
		say(ASK(1, "tools/call", "{\"name\":\"left_echo\"}"));
		while (perch_service_jobs(scene.service) < 2)
			ck_assert_int_ge(perch_host_wait(scene.host, -1), 0);
		if (i == 0)
			say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
				"{\"requestId\":1}}");
		if (i == 2) { /* at once */
			mcp_front_disconnect(scene.front, steal(&scene.connection));
			mcp_front_leave(scene.front);
			perch_service_free(steal(&scene.service));
		}
		scene_close();
	}
	served_close();
}
END_TEST

START_TEST(memory_may_run_out_in_a_call)
{
	struct served *served = furnish("call");
	ck_assert_int_eq(pass_without_memory(served->host), 0); /* for many processes at a time */
	ck_assert_int_eq(call_without_memory(served->host), 0);
	ck_assert_uint_ge(oom_every(call_without_memory, served->host), 50);
	served_close();
}
END_TEST

SUITE_MAIN("mcp-passage", what_servers_have_is_one_list_and_asked_of_one, a_list_is_given_up,
	memory_may_run_out_while_something_passes, memory_may_run_out_in_a_call,
	memory_may_run_out_while_an_agent_answers, an_agent_that_answers_ends_with_the_call)

/* The agent kit against a scripted bridge, in both dialects. */
#include <perch/agentkit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/oom.h"
#include "harness/script.h"
#include "harness/suite.h"

#define TURN(rest) "{\"type\":\"turn\",\"message\":\"hi\"" rest ",\"protocol_version\":\"0.4\"}\n"

/* Tells what it was given, as its reply. */
static int report(perch_agentkit *agent, void *data)
{
	(void)data;
	char text[1024];
	int n = snprintf(text, sizeof(text), "%s|%s|%s|%s|%s|%d", perch_agentkit_message(agent),
		perch_agentkit_session_id(agent), perch_agentkit_session_name(agent),
		perch_agentkit_sender(agent), perch_agentkit_protocol(agent),
		perch_agentkit_is_streaming(agent));
	const perch_agentkit_attachment *attachment;
	for (size_t i = 0; (attachment = perch_agentkit_attachment_at(agent, i)); i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "|%s %s %s", attachment->kind,
			attachment->url, attachment->name);
	ck_assert(perch_agentkit_attachment_at(agent, perch_agentkit_attachment_count(agent)) == NULL);
	perch_agentkit_reply(agent, text);
	return 0;
}

/* Says everything that can be said. */
static int speak(perch_agentkit *agent, void *data)
{
	(void)data;
	perch_agentkit_partial(agent, "one\n\"two\"");
	perch_agentkit_session(agent, "s-1");
	perch_agentkit_reply(agent, "AGENT_ERROR:no\n\nline ");
	perch_agentkit_reply(agent, "two");
	return 3;
}

static int give_up(perch_agentkit *agent, void *data)
{
	(void)data;
	perch_agentkit_session(agent, "s-2");
	perch_agentkit_reply(agent, "lost");
	perch_agentkit_error(agent, "bad %s", "luck");
	perch_agentkit_partial(agent, "late");
	return 0;
}

static int ask(perch_agentkit *agent, void *data)
{
	(void)data;
	bool first = perch_agentkit_permission(agent, "rm", "{\"path\":\"/\"}");
	bool second = perch_agentkit_permission(agent, "ls", NULL);
	perch_agentkit_reply(agent, first ? "yes" : "no");
	perch_agentkit_reply(agent, second ? " yes" : " no");
	return 0;
}

static int think(perch_agentkit *agent, void *data)
{
	(void)data;
	bool is_fine = perch_agentkit_partial_as(agent, "thinking", "hm");
	is_fine = is_fine && perch_agentkit_usage(agent, "{\"input_tokens\":1,\n\"output_tokens\":2}");
	is_fine = is_fine && !perch_agentkit_usage(agent, "{\"input_tokens\":");
	is_fine = is_fine && !perch_agentkit_usage(agent, "17");
	bool is_allowed = perch_agentkit_permission_to(agent, "rm", "{\n}", "clean up");
	perch_agentkit_usage(agent, "{\"input_tokens\":3}");
	perch_agentkit_reply(agent, is_allowed ? "gone" : "kept");
	return is_fine ? 0 : 9;
}

#define OLD "AGENT_PROTOCOL_VERSION=0.1"

START_TEST(turns)
{
	static const struct {
		perch_agentkit_fn *handler;
		const char *environment[8];
		const char *in;
		int status;
		const char *out;
	} cases[] = {
		{ report,
			{ OLD, "AGENT_MESSAGE=hello", "AGENT_SESSION_ID=s", "AGENT_FROM_USER=u",
				"AGENT_STREAMING=1",
				"AGENT_ATTACHMENTS=[{\"type\":\"image\",\"url\":\"x\",\"name\":\"n\"}]" },
			"not read", 0, "hello|s|default|u|0.1|1|image x n\n" },
		{ report, { OLD, "AGENT_MESSAGE=", "AGENT_MESSAGE_OMITTED=1", "AGENT_SESSION_NAME=work" },
			"from\nstdin", 0, "from\nstdin||work||0.1|0\n" },
		{ report, { OLD, "AGENT_ATTACHMENTS=nonsense" }, "", 0, "||default||0.1|0\n" },
		{ speak, { OLD }, "", 3,
			"AGENT_PARTIAL:\"one\\n\\\"two\\\"\"\nAGENT_SESSION:s-1\n AGENT_ERROR:no\n\nline "
			"two\n" },
		{ give_up, { OLD }, "", 1, "AGENT_SESSION:s-2\nAGENT_ERROR:\"bad luck\"\n" },
		{ ask, { OLD }, "", 0, "no no\n" },
		{ report, { NULL },
			TURN(",\"session_id\":\"s\",\"session_name\":\"w\",\"from_user\":\"ann\","
				 "\"attachments\":[{\"kind\":\"file\",\"url\":\"x\"}]"),
			0, "{\"type\":\"result\",\"text\":\"hi|s|w|ann|0.4|1|file x \"}\n" },
		{ speak, { NULL }, TURN(""), 3,
			"{\"type\":\"partial\",\"text\":\"one\\n\\\"two\\\"\"}\n"
			"{\"type\":\"result\",\"session_id\":\"s-1\",\"text\":\"AGENT_ERROR:no\\n\\nline "
			"two\"}\n" },
		{ give_up, { NULL }, TURN(""), 1,
			"{\"type\":\"error\",\"session_id\":\"s-2\",\"message\":\"bad luck\"}\n" },
		{ ask, { NULL }, TURN(""), 0, "{\"type\":\"result\",\"text\":\"no no\"}\n" },
		{ ask, { NULL },
			TURN(",\"permission\":true") "nonsense\n{\"type\":\"permission_response\","
										 "\"request_id\":\"p9\",\"behavior\":\"allow\"}\n{\"type\":"
										 "\"permission_response\","
										 "\"request_id\":\"p1\",\"behavior\":\"allow\"}\n",
			0,
			"{\"type\":\"permission_request\",\"request_id\":\"p1\",\"tool_name\":\"rm\",\"input\":"
			"{\"path\":\"/\"}}\n"
			"{\"type\":\"permission_request\",\"request_id\":\"p2\",\"tool_name\":\"ls\",\"input\":"
			"{}}\n"
			"{\"type\":\"result\",\"text\":\"yes no\"}\n" },
		{ think, { OLD }, "", 0, "kept\n" },
		{ think, { NULL },
			TURN(",\"permission\":true") "{\"type\":\"permission_response\",\"request_id\":"
										 "\"p1\",\"behavior\":\"allow\"}\n",
			0,
			"{\"type\":\"partial\",\"role\":\"thinking\",\"text\":\"hm\"}\n"
			"{\"type\":\"permission_request\",\"usage\":{\"input_tokens\":1, \"output_tokens\":2},"
			"\"request_id\":\"p1\",\"tool_name\":\"rm\",\"description\":\"clean up\",\"input\":"
			"{ }}\n"
			"{\"type\":\"result\",\"usage\":{\"input_tokens\":3},\"text\":\"gone\"}\n" },
		{ report, { NULL }, "", 1, "" },
		{ report, { NULL }, "{\"type\":\"tur", 1, "" },
		{ report, { NULL }, "nonsense\n", 1, "" },
		{ report, { NULL }, "{\"type\":\"other\"}\n", 1, "" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct script script = script_begin(cases[i].in);
		int status = perch_agentkit_serve_on(
			cases[i].handler, NULL, script.in, script.out, cases[i].environment);
		char *out = script_end(&script);
		ck_assert_str_eq(out, cases[i].out);
		ck_assert_msg(status == cases[i].status, "case %zu", i);
		free(out);
	}
}
END_TEST

static int try_to_speak(perch_agentkit *agent, void *data)
{
	(void)data;
	return perch_agentkit_partial(agent, "x") ? 0 : 7;
}

START_TEST(nobody_listens)
{
	static const char *const environment[] = { OLD, NULL };
	int out[2];
	ck_assert_int_eq(pipe(out), 0);
	close(out[0]);
	ck_assert_int_eq(perch_agentkit_serve_on(try_to_speak, NULL, -1, out[1], environment), 7);
	ck_assert_int_eq(perch_agentkit_serve_on(report, NULL, -1, out[1], environment), 1);
}
END_TEST

static int turn_once(void *data)
{
	static const char *const nothing[] = { NULL };
	struct script script = script_begin(TURN(",\"attachments\":[{\"kind\":\"file\"}]"));
	int status = perch_agentkit_serve_on(data, NULL, script.in, script.out, nothing);
	close(script.in);
	close(script.out);
	return -status;
}

START_TEST(every_allocation_may_fail)
{
	ck_assert_uint_gt(oom_every(turn_once, report), 5);
	ck_assert_uint_gt(oom_every(turn_once, think), 5);
}
END_TEST

SUITE_MAIN("sdk-agentkit", turns, nobody_listens, every_allocation_may_fail)

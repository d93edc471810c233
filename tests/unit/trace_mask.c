/* trace: what is masked, line by line; and memory that runs out meanwhile. */
#include "harness/suite.h"

#include <stdio.h>
#include <string.h>

#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/traced.h"
#include "trace/mask.h"

#define SET_STORE "{\"type\":\"store\",\"key\":\"k\",\"value\":"
#define LOAD "{\"type\":\"load\",\"id\":\"1\",\"key\":\"k\"}"
#define PROMPT "{\"type\":\"prompt\",\"id\":\"1\",\"message\":\"?\"}"
#define ANSWER "{\"type\":\"response\",\"id\":\"1\",\"value\":\"secret\"}"
#define HIDDEN "{\"type\":\"response\",\"id\":\"1\",\"value\":\"******\"}"
#define ENV(a) "{\"type\":\"response\",\"id\":\"9\",\"value\":{\"env\":" a ",\"git_log\":[\"x\"]}}"

/* One line each; '<' goes to the plugin, '>' comes from it. NULL = not masked. */
static const struct {
	const char *line;
	const char *masked;
} masks[] = {
	{ ">" SET_STORE "\"secret\"}", SET_STORE "\"******\"}" },
	{ ">" SET_STORE "\"s\\n\\u00e4\"}",
		SET_STORE "\"*********\""
				  "}" },
	{ ">" SET_STORE "\"\"}", SET_STORE "\"\"}" },
	{ ">" SET_STORE "12345}", SET_STORE "\"***\"}" },
	{ ">" SET_STORE "7}", SET_STORE "0}" },
	{ ">" SET_STORE "{\"a\": [1]}}", SET_STORE "\"********\"}" },
	{ ">" SET_STORE "null}", NULL },
	{ ">{\"type\":\"store\",\"value\":\"one\",\"value\":\"two\"}",
		"{\"type\":\"store\",\"value\":\"***\",\"value\":\"***\"}" },
	{ ">{\"value\":\"x\",\"type\":\"st\\u006fre\"}", "{\"value\":\"*\",\"type\":\"st\\u006fre\"}" },
	{ ">" SET_STORE "\"secret", "*****************************************" },
	{ ">{\"type\":\"stor\", \"text\"", NULL },
	{ ">{\"type\":\"output\",\"value\":\"x\",\"text\":\"y\"}", NULL },
	{ "<" ENV("{\"HOME\":\"/root\",\"N\":\"\"}"), ENV("{\"HOME\":\"*****\",\"N\":\"\"}") },
	{ "<" ENV("{\"A\":\"1\",\"A\":\"22\"}"), ENV("{\"A\":\"*\",\"A\":\"**\"}") },
	{ "<" ENV("null"), NULL },
	{ "<" ENV("{}"), NULL },
	/* An answer without a load is nobody's secret. */
	{ "<" ANSWER, NULL },
	{ ">" LOAD, NULL },
	{ "<" ANSWER, HIDDEN },
	{ "<" ANSWER, NULL },
	{ ">" PROMPT, NULL },
	{ "<" ANSWER, NULL },
	/* Ids repeat. Whichever comes first, the stored value is hidden. */
	{ ">" PROMPT, NULL },
	{ ">" LOAD, NULL },
	{ "<" ANSWER, HIDDEN },
	{ "<" ANSWER, HIDDEN },
	{ "<" ANSWER, NULL },
	/* A cancel settles a request, too. */
	{ ">" LOAD, NULL },
	{ "<{\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"x\"}", NULL },
	{ ">" PROMPT, NULL },
	{ "<" ANSWER, NULL },
	/* A number is another id than a string, and a string is what it reads. */
	{ ">{\"type\":\"load\",\"id\":1,\"key\":\"k\"}", NULL },
	{ "<" ANSWER, NULL },
	{ "<{\"type\":\"response\",\"id\":1,\"value\":\"secret\"}",
		"{\"type\":\"response\",\"id\":1,\"value\":\"******\"}" },
	{ ">{\"type\":\"load\",\"id\":\"\\u0031\",\"key\":\"k\"}", NULL },
	{ "<" ANSWER, HIDDEN },
	{ ">{\"type\":\"load\",\"id\":\"1\",\"key\":\"\xFF\"}", "base64" },
	{ "<" ANSWER, HIDDEN },
	{ ">[]", NULL },
	{ ">17", NULL },
};

static void record_masks(struct trace *trace)
{
	for (size_t i = 0; i < COUNT(masks); i++)
		traced_put(trace, masks[i].line[0] == '>' ? TRACE_FROM_PLUGIN : TRACE_TO_PLUGIN,
			masks[i].line + 1);
}

START_TEST(secrets_are_masked)
{
	folder_new();
	struct trace *trace = traced_open(false);
	record_masks(trace);
	ck_assert_int_eq(trace_close(trace, NULL), 0);
	for (unsigned i = 0; i < COUNT(masks); i++) {
		const char *masked = masks[i].masked;
		if (masked && strcmp(masked, "base64") == 0)
			continue;
		traced_expect(i, masks[i].line[0] == '>' ? "out" : "in", "line",
			masked ? masked : masks[i].line + 1, masked != NULL);
	}
}
END_TEST

/* The host's words about a line that it could not read quote it. */
START_TEST(quoted_secrets_are_masked)
{
	folder_new();
	struct trace *trace = traced_open(false);
	trace_note(trace, "line 1 is not JSON: {\"key\":\"k\",\"value\":\"sec");
	trace_note(trace, "the value");
	ck_assert_int_eq(trace_close(trace, NULL), 0);
	traced_expect(0, "host", "line", "line 1 is not JSON: {\"key\":\"k\",************", true);
	traced_expect(1, "host", "line", "the value", false);
}
END_TEST

#define SERVERS(env, header)                                                                     \
	"[{\"name\":\"a\",\"env\":[{\"name\":\"K\",\"value\":\"" env "\"},7],\"args\":[\"value\"]}," \
	"{\"headers\":[{\"name\":\"H\",\"value\":\"" header "\"}],\"env\":{}},7]"
#define OPENED(env, header) \
	"{\"method\":\"session/new\",\"params\":{\"mcpServers\":" SERVERS(env, header) "}}"
#define TURN(env, header) \
	"{\"type\":\"turn\",\"context\":{\"mcp_servers\":" SERVERS(env, header) "}}"

/* What an agent is told of its MCP servers; nothing of plugins counts there. */
START_TEST(secrets_of_servers_are_masked)
{
	folder_new();
	struct trace *trace = traced_open(false);
	trace_of_agent(trace);
	traced_put(trace, TRACE_TO_PLUGIN, OPENED("one", "two3"));
	traced_put(trace, TRACE_TO_PLUGIN, TURN("one", "two3"));
	traced_put(trace, TRACE_FROM_PLUGIN, OPENED("one", "two3"));
	traced_put(trace, TRACE_TO_PLUGIN, "\"mcpServers\"");
	traced_put(trace, TRACE_FROM_PLUGIN, SET_STORE "\"x\"}");
	const struct str told = trace_agent_text(trace, STR(OPENED("one", "two3")));
	ck_assert(str_is(told, OPENED("***", "****")));
	ck_assert_int_eq(trace_close(trace, NULL), 0);
	traced_expect(0, "in", "line", OPENED("***", "****"), true);
	traced_expect(1, "in", "line", TURN("***", "****"), true);
	traced_expect(2, "out", "line", OPENED("one", "two3"), false);
	traced_expect(3, "in", "line", "\"mcpServers\"", false);
	traced_expect(4, "out", "line", SET_STORE "\"x\"}", false);
}
END_TEST

/* An agent, a tool and a plugin of one service, at the same time. */
START_TEST(each_part_is_masked_by_itself)
{
	folder_new();
	struct trace *trace = traced_open(false), *parts[3];
	for (size_t i = 0; i < COUNT(parts); i++)
		ck_assert_ptr_nonnull(parts[i] = trace_part(trace));
	trace_of_agent(parts[0]);
	trace_unmask(parts[1]);
	for (size_t i = 0; i < COUNT(parts); i++)
		traced_put(parts[i], TRACE_FROM_PLUGIN, SET_STORE "\"secret\"}");
	for (size_t i = 0; i < COUNT(parts); i++)
		ck_assert_int_eq(trace_close(parts[i], NULL), 0);
	ck_assert_int_eq(trace_close(trace, NULL), 0);
	traced_expect(0, "out", "line", SET_STORE "\"secret\"}", false);
	traced_expect(1, "out", "line", SET_STORE "\"secret\"}", false);
	traced_expect(2, "out", "line", SET_STORE "\"******\"}", true);
	ck_assert_ptr_null(trace_part(NULL));
}
END_TEST

START_TEST(secrets_are_kept_when_asked_for)
{
	folder_new();
	struct trace *trace = traced_open(true);
	traced_put(trace, TRACE_FROM_PLUGIN, SET_STORE "\"secret\"}");
	ck_assert_int_eq(trace_close(trace, NULL), 0);
	traced_expect(0, "out", "line", SET_STORE "\"secret\"}", false);
}
END_TEST

START_TEST(too_many_ids_mask_every_answer)
{
	folder_new();
	struct trace *trace = traced_open(false);
	for (int i = 0; i <= MASK_IDS_MAX; i++) {
		char line[80];
		snprintf(line, sizeof(line), "{\"type\":\"load\",\"id\":\"n%d\",\"key\":\"k\"}", i);
		traced_put(trace, TRACE_FROM_PLUGIN, line);
	}
	traced_put(trace, TRACE_TO_PLUGIN, ANSWER);
	ck_assert_int_eq(trace_close(trace, NULL), 0);
	traced_expect(MASK_IDS_MAX + 1, "in", "line", HIDDEN, true);
}
END_TEST

static int trace_once(void *data)
{
	(void)data;
	struct trace *trace = NULL;
	int r = trace_open(traced_path(), false, &trace, NULL);
	if (r < 0)
		return r;
	trace_start(trace, "deploy", (const char *const[]){ "x", NULL });
	record_masks(trace);
	struct trace *part = trace_part(trace);
	trace_of_agent(part);
	traced_put(part, TRACE_TO_PLUGIN, OPENED("one", "two3"));
	trace_close(part, NULL);
	trace_note(trace, "done");
	return trace_close(trace, NULL);
}

START_TEST(memory_may_run_out)
{
	folder_new();
	ck_assert_uint_gt(oom_every(trace_once, NULL), 5);
}
END_TEST

SUITE_MAIN("trace-mask", secrets_are_masked, quoted_secrets_are_masked,
	secrets_of_servers_are_masked, each_part_is_masked_by_itself, secrets_are_kept_when_asked_for,
	too_many_ids_mask_every_answer, memory_may_run_out)

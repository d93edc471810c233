/* `perch acp` with an editor on two pipes, in this process but for the agents and plugins: turns,
 * permissions, cancelling, commands with questions, conversations that go on; and each allocation
 * that fails on the way. */
#include "acp/acp_editor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/proc.h"
#include "harness/served.h"
#include "harness/suite.h"
#include "perch/loop.h"
#include "proc/host.h"
#include "proc/worker.h"
#include "sandbox/reuse/dir_cache.h"

/* An agent that does what its message says. */
#define AGENT                                                                                    \
	"sh\nargs:\n- -c\n- |\n"                                                                     \
	"  read -r turn\n"                                                                           \
	"  reply() { echo '{\"type\":\"result\",\"session_id\":\"s-1\",\"text\":\"'\"$1\"'\"}'; }\n" \
	"  case $turn in\n"                                                                          \
	"  *'\"message\":\"look\"'*)\n"                                                              \
	"    echo '{\"type\":\"partial\",\"role\":\"thinking\",\"text\":\"hm\"}'\n"                  \
	"    echo '{\"type\":\"permission_request\",\"request_id\":\"1\",\"tool_name\":\"see\","     \
	"\"input\":{}}'\n"                                                                           \
	"    read -r answer\n"                                                                       \
	"    case $answer in *allow*) reply 'it looks';; *) reply 'it may not';; esac;;\n"           \
	"  *'\"message\":\"wait\"'*) echo '{\"type\":\"partial\",\"text\":\"waiting\"}'\n"           \
	"    exec sleep 600;;\n"                                                                     \
	"  *) reply 'no command';;\n"                                                                \
	"  esac\nprotocol: '0.4'\npermission: true\n"

/* ---- the editor ---------------------------------------------------------------- */

/* A request, and what must have been said when it is answered. */
struct step {
	const char *method;
	const char *params; /* $ = the session, @ = the directory */
	const char *expects;
};

#define NEW                                                             \
	{                                                                   \
		"session/new", "{\"cwd\":\"@\",\"mcpServers\":[]}", "sessionId" \
	}
#define PROMPT(text, expects)                                                               \
	{                                                                                       \
		"session/prompt",                                                                   \
			"{\"sessionId\":\"$\",\"prompt\":[{\"type\":\"text\",\"text\":\"" text "\"}]}", \
			expects                                                                         \
	}
#define CLOSE                                              \
	{                                                      \
		"session/close", "{\"sessionId\":\"$\"}", "result" \
	}

static const struct step turns[] = {
	NEW,
	PROMPT("look", "it looks"),
	PROMPT("wait", "\"stopReason\":\"cancelled\""),
	CLOSE,
	{ 0 },
};

static const struct step commands[] = {
	NEW,
	PROMPT("/try ask", "Name?"),
	PROMPT("me", "Sure?"),
	PROMPT("1", "Which?"),
	PROMPT("2", "Any?"),
	PROMPT("1 3", "[\\\"x\\\",\\\"z\\\"]"),
	CLOSE,
	{ 0 },
};

/* The same where the editor has forms. */
static const struct step forms[] = {
	NEW,
	PROMPT("/try ask", "[\\\"x\\\",\\\"z\\\"]"),
	CLOSE,
	{ 0 },
};

static const struct step conversations[] = {
	NEW,
	PROMPT("look", "it looks"),
	CLOSE,
	{ "session/list", "{\"cwd\":\"@\"}", "\"sessions\":[{" },
	{ "session/load", "{\"sessionId\":\"$\",\"cwd\":\"@\",\"mcpServers\":[]}", "it looks" },
	PROMPT("look", "it looks"),
	CLOSE,
	{ "session/delete", "{\"sessionId\":\"$\"}", "result" },
	{ 0 },
};

enum { LINE_SIZE = 64 * 1024 };

/* It needs no memory of its own: what fails is perch's. */
static struct editor {
	perch_host *host;
	const struct step *steps;
	int to, from;
	size_t at;        /* the step that is under way */
	unsigned id;      /* of its request */
	unsigned rounds;  /* how often it has begun with the first step */
	bool has_greeted; /* before the first step */
	bool has_failed;  /* in this round */
	bool has_cancelled;
	char session[64];
	char line[LINE_SIZE];
	size_t line_len;
	char heard[LINE_SIZE]; /* since the request */
	size_t heard_len;
} editor;

static void editor_write(const char *text)
{
	size_t len = strlen(text);
	if (editor.to >= 0)
		ck_assert_int_eq(write(editor.to, text, len), (ssize_t)len);
}

static void editor_ask(const char *method, const char *params)
{
	char text[8192];
	size_t len = (size_t)snprintf(text, sizeof(text),
		"{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"%s\",\"params\":", ++editor.id, method);
	for (; *params; params++) {
		const char *word = *params == '$' ? editor.session
			: *params == '@'              ? folder_path("project")
										  : NULL;
		len += word ? (size_t)snprintf(text + len, sizeof(text) - len, "%s", word) : 1;
		if (!word)
			text[len - 1] = *params;
	}
	snprintf(text + len, sizeof(text) - len, "}\n");
	editor.heard_len = 0;
	editor.heard[0] = '\0';
	editor_write(text);
}

static void editor_leave(void)
{
	close(editor.to);
	editor.to = -1;
}

static void editor_step(void)
{
	if (editor.steps[editor.at].method)
		editor_ask(editor.steps[editor.at].method, editor.steps[editor.at].params);
	else
		editor_leave();
}

/* What fails fails alone: in a session that is new all is well again. */
static void editor_answered(const char *line)
{
	const char *id = strstr(line, "\"sessionId\":\"");
	bool is_well = !strstr(line, "\"error\":{") &&
		(!editor.has_greeted || strstr(editor.heard, editor.steps[editor.at].expects));
	if (editor.has_greeted && id && editor.at == 0)
		snprintf(
			editor.session, sizeof(editor.session), "%.*s", (int)strcspn(id + 13, "\""), id + 13);
	if (!is_well && editor.rounds++) {
		ck_abort_msg(
			"again %s fails, having heard %s", editor.steps[editor.at].method, editor.heard);
	} else if (!is_well) {
		editor.has_failed = true;
		editor.at = 0;
		editor.has_cancelled = false;
	} else if (!editor.has_greeted) {
		editor.has_greeted = true;
	} else {
		editor.at++;
	}
	if (editor.has_greeted)
		editor_step();
	else
		editor_leave();
}

static void editor_permit(const char *line)
{
	char text[512];
	const char *id = strstr(line, "\"id\":"), *option = strstr(line, "\"optionId\":\"");
	ck_assert(id && option);
	snprintf(text, sizeof(text),
		"{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"outcome\":{\"outcome\":\"selected\","
		"\"optionId\":\"%.*s\"}}}\n",
		(int)strcspn(id + 5, ","), id + 5, (int)strcspn(option + 12, "\""), option + 12);
	editor_write(text);
}

static void editor_fill(const char *line)
{
	static const char *const answers[][2] = { { "Name?", "\"me\"" }, { "Sure?", "true" },
		{ "Which?", "\"b\"" }, { "Any?", "[\"x\",\"z\"]" } };
	char text[512];
	const char *id = strstr(line, "\"id\":");
	size_t i = 0;
	while (i < COUNT(answers) && !strstr(line, answers[i][0]))
		i++;
	ck_assert(id && i < COUNT(answers));
	snprintf(text, sizeof(text),
		"{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"action\":\"accept\",\"content\":{"
		"\"answer\":%s}}}\n",
		(int)strcspn(id + 5, ","), id + 5, answers[i][1]);
	editor_write(text);
}

static void editor_cancel(void)
{
	char text[256];
	snprintf(text, sizeof(text),
		"{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"%s\"}}\n",
		editor.session);
	if (!editor.has_cancelled)
		editor_write(text);
	editor.has_cancelled = true;
}

static void editor_hear(const char *line)
{
	char mine[32];
	size_t len = strlen(line);
	snprintf(mine, sizeof(mine), "\"id\":%u,", editor.id);
	ck_assert_uint_lt(editor.heard_len + len, LINE_SIZE);
	memcpy(editor.heard + editor.heard_len, line, len + 1);
	editor.heard_len += len;
	ck_assert_msg(
		(editor.steps != commands && editor.steps != forms) || !strstr(line, "no command"),
		"the agent gets it");
	if (strstr(line, "\"method\":\"session/request_permission\""))
		editor_permit(line);
	else if (strstr(line, "\"method\":\"elicitation/create\""))
		editor_fill(line);
	else if (strstr(line, "\"text\":\"waiting\""))
		editor_cancel();
	else if (!strstr(line, "\"method\":") && strstr(line, mine))
		editor_answered(line);
}

static void editor_ready(perch_source *source, void *data, unsigned events)
{
	(void)data;
	(void)events;
	ssize_t n =
		read(editor.from, editor.line + editor.line_len, sizeof(editor.line) - editor.line_len - 1);
	if (n <= 0) {
		perch_source_watch(source, 0);
		return;
	}
	editor.line_len += (size_t)n;
	editor.line[editor.line_len] = '\0';
	for (char *end; (end = strchr(editor.line, '\n'));) {
		*end = '\0';
		editor_hear(editor.line);
		editor.line_len -= (size_t)(end + 1 - editor.line);
		memmove(editor.line, end + 1, editor.line_len + 1);
	}
}

/* ---- a life -------------------------------------------------------------------- */

static int editor_serve(struct acp_editor *served)
{
	const char *hello = editor.steps == forms
		? "{\"protocolVersion\":1,\"clientCapabilities\":{\"elicitation\":{\"form\":{}}}}"
		: "{\"protocolVersion\":1,\"clientCapabilities\":{}}";
	perch_source *source = NULL;
	int r = perch_source_new(
		editor.host, editor.from, PERCH_READABLE, editor_ready, NULL, &source, NULL);
	if (r == 0) {
		editor_ask("initialize", hello);
		r = acp_editor_run(served);
	}
	perch_source_free(source);
	return r < 0 ? r : editor.has_failed ? -ENOMEM : 0;
}

static int live(void *data)
{
	const char *const profiles[] = { folder_path("config/perch/agents/bot.yaml"), NULL };
	int input[2], output[2];
	struct acp_editor *served = NULL;
	perch_host *host = editor.host;
	ck_assert_int_eq(pipe2(input, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(output, O_CLOEXEC), 0);
	editor = (struct editor){ .host = host, .steps = data, .to = input[1], .from = output[0] };
	const struct acp_editor_options options = {
		.input = input[0],
		.output = output[1],
		.profiles = profiles,
		.no_store = data != conversations,
	};
	int r = acp_editor_new(host, &options, &served, NULL);
	if (r == 0)
		r = editor_serve(served);
	acp_editor_free(served);
	if (editor.to >= 0)
		close(editor.to);
	close(input[0]);
	close(output[0]);
	close(output[1]);
	while (host->child_count) /* none is left: the test's own limit says so otherwise */
		ck_assert_int_ge(perch_host_wait(host, -1), 0);
	return r;
}

static void live_without_memory(const struct step *steps)
{
	struct served *served = served_open(NULL);
	served_profile("bot", AGENT);
	folder_write("config/perch/config.toml", "[expose.acp]\nplugins = [\"try\"]\n");
	editor.host = served->host;
	/* What the host keeps is there. */
	ck_assert_ptr_nonnull(worker_of(served->host));
	ck_assert_ptr_nonnull(dir_cache_of(served->host));
	for (int i = 0; i < 2; i++)
		ck_assert_msg(live((void *)steps) == 0, "%zu: %s", editor.at, editor.heard);
	unsigned failed = oom_every(live, (void *)steps);
	printf("# %u allocations\n", failed);
	ck_assert_uint_ge(failed, 100);
	served_close();
}

START_TEST(memory_may_run_out_in_turns)
{
	live_without_memory(turns);
}
END_TEST

START_TEST(memory_may_run_out_in_commands)
{
	live_without_memory(commands);
}
END_TEST

START_TEST(memory_may_run_out_in_forms)
{
	live_without_memory(forms);
}
END_TEST

START_TEST(memory_may_run_out_in_conversations)
{
	live_without_memory(conversations);
}
END_TEST

SUITE_MAIN("acp-editor", memory_may_run_out_in_turns, memory_may_run_out_in_commands,
	memory_may_run_out_in_forms, memory_may_run_out_in_conversations)

/* A remote MCP server from strings: lines of perch and answers over HTTP in, requests and lines for
 * perch out. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "harness/oom.h"
#include "harness/suite.h"
#include "remote/remote.h"
#include "remote/sse.h"

enum { EXCHANGES = 512 };

/* What the engine does, as a text; requests are numbered in the order in which they begin. */
static struct scene {
	struct remote *remote;
	struct buf log;
	struct remote_exchange *exchanges[EXCHANGES];
	size_t count;
	bool is_quiet; /* the headers are not logged */
	uint64_t now_ns;
} scene;

static void scene_begin(
	void *data, struct remote_exchange *exchange, const struct remote_request *request)
{
	(void)data;
	ck_assert_uint_lt(scene.count, EXCHANGES);
	buf_printf(&scene.log, "%zu %s", scene.count, request->method);
	struct str rest = request->headers;
	while (rest.len) {
		struct str header = str_cut(&rest, '\0');
		bool is_usual =
			str_has_prefix(header, STR("Accept:")) || str_has_prefix(header, STR("Content-Type:"));
		if (!is_usual && !scene.is_quiet)
			buf_printf(&scene.log, " [%.*s]", (int)header.len, header.data);
	}
	buf_printf(
		&scene.log, " %.*s\n", (int)request->body.len, request->body.len ? request->body.data : "");
	remote_set_data(exchange, &scene.exchanges[scene.count]);
	scene.exchanges[scene.count++] = exchange;
}

static void scene_give_up(void *data, struct remote_exchange *exchange)
{
	(void)data;
	struct remote_exchange **place = remote_data(exchange);
	buf_printf(&scene.log, "%zu given up\n", (size_t)(place - scene.exchanges));
	*place = NULL;
}

static void scene_write(void *data, struct str line)
{
	(void)data;
	ck_assert_int_eq(line.data[line.len], '\n');
	ck_assert_ptr_null(memchr(line.data, '\n', line.len));
	buf_printf(&scene.log, "< %.*s\n", (int)line.len, line.data);
}

static void scene_note(void *data, struct str text)
{
	(void)data;
	buf_printf(&scene.log, "note %.*s\n", (int)text.len, text.data);
}

static const struct remote_table scene_table = {
	.begin = scene_begin,
	.give_up = scene_give_up,
	.write = scene_write,
	.note = scene_note,
};

static int scene_open(const char *const *headers)
{
	scene = (struct scene){ 0 };
	int r = remote_new(headers, &scene_table, NULL, &scene.remote);
	if (r == 0)
		remote_tick(scene.remote, 0);
	return r;
}

static void scene_close(void)
{
	remote_free(scene.remote);
	buf_free(&scene.log);
}

static void says(const char *line)
{
	remote_line(scene.remote, str_from(line), false);
	remote_settle(scene.remote);
}

static void passes(uint64_t ms)
{
	remote_tick(scene.remote, scene.now_ns += ms * NSEC_PER_MSEC);
	remote_settle(scene.remote);
}

static void head(size_t i, int status, const char *type)
{
	const struct remote_head head = { .status = status, .type = str_from(type) };
	remote_head(scene.exchanges[i], &head);
}

static bool body(size_t i, const char *text)
{
	return remote_body(scene.exchanges[i], str_from(text));
}

static void done(size_t i, const char *why)
{
	struct remote_exchange *exchange = scene.exchanges[i];
	scene.exchanges[i] = NULL;
	remote_done(exchange, str_from(why));
	remote_settle(scene.remote);
}

static void answers(size_t i, int status, const char *type, const char *text)
{
	head(i, status, type);
	body(i, text);
	done(i, "");
}

static void expect(const char *log)
{
	ck_assert_int_eq(buf_terminate(&scene.log), 0);
	ck_assert_str_eq(scene.log.data ? scene.log.data : "", log);
	buf_clear(&scene.log);
}

#define HELLO "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}"
#define READY "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"
#define CALL "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}"
#define WELCOME "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\"}}"
#define RESULT "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}"
#define MODERN(id, method, members)                                                     \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":{" members \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}"
#define JSON "application/json"
#define EVENTS "text/event-stream"

/* A session s1 that is ready and has no stream of its own: requests 0 to 2. */
static void scene_greet(void)
{
	const struct remote_head welcome = { .status = 200, .type = STR(JSON), .session = STR("s1") };
	scene.is_quiet = true;
	says(HELLO);
	remote_head(scene.exchanges[0], &welcome);
	body(0, WELCOME);
	done(0, "");
	says(READY);
	answers(1, 202, "", "");
	answers(2, 405, "", "");
	buf_clear(&scene.log);
	scene.is_quiet = false;
}

/* ---- sessions --------------------------------------------------------------------- */

START_TEST(session)
{
	const char *const headers[] = { "Authorization: Bearer x", NULL };
	const struct remote_head welcome = { .status = 200, .type = STR(JSON), .session = STR("s1") };
	scene_open(headers);
	says(HELLO);
	expect("0 POST [Mcp-Method: initialize] [Authorization: Bearer x] " HELLO "\n");
	remote_head(scene.exchanges[0], &welcome);
	body(0, "{\"jsonrpc\":\"2.0\",\n\"id\":1,\r\n\"result\":{\"protocolVersion\":\"2025-11-25\"}}");
	done(0, "");
	expect("< {\"jsonrpc\":\"2.0\", \"id\":1,  \"result\":{\"protocolVersion\":\"2025-11-25\"}}\n");
	says(READY);
	says(CALL); /* waits until the server knows that we are ready, and can be heard */
	expect("1 POST [MCP-Protocol-Version: 2025-11-25] [Mcp-Session-Id: s1] [Authorization: Bearer "
		   "x] " READY "\n");
	answers(1, 202, "", "");
	expect("2 GET [MCP-Protocol-Version: 2025-11-25] [Mcp-Session-Id: s1] [Authorization: Bearer "
		   "x] \n");
	answers(2, 405, "", "");
	expect("3 POST [MCP-Protocol-Version: 2025-11-25] [Mcp-Session-Id: s1] [Authorization: Bearer "
		   "x] " CALL "\n");
	answers(3, 200, JSON, RESULT);
	expect("< " RESULT "\n");
	remote_leave(scene.remote);
	remote_settle(scene.remote);
	expect(
		"4 DELETE [MCP-Protocol-Version: 2025-11-25] [Mcp-Session-Id: s1] [Authorization: Bearer "
		"x] \n");
	ck_assert(!remote_is_idle(scene.remote));
	done(4, "");
	ck_assert(remote_is_idle(scene.remote));
	scene_close();
}
END_TEST

START_TEST(session_lost)
{
	scene_open(NULL);
	scene_greet();
	scene.is_quiet = true;
	says(CALL);
	answers(3, 404, "", "gone");
	expect("3 POST " CALL "\n"
		   "note the server has forgotten the session: a new one begins\n"
		   "4 POST " HELLO "\n");
	answers(4, 200, JSON, WELCOME);
	expect("< {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n"
		   "5 POST " READY "\n");
	answers(5, 202, "", "");
	expect("6 GET \n");
	passes(REMOTE_TUNE_MS - 1);
	expect("");
	passes(1); /* it begins no stream of its own, or not yet */
	expect("7 POST " CALL "\n");
	answers(7, 200, JSON, RESULT);
	expect("< " RESULT "\n");
	scene_close();
}
END_TEST

START_TEST(session_not_found_again)
{
	scene_open(NULL);
	scene_greet();
	scene.is_quiet = true;
	says(CALL);
	answers(3, 404, "", "");
	buf_clear(&scene.log);
	answers(4, 500, "", "");
	expect(
		"< {\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32000,\"message\":\"the server has "
		"forgotten the session, and begins no other: HTTP 500 Internal Server Error\"}}\n");
	ck_assert(remote_is_broken(scene.remote));
	scene_close();
}
END_TEST

/* ---- streams ---------------------------------------------------------------------- */

START_TEST(stream)
{
	scene_open(NULL);
	scene_greet();
	says(CALL);
	buf_clear(&scene.log);
	head(3, 200, EVENTS "; charset=utf-8");
	ck_assert(body(3, ": hello\n\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"x\"}\n"));
	expect("");
	ck_assert(body(3, "\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n\n"));
	expect("< {\"jsonrpc\":\"2.0\", \"method\":\"x\"}\n"
		   "note the server answers what it was not asked\n");
	ck_assert(body(3, "data: " RESULT "\n\n"));
	ck_assert(body(3, "data: " RESULT "\n\n"));
	expect("< " RESULT "\nnote the server answers what it was not asked\n");
	passes(REMOTE_LINGER_MS); /* it stays open behind its answer */
	expect("3 given up\n");
	scene_close();
}
END_TEST

START_TEST(stream_resumed)
{
	scene_open(NULL);
	scene_greet();
	says(CALL);
	head(3, 200, EVENTS);
	body(3, "id: e1\nretry: 20\ndata: \n\n");
	buf_clear(&scene.log);
	done(3, "it broke");
	expect("");
	ck_assert_uint_eq(remote_deadline(scene.remote), 20 * NSEC_PER_MSEC);
	passes(20);
	expect("4 GET [MCP-Protocol-Version: 2025-11-25] [Mcp-Session-Id: s1] [Last-Event-ID: e1] \n");
	answers(4, 200, EVENTS, "data: " RESULT "\n\n");
	expect("< " RESULT "\n");
	ck_assert(remote_is_idle(scene.remote));
	scene_close();
}
END_TEST

START_TEST(stream_resumed_in_vain)
{
	scene_open(NULL);
	scene_greet();
	says(CALL);
	head(3, 200, EVENTS);
	body(3, "id: e1\ndata: \n\n");
	done(3, "");
	for (size_t i = 0; i < REMOTE_RESUMES_MAX; i++) {
		buf_clear(&scene.log);
		passes(REMOTE_RETRY_MS);
		answers(4 + i, 200, EVENTS, "");
	}
	buf_clear(&scene.log);
	passes(REMOTE_RETRY_MS);
	ck_assert(remote_is_idle(scene.remote));
	scene_close();
}
END_TEST

START_TEST(own_stream)
{
	scene_open(NULL);
	scene_greet();
	says(HELLO); /* again: as a client that starts over */
	answers(3, 200, JSON, WELCOME);
	says(READY);
	answers(4, 202, "", "");
	scene.is_quiet = true;
	buf_clear(&scene.log);
	says(CALL);
	expect("");
	head(5, 200, EVENTS);
	remote_settle(scene.remote);
	expect("6 POST " CALL "\n");
	answers(6, 200, JSON, RESULT);
	expect("< " RESULT "\n");
	body(5, "data: {\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n\n");
	body(5, "data: " RESULT "\n\n");
	done(5, "");
	expect("< {\"jsonrpc\":\"2.0\",\"method\":\"m\"}\nnote the server answers what it was not "
		   "asked\n");
	passes(REMOTE_RETRY_MS);
	expect("7 GET \n");
	done(7, "it broke");
	passes(REMOTE_RETRY_MS);
	expect(""); /* the second pause in a row is longer */
	passes(REMOTE_RETRY_MS);
	expect("8 GET \n");
	answers(8, 404, "", "");
	ck_assert(remote_is_idle(scene.remote));
	scene_close();
}
END_TEST

/* ---- the modern era ------------------------------------------------------------------ */

START_TEST(modern)
{
	scene_open(NULL);
	says(MODERN("1", "tools/call", "\"name\":\"\xc3\xa4\","));
	expect("0 POST [MCP-Protocol-Version: 2026-07-28] [Mcp-Method: tools/call] [Mcp-Name: "
		   "=?base64?w6Q=?=] " MODERN("1", "tools/call", "\"name\":\"\xc3\xa4\",") "\n");
	says(MODERN("2", "resources/read", "\"uri\":\"f:///x\","));
	expect("1 POST [MCP-Protocol-Version: 2026-07-28] [Mcp-Method: resources/read] [Mcp-Name: "
		   "f:///x] " MODERN("2", "resources/read", "\"uri\":\"f:///x\",") "\n");
	/* The end of the stream cancels; nothing is posted. */
	says("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
		 "cancelled\",\"params\":{\"requestId\":1}}");
	expect("0 given up\n");
	/* It is not resumed, and its server sends no requests. */
	head(1, 200, EVENTS);
	body(1, "id: 7\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}\n\n");
	done(1, "");
	expect("note a modern server sends a request of its own\n"
		   "< {\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32000,\"message\":\"the server "
		   "ended the "
		   "stream without an answer\"}}\n");
	remote_leave(scene.remote);
	remote_settle(scene.remote);
	expect("");
	ck_assert(remote_is_idle(scene.remote));
	scene_close();
}
END_TEST

/* A list of these tools comes, and a call of `t` with these arguments goes out. */
static void check_wishes(const char *tools, const char *given, const char *log)
{
	_cleanup_(buf_free) struct buf answer = { 0 }, call = { 0 };
	scene_open(NULL);
	says(MODERN("1", "tools/list", ""));
	buf_printf(
		&answer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[%s],\"ttlMs\":0}}", tools);
	buf_printf(&call, MODERN("2", "tools/call", "\"name\":\"t\",\"arguments\":{%s},"), given);
	ck_assert(buf_terminate(&answer) == 0 && buf_terminate(&call) == 0);
	buf_clear(&scene.log);
	answers(0, 200, JSON, answer.data);
	says(call.data);
	ck_assert_int_eq(buf_terminate(&scene.log), 0);
	const char *found = strstr(scene.log.data, log);
	ck_assert_msg(found != NULL, "no '%s' in %s", log, scene.log.data);
	scene_close();
}

#define TOOL(properties) \
	"{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"properties\":{" properties "}}}"
#define WISH(type, name) "{\"type\":\"" type "\",\"x-mcp-header\":\"" name "\"}"
#define LEFT_OUT(words)                                            \
	"note the tool t is left out: its x-mcp-header is " words "\n" \
	"< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[],\"ttlMs\":0}}\n"

START_TEST(wishes)
{
	check_wishes(
		TOOL("\"a\":" WISH("string", "A")), "\"a\":\"x y\"", "[Mcp-Name: t] [Mcp-Param-A: x y]");
	check_wishes(
		TOOL("\"a\":" WISH("string", "A")), "\"a\":\" x\"", "[Mcp-Param-A: =?base64?IHg=?=]");
	check_wishes(TOOL("\"a\":" WISH("integer", "A")), "\"a\":-7.0", "[Mcp-Param-A: -7]");
	check_wishes(TOOL("\"a\":" WISH("boolean", "A")), "\"a\":true", "[Mcp-Param-A: true]");
	check_wishes(TOOL("\"o\":{\"properties\":{\"a\":" WISH("string", "A") "}}"),
		"\"o\":{\"a\":\"x\"}", "[Mcp-Param-A: x]");
	/* No value, no header. */
	check_wishes(TOOL("\"a\":" WISH("string", "A")), "\"a\":null", "[Mcp-Name: t] {");
	check_wishes(TOOL("\"a\":" WISH("string", "A")), "", "[Mcp-Name: t] {");
	check_wishes(TOOL("\"a\":" WISH("integer", "A")), "\"a\":9007199254740992", "[Mcp-Name: t] {");
	/* An argument of that name is no wish. */
	check_wishes(TOOL("\"x-mcp-header\":{\"type\":\"string\"}"), "\"x-mcp-header\":\"x\"",
		"[Mcp-Name: t] {");
}
END_TEST

START_TEST(wishes_against_the_rules)
{
	check_wishes(TOOL("\"a\":" WISH("string", "")), "", LEFT_OUT("no name of a header"));
	check_wishes(TOOL("\"a\":" WISH("string", "a b")), "", LEFT_OUT("no name of a header"));
	check_wishes(TOOL("\"a\":{\"type\":\"string\",\"x-mcp-header\":7}"), "",
		LEFT_OUT("no name of a header"));
	check_wishes(TOOL("\"a\":" WISH("number", "A")), "",
		LEFT_OUT("of a type that is no text, integer or flag"));
	check_wishes(TOOL("\"a\":" WISH("string", "A") ",\"b\":" WISH("string", "a")), "",
		LEFT_OUT("the name of two arguments"));
	check_wishes(TOOL("\"a\":{\"items\":" WISH("string", "A") "}"), "",
		LEFT_OUT("where it cannot be reached"));
}
END_TEST

START_TEST(cancelled)
{
	scene_open(NULL);
	scene_greet();
	says(CALL);
	scene.is_quiet = true;
	buf_clear(&scene.log);
	says("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
		 "cancelled\",\"params\":{\"requestId\":2}}");
	expect("3 given up\n4 POST "
		   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
		   "cancelled\",\"params\":{\"requestId\":2}}\n");
	passes(REMOTE_NOTE_MS); /* the server does not take it */
	expect("4 given up\nnote a message did not reach the server: it takes too long\n");
	ck_assert(remote_is_idle(scene.remote));
	scene_close();
}
END_TEST

/* ---- refusals --------------------------------------------------------------------------- */

#define FAILED(words) \
	"< {\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32000,\"message\":\"" words "\"}}\n"

static const struct refusal {
	int status;
	const char *type, *body, *why, *log;
} refusals[] = {
	{ 401, "", "", "",
		FAILED("HTTP 401 Unauthorized: it wants a token, which --token FILE gives it") },
	{ 500, "", "", "", FAILED("HTTP 500 Internal Server Error") },
	{ 599, "", "", "", FAILED("HTTP 599") },
	{ 202, "", "", "", FAILED("HTTP 202 Accepted: it takes the request and does not answer it") },
	{ 200, "text/html", "<h1>", "",
		FAILED("HTTP 200 OK: it answers with 'text/html', which is no message and no stream") },
	{ 400, JSON,
		"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-7,\"message\":\"m\",\"data\":[1]}}",
		"",
		"< "
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-7,\"message\":\"m\",\"data\":[1]}}\n" },
	{ 200, JSON, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-7,\"message\":\"m\"}}", "",
		"< {\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-7,\"message\":\"m\"}}\n" },
	{ 200, JSON, "{", "",
		"note the server sends what is no message\n" FAILED(
			"what it answers is no answer to the request") },
	{ 200, JSON, "{", "cut off", FAILED("no answer: cut off") },
	{ 200, EVENTS, "data: x", "", FAILED("the server ended the stream without an answer") },
};

static void check_refusal(const struct refusal *refusal)
{
	scene_open(NULL);
	scene_greet();
	says(CALL);
	buf_clear(&scene.log);
	head(3, refusal->status, refusal->type);
	body(3, refusal->body);
	done(3, refusal->why);
	expect(refusal->log);
	ck_assert(remote_is_idle(scene.remote));
	scene_close();
}

START_TEST(refused)
{
	for (size_t i = 0; i < COUNT(refusals); i++)
		check_refusal(&refusals[i]);
}
END_TEST

START_TEST(redirected)
{
	const struct remote_head away = { .status = 308, .location = STR("http://evil/") };
	scene_open(NULL);
	scene_greet();
	says(CALL);
	buf_clear(&scene.log);
	remote_head(scene.exchanges[3], &away);
	done(3, "");
	expect(FAILED(
		"HTTP 308 Permanent Redirect: it sends us to 'http://evil/', where perch does not go "
		"by itself"));
	scene_close();
}
END_TEST

/* ---- limits ------------------------------------------------------------------------------ */

/* Pieces without end; first is what stands before them. */
static void check_endless(const char *type, const char *first, const char *log)
{
	static char piece[1 << 20];
	memset(piece, 'x', sizeof(piece));
	scene_open(NULL);
	scene_greet();
	says(CALL);
	buf_clear(&scene.log);
	head(3, 200, type);
	body(3, first);
	unsigned count = 0;
	while (remote_body(scene.exchanges[3], (struct str){ piece, sizeof(piece) }))
		ck_assert_uint_lt(++count, 16);
	expect(log);
	scene_close();
}

START_TEST(too_long_a_message)
{
	check_endless(JSON, "", FAILED("its answer has more than 8388608 bytes"));
}
END_TEST

START_TEST(too_long_an_event)
{
	check_endless(EVENTS, "data: ", FAILED("an event of its answer has more than 8388608 bytes"));
}
END_TEST

START_TEST(too_many)
{
	char line[200];
	scene_open(NULL);
	for (int i = 0; i < REMOTE_EXCHANGES_MAX; i++) {
		snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"m\"}", i + 10);
		says(line);
	}
	buf_clear(&scene.log);
	says(CALL);
	expect(FAILED("too much is under way to a remote server"));
	scene_close();
}
END_TEST

START_TEST(odd_lines)
{
	scene_open(NULL);
	says("[" CALL "]");
	says("{");
	says(READY); /* there is no session */
	expect("note perch sends a batch\nnote perch sends what is no message\n");
	ck_assert(remote_is_idle(scene.remote));
	remote_line(scene.remote, STR(""), true);
	ck_assert(remote_is_broken(scene.remote));
	scene_close();
}
END_TEST

/* ---- memory ------------------------------------------------------------------------------- */

static int play(void *data)
{
	(void)data;
	if (scene_open(NULL) < 0)
		return -ENOMEM;
	const struct remote_head welcome = { .status = 200, .type = STR(JSON), .session = STR("s1") };
	const char *const lines[] = { HELLO, READY, CALL };
	for (size_t i = 0; i < 3; i++) {
		says(lines[i]);
		if (!scene.exchanges[i] || scene.count <= i)
			break;
		if (i == 0)
			remote_head(scene.exchanges[0], &welcome);
		else
			head(i, i == 1 ? 202 : 404, "");
		body(i, i == 0 ? WELCOME : "");
		done(i, "");
	}
	bool is_broken = remote_is_broken(scene.remote) || scene.log.failed;
	scene_close();
	return is_broken ? -ENOMEM : 0;
}

static int play_wishes(void *data)
{
	(void)data;
	if (scene_open(NULL) < 0)
		return -ENOMEM;
	says(MODERN("1", "tools/list", ""));
	if (scene.count == 1)
		answers(0, 200, EVENTS,
			"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[" TOOL(
				"\"a\":" WISH("string", "A")) "]}}\n\n");
	says(MODERN("2", "tools/call", "\"name\":\"t\",\"arguments\":{\"a\":\"\\n\"},"));
	bool is_broken = remote_is_broken(scene.remote) || scene.log.failed;
	scene_close();
	return is_broken ? -ENOMEM : 0;
}

START_TEST(without_memory)
{
	ck_assert_uint_gt(oom_every(play, NULL), 10);
	ck_assert_uint_gt(oom_every(play_wishes, NULL), 10);
}
END_TEST

/* ---- events ------------------------------------------------------------------------------- */

static void take_event(void *data, struct str event)
{
	struct buf *out = data;
	buf_append(out, event.data, event.len);
	buf_append_char(out, '|');
}

static const struct {
	const char *text, *events, *id;
} streams[] = {
	{ "data: a\n\n", "a|", "" },
	{ "data:a\r\n\r\ndata: b\r\r", "a|b|", "" },
	{ "\xEF\xBB\xBF"
	  "data: a\n\n",
		"a|", "" },
	{ "data: a\ndata\ndata:  b\n\n", "a\n\n b|", "" },
	{ ": no\nevent: x\n\ndata:\n\nid: 7\n\n", "", "7" },
	{ "id: 1\ndata: a\n\nid\ndata: b\n\n", "a|b|", "" },
	{ "data: a", "", "" },
	{ "data: a\n", "", "" },
	{ "datum: a\n\ndata: b\n\n", "b|", "" },
};

static void check_stream(size_t i, size_t size)
{
	size_t len = strlen(streams[i].text);
	struct sse_reader reader = { .limit = 100 };
	struct buf out = { 0 };
	for (size_t at = 0; at < len; at += size) {
		struct str piece = { streams[i].text + at, at + size < len ? size : len - at };
		ck_assert_int_eq(sse_feed(&reader, piece, take_event, &out), 0);
	}
	buf_terminate(&out);
	buf_terminate(&reader.id);
	ck_assert_str_eq(out.data, streams[i].events);
	ck_assert_str_eq(reader.id.data, streams[i].id);
	buf_free(&out);
	sse_free(&reader);
}

/* In pieces of every size: what comes of it is the same. */
START_TEST(events)
{
	for (size_t i = 0; i < COUNT(streams); i++)
		for (size_t size = 1; size <= strlen(streams[i].text); size++)
			check_stream(i, size);
}
END_TEST

START_TEST(event_wishes)
{
	struct sse_reader reader = { .limit = 22 };
	ck_assert_int_eq(
		sse_feed(&reader, STR("retry: 12x\nretry: \nretry: 99999999999999\n"), take_event, NULL),
		0);
	ck_assert(!reader.has_retry);
	ck_assert_int_eq(sse_feed(&reader, STR("retry: 250\n"), take_event, NULL), 0);
	ck_assert_uint_eq(reader.retry_ms, 250);
	ck_assert_int_eq(
		sse_feed(&reader, STR("data: 123456789\ndata: 123456789\n"), take_event, NULL), 0);
	ck_assert_int_eq(sse_feed(&reader, STR("data: 123\n"), take_event, NULL), PERCH_ELIMIT);
	sse_free(&reader);
}
END_TEST

SUITE_MAIN("remote", session, session_lost, session_not_found_again, stream, stream_resumed,
	stream_resumed_in_vain, own_stream, modern, wishes, wishes_against_the_rules, cancelled,
	refused, redirected, too_long_a_message, too_long_an_event, too_many, odd_lines, without_memory,
	events, event_wishes)

/* The HTTP engine from strings: valid messages in every cut, phases, limits, memory. */
#include "harness/http_play.h"
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define POST "POST /p HTTP/1.1\r\nHost: a\r\n"
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"

/* What is said of each: method, path?query, host, other fields, body. */
static const struct valid_case {
	const char *name;
	const char *bytes;
	const char *said;
	bool is_over; /* behind it all */
} valid[] = {
	{ "plain", GET, "GET / a \n", false },
	{ "pipelined", GET GET GET, "GET / a \nGET / a \nGET / a \n", false },
	{ "an empty line before it", "\r\n" GET "\r\n" GET, "GET / a \nGET / a \n", false },
	{ "path and query", "GET /a/b%20c;d=1?x=1&y=/?z HTTP/1.1\r\nHost: a:80\r\n\r\n",
		"GET /a/b%20c;d=1?x=1&y=/?z a:80 \n", false },
	{ "empty query", "GET /? HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "GET /? [::1]:80 \n", false },
	{ "every character of a path",
		"GET /-._~!$&'()*+,;=:@09azAZ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
		"GET /-._~!$&'()*+,;=:@09azAZ 127.0.0.1 \n", false },
	{ "absolute", "GET http://a/b?c HTTP/1.1\r\nHost: a\r\n\r\n", "GET /b?c a \n", false },
	{ "absolute, other letters", "GET HTTP://LocalHost HTTP/1.1\r\nhost: localhost\r\n\r\n",
		"GET / localhost \n", false },
	{ "absolute with a query alone", "GET https://a?b HTTP/1.1\r\nHost: a\r\n\r\n", "GET /?b a \n",
		false },
	{ "asterisk", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * a \n", false },
	{ "every method",
		"HEAD / HTTP/1.1\r\nHost: a\r\n\r\nPOST / HTTP/1.1\r\nHost: a\r\n\r\n"
		"PUT / HTTP/1.1\r\nHost: a\r\n\r\nPATCH / HTTP/1.1\r\nHost: a\r\n\r\n"
		"DELETE / HTTP/1.1\r\nHost: a\r\n\r\nOPTIONS / HTTP/1.1\r\nHost: a\r\n\r\n",
		"HEAD / a \nPOST / a \nPUT / a \nPATCH / a \nDELETE / a \nOPTIONS / a \n", false },
	{ "a later minor version", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", "GET / a \n", false },
	{ "fields", "GET / HTTP/1.1\r\nA:b\r\nHost:a\r\nC: \t d e \t\r\nF:\r\nA: \xc3\xa4\r\n\r\n",
		"GET / a A=b C=d e F= A=\xc3\xa4 \n", false },
	{ "a name of every character", "GET / HTTP/1.1\r\nHost: a\r\n!#$%&'*+-.^_`|~09azAZ: b\r\n\r\n",
		"GET / a !#$%&'*+-.^_`|~09azAZ=b \n", false },
	{ "an address in an address", "GET / HTTP/1.1\r\nHost: [::ffff:127.0.0.1]\r\n\r\n",
		"GET / [::ffff:127.0.0.1] \n", false },
	{ "a long name with underscores",
		"GET / HTTP/1.1\r\nHost: a\r\nx_content_length_of_something_that_is_long: 1\r\n\r\n",
		"GET / a x_content_length_of_something_that_is_long=1 \n", false },
	{ "close", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" GET,
		"GET / a Connection=close \n", true },
	{ "close in a list",
		"GET / HTTP/1.1\r\nHost: a\r\nConnection: x\r\nConnection: keep-alive , CLOSE\r\n\r\n" GET,
		"GET / a Connection=x Connection=keep-alive , CLOSE \n", true },
	{ "an upgrade is not taken",
		"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n" GET,
		"GET / a Connection=Upgrade Upgrade=h2c \nGET / a \n", false },
	{ "HTTP/1.0", "GET / HTTP/1.0\r\n\r\n" GET, "GET /  \n", true },
	{ "HTTP/1.0 that goes on", "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n" GET,
		"GET /  Connection=Keep-Alive \nGET / a \n", false },
	{ "a body", POST "Content-Length: 5\r\n\r\nhello" GET,
		"POST /p a Content-Length=5 hello\nGET / a \n", false },
	{ "a body of nothing", POST "Content-Length: 0\r\n\r\n" GET,
		"POST /p a Content-Length=0 \nGET / a \n", false },
	{ "a length with zeros", POST "Content-Length: 00000000000000000000005\r\n\r\nhello",
		"POST /p a Content-Length=00000000000000000000005 hello\n", false },
	{ "a body with GET", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi" GET,
		"GET / a Content-Length=2 hi\nGET / a \n", false },
	{ "a request in a body", POST "Content-Length: 28\r\n\r\n" GET " " GET,
		"POST /p a Content-Length=28 " GET " \nGET / a \n", false },
	{ "chunks", CHUNKED "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n" GET,
		"POST /p a Transfer-Encoding=chunked hello world\nGET / a \n", false },
	{ "no chunk", CHUNKED "0\r\n\r\n" GET, "POST /p a Transfer-Encoding=chunked \nGET / a \n",
		false },
	{ "Chunked in other letters", POST "transfer-ENCODING:CHUNKED\r\n\r\n1\r\nA\r\n000\r\n\r\n",
		"POST /p a transfer-ENCODING=CHUNKED A\n", false },
	{ "sizes with zeros and letters",
		CHUNKED "000000000000000A\r\n0123456789\r\nb\r\n\r\n\n\r0\r\n\r\n\xff\x01\r\n0\r\n\r\n",
		"POST /p a Transfer-Encoding=chunked 0123456789\r\n\n\r0\r\n\r\n\xff\x01\n", false },
	{ "extensions",
		CHUNKED "1;a\r\nh\r\n1 ; b = c;d=\"e;\\\"\t\\\\\xc3\xa4\"\r\ni\r\n0;f=0a\r\n\r\n" GET,
		"POST /p a Transfer-Encoding=chunked hi\nGET / a \n", false },
	{ "every step of an extension",
		CHUNKED
		"1  ;  za;yx ;w  = \tva ;u=az;t=\"az;= (\\a\\z\\;\\=\\\"\\\\\\ \\(\";s=\"r\" ;q=\"p\"\r\n"
		"h\r\n1;z=y;a\r\ni\r\n0\r\n\r\n",
		"POST /p a Transfer-Encoding=chunked hi\n", false },
	{ "trailers", CHUNKED "2\r\nhi\r\n0\r\nA: b\r\nC:\r\n\r\n" GET,
		"POST /p a Transfer-Encoding=chunked hi\nGET / a \n", false },
	{ "expecting 100", POST "Expect: 100-Continue\r\nContent-Length: 2\r\n\r\nhi",
		"POST /p a Expect=100-Continue Content-Length=2 continue hi\n", false },
	{ "expecting 100 without a body", POST "Expect: 100-continue\r\n\r\n",
		"POST /p a Expect=100-continue \n", false },
	{ "expecting 100 in HTTP/1.0",
		"POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi",
		"POST /  Expect=100-continue Content-Length=2 hi\n", true },
};

static struct http_play played(struct str bytes, struct http_cut cut)
{
	struct http_play play;
	ck_assert_int_eq(http_play(NULL, bytes, cut, &play), 0);
	return play;
}

START_TEST(valid_requests_in_every_cut)
{
	for (size_t i = 0; i < COUNT(valid); i++) {
		struct str bytes = str_from(valid[i].bytes);
		struct http_play whole = played(bytes, (struct http_cut){ 0 });
		buf_terminate(&whole.said);
		if (strcmp(whole.said.data, valid[i].said) != 0)
			ck_abort_msg("%s: %s", valid[i].name, whole.said.data);
		if (whole.refused || whole.is_over != valid[i].is_over)
			ck_abort_msg("%s: refused %d, over %d", valid[i].name, whole.refused, whole.is_over);
		for (size_t at = 0; at < bytes.len; at++) {
			struct http_play play = played(bytes, (struct http_cut){ at ? at : 1, at ? 0 : 1 });
			if (!http_play_same(&whole, &play))
				ck_abort_msg("%s: cut at %zu it differs", valid[i].name, at);
			http_play_free(&play);
		}
		http_play_free(&whole);
	}
}
END_TEST

/* ---- what a caller sees of a connection -------------------------------------- */

static struct http_connection connection;
static struct buf out;

static struct http_event read_some(struct str *input)
{
	struct http_event event;
	ck_assert_int_eq(http_connection_read(&connection, input, &event), 0);
	return event;
}

static struct http_event read_text(const char *text)
{
	struct str input = str_from(text);
	return read_some(&input);
}

static void answer(int status)
{
	const struct http_answer plain = { .status = status };
	ck_assert_int_eq(http_answer_whole(&connection, &out, &plain, STR("")), 0);
}

static void end(void)
{
	http_connection_free(&connection);
	buf_free(&out);
	ck_assert_int_eq(oom_live(), 0);
}

static void assert_phase(enum http_phase phase)
{
	ck_assert_int_eq(http_connection_phase(&connection), phase);
}

START_TEST(a_connection_is_small_and_idle_without_memory)
{
	ck_assert_uint_le(sizeof(struct http_connection), 64);
	http_connection_init(&connection, NULL);
	ck_assert_int_eq(oom_live(), 0);
	for (int i = 0; i < 3; i++) {
		struct str input = STR(CHUNKED "2\r\nhi\r\n0\r\nA: b\r\n\r\n");
		while (read_some(&input).kind != HTTP_END)
			;
		ck_assert_int_gt(oom_live(), 0);
		answer(200);
		buf_free(&out);
		assert_phase(HTTP_PHASE_IDLE);
		ck_assert_int_eq(oom_live(), 0);
	}
	end();
}
END_TEST

START_TEST(phases)
{
	http_connection_init(&connection, NULL);
	assert_phase(HTTP_PHASE_IDLE);
	ck_assert_int_eq(read_text("").kind, HTTP_WANTS_INPUT);
	assert_phase(HTTP_PHASE_IDLE);
	ck_assert_int_eq(read_text("\r").kind, HTTP_WANTS_INPUT);
	assert_phase(HTTP_PHASE_HEAD);
	ck_assert_int_eq(read_text("\n" POST "Content-Length: 2\r\n\r").kind, HTTP_WANTS_INPUT);
	assert_phase(HTTP_PHASE_HEAD);
	ck_assert(!http_connection_can_answer(&connection));
	ck_assert_int_eq(read_text("\n").kind, HTTP_REQUEST);
	assert_phase(HTTP_PHASE_BODY);
	ck_assert(http_connection_can_answer(&connection));
	ck_assert_int_eq(read_text("h").kind, HTTP_BODY);
	ck_assert_int_eq(read_text("i").kind, HTTP_BODY);
	assert_phase(HTTP_PHASE_BODY);
	struct str next = STR(GET);
	ck_assert_int_eq(read_some(&next).kind, HTTP_END);
	assert_phase(HTTP_PHASE_ANSWER);
	ck_assert_int_eq(read_some(&next).kind, HTTP_WAITS);
	ck_assert_uint_eq(next.len, sizeof(GET) - 1);
	answer(200);
	assert_phase(HTTP_PHASE_IDLE);
	ck_assert_int_eq(read_some(&next).kind, HTTP_REQUEST);
	end();
}
END_TEST

START_TEST(what_is_read_of_a_request)
{
	struct str value = { 0 };
	http_connection_init(&connection, NULL);
	struct http_event event = read_text(
		"POST /a?b HTTP/1.1\r\nHost: h\r\nAccept: a, text/event-stream\r\nACCEPT: c\r\n\r\n");
	const struct http_request *request = event.request;
	ck_assert_int_eq(request->method, HTTP_POST);
	ck_assert(str_is(request->target, "/a?b"));
	ck_assert_uint_eq(http_request_get(request, "accept", &value), 2);
	ck_assert(str_is(value, "a, text/event-stream"));
	ck_assert(http_request_has(request, "Accept", "TEXT/event-stream"));
	ck_assert(http_request_has(request, "accept", "c"));
	ck_assert(!http_request_has(request, "accept", "text"));
	ck_assert_uint_eq(http_request_get(request, "authorization", &value), 0);
	end();
}
END_TEST

START_TEST(which_types_are_accepted)
{
	static const struct {
		const char *accept, *type;
		bool is_accepted;
	} cases[] = {
		{ "text/html", "text/html", true },
		{ "a/b, TEXT/html;q=0.5", "text/html", true },
		{ "*/*;q=0.1", "text/html", true },
		{ "text/*", "text/html", true },
		{ "text/*", "application/json", false },
		{ "text/", "text/html", false },
		{ "*", "text/html", false },
		{ ",;,", "text/html", false },
		{ "", "text/html", false },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[200];
		http_connection_init(&connection, NULL);
		snprintf(
			text, sizeof(text), "GET / HTTP/1.1\r\nHost: h\r\nAccept: %s\r\n\r\n", cases[i].accept);
		struct http_event event = read_text(text);
		ck_assert_int_eq(http_request_accepts(event.request, cases[i].type), cases[i].is_accepted);
		end();
	}
}
END_TEST

START_TEST(a_long_answer_needs_no_head)
{
	http_connection_init(&connection, NULL);
	ck_assert_int_eq(read_text(GET).kind, HTTP_REQUEST);
	ck_assert_int_eq(read_text("").kind, HTTP_END);
	const struct http_answer stream = { .status = 200, .is_streamed = true };
	ck_assert_int_eq(http_answer_begin(&connection, &out, &stream), 0);
	http_connection_forget_request(&connection);
	buf_free(&out);
	ck_assert_int_eq(oom_live(), 0);
	ck_assert_int_eq(http_answer_piece(&connection, &out, STR("a")), 0);
	ck_assert_int_eq(http_answer_end(&connection, &out), 0);
	assert_phase(HTTP_PHASE_IDLE);
	end();
}
END_TEST

/* A head that is being read cannot be forgotten by mistake. */
START_TEST(a_head_half_read_is_kept)
{
	http_connection_init(&connection, NULL);
	read_text("GET / HTTP/1.1\r\nHo");
	http_connection_forget_request(&connection);
	ck_assert_int_eq(read_text("st: a\r\n\r\n").kind, HTTP_REQUEST);
	end();
}
END_TEST

START_TEST(time_is_up)
{
	/* Idle: nobody waits for an answer. */
	http_connection_init(&connection, NULL);
	http_connection_stop(&connection);
	ck_assert(http_connection_is_over(&connection));
	end();
	/* In a head, and in a body: a 408 can be written. */
	static const char *const begun[] = { "GET / HT", POST "Content-Length: 2\r\n\r\nh" };
	for (size_t i = 0; i < COUNT(begun); i++) {
		http_connection_init(&connection, NULL);
		read_text(begun[i]);
		http_connection_stop(&connection);
		assert_phase(HTTP_PHASE_CLOSED);
		ck_assert(http_connection_can_answer(&connection));
		answer(408);
		ck_assert(http_connection_is_over(&connection));
		ck_assert_int_eq(read_text(GET).kind, HTTP_WANTS_INPUT);
		end();
	}
	/* In the middle of an answer: it can end. */
	http_connection_init(&connection, NULL);
	read_text(POST "Content-Length: 2\r\n\r\n");
	const struct http_answer stream = { .status = 200, .is_streamed = true };
	ck_assert_int_eq(http_answer_begin(&connection, &out, &stream), 0);
	http_connection_stop(&connection);
	ck_assert(!http_connection_can_answer(&connection));
	ck_assert(!http_connection_is_over(&connection));
	ck_assert_int_eq(http_answer_end(&connection, &out), 0);
	ck_assert(http_connection_is_over(&connection));
	end();
}
END_TEST

START_TEST(no_request_after_the_last)
{
	http_connection_init(&connection, NULL);
	http_connection_finish(&connection);
	ck_assert(http_connection_is_over(&connection));
	end();
	http_connection_init(&connection, NULL);
	read_text("GET / HTTP");
	http_connection_finish(&connection);
	ck_assert_int_eq(read_text("/1.1\r\nHost: a\r\n\r\n").kind, HTTP_REQUEST);
	ck_assert_int_eq(read_text("").kind, HTTP_END);
	answer(200);
	ck_assert(http_connection_is_over(&connection));
	buf_terminate(&out);
	ck_assert_ptr_nonnull(strstr(out.data, "Connection: close\r\n"));
	end();
}
END_TEST

/* A fault in a body whose answer is already on its way. */
START_TEST(a_refusal_in_the_middle_of_an_answer)
{
	http_connection_init(&connection, NULL);
	read_text(CHUNKED);
	const struct http_answer stream = { .status = 200, .is_streamed = true };
	ck_assert_int_eq(http_answer_begin(&connection, &out, &stream), 0);
	ck_assert_int_eq(read_text("x").kind, HTTP_REFUSED);
	ck_assert(!http_connection_can_answer(&connection));
	ck_assert(!http_connection_is_over(&connection));
	http_answer_cut(&connection);
	ck_assert(http_connection_is_over(&connection));
	end();
}
END_TEST

/* ---- limits --------------------------------------------------------------------- */

/* "GET /", n times the letter, and the rest of a request. */
static struct http_play play_long(
	const struct http_limits *limits, const char *before, size_t count, const char *behind)
{
	struct buf bytes = { 0 };
	struct http_play play;
	buf_append_text(&bytes, before);
	for (size_t i = 0; i < count; i++)
		buf_append_char(&bytes, 'a');
	buf_append_text(&bytes, behind);
	ck_assert_int_eq(http_play(limits, (struct str){ bytes.data, bytes.len },
						 (struct http_cut){ 4096, 1000 }, &play),
		0);
	buf_free(&bytes);
	return play;
}

static int refused_long(
	const struct http_limits *limits, const char *before, size_t count, const char *behind)
{
	struct http_play play = play_long(limits, before, count, behind);
	http_play_free(&play);
	ck_assert(play.refused || play.ended == 1);
	return play.refused;
}

START_TEST(limits_hold_to_the_byte)
{
	static const char version[] = " HTTP/1.1\r\nHost: a\r\n\r\n";
	ck_assert_int_eq(refused_long(NULL, "GET /", HTTP_TARGET_MAX - 1, version), 0);
	ck_assert_int_eq(refused_long(NULL, "GET /", HTTP_TARGET_MAX, version), 414);
	ck_assert_int_eq(refused_long(NULL, "OPTIONS /", HTTP_TARGET_MAX - 1, version), 0);
	ck_assert_int_eq(refused_long(NULL, "OPTIONS /", HTTP_TARGET_MAX, version), 414);
	static const char before[] = "GET / HTTP/1.1\r\nHost: a\r\nA: ";
	size_t most = HTTP_HEAD_MAX - (sizeof(before) - 1) - 4;
	ck_assert_int_eq(refused_long(NULL, before, most, "\r\n\r\n"), 0);
	ck_assert_int_eq(refused_long(NULL, before, most + 1, "\r\n\r\n"), 431);
	static const char body[] = POST "Content-Length: 8388608\r\n\r\n";
	static const char more[] = POST "Content-Length: 8388609\r\n\r\n";
	ck_assert_int_eq(refused_long(NULL, body, HTTP_BODY_MAX, ""), 0);
	ck_assert_int_eq(refused_long(NULL, more, 0, ""), 413);
	ck_assert_int_eq(refused_long(NULL, CHUNKED "800000\r\n", HTTP_BODY_MAX, "\r\n0\r\n\r\n"), 0);
	ck_assert_int_eq(
		refused_long(NULL, CHUNKED "800000\r\n", HTTP_BODY_MAX, "\r\n1\r\na\r\n0\r\n\r\n"), 413);
	ck_assert_int_eq(refused_long(NULL, CHUNKED "0;", HTTP_EXTENSIONS_MAX - 1, "\r\n\r\n"), 0);
	ck_assert_int_eq(refused_long(NULL, CHUNKED "0;", HTTP_EXTENSIONS_MAX, "\r\n\r\n"), 400);
}
END_TEST

START_TEST(limits_are_given)
{
	const struct http_limits tiny = { .head_max = 64, .target_max = 100, .body_max = 3 };
	static const char head[] = " HTTP/1.1\r\nHost: a\r\n\r\n";
	ck_assert_int_eq(refused_long(&tiny, "GET /", 37, head), 0);
	ck_assert_int_eq(refused_long(&tiny, "GET /", 38, head), 431);
	ck_assert_int_eq(refused_long(&tiny, "GET /", 60, head), 414);
	const struct http_limits less = { .head_max = 64, .target_max = 60, .body_max = 3 };
	ck_assert_int_eq(refused_long(&less, "GET /", 55, head), 414);
	ck_assert_int_eq(
		refused_long(&less, "PUT /", 0, " HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n"), 413);
}
END_TEST

START_TEST(as_many_fields_as_allowed)
{
	for (size_t count = HTTP_FIELDS_MAX; count <= HTTP_FIELDS_MAX + 1; count++) {
		struct buf bytes = { 0 };
		struct http_play play;
		buf_append_text(&bytes, "GET / HTTP/1.1\r\nHost: a\r\n");
		for (size_t i = 1; i < count; i++)
			buf_append_text(&bytes, "A: b\r\n");
		buf_append_text(&bytes, "\r\n");
		struct str input = { bytes.data, bytes.len };
		ck_assert_int_eq(http_play(NULL, input, (struct http_cut){ 0 }, &play), 0);
		ck_assert_int_eq(play.refused, count > HTTP_FIELDS_MAX ? 431 : 0);
		http_play_free(&play);
		buf_free(&bytes);
	}
}
END_TEST

/* ---- memory --------------------------------------------------------------------- */

static int play_for_oom(void *data)
{
	struct http_play play;
	int r = http_play(NULL, str_from(data), (struct http_cut){ 7, 7 }, &play);
	if (r == 0)
		http_play_free(&play);
	return r;
}

START_TEST(every_allocation_may_fail)
{
	static char good[] = GET CHUNKED "2\r\nhi\r\n0\r\nA: b\r\n\r\n" GET;
	static char bad[] = POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\n";
	ck_assert_uint_gt(oom_every(play_for_oom, good), 8);
	ck_assert_uint_gt(oom_every(play_for_oom, bad), 3);
}
END_TEST

SUITE_MAIN("wire-http", valid_requests_in_every_cut, a_connection_is_small_and_idle_without_memory,
	phases, what_is_read_of_a_request, which_types_are_accepted, a_long_answer_needs_no_head,
	a_head_half_read_is_kept, time_is_up, no_request_after_the_last,
	a_refusal_in_the_middle_of_an_answer, limits_hold_to_the_byte, limits_are_given,
	as_many_fields_as_allowed, every_allocation_may_fail)

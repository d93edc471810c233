/* HTTP answers as bytes: framing, who may go on, what is refused; server-sent events. */
#include "harness/http_play.h"
#include "harness/oom.h"
#include "harness/suite.h"
#include "wire/http_answer.h"
#include "wire/http_sse.h"

#include <errno.h>

static struct http_connection connection;
static struct buf out;

/* Reads a request up to its end. */
static void asked(const char *text)
{
	struct str input = str_from(text);
	struct http_event event;
	do {
		ck_assert_int_eq(http_connection_read(&connection, &input, &event), 0);
	} while (event.kind != HTTP_END && event.kind != HTTP_WANTS_INPUT);
}

static void begin(const char *text)
{
	http_connection_init(&connection, NULL);
	asked(text);
}

/* What was written reads so, and the connection is over or not. */
static void end(const char *wanted, bool is_over)
{
	buf_terminate(&out);
	ck_assert_str_eq(out.data, wanted);
	ck_assert_int_eq(http_connection_is_over(&connection), is_over);
	http_connection_free(&connection);
	buf_free(&out);
	ck_assert_int_eq(oom_live(), 0);
}

static const struct http_field fields[] = {
	{ STR("Content-Type"), STR("text/plain") },
	{ STR("X-Empty"), STR("") },
};

static void answer_hello(int status, bool is_streamed)
{
	const struct http_answer answer = { .status = status,
		.fields = fields,
		.field_count = COUNT(fields),
		.is_streamed = is_streamed,
		.length = 5 };
	ck_assert_int_eq(http_answer_begin(&connection, &out, &answer), 0);
	ck_assert_int_eq(http_answer_piece(&connection, &out, STR("he")), 0);
	ck_assert_int_eq(http_answer_piece(&connection, &out, STR("")), 0);
	ck_assert_int_eq(http_answer_piece(&connection, &out, STR("llo")), 0);
	ck_assert_int_eq(http_answer_end(&connection, &out), 0);
}

#define FIELDS "Content-Type: text/plain\r\nX-Empty: \r\n"
#define HEAD_OF(method) method " / HTTP/1.1\r\nHost: a\r\n\r\n"
#define OLD "GET / HTTP/1.0\r\n\r\n"
#define OLD_ON "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
#define LAST "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
#define SIZED "Content-Length: 5\r\n"
#define CODED "Transfer-Encoding: chunked\r\n"
#define CHUNKS "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"

static const struct answer_case {
	const char *asked;
	int status;
	bool is_streamed;
	const char *sent; /* behind the fields */
	bool is_over;
} answers[] = {
	{ HEAD_OF("GET"), 200, false, SIZED "\r\nhello", false },
	{ HEAD_OF("GET"), 200, true, CODED "\r\n" CHUNKS, false },
	{ HEAD_OF("HEAD"), 200, false, SIZED "\r\n", false },
	{ HEAD_OF("HEAD"), 200, true, CODED "\r\n", false },
	{ HEAD_OF("DELETE"), 204, false, "\r\n", false },
	{ HEAD_OF("GET"), 304, true, "\r\n", false },
	{ HEAD_OF("GET"), 599, false, SIZED "\r\nhello", false },
	{ HEAD_OF("GET"), 299, false, SIZED "\r\nhello", false },
	{ OLD, 200, false, SIZED "Connection: close\r\n\r\nhello", true },
	{ OLD, 200, true, "Connection: close\r\n\r\nhello", true },
	{ OLD_ON, 200, false, SIZED "Connection: keep-alive\r\n\r\nhello", false },
	{ OLD_ON, 200, true, "Connection: close\r\n\r\nhello", true },
	{ LAST, 200, false, SIZED "Connection: close\r\n\r\nhello", true },
	{ LAST, 200, true, CODED "Connection: close\r\n\r\n" CHUNKS, true },
	/* The end of the request did not come. */
	{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n", 401, false,
		SIZED "Connection: close\r\n\r\nhello", true },
};

START_TEST(framing)
{
	for (size_t i = 0; i < COUNT(answers); i++) {
		struct buf wanted = { 0 };
		buf_printf(&wanted, "HTTP/1.1 %d %s\r\n" FIELDS "%s", answers[i].status,
			http_status_text(answers[i].status), answers[i].sent);
		buf_terminate(&wanted);
		begin(answers[i].asked);
		answer_hello(answers[i].status, answers[i].is_streamed);
		buf_terminate(&out);
		ck_assert_str_eq(out.data, wanted.data);
		buf_free(&wanted);
		end(out.data, answers[i].is_over);
	}
}
END_TEST

START_TEST(an_answer_that_closes)
{
	begin(HEAD_OF("GET"));
	const struct http_answer answer = { .status = 503, .closes = true };
	ck_assert_int_eq(http_answer_whole(&connection, &out, &answer, STR("no")), 0);
	end("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno",
		true);
}
END_TEST

START_TEST(an_answer_that_is_not_whole)
{
	const struct http_answer answer = { .status = 200, .length = 3 };
	begin(HEAD_OF("GET"));
	ck_assert_int_eq(http_answer_begin(&connection, &out, &answer), 0);
	ck_assert_int_eq(http_answer_piece(&connection, &out, STR("hello")), -EINVAL);
	ck_assert_int_eq(http_answer_piece(&connection, &out, STR("he")), 0);
	ck_assert_int_eq(http_answer_end(&connection, &out), -EINVAL);
	end("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhe", true);
	const struct http_answer stream = { .status = 200, .is_streamed = true };
	begin(HEAD_OF("GET"));
	ck_assert_int_eq(http_answer_begin(&connection, &out, &stream), 0);
	http_answer_cut(&connection);
	end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", true);
}
END_TEST

/* Nothing is written where nothing is due, and no line of somebody else's. */
START_TEST(answers_that_are_refused)
{
	static const struct http_field bad[] = {
		{ STR("A"), STR("b\r\nSet-Cookie: c") },
		{ STR("A"), STR("b\n") },
		{ STR("A"), STR("b\0") },
		{ STR("A b"), STR("c") },
		{ STR("A:"), STR("c") },
		{ STR(""), STR("c") },
		{ STR("A\r\nB"), STR("c") },
		{ STR("connection"), STR("close") },
		{ STR("Content-length"), STR("0") },
		{ STR("Transfer-Encoding"), STR("chunked") },
	};
	const struct http_answer good = { .status = 200 };
	http_connection_init(&connection, NULL);
	ck_assert_int_eq(http_answer_begin(&connection, &out, &good), -EINVAL);
	ck_assert_int_eq(http_answer_piece(&connection, &out, STR("a")), -EINVAL);
	ck_assert_int_eq(http_answer_end(&connection, &out), -EINVAL);
	asked(HEAD_OF("GET"));
	ck_assert_int_eq(http_answer_piece(&connection, &out, STR("a")), -EINVAL);
	ck_assert_int_eq(http_answer_end(&connection, &out), -EINVAL);
	for (size_t i = 0; i < COUNT(bad); i++) {
		const struct http_answer answer = { .status = 200, .fields = &bad[i], .field_count = 1 };
		ck_assert_int_eq(http_answer_begin(&connection, &out, &answer), -EINVAL);
		ck_assert_int_eq(http_answer_whole(&connection, &out, &answer, STR("a")), -EINVAL);
	}
	static const int statuses[] = { 0, 100, 101, 199, 600, -200 };
	for (size_t i = 0; i < COUNT(statuses); i++) {
		const struct http_answer answer = { .status = statuses[i] };
		ck_assert_int_eq(http_answer_begin(&connection, &out, &answer), -EINVAL);
	}
	ck_assert_uint_eq(out.len, 0);
	ck_assert_int_eq(http_answer_begin(&connection, &out, &good), 0);
	ck_assert_int_eq(http_answer_begin(&connection, &out, &good), -EINVAL);
	ck_assert_int_eq(http_answer_end(&connection, &out), 0);
	end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false);
}
END_TEST

START_TEST(continue_once_and_where_it_is_waited_for)
{
	static const char expecting[] =
		"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
	const struct http_answer answer = { .status = 200 };
	begin(expecting);
	ck_assert_int_eq(http_answer_continue(&connection, &out), 0);
	ck_assert_int_eq(http_answer_continue(&connection, &out), 0);
	asked("hi");
	ck_assert_int_eq(http_answer_whole(&connection, &out, &answer, STR("")), 0);
	end("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false);
	/* The final answer instead. */
	begin(expecting);
	ck_assert_int_eq(http_answer_begin(&connection, &out, &answer), 0);
	ck_assert_int_eq(http_answer_continue(&connection, &out), 0);
	ck_assert_int_eq(http_answer_end(&connection, &out), 0);
	end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", true);
	begin(HEAD_OF("POST"));
	ck_assert_int_eq(http_answer_continue(&connection, &out), 0);
	ck_assert_uint_eq(out.len, 0);
	end("", false);
}
END_TEST

static int answer_for_oom(void *data)
{
	struct buf sent = { 0 };
	struct http_event event;
	struct http_connection each;
	struct str input = STR(HEAD_OF("GET"));
	const struct http_answer answer = { .status = 200, .fields = fields, .field_count = 2 };
	(void)data;
	http_connection_init(&each, NULL);
	int r = http_connection_read(&each, &input, &event);
	if (r == 0)
		r = http_connection_read(&each, &input, &event);
	if (r == 0) {
		static const char body[4000];
		r = http_answer_whole(&each, &sent, &answer, (struct str){ body, sizeof(body) });
		/* Not begun half: it could be tried again with another buffer. */
		if (r < 0)
			ck_assert(http_connection_can_answer(&each) && sent.len == 0);
		buf_free(&sent);
	}
	http_connection_free(&each);
	return r;
}

/* Each step from its own buffer: one that fails leaves nothing of itself. */
static int stream_for_oom(void *data)
{
	struct buf sent[4] = { 0 };
	struct http_event event;
	struct http_connection each;
	struct str input = STR("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
						   "Content-Length: 2\r\n\r\n");
	const struct http_answer answer = { .status = 200, .is_streamed = true };
	(void)data;
	http_connection_init(&each, NULL);
	int r = http_connection_read(&each, &input, &event);
	if (r == 0)
		r = http_answer_continue(&each, &sent[0]);
	if (r == 0)
		r = http_answer_begin(&each, &sent[1], &answer);
	if (r == 0)
		r = http_answer_piece(&each, &sent[2], STR("hello"));
	if (r == 0)
		r = http_answer_end(&each, &sent[3]);
	for (size_t i = 0; i < COUNT(sent); i++) {
		ck_assert(!sent[i].failed || sent[i].len == 0);
		buf_free(&sent[i]);
	}
	http_connection_free(&each);
	return r;
}

static int events_for_oom(void *data)
{
	struct buf sent[2] = { 0 };
	(void)data;
	int r = http_sse_event(&sent[0], STR("1"), STR("e"), STR("d"));
	if (r == 0)
		r = http_sse_comment(&sent[1], STR("c"));
	for (size_t i = 0; i < COUNT(sent); i++) {
		ck_assert(!sent[i].failed || sent[i].len == 0);
		buf_free(&sent[i]);
	}
	return r;
}

START_TEST(an_answer_without_memory_is_none)
{
	ck_assert_uint_ge(oom_every(stream_for_oom, NULL), 7);
	ck_assert_uint_eq(oom_every(events_for_oom, NULL), 2);
	ck_assert_uint_ge(oom_every(answer_for_oom, NULL), 4);
}
END_TEST

START_TEST(events)
{
	static const struct {
		struct str id, event, data;
		const char *text;
	} cases[] = {
		{ STR("7"), STR(""), STR("{}"), "id: 7\ndata: {}\n\n" },
		{ STR(""), STR("end"), STR("a\nb"), "event: end\ndata: a\ndata: b\n\n" },
		{ STR(""), STR(""), STR(""), "data: \n\n" },
		{ STR(""), STR(""), STR("a\r\nb\rc\n"), "data: a\ndata: b\ndata: c\ndata: \n\n" },
		{ STR(""), STR(""), STR("\r\r\n\n"), "data: \ndata: \ndata: \ndata: \n\n" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		ck_assert_int_eq(http_sse_event(&out, cases[i].id, cases[i].event, cases[i].data), 0);
		buf_terminate(&out);
		ck_assert_str_eq(out.data, cases[i].text);
		buf_clear(&out);
	}
	ck_assert_int_eq(http_sse_event(&out, STR("a\nb"), STR(""), STR("")), -EINVAL);
	ck_assert_int_eq(http_sse_event(&out, STR("a\0"), STR(""), STR("")), -EINVAL);
	ck_assert_int_eq(http_sse_event(&out, STR(""), STR("a\rb"), STR("")), -EINVAL);
	ck_assert_uint_eq(out.len, 0);
	ck_assert_int_eq(http_sse_comment(&out, STR("a\r\nb")), 0);
	ck_assert_int_eq(http_sse_comment(&out, STR("")), 0);
	buf_terminate(&out);
	ck_assert_str_eq(out.data, ": a  b\n\n: \n\n");
	buf_free(&out);
}
END_TEST

START_TEST(dates)
{
	static const struct {
		uint64_t seconds;
		const char *text;
	} cases[] = {
		{ 0, "Thu, 01 Jan 1970 00:00:00 GMT" },
		{ 784111777, "Sun, 06 Nov 1994 08:49:37 GMT" },
		{ 951782400, "Tue, 29 Feb 2000 00:00:00 GMT" },
		{ 4107542399, "Sun, 28 Feb 2100 23:59:59 GMT" },
		{ 4107542400, "Mon, 01 Mar 2100 00:00:00 GMT" },
		{ 253402300799, "Fri, 31 Dec 9999 23:59:59 GMT" },
		{ UINT64_MAX, "Fri, 31 Dec 9999 23:59:59 GMT" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[HTTP_DATE_SIZE];
		http_date_write(text, cases[i].seconds);
		ck_assert_str_eq(text, cases[i].text);
	}
}
END_TEST

SUITE_MAIN("wire-http-answer", framing, an_answer_that_closes, an_answer_that_is_not_whole,
	answers_that_are_refused, continue_once_and_where_it_is_waited_for,
	an_answer_without_memory_is_none, events, dates)

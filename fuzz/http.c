/* The HTTP engine against any bytes: however they are cut, the same events and answers come
 * of them; what was refused is over; every answer of 200 belongs to a whole request. Then once more
 * with a server that answers before the request has ended. The first byte chooses limits, the
 * second where to cut. */
#include "fuzz.h"

#include <string.h>

#include "harness/http_play.h"
#include "wire/http_router.h"

static const struct http_limits fuzz_limits[] = {
	{ 0 },
	{ .head_max = 128, .target_max = 16, .fields_max = 3, .body_max = 9, .extensions_max = 5 },
	{ .head_max = 40, .target_max = 30, .fields_max = 1, .body_max = 1, .extensions_max = 1 },
};

static size_t fuzz_count(const struct buf *text, struct str word)
{
	size_t count = 0;
	for (size_t at = 0; at + word.len <= text->len; at++)
		count += memcmp(text->data + at, word.data, word.len) == 0;
	return count;
}

static void fuzz_cuts(const struct http_limits *limits, struct str input, size_t at)
{
	const struct http_cut cuts[] = { { 1, 1 }, { at, 0 }, { at, 3 } };
	struct http_play whole, cut;
	check(http_play(limits, input, (struct http_cut){ 0 }, &whole) == 0);
	check(fuzz_count(&whole.sent, STR("HTTP/1.1 2")) == whole.ended);
	check(!whole.refused || whole.is_over);
	check(whole.is_over == (whole.phase == HTTP_PHASE_CLOSED));
	check(whole.phase != HTTP_PHASE_ANSWER);
	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		check(http_play(limits, input, cuts[i], &cut) == 0);
		check(http_play_same(&whole, &cut));
		http_play_free(&cut);
	}
	http_play_free(&whole);
}

/* What a path and a query may be taken apart into. */
static void fuzz_target(const struct http_request *request)
{
	static const struct http_route table[] = {
		{ HTTP_BIT(HTTP_GET), "/a/{}", 1 },
		{ HTTP_BIT(HTTP_POST), "/b/{}/{*}", 2 },
	};
	const struct http_routes routes = { table, 2 };
	struct http_match match = http_route_find(&routes, request->method, request->path);
	check(match.status == 200 || match.status == 404 || match.status == 405);
	for (size_t i = 0; i < match.parameter_count; i++) {
		char out[16];
		int len = http_url_decode(match.parameters[i], HTTP_DECODE_PATH, out, sizeof(out));
		check(len < (int)sizeof(out) && (len < 0 || strlen(out) == (size_t)len));
	}
	struct str rest = request->query, name, value;
	char out[16];
	while (http_query_next(&rest, &name, &value))
		check(http_url_decode(value, HTTP_DECODE_QUERY, out, sizeof(out)) < (int)sizeof(out));
	check(http_query_get(request->query, "a", out, sizeof(out)) < (int)sizeof(out));
}

/* An event, to a server that echoes bodies while they come. */
static void fuzz_echo(
	struct http_connection *connection, struct buf *out, const struct http_event *event)
{
	const struct http_answer stream = { .status = 200, .is_streamed = true };
	if (event->kind == HTTP_REQUEST) {
		fuzz_target(event->request);
		check(http_answer_begin(connection, out, &stream) == 0);
		http_connection_forget_request(connection);
	} else if (event->kind == HTTP_BODY) {
		check(http_answer_piece(connection, out, event->piece) == 0);
	} else if (event->kind == HTTP_END) {
		check(http_answer_end(connection, out) == 0);
	} else if (event->kind == HTTP_REFUSED) {
		if (http_connection_can_answer(connection))
			check(http_answer_whole(connection, out,
					  &(struct http_answer){ .status = event->fault.status }, STR("")) == 0);
		else
			http_answer_cut(connection);
		check(http_connection_is_over(connection));
	}
}

static void fuzz_early(const struct http_limits *limits, struct str input)
{
	struct http_connection connection;
	struct http_event event;
	struct buf out = { 0 };
	http_connection_init(&connection, limits);
	do {
		check(http_connection_read(&connection, &input, &event) == 0);
		fuzz_echo(&connection, &out, &event);
	} while (event.kind != HTTP_WANTS_INPUT);
	check(input.len == 0);
	http_connection_stop(&connection);
	http_connection_free(&connection);
	buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3)
		return 0;
	const struct http_limits *limits = &fuzz_limits[data[0] % 3];
	struct str input = { (const char *)data + 2, size - 2 };
	fuzz_cuts(limits, input, 1 + data[1] % input.len);
	fuzz_early(limits, input);
	return 0;
}

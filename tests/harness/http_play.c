/* A client's bytes against the HTTP engine. */
#include "harness/http_play.h"

#include <errno.h>

void http_play_free(struct http_play *play)
{
	buf_free(&play->said);
	buf_free(&play->sent);
}

static void play_say(struct http_play *play, struct str text)
{
	buf_append(&play->said, text.data, text.len);
}

static void play_request(struct http_play *play, const struct http_request *request)
{
	http_methods_write(&play->said, HTTP_BIT(request->method));
	buf_append_char(&play->said, ' ');
	play_say(play, request->path);
	if (request->query.data) {
		buf_append_char(&play->said, '?');
		play_say(play, request->query);
	}
	buf_append_char(&play->said, ' ');
	play_say(play, request->host);
	for (size_t i = 0; i < request->field_count; i++) {
		if (http_same_word(request->fields[i].name, STR("host")))
			continue;
		buf_append_char(&play->said, ' ');
		play_say(play, request->fields[i].name);
		buf_append_char(&play->said, '=');
		play_say(play, request->fields[i].value);
	}
	buf_append_text(&play->said, request->wants_continue ? " continue " : " ");
}

static int play_answer(struct http_play *play, struct http_connection *connection, int status)
{
	const struct http_answer answer = { .status = status };
	return http_answer_whole(connection, &play->sent, &answer, STR("ok"));
}

static int play_event(
	struct http_play *play, struct http_connection *connection, const struct http_event *event)
{
	switch (event->kind) {
	case HTTP_REQUEST:
		play_request(play, event->request);
		return http_answer_continue(connection, &play->sent);
	case HTTP_BODY:
		play_say(play, event->piece);
		return 0;
	case HTTP_END:
		play->ended++;
		buf_append_char(&play->said, '\n');
		return play_answer(play, connection, 200);
	case HTTP_REFUSED:
		play->refused = event->fault.status;
		buf_printf(&play->said, "%d %s\n", event->fault.status, event->fault.text);
		return play_answer(play, connection, event->fault.status);
	default:
		return 0;
	}
}

static int play_piece(struct http_play *play, struct http_connection *connection, struct str piece)
{
	struct http_event event;
	int r;
	do {
		r = http_connection_read(connection, &piece, &event);
		if (r == 0)
			r = play_event(play, connection, &event);
	} while (r == 0 && event.kind != HTTP_WANTS_INPUT && event.kind != HTTP_WAITS);
	return r;
}

int http_play(const struct http_limits *limits, struct str input, struct http_cut cut,
	struct http_play *ret_play)
{
	struct http_connection connection;
	struct http_play play = { .refused = 0 };
	size_t size = cut.first;
	int r = 0;
	http_connection_init(&connection, limits);
	while (r == 0 && input.len) {
		size_t len = size && size < input.len ? size : input.len;
		r = play_piece(&play, &connection, (struct str){ input.data, len });
		input = (struct str){ input.data + len, input.len - len };
		size = cut.step;
	}
	play.phase = http_connection_phase(&connection);
	play.is_over = http_connection_is_over(&connection);
	http_connection_free(&connection);
	if (r == 0 && (play.said.failed || play.sent.failed))
		r = -ENOMEM;
	if (r == 0)
		*ret_play = play;
	else
		http_play_free(&play);
	return r;
}

static struct str play_text(const struct buf *buf)
{
	return (struct str){ buf->data, buf->len };
}

bool http_play_same(const struct http_play *a, const struct http_play *b)
{
	return str_eq(play_text(&a->said), play_text(&b->said)) &&
		str_eq(play_text(&a->sent), play_text(&b->sent)) && a->ended == b->ended &&
		a->refused == b->refused && a->phase == b->phase && a->is_over == b->is_over;
}

int http_answer_whole(struct http_connection *connection, struct buf *out,
	const struct http_answer *answer, struct str body)
{
	struct http_answer sized = *answer;
	const struct http_connection before = *connection;
	size_t len = out->len;
	sized.is_streamed = false;
	sized.length = body.len;
	int r = http_answer_begin(connection, out, &sized);
	if (r == 0)
		r = http_answer_piece(connection, out, body);
	if (r == 0)
		return http_answer_end(connection, out);
	/* Nothing of it was written: it is due as before. */
	*connection = before;
	out->len = len;
	return r;
}

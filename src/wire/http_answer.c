/* Writing answers, and deciding with each whether the connection goes on. */
#include "wire/http_answer.h"

#include <errno.h>

int http_answer_continue(struct http_connection *connection, struct buf *out)
{
	if (!connection->wants_continue || connection->answering != HTTP_ANSWER_DUE)
		return 0;
	int r = buf_append_text(out, "HTTP/1.1 100 Continue\r\n\r\n");
	if (r == 0)
		connection->wants_continue = false;
	return r;
}

static bool answer_is_ours(struct str name)
{
	return http_same_word(name, STR("connection")) || http_same_word(name, STR("content-length")) ||
		http_same_word(name, STR("transfer-encoding"));
}

/* A value that could end its line could forge another answer. */
static bool answer_is_value(struct str value)
{
	return http_line_span(value.data, value.len) == value.len;
}

static bool answer_is_valid(const struct http_answer *answer)
{
	for (size_t i = 0; i < answer->field_count; i++) {
		const struct http_field *field = &answer->fields[i];
		if (!http_is_token(field->name) || answer_is_ours(field->name) ||
			!answer_is_value(field->value))
			return false;
	}
	return answer->status >= 200 && answer->status <= 599;
}

static enum http_answering answer_framing(
	const struct http_connection *connection, const struct http_answer *answer)
{
	if (connection->is_head || answer->status == 204 || answer->status == 304)
		return HTTP_ANSWER_EMPTY;
	if (!answer->is_streamed)
		return HTTP_ANSWER_SIZED;
	return connection->is_old ? HTTP_ANSWER_PLAIN : HTTP_ANSWER_CHUNKED;
}

enum { HTTP_ANSWER_ROOM = 512 }; /* that most answers need */

static void answer_write_length(struct buf *out, uint64_t length)
{
	buf_append_text(out, "Content-Length: ");
	buf_append_number(out, length);
	buf_append_text(out, "\r\n");
}

static void answer_write_framing(
	const struct http_connection *connection, struct buf *out, const struct http_answer *answer)
{
	if (answer->status == 204 || answer->status == 304)
		return;
	if (!answer->is_streamed)
		answer_write_length(out, answer->length);
	else if (!connection->is_old)
		buf_append_text(out, "Transfer-Encoding: chunked\r\n");
}

static int answer_write_head(const struct http_connection *connection, struct buf *out,
	const struct http_answer *answer, bool persists)
{
	buf_reserve(out, HTTP_ANSWER_ROOM); /* or it grows by and by */
	buf_append_text(out, "HTTP/1.1 ");
	buf_append_number(out, (uint64_t)answer->status);
	buf_append_char(out, ' ');
	buf_append_text(out, http_status_text(answer->status));
	buf_append_text(out, "\r\n");
	for (size_t i = 0; i < answer->field_count; i++) {
		const struct http_field *field = &answer->fields[i];
		buf_append(out, field->name.data, field->name.len);
		buf_append_text(out, ": ");
		buf_append(out, field->value.data, field->value.len);
		buf_append_text(out, "\r\n");
	}
	answer_write_framing(connection, out, answer);
	if (!persists)
		buf_append_text(out, "Connection: close\r\n");
	else if (connection->is_old)
		buf_append_text(out, "Connection: keep-alive\r\n");
	return buf_append_text(out, "\r\n");
}

int http_answer_begin(
	struct http_connection *connection, struct buf *out, const struct http_answer *answer)
{
	if (connection->answering != HTTP_ANSWER_DUE || !answer_is_valid(answer))
		return -EINVAL;
	size_t before = out->len;
	enum http_answering framing = answer_framing(connection, answer);
	bool persists = connection->persists && !answer->closes &&
		connection->reading == HTTP_READ_DONE && framing != HTTP_ANSWER_PLAIN;
	int r = answer_write_head(connection, out, answer, persists);
	if (r < 0) {
		out->len = before;
		return r;
	}
	connection->persists = persists;
	connection->wants_continue = false;
	connection->answering = (uint8_t)framing;
	connection->answer_left = answer->length;
	return 0;
}

static int answer_write_chunk(struct buf *out, struct str piece)
{
	size_t before = out->len;
	buf_printf(out, "%zx\r\n", piece.len);
	buf_append(out, piece.data, piece.len);
	int r = buf_append_text(out, "\r\n");
	if (r < 0)
		out->len = before;
	return r;
}

int http_answer_piece(struct http_connection *connection, struct buf *out, struct str piece)
{
	if (connection->answering <= HTTP_ANSWER_DUE)
		return -EINVAL;
	if (connection->answering == HTTP_ANSWER_EMPTY || piece.len == 0)
		return 0;
	if (connection->answering == HTTP_ANSWER_CHUNKED)
		return answer_write_chunk(out, piece);
	if (connection->answering == HTTP_ANSWER_SIZED && piece.len > connection->answer_left)
		return -EINVAL;
	int r = buf_append(out, piece.data, piece.len);
	if (r == 0 && connection->answering == HTTP_ANSWER_SIZED)
		connection->answer_left -= piece.len;
	return r;
}

int http_answer_end(struct http_connection *connection, struct buf *out)
{
	if (connection->answering <= HTTP_ANSWER_DUE)
		return -EINVAL;
	if (connection->answering == HTTP_ANSWER_SIZED && connection->answer_left) {
		http_answer_cut(connection);
		return -EINVAL;
	}
	if (connection->answering == HTTP_ANSWER_CHUNKED && buf_append_text(out, "0\r\n\r\n") < 0)
		return -ENOMEM;
	http_connection_turn(connection);
	return 0;
}

void http_answer_cut(struct http_connection *connection)
{
	connection->persists = false;
	http_connection_turn(connection);
}

/* The reading side: a table of what each state does with input. */
#include "wire/http_connection.h"

#include <errno.h>
#include <stdlib.h>

enum { HTTP_HEAD_ROOM = 512 }; /* that most heads need */

struct http_head {
	struct http_block block;
	struct http_request request;
	struct http_field *fields;
};

static const struct http_limits connection_defaults = {
	.head_max = HTTP_HEAD_MAX,
	.target_max = HTTP_TARGET_MAX,
	.fields_max = HTTP_FIELDS_MAX,
	.body_max = HTTP_BODY_MAX,
	.extensions_max = HTTP_EXTENSIONS_MAX,
};

/* A limit of the connection's, by name, where 0 is the default. */
#define CONNECTION_LIMIT(connection, name) \
	((connection)->limits->name ? (connection)->limits->name : connection_defaults.name)

void http_connection_init(struct http_connection *connection, const struct http_limits *limits)
{
	*connection = (struct http_connection){ .limits = limits ? limits : &connection_defaults };
}

void http_connection_forget_request(struct http_connection *connection)
{
	if (!connection->head || connection->reading == HTTP_READ_HEAD)
		return;
	http_block_free(&connection->head->block);
	free(connection->head->fields);
	free(connection->head);
	connection->head = NULL;
}

static void connection_forget_trailer(struct http_connection *connection)
{
	if (!connection->trailer)
		return;
	http_block_free(connection->trailer);
	free(connection->trailer);
	connection->trailer = NULL;
}

static void connection_close(struct http_connection *connection)
{
	connection->reading = HTTP_READ_CLOSED;
	connection->persists = false;
	connection_forget_trailer(connection);
}

void http_connection_free(struct http_connection *connection)
{
	connection_close(connection);
	http_connection_forget_request(connection);
}

/* A head that is not whole is no request, but its sender waits for an answer. */
void http_connection_stop(struct http_connection *connection)
{
	bool is_in_head = connection->reading == HTTP_READ_HEAD;
	connection_close(connection);
	if (!is_in_head)
		return;
	connection->answering = HTTP_ANSWER_DUE;
	http_connection_forget_request(connection);
}

void http_connection_finish(struct http_connection *connection)
{
	connection->persists = false;
	if (connection->reading == HTTP_READ_IDLE)
		connection_close(connection);
}

void http_connection_turn(struct http_connection *connection)
{
	connection->answering = HTTP_ANSWER_NONE;
	if (connection->reading != HTTP_READ_DONE || !connection->persists)
		connection_close(connection);
	http_connection_forget_request(connection);
	if (connection->reading == HTTP_READ_DONE)
		http_connection_init(connection, connection->limits);
}

bool http_connection_can_answer(const struct http_connection *connection)
{
	return connection->answering == HTTP_ANSWER_DUE;
}

bool http_connection_is_over(const struct http_connection *connection)
{
	return connection->reading == HTTP_READ_CLOSED && connection->answering == HTTP_ANSWER_NONE;
}

enum http_phase http_connection_phase(const struct http_connection *connection)
{
	static const uint8_t phases[] = {
		[HTTP_READ_IDLE] = HTTP_PHASE_IDLE,
		[HTTP_READ_HEAD] = HTTP_PHASE_HEAD,
		[HTTP_READ_SIZED] = HTTP_PHASE_BODY,
		[HTTP_READ_CHUNKED] = HTTP_PHASE_BODY,
		[HTTP_READ_TRAILER] = HTTP_PHASE_BODY,
		[HTTP_READ_END] = HTTP_PHASE_BODY,
		[HTTP_READ_DONE] = HTTP_PHASE_ANSWER,
		[HTTP_READ_CLOSED] = HTTP_PHASE_CLOSED,
	};
	return (enum http_phase)phases[connection->reading];
}

/* ---- the head ----------------------------------------------------------------- */

/* Each step returns 1 when it has an event, 0 to go on with the next state or the rest of
 * the input, PERCH_ESYNTAX with the event's fault, or -ENOMEM. */
typedef int connection_step(
	struct http_connection *connection, struct str *input, struct http_event *event);

static int connection_begin(
	struct http_connection *connection, struct str *input, struct http_event *event)
{
	(void)event;
	if (input->len == 0)
		return 0;
	connection->head = calloc(1, sizeof(*connection->head));
	if (!connection->head)
		return -ENOMEM;
	connection->reading = HTTP_READ_HEAD;
	connection->persists = true;
	return buf_reserve(&connection->head->block.text, HTTP_HEAD_ROOM);
}

/* What of the head the next line may reach up to. */
static size_t connection_line_max(const struct http_connection *connection)
{
	size_t head_max = CONNECTION_LIMIT(connection, head_max);
	size_t target_max = CONNECTION_LIMIT(connection, target_max);
	if (connection->head->block.line_at || target_max >= head_max)
		return head_max;
	size_t beside = head_max - target_max;
	return target_max + (beside < HTTP_LINE_EXTRA ? beside : HTTP_LINE_EXTRA);
}

static int connection_head_too_long(
	const struct http_connection *connection, struct http_fault *fault)
{
	const struct http_block *block = &connection->head->block;
	if (block->line_at)
		return http_fault_set(fault, 431, "the head is too long");
	if (block->text.len == 0 || !memchr(block->text.data, ' ', block->text.len))
		return http_fault_set(fault, 501, "the method is too long");
	return http_fault_set(fault, 414, "the target is too long");
}

/* One empty line in front of a request is what old clients sent behind a body. */
static int connection_skip_line(struct http_connection *connection, struct http_fault *fault)
{
	if (connection->is_led)
		return http_fault_set(fault, 400, "empty lines before the request");
	connection->is_led = true;
	http_block_free(&connection->head->block);
	return 0;
}

/* The first line is read when it comes, to be refused early; what it points to may move as
 * long as the head grows, so it is read once more when all is there. */
static int connection_take_first(
	struct http_connection *connection, struct str line, struct http_fault *fault)
{
	struct http_request *request = &connection->head->request;
	int r = http_request_read_line(request, line, CONNECTION_LIMIT(connection, target_max), fault);
	connection->is_head = r == 0 && request->method == HTTP_HEAD;
	return r;
}

static void connection_begin_body(
	struct http_connection *connection, const struct http_request *request)
{
	static const uint8_t next[] = {
		[HTTP_BODY_NONE] = HTTP_READ_END,
		[HTTP_BODY_SIZED] = HTTP_READ_SIZED,
		[HTTP_BODY_CHUNKED] = HTTP_READ_CHUNKED,
	};
	connection->reading = next[request->body];
	connection->answering = HTTP_ANSWER_DUE;
	connection->persists = connection->persists && request->persists;
	connection->wants_continue = request->wants_continue;
	connection->is_old = request->minor == 0;
	if (request->body == HTTP_BODY_CHUNKED)
		http_chunked_begin(&connection->chunked, CONNECTION_LIMIT(connection, body_max),
			CONNECTION_LIMIT(connection, extensions_max));
	else
		connection->body_left = request->body_len;
}

/* The head is whole: its texts stay where they are from now on. */
static int connection_end_head(struct http_connection *connection, struct http_event *event)
{
	struct http_head *head = connection->head;
	struct http_request *request = &head->request;
	size_t count = head->block.field_count;
	struct str rest = { head->block.text.data, head->block.text.len };
	struct str line = str_cut(&rest, '\r');
	head->fields = calloc(count ? count : 1, sizeof(*head->fields));
	if (!head->fields)
		return -ENOMEM;
	http_block_fields(&head->block, head->fields);
	*request = (struct http_request){ .fields = head->fields, .field_count = count };
	int r = connection_take_first(connection, line, &event->fault);
	if (r == 0)
		r = http_request_read_fields(
			request, CONNECTION_LIMIT(connection, body_max), &event->fault);
	if (r < 0)
		return r;
	connection_begin_body(connection, request);
	*event = (struct http_event){ .kind = HTTP_REQUEST, .request = request };
	return 1;
}

static int connection_read_head(
	struct http_connection *connection, struct str *input, struct http_event *event)
{
	struct http_block *block = &connection->head->block;
	bool is_first = block->line_at == 0;
	struct http_field field;
	struct str line;
	int r = http_block_line(block, input, connection_line_max(connection), &line, &event->fault);
	if (r == PERCH_ELIMIT)
		return connection_head_too_long(connection, &event->fault);
	if (r <= 0)
		return r;
	if (is_first && line.len == 0)
		return connection_skip_line(connection, &event->fault);
	if (is_first)
		return connection_take_first(connection, line, &event->fault);
	if (line.len == 0)
		return connection_end_head(connection, event);
	if (block->field_count == CONNECTION_LIMIT(connection, fields_max))
		return http_fault_set(&event->fault, 431, "too many header fields");
	http_block_count_field(block, line);
	return http_field_read(line, &field, &event->fault);
}

/* ---- the body ----------------------------------------------------------------- */

static int connection_give_piece(struct http_event *event, struct str piece)
{
	*event = (struct http_event){ .kind = HTTP_BODY, .piece = piece };
	return 1;
}

static int connection_read_sized(
	struct http_connection *connection, struct str *input, struct http_event *event)
{
	if (input->len == 0)
		return 0;
	uint64_t left = connection->body_left;
	struct str piece = { input->data, left < input->len ? (size_t)left : input->len };
	input->data += piece.len;
	input->len -= piece.len;
	connection->body_left -= piece.len;
	if (connection->body_left == 0)
		connection->reading = HTTP_READ_END;
	return connection_give_piece(event, piece);
}

static int connection_read_chunked(
	struct http_connection *connection, struct str *input, struct http_event *event)
{
	struct str piece;
	int r = http_chunked_take(&connection->chunked, input, &piece, &event->fault);
	if (r == HTTP_CHUNKED_DATA)
		return connection_give_piece(event, piece);
	if (r != HTTP_CHUNKED_LAST)
		return r;
	connection->trailer = calloc(1, sizeof(*connection->trailer));
	if (!connection->trailer)
		return -ENOMEM;
	connection->reading = HTTP_READ_TRAILER;
	return 0;
}

/* Trailers are checked and thrown away: nothing here has a use for them. */
static int connection_read_trailer(
	struct http_connection *connection, struct str *input, struct http_event *event)
{
	struct http_block *block = connection->trailer;
	struct http_field field;
	struct str line;
	int r =
		http_block_line(block, input, CONNECTION_LIMIT(connection, head_max), &line, &event->fault);
	if (r == PERCH_ELIMIT)
		return http_fault_set(&event->fault, 431, "the trailers are too long");
	if (r <= 0)
		return r;
	if (line.len == 0) {
		connection_forget_trailer(connection);
		connection->reading = HTTP_READ_END;
		return 0;
	}
	if (block->field_count == CONNECTION_LIMIT(connection, fields_max))
		return http_fault_set(&event->fault, 431, "too many trailers");
	http_block_count_field(block, line);
	r = http_field_read(line, &field, &event->fault);
	if (r == 0 && http_is_framing_name(field.name))
		return http_fault_set(&event->fault, 400, "a framing field in the trailers");
	return r;
}

static int connection_end(
	struct http_connection *connection, struct str *input, struct http_event *event)
{
	(void)input;
	connection->reading = HTTP_READ_DONE;
	connection->wants_continue = false;
	*event = (struct http_event){ .kind = HTTP_END };
	return 1;
}

static int connection_wait(
	struct http_connection *connection, struct str *input, struct http_event *event)
{
	(void)connection;
	(void)input;
	*event = (struct http_event){ .kind = HTTP_WAITS };
	return 1;
}

static int connection_drop(
	struct http_connection *connection, struct str *input, struct http_event *event)
{
	(void)connection;
	(void)event;
	*input = (struct str){ input->data + input->len, 0 };
	return 0;
}

static connection_step *const connection_steps[] = {
	[HTTP_READ_IDLE] = connection_begin,
	[HTTP_READ_HEAD] = connection_read_head,
	[HTTP_READ_SIZED] = connection_read_sized,
	[HTTP_READ_CHUNKED] = connection_read_chunked,
	[HTTP_READ_TRAILER] = connection_read_trailer,
	[HTTP_READ_END] = connection_end,
	[HTTP_READ_DONE] = connection_wait,
	[HTTP_READ_CLOSED] = connection_drop,
};

int http_connection_read(
	struct http_connection *connection, struct str *input, struct http_event *ret_event)
{
	struct http_event event = { .kind = HTTP_WANTS_INPUT };
	int r = 0;
	do {
		r = connection_steps[connection->reading](connection, input, &event);
	} while (r == 0 && (input->len || connection->reading == HTTP_READ_END));
	if (r < 0)
		http_connection_stop(connection);
	if (r == PERCH_ESYNTAX)
		event = (struct http_event){ .kind = HTTP_REFUSED, .fault = event.fault };
	else if (r < 0)
		return r;
	*ret_event = event;
	return 0;
}

/* What OpenAI's clients ask for. */
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "data/json.h"
#include "data/json_member.h"
#include "queue/uploads.h"
#include "serve/openai.h"

void openai_chain_add(struct openai_chain *chain, struct str role, struct str text)
{
	struct sha256 sha;
	const uint64_t lengths[] = { role.len, text.len };
	sha256_begin(&sha);
	sha256_add(&sha, chain->hex, strlen(chain->hex));
	sha256_add(&sha, lengths, sizeof(lengths));
	sha256_add(&sha, role.data, role.len);
	sha256_add(&sha, text.data, text.len);
	sha256_end(&sha, chain->hex);
}

void openai_request_free(struct openai_request *request)
{
	buf_free(&request->message);
	buf_free(&request->transcript);
	buf_free(&request->attachments);
}

/* ---- contents -------------------------------------------------------------------- */

static struct str openai_text(const perch_json_value *value)
{
	return perch_json_type_of(value) == PERCH_JSON_STRING ? json_str(value) : (struct str){ "", 0 };
}

static void openai_attach(struct body *body, struct openai_request *request, struct str url)
{
	perch_json_writer out = json_writer_on(&request->attachments);
	const char *wrong = uploads_refuse_url(url);
	if (request->attachment_count++ == UPLOADS_MAX)
		wrong = UPLOADS_TOO_MANY;
	if (wrong)
		body_refuse(body, "%s", wrong);
	if (request->attachments.len)
		buf_append_char(&request->attachments, ',');
	perch_json_begin_object(&out);
	json_write_text(&out, "url", url);
	json_write_text(&out, "kind", STR("image"));
	perch_json_end_object(&out);
}

/* {"image_url":{"url":…}} of chat, {"image_url":"…"} of responses. */
static struct str openai_image(const perch_json_value *part)
{
	const perch_json_value *image = perch_json_get(part, "image_url");
	return perch_json_type_of(image) == PERCH_JSON_OBJECT
		? openai_text(perch_json_get(image, "url"))
		: openai_text(image);
}

/* Text, or parts of which texts and images are taken. Images of messages before the last one are
 * where they were. */
static void openai_take_content(struct body *body, struct openai_request *request,
	const perch_json_value *content, bool is_last, struct buf *text)
{
	if (perch_json_type_of(content) == PERCH_JSON_STRING) {
		buf_append(text, json_str(content).data, json_str(content).len);
		return;
	}
	if (content && perch_json_type_of(content) != PERCH_JSON_ARRAY &&
		perch_json_type_of(content) != PERCH_JSON_NULL)
		body_refuse(body, "the content of a message is a string or a list of parts");
	perch_json_iter iter = perch_json_iterate(content);
	for (const perch_json_value *part; (part = perch_json_next(&iter));) {
		struct str piece = openai_text(perch_json_get(part, "text"));
		struct str image = openai_image(part);
		if (image.len && is_last)
			openai_attach(body, request, image);
		else if (image.len)
			piece = STR("[image]");
		if (text->len && piece.len)
			buf_append_char(text, '\n');
		buf_append(text, piece.data, piece.len);
	}
}

static void openai_take_message(
	struct body *body, struct openai_request *request, const perch_json_value *item, bool is_last)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct str role = openai_text(perch_json_get(item, "role"));
	const perch_json_value *content = perch_json_get(item, "content");
	openai_take_content(body, request, content, is_last, is_last ? &request->message : &text);
	const struct buf *whole = is_last ? &request->message : &text;
	if (whole->len && memchr(whole->data, '\0', whole->len))
		body_refuse(body, "a message has a NUL, which no program can be given");
	if (is_last) {
		request->after = request->before;
		openai_chain_add(
			&request->after, role, (struct str){ request->message.data, request->message.len });
		return;
	}
	openai_chain_add(&request->before, role, (struct str){ text.data, text.len });
	buf_printf(&request->transcript, "%.*s: %.*s\n\n", (int)role.len, role.data, (int)text.len,
		text.data ? text.data : "");
	request->transcript.failed = request->transcript.failed || text.failed;
	request->messages++;
}

static void openai_take_messages(
	struct body *body, struct openai_request *request, const perch_json_value *list)
{
	size_t left = perch_json_count(list);
	const perch_json_value *last = NULL;
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *item; (item = perch_json_next(&iter)); left--) {
		if (perch_json_type_of(item) != PERCH_JSON_OBJECT) {
			body_refuse(body, "a message is an object");
			return;
		}
		last = item;
		openai_take_message(body, request, item, left == 1);
	}
	if (!perch_json_is(perch_json_get(last, "role"), "user"))
		body_refuse(body, "the last message must be the user's");
}

/* ---- what both have ----------------------------------------------------------------- */

static void openai_refuse_tools(struct body *body)
{
	if (perch_json_count(body_get(body, "tools", PERCH_JSON_ARRAY)))
		body_refuse(body, "\"tools\" cannot be given: an agent has its own");
}

static bool openai_read_common(struct body *body, struct openai_request *request)
{
	const perch_json_value *model = body_demand(body, "model", PERCH_JSON_STRING);
	const perch_json_value *metadata = body_get(body, "metadata", PERCH_JSON_OBJECT);
	body_get(body, "stream", PERCH_JSON_BOOL);
	openai_refuse_tools(body);
	if (!body_is_good(body))
		return false;
	request->model = json_str(model);
	request->is_stream = json_flag(body->root, "stream");
	request->user = openai_text(perch_json_get(body->root, "user"));
	request->session = exchange_field(body->exchange, "X-Perch-Session");
	if (!request->session.len)
		request->session = openai_text(perch_json_get(metadata, "session"));
	if (!request->session.len)
		request->session = exchange_field(body->exchange, "X-OpenWebUI-Chat-Id");
	if (request->session.len)
		body_check_session(body, request->session);
	return body_is_good(body);
}

bool openai_read_chat(struct body *body, struct openai_request *request)
{
	const perch_json_value *messages = body_demand(body, "messages", PERCH_JSON_ARRAY);
	const perch_json_value *options = body_get(body, "stream_options", PERCH_JSON_OBJECT);
	const perch_json_value *n = body_get(body, "n", PERCH_JSON_NUMBER);
	int64_t choices = 1;
	if (n && (perch_json_whole_int64(n, &choices) < 0 || choices != 1))
		body_refuse(body, "\"n\" can only be 1: an agent answers once");
	if (messages && !perch_json_count(messages))
		body_refuse(body, "\"messages\" is empty");
	if (!openai_read_common(body, request))
		return false;
	request->wants_usage = json_flag(options, "include_usage");
	openai_take_messages(body, request, messages);
	return body_is_good(body);
}

bool openai_read_responses(struct body *body, struct openai_request *request)
{
	const perch_json_value *input = body_demand(body, "input", PERCH_JSON_NONE);
	const perch_json_value *instructions = body_get(body, "instructions", PERCH_JSON_STRING);
	const perch_json_value *previous = body_get(body, "previous_response_id", PERCH_JSON_STRING);
	if (!openai_read_common(body, request))
		return false;
	request->previous = openai_text(previous);
	if (instructions) {
		struct str text = json_str(instructions);
		openai_chain_add(&request->before, STR("system"), text);
		buf_printf(&request->transcript, "system: %.*s\n\n", (int)text.len, text.data);
		request->messages++;
	}
	request->wants_usage = true;
	if (perch_json_type_of(input) == PERCH_JSON_STRING) {
		struct str text = json_str(input);
		buf_append(&request->message, text.data, text.len);
		request->after = request->before;
		openai_chain_add(&request->after, STR("user"), text);
	} else if (perch_json_type_of(input) == PERCH_JSON_ARRAY && perch_json_count(input)) {
		openai_take_messages(body, request, input);
	} else {
		body_refuse(body, "\"input\" is a string or a list of messages");
	}
	return body_is_good(body);
}

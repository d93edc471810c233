/* /v1/responses: how a turn is written. */
#include <stdio.h>

#include "base/macros.h"
#include "data/json.h"
#include "serve/openai.h"
#include "wire/http_sse.h"

static void openai_responses_item_id(const struct openai_turn *turn, char out[RECORD_ID_SIZE + 8])
{
	snprintf(out, RECORD_ID_SIZE + 8, "msg_%s", turn->record->id);
}

/* ---- parts ------------------------------------------------------------------------ */

static void openai_responses_part(perch_json_writer *out, struct str text)
{
	perch_json_begin_object(out);
	json_write_text(out, "type", STR("output_text"));
	json_write_text(out, "text", text);
	perch_json_write_name(out, "annotations");
	perch_json_begin_array(out);
	perch_json_end_array(out);
	perch_json_end_object(out);
}

/* The one message; without text while it is being written. */
static void openai_responses_item(
	const struct openai_turn *turn, perch_json_writer *out, bool is_done)
{
	const struct buf *content = &turn->outcome.content;
	char id[RECORD_ID_SIZE + 8];
	openai_responses_item_id(turn, id);
	perch_json_begin_object(out);
	json_write_text(out, "id", str_from(id));
	json_write_text(out, "type", STR("message"));
	json_write_text(out, "status", is_done ? STR("completed") : STR("in_progress"));
	json_write_text(out, "role", STR("assistant"));
	perch_json_write_name(out, "content");
	perch_json_begin_array(out);
	if (is_done)
		openai_responses_part(out, (struct str){ content->data, content->len });
	perch_json_end_array(out);
	perch_json_end_object(out);
}

static void openai_responses_usage(const struct openai_outcome *outcome, perch_json_writer *out)
{
	perch_json_begin_object(out);
	perch_json_write_name(out, "input_tokens");
	perch_json_write_int64(out, outcome->input_tokens);
	perch_json_write_name(out, "input_tokens_details");
	perch_json_write_raw(out, "{\"cached_tokens\":0}", 19);
	perch_json_write_name(out, "output_tokens");
	perch_json_write_int64(out, outcome->output_tokens);
	perch_json_write_name(out, "output_tokens_details");
	perch_json_write_raw(out, "{\"reasoning_tokens\":0}", 22);
	perch_json_write_name(out, "total_tokens");
	perch_json_write_int64(out, outcome->input_tokens + outcome->output_tokens);
	perch_json_end_object(out);
}

static void openai_responses_object(
	const struct openai_turn *turn, perch_json_writer *out, bool is_done)
{
	static const char *const absent[] = { "error", "incomplete_details", "instructions",
		"max_output_tokens", "previous_response_id", "temperature", "top_p" };
	char id[RECORD_ID_SIZE + 8];
	snprintf(id, sizeof(id), "resp_%s", turn->record->id);
	perch_json_begin_object(out);
	json_write_text(out, "id", str_from(id));
	json_write_text(out, "object", STR("response"));
	perch_json_write_name(out, "created_at");
	perch_json_write_int64(out, turn->record->created_ms / 1000);
	json_write_text(out, "status", is_done ? STR("completed") : STR("in_progress"));
	json_write_text(out, "model", str_from(turn->model));
	for (size_t i = 0; i < COUNT(absent); i++) {
		perch_json_write_name(out, absent[i]);
		perch_json_write_null(out);
	}
	perch_json_write_name(out, "output");
	perch_json_begin_array(out);
	if (is_done)
		openai_responses_item(turn, out, true);
	perch_json_end_array(out);
	json_write_flag(out, "parallel_tool_calls", false);
	json_write_text(out, "tool_choice", STR("none"));
	perch_json_write_name(out, "tools");
	perch_json_write_raw(out, "[]", 2);
	perch_json_write_name(out, "usage");
	if (is_done)
		openai_responses_usage(&turn->outcome, out);
	else
		perch_json_write_null(out);
	perch_json_end_object(out);
}

static void openai_responses_whole(struct openai_turn *turn, struct buf *out)
{
	perch_json_writer json = json_writer_on(out);
	openai_responses_object(turn, &json, true);
}

/* ---- streams ----------------------------------------------------------------------- */

/* Begins the data of an event: its type and number. */
static void openai_responses_open(
	struct openai_turn *turn, struct buf *data, perch_json_writer *out, const char *type)
{
	*out = json_writer_on(data);
	perch_json_begin_object(out);
	json_write_text(out, "type", str_from(type));
	perch_json_write_name(out, "sequence_number");
	perch_json_write_int64(out, turn->sequence++);
}

static void openai_responses_close(
	struct buf *data, perch_json_writer *json, const char *type, struct buf *out)
{
	perch_json_end_object(json);
	http_sse_event(out, (struct str){ 0 }, str_from(type), (struct str){ data->data, data->len });
	out->failed = out->failed || data->failed;
	buf_free(data);
	*data = (struct buf){ 0 };
}

static void openai_responses_whole_event(
	struct openai_turn *turn, struct buf *out, const char *type, bool is_done)
{
	struct buf data = { 0 };
	perch_json_writer json;
	openai_responses_open(turn, &data, &json, type);
	perch_json_write_name(&json, "response");
	openai_responses_object(turn, &json, is_done);
	openai_responses_close(&data, &json, type, out);
}

static void openai_responses_item_event(
	struct openai_turn *turn, struct buf *out, const char *type, bool is_done)
{
	struct buf data = { 0 };
	perch_json_writer json;
	openai_responses_open(turn, &data, &json, type);
	perch_json_write_name(&json, "output_index");
	perch_json_write_int64(&json, 0);
	perch_json_write_name(&json, "item");
	openai_responses_item(turn, &json, is_done);
	openai_responses_close(&data, &json, type, out);
}

/* An event about the text: a part, a piece, or all of it. */
static void openai_responses_text_event(struct openai_turn *turn, struct buf *out, const char *type,
	const char *member, struct str text, bool is_part)
{
	struct buf data = { 0 };
	perch_json_writer json;
	char id[RECORD_ID_SIZE + 8];
	openai_responses_item_id(turn, id);
	openai_responses_open(turn, &data, &json, type);
	json_write_text(&json, "item_id", str_from(id));
	perch_json_write_name(&json, "output_index");
	perch_json_write_int64(&json, 0);
	perch_json_write_name(&json, "content_index");
	perch_json_write_int64(&json, 0);
	if (is_part) {
		perch_json_write_name(&json, "part");
		openai_responses_part(&json, text);
	} else {
		json_write_text(&json, member, text);
		perch_json_write_name(&json, "logprobs");
		perch_json_write_raw(&json, "[]", 2);
	}
	openai_responses_close(&data, &json, type, out);
}

static void openai_responses_begin(struct openai_turn *turn, struct buf *out)
{
	openai_responses_whole_event(turn, out, "response.created", false);
	openai_responses_whole_event(turn, out, "response.in_progress", false);
	openai_responses_item_event(turn, out, "response.output_item.added", false);
	openai_responses_text_event(turn, out, "response.content_part.added", NULL, STR(""), true);
	turn->has_begun = true;
}

/* Thinking has no place in the one item. */
static void openai_responses_delta(
	struct openai_turn *turn, struct buf *out, struct str text, bool is_reasoning)
{
	if (!is_reasoning)
		openai_responses_text_event(turn, out, "response.output_text.delta", "delta", text, false);
}

static void openai_responses_end(struct openai_turn *turn, struct buf *out)
{
	struct str text = { turn->outcome.content.data, turn->outcome.content.len };
	openai_responses_text_event(turn, out, "response.output_text.done", "text", text, false);
	openai_responses_text_event(turn, out, "response.content_part.done", NULL, text, true);
	openai_responses_item_event(turn, out, "response.output_item.done", true);
	openai_responses_whole_event(turn, out, "response.completed", true);
}

const struct openai_format openai_responses_format = {
	.whole = openai_responses_whole,
	.begin = openai_responses_begin,
	.delta = openai_responses_delta,
	.end = openai_responses_end,
};

/* /v1/chat/completions: how a turn is written. */
#include <stdio.h>

#include "data/json.h"
#include "serve/openai.h"
#include "wire/http_sse.h"

static void openai_chat_head(struct openai_turn *turn, perch_json_writer *out, const char *object)
{
	char id[RECORD_ID_SIZE + 16];
	snprintf(id, sizeof(id), "chatcmpl-%s", turn->record->id);
	perch_json_begin_object(out);
	json_write_text(out, "id", str_from(id));
	json_write_text(out, "object", str_from(object));
	perch_json_write_name(out, "created");
	perch_json_write_int64(out, turn->record->created_ms / 1000);
	json_write_text(out, "model", str_from(turn->model));
}

static void openai_chat_usage(const struct openai_turn *turn, perch_json_writer *out)
{
	const struct openai_outcome *outcome = &turn->outcome;
	perch_json_write_name(out, "usage");
	perch_json_begin_object(out);
	perch_json_write_name(out, "prompt_tokens");
	perch_json_write_int64(out, outcome->input_tokens);
	perch_json_write_name(out, "completion_tokens");
	perch_json_write_int64(out, outcome->output_tokens);
	perch_json_write_name(out, "total_tokens");
	perch_json_write_int64(out, outcome->input_tokens + outcome->output_tokens);
	perch_json_end_object(out);
}

/* The rest of a choice behind its message or delta. */
static void openai_chat_end_choice(perch_json_writer *out, const char *reason)
{
	perch_json_write_name(out, "logprobs");
	perch_json_write_null(out);
	perch_json_write_name(out, "finish_reason");
	if (reason)
		perch_json_write_string(out, reason);
	else
		perch_json_write_null(out);
	perch_json_end_object(out);
	perch_json_end_array(out);
}

static void openai_chat_begin_choice(perch_json_writer *out, const char *what)
{
	perch_json_write_name(out, "choices");
	perch_json_begin_array(out);
	perch_json_begin_object(out);
	perch_json_write_name(out, "index");
	perch_json_write_int64(out, 0);
	perch_json_write_name(out, what);
	perch_json_begin_object(out);
}

static void openai_chat_whole(struct openai_turn *turn, struct buf *out)
{
	perch_json_writer json = json_writer_on(out);
	const struct openai_outcome *outcome = &turn->outcome;
	openai_chat_head(turn, &json, "chat.completion");
	openai_chat_begin_choice(&json, "message");
	json_write_text(&json, "role", STR("assistant"));
	json_write_text(&json, "content", (struct str){ outcome->content.data, outcome->content.len });
	if (outcome->reasoning.len)
		json_write_text(&json, "reasoning_content",
			(struct str){ outcome->reasoning.data, outcome->reasoning.len });
	perch_json_write_name(&json, "refusal");
	perch_json_write_null(&json);
	perch_json_end_object(&json);
	openai_chat_end_choice(&json, "stop");
	openai_chat_usage(turn, &json);
	perch_json_end_object(&json);
}

/* ---- streams --------------------------------------------------------------------- */

/* A chunk whose delta has this one member; name NULL = none. */
static void openai_chat_chunk(struct openai_turn *turn, struct buf *out, const char *name,
	struct str text, const char *reason)
{
	_cleanup_(buf_free) struct buf data = { 0 };
	perch_json_writer json = json_writer_on(&data);
	openai_chat_head(turn, &json, "chat.completion.chunk");
	openai_chat_begin_choice(&json, "delta");
	if (!turn->has_begun)
		json_write_text(&json, "role", STR("assistant"));
	if (name)
		json_write_text(&json, name, text);
	perch_json_end_object(&json);
	openai_chat_end_choice(&json, reason);
	perch_json_end_object(&json);
	http_sse_event(out, (struct str){ 0 }, (struct str){ 0 }, (struct str){ data.data, data.len });
	out->failed = out->failed || data.failed;
	turn->has_begun = true;
}

static void openai_chat_begin(struct openai_turn *turn, struct buf *out)
{
	openai_chat_chunk(turn, out, "content", STR(""), NULL);
}

static void openai_chat_delta(
	struct openai_turn *turn, struct buf *out, struct str text, bool is_reasoning)
{
	openai_chat_chunk(turn, out, is_reasoning ? "reasoning_content" : "content", text, NULL);
}

static void openai_chat_end(struct openai_turn *turn, struct buf *out)
{
	_cleanup_(buf_free) struct buf data = { 0 };
	perch_json_writer json = json_writer_on(&data);
	openai_chat_chunk(turn, out, NULL, STR(""), "stop");
	if (turn->wants_usage) {
		openai_chat_head(turn, &json, "chat.completion.chunk");
		perch_json_write_name(&json, "choices");
		perch_json_begin_array(&json);
		perch_json_end_array(&json);
		openai_chat_usage(turn, &json);
		perch_json_end_object(&json);
		http_sse_event(
			out, (struct str){ 0 }, (struct str){ 0 }, (struct str){ data.data, data.len });
	}
	out->failed = out->failed || data.failed;
	http_sse_event(out, (struct str){ 0 }, (struct str){ 0 }, STR("[DONE]"));
}

const struct openai_format openai_chat_format = {
	.whole = openai_chat_whole,
	.begin = openai_chat_begin,
	.delta = openai_chat_delta,
	.end = openai_chat_end,
};

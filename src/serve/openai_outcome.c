/* What the agent has said, from its events. */
#include "base/cleanup.h"
#include "base/macros.h"
#include "data/json.h"
#include "serve/openai.h"

void openai_outcome_free(struct openai_outcome *outcome)
{
	buf_free(&outcome->content);
	buf_free(&outcome->reasoning);
	buf_free(&outcome->error);
}

/* A number of tokens by either of its names. */
static void openai_tokens(
	const perch_json_value *usage, const char *name, const char *other, int64_t *tokens)
{
	if (perch_json_int64(perch_json_get(usage, name), tokens) < 0)
		perch_json_int64(perch_json_get(usage, other), tokens);
}

static struct str openai_add(struct buf *buf, const perch_json_value *text)
{
	if (perch_json_type_of(text) != PERCH_JSON_STRING)
		return (struct str){ "", 0 };
	struct str added = json_str(text);
	size_t at = buf->len;
	buf_append(buf, added.data, added.len);
	return buf->failed ? (struct str){ "", 0 } : (struct str){ buf->data + at, added.len };
}

static enum openai_said openai_hear_event(
	struct openai_outcome *outcome, const perch_json_value *root, struct str *ret_text)
{
	const perch_json_value *event = perch_json_get(root, "event");
	const perch_json_value *usage = perch_json_get(root, "usage");
	bool is_fine = true;
	if (perch_json_is(event, "partial") || perch_json_is(event, "reply")) {
		*ret_text = openai_add(&outcome->content, perch_json_get(root, "text"));
		return OPENAI_CONTENT;
	}
	if (perch_json_is(event, "thinking")) {
		*ret_text = openai_add(&outcome->reasoning, perch_json_get(root, "text"));
		return OPENAI_REASONING;
	}
	if (perch_json_is(event, "usage")) {
		openai_tokens(usage, "input_tokens", "prompt_tokens", &outcome->input_tokens);
		openai_tokens(usage, "output_tokens", "completion_tokens", &outcome->output_tokens);
	} else if (perch_json_is(event, "error")) {
		buf_clear(&outcome->error);
		openai_add(&outcome->error, perch_json_get(root, "message"));
	} else if (perch_json_is(event, "end")) {
		outcome->has_failed =
			perch_json_bool(perch_json_get(root, "success"), &is_fine) < 0 || !is_fine;
	}
	return OPENAI_NOTHING;
}

enum openai_said openai_hear(
	struct openai_outcome *outcome, const struct logged *logged, struct str *ret_text)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	*ret_text = (struct str){ "", 0 };
	if (perch_json_new(NULL, &json) < 0 ||
		perch_json_parse(json, logged->text, logged->len, &root, NULL) < 0) {
		outcome->content.failed = true;
		return OPENAI_NOTHING;
	}
	return openai_hear_event(outcome, root, ret_text);
}

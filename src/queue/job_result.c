/* What a job comes to. */
#include "queue/job_result.h"

#include "data/json.h"

static void job_result_add_text(struct job_result *result, perch_text text)
{
	size_t room = JOB_TEXT_MAX - result->text.len;
	size_t len = text.len < room ? text.len : room;
	result->was_cut = result->was_cut || len < text.len;
	buf_append(&result->text, text.data, len);
}

/* The result of a tool is what its event says. */
static void job_result_take(struct job_result *result, perch_text text)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	size_t len = 0;
	if (perch_json_new(NULL, &json) < 0 ||
		perch_json_parse(json, text.data, text.len, &root, NULL) < 0)
		return;
	const char *raw = perch_json_raw(perch_json_get(root, "result"), &len);
	if (raw)
		buf_append(&result->json, raw, len);
}

void job_result_note(struct job_result *result, const perch_event *event, perch_text json)
{
	switch (event->kind) {
	case PERCH_EVENT_PARTIAL:
	case PERCH_EVENT_REPLY:
		job_result_add_text(result, event->text);
		break;
	case PERCH_EVENT_SHOWN:
		if (event->shown->kind == PERCH_SHOWN_OUTPUT)
			job_result_add_text(result, event->shown->text);
		break;
	case PERCH_EVENT_RESULT:
		job_result_take(result, json);
		break;
	default:
		break;
	}
}

static void job_result_begin(
	const struct job_result *result, perch_json_writer *out, bool is_turn, bool success, int code)
{
	perch_json_begin_object(out);
	json_write_flag(out, "success", success);
	perch_json_write_name(out, "exit_code");
	perch_json_write_int64(out, code);
	json_write_text(
		out, is_turn ? "text" : "output", (struct str){ result->text.data, result->text.len });
}

void job_result_finish(struct job_result *result, bool is_turn, const perch_job_end *end)
{
	perch_json_writer out = json_writer_on(&result->json);
	if (result->json.len) /* a tool's own */
		return;
	job_result_begin(result, &out, is_turn, end->success, end->exit_code);
	if (result->was_cut)
		json_write_flag(&out, "cut", true);
	perch_json_end_object(&out);
}

void job_result_fail(struct job_result *result, bool is_turn, const char *code, const char *text)
{
	perch_json_writer out = json_writer_on(&result->json);
	if (result->json.len)
		return;
	job_result_begin(result, &out, is_turn, false, -1);
	perch_json_write_name(&out, "error");
	perch_json_begin_object(&out);
	json_write_text(&out, "code", str_from(code));
	json_write_text(&out, "message", str_from(text));
	perch_json_end_object(&out);
	perch_json_end_object(&out);
}

void job_result_free(struct job_result *result)
{
	buf_free(&result->text);
	buf_free(&result->json);
}

/* How a job ended, as the answer to its prompt. */
#include "acp/editor_parts.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "data/json.h"

static struct str acp_end_of(const struct buf *buf)
{
	return (struct str){ buf->data ? buf->data : "", buf->len };
}

/* An agent of ACP says why it stopped. */
static enum acp_stop acp_end_reason(const perch_job_end *end)
{
	static const struct {
		const char *reason;
		enum acp_stop stop;
	} stops[] = {
		{ "refusal", ACP_STOP_REFUSAL },
		{ "max_tokens", ACP_STOP_TOKENS },
		{ "max_turn_requests", ACP_STOP_REQUESTS },
	};
	const char *reason = end->turn && end->turn->stop_reason ? end->turn->stop_reason : "";
	for (size_t i = 0; i < COUNT(stops); i++) {
		if (strcmp(reason, stops[i].reason) == 0)
			return stops[i].stop;
	}
	return ACP_END_TURN;
}

/* What the agent has used, where it could not be told as an update. */
static void acp_end_well(struct acp_task *task, enum acp_stop stop)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	perch_json_writer out = json_writer_on(&text);
	if (task->usage.len) {
		perch_json_begin_object(&out);
		perch_json_write_name(&out, "perch");
		perch_json_begin_object(&out);
		perch_json_write_name(&out, "usage");
		perch_json_write_raw(&out, task->usage.data, task->usage.len);
		perch_json_end_object(&out);
		perch_json_end_object(&out);
	}
	acp_request_stop(task->request, stop, text.failed ? (struct str){ 0 } : acp_end_of(&text));
}

static struct str acp_end_stderr(const struct acp_task *task, const perch_job_end *end)
{
	if (end->turn && end->turn->stderr_len)
		return (struct str){ end->turn->stderr_tail, end->turn->stderr_len };
	return acp_end_of(&task->tail);
}

static void acp_end_badly(struct acp_task *task, const perch_job_end *end)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	perch_json_writer out = json_writer_on(&text);
	struct str words = str_trim(acp_end_of(&task->notes));
	perch_json_begin_object(&out);
	json_write_text(&out, "code", str_from(task->code[0] ? task->code : "exit"));
	perch_json_write_name(&out, "exitCode");
	perch_json_write_int64(&out, end->exit_code);
	if (end->signal) {
		perch_json_write_name(&out, "signal");
		perch_json_write_int64(&out, end->signal);
	}
	json_write_text(&out, "stderr", acp_end_stderr(task, end));
	if (end->turn && end->turn->hint && end->turn->hint[0])
		json_write_text(&out, "hint", str_from(end->turn->hint));
	perch_json_end_object(&out);
	acp_request_fail(task->request, JSONRPC_INTERNAL_ERROR,
		words.len ? words : STR("it has failed"),
		text.failed ? (struct str){ 0 } : acp_end_of(&text));
}

void acp_task_end(struct acp_task *task, const perch_job_end *end)
{
	const enum acp_stop stop = acp_end_reason(end);
	if (task->said.len)
		acp_store_add(task);
	if (!task->request) {
		if (!end->success && !end->was_cancelled && task->notes.len)
			acp_task_say(task, acp_end_of(&task->notes));
	} else if (end->was_cancelled || (task->is_declined && !end->success)) {
		acp_request_stop(task->request, ACP_STOP_CANCELLED, (struct str){ 0 });
	} else if (end->success || stop == ACP_STOP_REFUSAL) {
		acp_end_well(task, stop);
	} else {
		acp_end_badly(task, end);
	}
	perch_job_free(task->job);
	acp_task_free(task);
}

/* How a job ended, as the result of the client's call. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "data/json.h"
#include "mcp/front_parts.h"

static struct str mcp_result_of(const struct buf *buf)
{
	return (struct str){ buf->data ? buf->data : "", buf->len };
}

void mcp_task_refuse(struct mcp_job *wire, const char *words)
{
	mcp_job_result(wire, &(struct mcp_result){ .text = str_from(words), .is_error = true });
}

/* A line, and a blank before it unless it is the first. */
static void mcp_result_line(struct buf *text, const char *label, struct str line)
{
	line = str_trim(line);
	if (!line.len)
		return;
	if (text->len && text->data[text->len - 1] != '\n')
		buf_append_char(text, '\n');
	buf_append_text(text, label);
	buf_append(text, line.data, line.len);
}

/* Without memory for its words it is a failure still. */
static void mcp_result_fail(struct mcp_task *task, struct buf *text)
{
	const struct mcp_result result = {
		.text = text->failed ? STR("out of memory") : mcp_result_of(text),
		.is_error = true,
	};
	mcp_job_result(task->wire, &result);
}

/* ---- tools ----------------------------------------------------------------- */

/* Of an output that is a text, the text. */
static void mcp_result_good_tool(struct mcp_task *task, struct str output)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	struct mcp_result result = { .structured = output };
	bool is_text = str_trim(output).len && str_trim(output).data[0] == '"';
	if (is_text && perch_json_new(NULL, &json) == 0 &&
		perch_json_parse(json, output.data, output.len, &root, NULL) == 0)
		result.text = json_str(root);
	if (!output.len)
		result.text = STR("");
	mcp_job_result(task->wire, &result);
}

/* The blocks of an MCP server go on as they are. */
static void mcp_result_of_server(struct mcp_task *task, const perch_tool_result *tool)
{
	const struct mcp_result result = {
		.content = str_of(tool->content),
		.structured = str_of(tool->structured),
		.is_error = tool->code != PERCH_TOOL_OK,
	};
	mcp_job_result(task->wire, &result);
}

/* What a server refuses by an error of the protocol stays one. */
static bool mcp_result_is_error(const perch_tool_result *tool, int64_t *ret_code)
{
	char *end;
	const char *code = tool->error_code.len ? tool->error_code.data : "";
	*ret_code = strtoll(code, &end, 10);
	return tool->responded && tool->code == PERCH_TOOL_EXECUTION_ERROR && !tool->content.len &&
		code[0] && !*end && *ret_code < 0;
}

/* The result of a request that was passed on. */
static void mcp_result_of_passage(struct mcp_task *task, const perch_tool_result *tool)
{
	if (tool->code == PERCH_TOOL_OK)
		mcp_job_object(task->wire, tool->output.len ? str_of(tool->output) : STR("{}"));
	else if (tool->code == PERCH_TOOL_NOT_EXPOSED)
		mcp_job_unknown(task->wire, str_of(tool->message));
	else
		mcp_job_error(task->wire, JSONRPC_INTERNAL_ERROR, str_of(tool->message), (struct str){ 0 });
}

static void mcp_result_of_tool(struct mcp_task *task, const perch_tool_result *tool)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	int64_t code;
	if (mcp_result_is_error(tool, &code)) {
		mcp_job_error(task->wire, code, str_of(tool->error_message), str_of(tool->metadata));
		return;
	}
	if (task->method) {
		mcp_result_of_passage(task, tool);
		return;
	}
	if (tool->content.len) {
		mcp_result_of_server(task, tool);
		return;
	}
	if (tool->code == PERCH_TOOL_OK) {
		mcp_result_good_tool(task, str_of(tool->output));
		return;
	}
	mcp_result_line(&text, "", str_of(tool->message));
	mcp_result_line(&text, "code: ", str_from(perch_tool_code_name(tool->code)));
	mcp_result_line(&text, "hint: ", str_of(tool->hint));
	mcp_result_fail(task, &text);
}

/* ---- commands -------------------------------------------------------------- */

static void mcp_result_of_run(struct mcp_task *task, const perch_job_end *end)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (end->success) {
		mcp_job_result(task->wire, &(struct mcp_result){ .text = mcp_result_of(&task->text) });
		return;
	}
	mcp_result_line(&text, "", mcp_result_of(&task->notes));
	if (text.len)
		buf_append_char(&text, '\n');
	buf_printf(&text, "exit code: %d", end->exit_code);
	mcp_result_line(&text, "stderr: ", mcp_result_of(&task->tail));
	mcp_result_line(&text, "output: ", mcp_result_of(&task->text));
	mcp_result_fail(task, &text);
}

/* ---- agents ---------------------------------------------------------------- */

static void mcp_result_good_turn(struct mcp_task *task)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	perch_json_begin_object(&out);
	json_write_text(&out, "reply", mcp_result_of(&task->text));
	json_write_text(&out, "session", str_from(task->session));
	if (task->usage.len && task->usage.data[0] == '{') {
		perch_json_write_name(&out, "usage");
		perch_json_write_raw(&out, task->usage.data, task->usage.len);
	}
	perch_json_end_object(&out);
	if (json.failed) {
		mcp_task_refuse(task->wire, "out of memory");
		return;
	}
	const struct mcp_result result = {
		.text = mcp_result_of(&task->text),
		.structured = mcp_result_of(&json),
	};
	mcp_job_result(task->wire, &result);
}

static void mcp_result_of_turn(struct mcp_task *task, const perch_job_end *end)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (end->success) {
		mcp_result_good_turn(task);
		return;
	}
	mcp_result_line(&text, "", mcp_result_of(&task->notes));
	if (text.len)
		buf_append_char(&text, '\n');
	buf_printf(&text, "exit code: %d", end->exit_code);
	mcp_result_line(&text, "hint: ", end->turn ? str_from(end->turn->hint) : STR(""));
	mcp_result_line(&text, "reply: ", mcp_result_of(&task->text));
	mcp_result_fail(task, &text);
}

/* ---------------------------------------------------------------------------- */

void mcp_task_result(struct mcp_task *task, const perch_job_end *end)
{
	if (task->is_cut)
		mcp_task_add(&task->text, task->text.len + 64, STR("\n[the rest is lost: it is too long]"));
	if (task->kind == PERCH_ENTRY_TOOL)
		mcp_result_of_tool(task, end->tool);
	else if (task->kind == PERCH_ENTRY_COMMAND)
		mcp_result_of_run(task, end);
	else
		mcp_result_of_turn(task, end);
	task->wire = NULL;
}

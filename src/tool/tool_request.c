/* The request as the plugin will read it: one line. */
#include "tool/tool_request.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "data/json.h"
#include "tool/tool_engine.h"

int tool_request_id(char ret_id[TOOL_REQUEST_ID_SIZE])
{
	uint64_t number;
	ssize_t n;
	do
		n = getrandom(&number, sizeof(number), 0);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(number))
		return n < 0 ? -errno : -EIO;
	snprintf(ret_id, TOOL_REQUEST_ID_SIZE, "plugin_req_%016llx", (unsigned long long)number);
	return 0;
}

static void tool_request_write_context(
	struct perch_json_writer *writer, const struct tool_context *context)
{
	const struct {
		const char *name;
		const char *text;
	} members[] = {
		{ "workspace_id", context->workspace_id },
		{ "widget_id", context->widget_id },
		{ "repo_root", context->repo_root },
		{ "role_id", context->role_id },
		{ "mode_id", context->mode_id },
	};
	perch_json_write_name(writer, "context");
	perch_json_begin_object(writer);
	for (size_t i = 0; i < COUNT(members); i++) {
		if (members[i].text)
			json_write_text(writer, members[i].name, str_from(members[i].text));
	}
	perch_json_end_object(writer);
}

static void tool_request_write_message(
	struct buf *out, const struct tool_request *request, const perch_json_value *input)
{
	struct perch_json_writer writer = json_writer_on(out);
	perch_json_begin_object(&writer);
	json_write_text(&writer, "type", STR("request"));
	json_write_text(&writer, "request_id", request->request_id);
	json_write_text(&writer, "tool_name", request->tool);
	tool_request_write_context(&writer, &request->context);
	perch_json_write_name(&writer, "input");
	perch_json_write_value(&writer, input);
	perch_json_end_object(&writer);
	buf_append_char(out, '\n');
}

int tool_request_write(struct buf *out, const struct tool_request *request, perch_err *err)
{
	perch_json_options options = PERCH_JSON_OPTIONS_INIT;
	options.depth_max = PERCH_JSON_DEPTH_MAX - 1; /* the message is one level more */
	options.duplicates = PERCH_JSON_DUPLICATES_REJECT;
	_cleanup_json_ perch_json *document = NULL;
	int r = perch_json_new(&options, &document);
	if (r < 0)
		return err_no_memory(err);
	struct str text = request->input.len ? request->input : STR("{}");
	const perch_json_value *input;
	perch_err inner = { 0 };
	r = perch_json_parse(document, text.data, text.len, &input, &inner);
	if (r == -ENOMEM)
		return err_no_memory(err);
	if (r < 0)
		return err_set_at(
			err, r, inner.line, inner.column, "the input is not valid JSON: %s", inner.text);
	size_t before = out->len;
	tool_request_write_message(out, request, input);
	if (out->failed)
		return err_no_memory(err);
	size_t len = out->len - before - 1;
	if (len > TOOL_FRAME_MAX)
		return err_set(err, PERCH_ELIMIT,
			"the request would be %zu bytes long; a message may have %d", len, TOOL_FRAME_MAX);
	return 0;
}

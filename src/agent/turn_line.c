/* What an agent of 0.4 reads on stdin, and attachments as JSON in both versions. */
#include <errno.h>
#include <string.h>

#include "agent/agent_launch.h"
#include "base/macros.h"
#include "data/json.h"

static const char *const kind_names[] = {
	[PERCH_ATTACHMENT_IMAGE] = "image",
	[PERCH_ATTACHMENT_FILE] = "file",
	[PERCH_ATTACHMENT_AUDIO] = "audio",
	[PERCH_ATTACHMENT_VIDEO] = "video",
};

bool attachment_kind_find(struct str name, perch_attachment_kind *ret_kind)
{
	for (size_t i = 0; i < COUNT(kind_names); i++) {
		if (str_is(name, kind_names[i])) {
			*ret_kind = (perch_attachment_kind)i;
			return true;
		}
	}
	return false;
}

void attachments_write(perch_json_writer *writer, const char *kind_name,
	const perch_attachment *attachments, size_t count)
{
	perch_json_begin_array(writer);
	for (size_t i = 0; i < count; i++) {
		perch_json_begin_object(writer);
		json_write_text(writer, kind_name, str_from(kind_names[attachments[i].kind]));
		json_write_text(writer, "url", str_from(attachments[i].url));
		json_write_text(writer, "name", str_from(attachments[i].name));
		perch_json_end_object(writer);
	}
	perch_json_end_array(writer);
}

int turn_line_write(struct buf *out, const struct agent_turn_options *options)
{
	struct perch_json_writer writer = json_writer_on(out);
	perch_json_begin_object(&writer);
	json_write_text(&writer, "type", STR("turn"));
	json_write_text(&writer, "message", options->message);
	json_write_text(&writer, "session_id", str_from(options->session_id));
	json_write_text(&writer, "session_name",
		str_from(options->session_name ? options->session_name : "default"));
	if (options->from && options->from[0])
		json_write_text(&writer, "from_user", str_from(options->from));
	perch_json_write_name(&writer, "attachments");
	attachments_write(&writer, "kind", options->attachments, options->attachment_count);
	if (options->context) {
		perch_json_write_name(&writer, "context");
		perch_json_write_raw(&writer, options->context, strlen(options->context));
	}
	if (options->profile->permission)
		json_write_flag(&writer, "permission", true);
	json_write_text(&writer, "protocol_version", str_from(dialect_0_4.version));
	perch_json_end_object(&writer);
	buf_append_char(out, '\n');
	return out->failed ? -ENOMEM : 0;
}

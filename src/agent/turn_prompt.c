/* What an agent that speaks ACP is asked in a turn. */
#include <string.h>

#include "agent/turn_parts.h"
#include "data/json.h"

/* "data:image/png;base64,…": its type and its data. */
static bool turn_prompt_has_data(const char *url, struct str *ret_type, struct str *ret_data)
{
	static const char mark[] = ";base64,";
	const char *at = strncmp(url, "data:", 5) == 0 ? strstr(url, mark) : NULL;
	if (!at)
		return false;
	*ret_type = (struct str){ url + 5, (size_t)(at - url) - 5 };
	*ret_data = str_from(at + strlen(mark));
	return true;
}

static void turn_prompt_write_attachment(struct perch_json_writer *out,
	const perch_attachment *attachment, const struct acp_abilities *can)
{
	struct str type = { 0 }, data = { 0 };
	bool is_image = attachment->kind == PERCH_ATTACHMENT_IMAGE && can->takes_images;
	bool is_sound = attachment->kind == PERCH_ATTACHMENT_AUDIO && can->takes_sounds;
	const char *name = attachment->name && attachment->name[0] ? attachment->name : attachment->url;
	perch_json_begin_object(out);
	if ((is_image || is_sound) && turn_prompt_has_data(attachment->url, &type, &data)) {
		json_write_text(out, "type", is_image ? STR("image") : STR("audio"));
		json_write_text(out, "mimeType", type);
		json_write_text(out, "data", data);
	} else {
		json_write_text(out, "type", STR("resource_link"));
		json_write_text(out, "uri", str_from(attachment->url));
		json_write_text(out, "name", str_from(name));
	}
	perch_json_end_object(out);
}

void turn_prompt_write(void *data, const struct acp_abilities *abilities, struct buf *out)
{
	const struct agent_turn_options *options = &((struct agent_turn *)data)->options;
	struct perch_json_writer writer = json_writer_on(out);
	perch_json_begin_array(&writer);
	if (options->message.len) {
		perch_json_begin_object(&writer);
		json_write_text(&writer, "type", STR("text"));
		json_write_text(&writer, "text", options->message);
		perch_json_end_object(&writer);
	}
	for (size_t i = 0; i < options->attachment_count; i++)
		turn_prompt_write_attachment(&writer, &options->attachments[i], abilities);
	perch_json_end_array(&writer);
}

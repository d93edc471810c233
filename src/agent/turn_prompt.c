/* What an agent that speaks ACP is told for a turn: its prompt, and the MCP servers of its session.
 */
#include <errno.h>
#include <string.h>

#include "agent/turn_parts.h"
#include "base/cleanup.h"
#include "data/json.h"

/* ---- the prompt ---------------------------------------------------------------- */

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

/* ---- the servers of its session -------------------------------------------------- */

/* Those of the client, as it has written them. */
static void turn_prompt_write_context(struct perch_json_writer *out, const char *context)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	if (!context || perch_json_new(NULL, &json) < 0 ||
		perch_json_parse(json, context, strlen(context), &root, NULL) < 0)
		return;
	const perch_json_value *servers = perch_json_get(root, "mcp_servers");
	if (perch_json_type_of(servers) != PERCH_JSON_ARRAY)
		return;
	perch_json_iter iter = perch_json_iterate(servers);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		struct str raw = { 0 };
		raw.data = perch_json_raw(item, &raw.len);
		perch_json_write_raw(out, raw.data, raw.len);
	}
}

int turn_prompt_gather_servers(struct agent_turn *turn)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	struct perch_json_writer out = json_writer_on(&json);
	perch_json_begin_array(&out);
	launch_write_servers(&out, turn->options.profile, &turn->arena);
	turn_prompt_write_context(&out, turn->options.context);
	perch_json_end_array(&out);
	const char *kept =
		json.failed ? NULL : arena_dup(&turn->arena, (struct str){ json.data, json.len });
	turn->servers = (struct str){ kept, json.len };
	return kept ? 0 : -ENOMEM;
}

static bool turn_prompt_reaches(const struct acp_abilities *can, const perch_json_value *server)
{
	const perch_json_value *type = perch_json_get(server, "type");
	return perch_json_is(type, "http") ? can->takes_http
		: perch_json_is(type, "sse")   ? can->takes_sse
									   : true;
}

void turn_prompt_servers(void *data, const struct acp_abilities *abilities, struct buf *out)
{
	struct agent_turn *turn = data;
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	struct perch_json_writer writer = json_writer_on(out);
	if (perch_json_new(NULL, &json) < 0 ||
		perch_json_parse(json, turn->servers.data, turn->servers.len, &root, NULL) < 0) {
		out->failed = true;
		return;
	}
	perch_json_begin_array(&writer);
	perch_json_iter iter = perch_json_iterate(root);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		struct str raw = { 0 }, name = json_str(perch_json_get(item, "name"));
		raw.data = perch_json_raw(item, &raw.len);
		if (turn_prompt_reaches(abilities, item))
			perch_json_write_raw(&writer, raw.data, raw.len);
		else
			buf_printf(&turn->unreached, "%s%.*s", turn->unreached.len ? ", " : "",
				(int)(name.len < 100 ? name.len : 100), name.data);
	}
	perch_json_end_array(&writer);
}

/* Once its session is open. */
void turn_prompt_tell_unreached(struct agent_turn *turn)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct acp_said told = { .kind = ACP_SAID_NOISE };
	if (!turn->unreached.len)
		return;
	buf_printf(&text,
		"the agent takes MCP servers that are programs alone, and is not told of %.*s",
		(int)turn->unreached.len, turn->unreached.data);
	buf_clear(&turn->unreached);
	told.text = (struct str){ text.data, text.len };
	if (!text.failed)
		dialect_acp_take(turn->engine, &told, 0);
}

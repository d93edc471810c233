/* Where a session of an agent that speaks ACP is opened: the MCP servers of its profile, and what
 * the client has said of the place. */
#include <errno.h>
#include <string.h>

#include "agent/turn_parts.h"
#include "base/cleanup.h"
#include "data/json.h"
#include "data/json_member.h"
#include "wire/acp_server.h"

/* ---- gathering ------------------------------------------------------------------- */

/* *ret_root is NULL where there is nothing to read. -ENOMEM. */
static int turn_place_parse(perch_json *json, struct str text, const perch_json_value **ret_root)
{
	*ret_root = NULL;
	int r = text.len ? perch_json_parse(json, text.data, text.len, ret_root, NULL) : 0;
	return r == -ENOMEM ? r : 0;
}

/* What is none of them is left out: that of an editor was looked at before (wire/acp_agent.h). */
static void turn_place_add_servers(perch_json_writer *out, const perch_json_value *context)
{
	const perch_json_value *list = json_member(context, "mcp_servers");
	if (perch_json_type_of(list) != PERCH_JSON_ARRAY)
		return;
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		if (acp_server_fits(item))
			acp_server_write(out, item);
	}
}

static void turn_place_add_directories(perch_json_writer *out, const perch_json_value *context)
{
	const perch_json_value *list = json_member(context, "additional_directories");
	if (perch_json_type_of(list) != PERCH_JSON_ARRAY)
		return;
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		struct str path =
			perch_json_type_of(item) == PERCH_JSON_STRING ? json_str(item) : (struct str){ 0 };
		if (str_has_prefix(path, STR("/")))
			perch_json_write_string_n(out, path.data, path.len);
	}
}

/* {"servers":[…],"directories":[…]} */
int turn_place_gather(struct agent_turn *turn)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	_cleanup_json_ perch_json *json = NULL;
	struct perch_json_writer out = json_writer_on(&text);
	struct str said = str_from(turn->options.context ? turn->options.context : "");
	const perch_json_value *context;
	if (perch_json_new(NULL, &json) < 0 || turn_place_parse(json, said, &context) < 0)
		return -ENOMEM;
	perch_json_begin_object(&out);
	perch_json_write_name(&out, "servers");
	perch_json_begin_array(&out);
	launch_write_servers(&out, turn->options.profile, &turn->arena);
	turn_place_add_servers(&out, context);
	perch_json_end_array(&out);
	perch_json_write_name(&out, "directories");
	perch_json_begin_array(&out);
	turn_place_add_directories(&out, context);
	perch_json_end_array(&out);
	perch_json_end_object(&out);
	const char *kept =
		text.failed ? NULL : arena_dup(&turn->arena, (struct str){ text.data, text.len });
	turn->place = (struct str){ kept, text.len };
	return kept ? 0 : -ENOMEM;
}

/* ---- telling the agent ----------------------------------------------------------- */

static bool turn_place_reaches(const struct acp_abilities *can, const perch_json_value *server)
{
	const perch_json_value *type = perch_json_get(server, "type");
	return perch_json_is(type, "http") ? can->takes_http
		: perch_json_is(type, "sse")   ? can->takes_sse
									   : true;
}

static void turn_place_write_servers(struct agent_turn *turn, const struct acp_abilities *can,
	const perch_json_value *list, struct buf *out)
{
	struct perch_json_writer writer = json_writer_on(out);
	size_t unreached = 0;
	perch_json_begin_array(&writer);
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		struct str raw = { 0 }, name = json_str(perch_json_get(item, "name"));
		raw.data = perch_json_raw(item, &raw.len);
		if (turn_place_reaches(can, item)) {
			perch_json_write_raw(&writer, raw.data, raw.len);
			continue;
		}
		buf_append_text(&turn->unreached,
			unreached++
				? ", "
				: "the agent takes MCP servers that are programs alone, and is not told of ");
		buf_append(&turn->unreached, name.data, name.len < 100 ? name.len : 100);
	}
	perch_json_end_array(&writer);
}

static void turn_place_write_directories(struct agent_turn *turn, const struct acp_abilities *can,
	const perch_json_value *list, struct buf *out)
{
	struct str raw = { 0 };
	if (!perch_json_count(list))
		return;
	raw.data = perch_json_raw(list, &raw.len);
	if (can->takes_directories)
		buf_append(out, raw.data, raw.len);
	else
		buf_printf(&turn->unreached,
			"%sthe agent works in one directory, and is not told of others",
			turn->unreached.len ? "; " : "");
}

void turn_place_write(
	void *data, const struct acp_abilities *abilities, struct buf *servers, struct buf *directories)
{
	struct agent_turn *turn = data;
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *place;
	if (perch_json_new(NULL, &json) < 0 || turn_place_parse(json, turn->place, &place) < 0) {
		servers->failed = true;
		return;
	}
	turn_place_write_servers(turn, abilities, perch_json_get(place, "servers"), servers);
	turn_place_write_directories(
		turn, abilities, perch_json_get(place, "directories"), directories);
}

/* ---- telling the user ------------------------------------------------------------ */

void turn_place_tell_unreached(struct agent_turn *turn)
{
	_cleanup_(buf_free) struct buf text = turn->unreached;
	const struct acp_said told = { .kind = ACP_SAID_NOISE, .text = { text.data, text.len } };
	turn->unreached = (struct buf){ 0 };
	if (text.len && !text.failed)
		dialect_acp_take(turn->engine, &told, 0);
}

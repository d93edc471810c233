/* The key `mcp_servers` of a profile, and its JSON for an agent of ACP.
 *
 *     mcp_servers:
 *       - perch                              # perch's own server, with what is exposed
 *       - name: files
 *         command: /usr/bin/mcp-files
 *         args: [--root, .]
 *         env: {LEVEL: debug}
 *       - name: search
 *         url: https://search.example/mcp
 *         headers: {X-Team: blue}
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent_launch.h"
#include "agent/profile_parts.h"
#include "base/err.h"
#include "base/macros.h"
#include "data/json.h"

enum { PROFILE_SERVERS_MAX = 64 };

static int profile_servers_text(
	struct profile_reader *reader, const struct yaml_entry *entry, const char **target)
{
	if (entry->value->type != YAML_STRING || !entry->value->text[0])
		return profile_refuse_type(reader, entry, "a string that is not empty");
	*target = entry->value->text;
	return 0;
}

static int profile_servers_key(
	struct profile_reader *reader, const struct yaml_entry *entry, struct profile_server *server)
{
	if (strcmp(entry->name, "name") == 0)
		return profile_servers_text(reader, entry, &server->name);
	if (strcmp(entry->name, "command") == 0)
		return profile_servers_text(reader, entry, &server->command);
	if (strcmp(entry->name, "url") == 0)
		return profile_servers_text(reader, entry, &server->url);
	if (strcmp(entry->name, "args") == 0)
		return profile_texts(reader, entry, true, &server->args);
	if (strcmp(entry->name, "env") == 0 || strcmp(entry->name, "headers") == 0)
		return profile_pairs(reader, entry, &server->pairs);
	return profile_warn_unknown(reader, entry, NULL);
}

static int profile_servers_map(
	struct profile_reader *reader, const struct yaml_entry *entry, struct profile_server *server)
{
	const struct yaml_value *map = entry->value;
	int r = 0;
	for (size_t i = 0; r == 0 && i < map->count; i++)
		r = profile_servers_key(reader, &map->entries[i], server);
	if (r < 0)
		return r;
	if (!server->name || !server->command == !server->url)
		return profile_refuse(reader, entry, "must have a name, and a command or a url, each");
	if (server->command && server->command[0] != '/')
		return profile_refuse(
			reader, entry, "must have the whole path of a command, not '%.100s'", server->command);
	return 0;
}

static int profile_servers_item(
	struct profile_reader *reader, const struct yaml_entry *entry, struct profile_server *server)
{
	static const char *const nothing[] = { NULL };
	const struct yaml_value *value = entry->value;
	*server = (struct profile_server){ .args = nothing, .pairs = nothing };
	if (value->type == YAML_MAP)
		return profile_servers_map(reader, entry, server);
	server->is_perch = value->type == YAML_STRING && strcmp(value->text, "perch") == 0;
	return server->is_perch ? 0
							: profile_refuse(reader, entry, "must be a list of mappings, or perch");
}

int profile_read_servers(struct profile_reader *reader, const struct yaml_entry *entry)
{
	const struct yaml_value *list = entry->value;
	const char *prefix = reader->prefix;
	int r = 0;
	if (list->type != YAML_LIST)
		return profile_refuse_type(reader, entry, "a list");
	if (list->count > PROFILE_SERVERS_MAX)
		return profile_refuse(reader, entry, "has more than %d servers", PROFILE_SERVERS_MAX);
	struct profile_server *servers =
		arena_alloc(reader->arena, (list->count + 1) * sizeof(*servers));
	if (!servers)
		return err_no_memory(reader->err);
	reader->prefix = "mcp_servers: ";
	for (size_t i = 0; r == 0 && i < list->count; i++) {
		const struct yaml_entry at = { .name = "each", .value = list->entries[i].value };
		r = profile_servers_item(reader, &at, &servers[i]);
	}
	reader->prefix = prefix;
	reader->profile->acp.servers = servers;
	reader->profile->acp.server_count = list->count;
	return r;
}

/* ---- as JSON --------------------------------------------------------------- */

static void profile_servers_write_pairs(
	struct perch_json_writer *out, const char *name, const char *const *pairs)
{
	perch_json_write_name(out, name);
	perch_json_begin_array(out);
	for (; pairs && *pairs; pairs++) {
		size_t len = strcspn(*pairs, "=");
		perch_json_begin_object(out);
		json_write_text(out, "name", (struct str){ *pairs, len });
		json_write_text(out, "value", str_from(*pairs + len + ((*pairs)[len] != '\0')));
		perch_json_end_object(out);
	}
	perch_json_end_array(out);
}

static void profile_servers_write_stdio(struct perch_json_writer *out, const char *name,
	const char *command, const char *const *args, const char *const *env)
{
	json_write_text(out, "name", str_from(name));
	json_write_text(out, "command", str_from(command));
	perch_json_write_name(out, "args");
	perch_json_begin_array(out);
	for (; *args; args++)
		perch_json_write_string(out, *args);
	perch_json_end_array(out);
	profile_servers_write_pairs(out, "env", env);
}

/* The command lies beside perch's own programs, or in the bin of the tree that these belong to. */
static const char *profile_servers_perch(const struct agent_profile *profile, struct arena *arena)
{
	static const char *const places[] = { "/perch", "/../../bin/perch", "/../../../bin/perch" };
	for (size_t i = 0; i < COUNT(places); i++) {
		const char *path = arena_join(arena, profile->programs, places[i], NULL);
		if (path && access(path, X_OK) == 0)
			return path;
	}
	return "perch";
}

static void profile_servers_write_one(struct perch_json_writer *out,
	const struct agent_profile *profile, const struct profile_server *server, struct arena *arena)
{
	static const char *const mcp[] = { "mcp", NULL };
	perch_json_begin_object(out);
	if (server->is_perch) {
		profile_servers_write_stdio(out, "perch", profile_servers_perch(profile, arena), mcp, NULL);
	} else if (server->url) {
		json_write_text(out, "type", STR("http"));
		json_write_text(out, "name", str_from(server->name));
		json_write_text(out, "url", str_from(server->url));
		profile_servers_write_pairs(out, "headers", server->pairs);
	} else {
		profile_servers_write_stdio(
			out, server->name, server->command, server->args, server->pairs);
	}
	perch_json_end_object(out);
}

void launch_write_servers(
	struct perch_json_writer *out, const struct agent_profile *profile, struct arena *arena)
{
	for (size_t i = 0; i < profile->acp.server_count; i++)
		profile_servers_write_one(out, profile, &profile->acp.servers[i], arena);
}

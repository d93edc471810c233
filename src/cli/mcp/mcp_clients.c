/* The MCP clients whose configuration perch can write: where it is, and what it looks like. */
#include "cli/mcp/mcp_commands.h"

#include <string.h>

#include "base/err.h"
#include "data/json.h"
#include "data/json_edit.h"
#include "data/toml_edit.h"

#define MCP_SERVER_NAME "perch"

/* clang-format off */
const struct mcp_client_file mcp_client_files[] = {
	{ "claude-code", "Claude Code", ".claude.json", "mcpServers",
		"\"type\": \"stdio\",", false, "start claude, and /mcp shows it" },
	{ "claude-desktop", "Claude Desktop", ".config/Claude/claude_desktop_config.json", "mcpServers",
		"", false, "quit it and start it again" },
	{ "cursor", "Cursor", ".cursor/mcp.json", "mcpServers",
		"", false, "switch it on in Settings, MCP" },
	{ "vscode", "Visual Studio Code", ".config/Code/User/mcp.json", "servers",
		"\"type\": \"stdio\",", false, "start it by MCP: List Servers" },
	{ "codex", "Codex", ".codex/config.toml", "mcp_servers",
		"", true, "start codex, and /mcp shows it" },
	{ "gemini", "Gemini CLI", ".gemini/settings.json", "mcpServers",
		"", false, "start gemini, and /mcp shows it" },
	{ "zed", "Zed", ".config/zed/settings.json", "context_servers",
		"\"source\": \"custom\",", false, "the Agent Panel's settings show it" },
	{ "windsurf", "Windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers",
		"", false, "refresh the servers in Cascade" },
	{ 0 },
};
/* clang-format on */

const struct mcp_client_file *mcp_client_find(const char *name)
{
	for (const struct mcp_client_file *client = mcp_client_files; client->name; client++)
		if (strcmp(client->name, name) == 0)
			return client;
	return NULL;
}

/* One line of the object for each member, as people write it. */
static void mcp_client_write_server(
	const struct mcp_client_file *client, const char *const *command, struct buf *out)
{
	perch_json_writer program = json_writer_on(out), words = program;
	buf_append_text(out, "{\n");
	if (client->extra[0])
		buf_printf(out, "\t%s\n", client->extra);
	buf_append_text(out, "\t\"command\": ");
	perch_json_write_string(&program, command[0]);
	buf_append_text(out, ",\n\t\"args\": ");
	perch_json_begin_array(&words);
	for (size_t i = 1; command[i]; i++)
		perch_json_write_string(&words, command[i]);
	perch_json_end_array(&words);
	buf_append_text(out, "\n}");
}

static int mcp_client_edit_json(const struct mcp_client_file *client, struct str text,
	const char *const *command, struct buf *ret_text, perch_err *err)
{
	_cleanup_(buf_free) struct buf server = { 0 };
	mcp_client_write_server(client, command, &server);
	if (server.failed)
		return err_no_memory(err);
	return json_edit_set(
		text, client->key, MCP_SERVER_NAME, (struct str){ server.data, server.len }, ret_text, err);
}

static int mcp_client_edit_toml(const struct mcp_client_file *client, struct str text,
	const char *const *command, struct buf *ret_text, perch_err *err)
{
	size_t count = 0;
	while (command[count + 1])
		count++;
	const struct toml_entry entries[] = {
		{ .key = "command", .type = TOML_STRING, .string = command[0] },
		{ .key = "args", .type = TOML_ARRAY, .strings = command + 1, .count = count },
	};
	return toml_edit_replace(text, TOML_PATH(TOML_KEY(client->key), TOML_KEY(MCP_SERVER_NAME)),
		entries, 2, ret_text, err);
}

int mcp_client_edit(const struct mcp_client_file *client, struct str text,
	const char *const *command, struct buf *ret_text, perch_err *err)
{
	return client->is_toml ? mcp_client_edit_toml(client, text, command, ret_text, err)
						   : mcp_client_edit_json(client, text, command, ret_text, err);
}

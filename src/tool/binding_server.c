/* The table [mcp] of a binding: an MCP server that the operator has bound, and what was approved of
 * it. */
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "data/toml_edit.h"
#include "tool/binding_keys.h"
#include "tool/binding_write.h"
#include "wire/mcp_url.h"

static const char *const server_eras[] = { "any", "legacy", "modern", NULL };
static const char *const server_lifetimes[] = { "session", "shared", "call", NULL };

static int binding_server_era(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	int r = key_choice(reading, key, table, server_eras);
	if (r >= 0)
		reading->binding->server.era = (enum mcp_upstream_era)r;
	return r;
}

static int binding_server_lifetime(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	int r = key_choice(reading, key, table, server_lifetimes);
	if (r >= 0)
		reading->binding->server.lifetime = (enum tool_lifetime)r;
	return r;
}

static int binding_server_url(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	struct mcp_url url;
	perch_err why = { 0 };
	char words[PERCH_ERR_TEXT_MAX + 16];
	int r = key_text(reading, key, table);
	if (r < 0 || mcp_url_read(reading->binding->server.url, &url, &why) == 0)
		return r;
	snprintf(words, sizeof(words), "is wrong: %s", why.text);
	return key_wrong(reading, toml_get(table, key->name), words);
}

int binding_read_server(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	static const struct key keys[] = {
		{ "era", binding_server_era, 0 },
		{ "lifetime", binding_server_lifetime, 0 },
		{ "idle", key_seconds, offsetof(struct tool_binding, server.idle_ns) },
		{ "version", key_text, offsetof(struct tool_binding, server.version) },
		{ "instructions", key_text, offsetof(struct tool_binding, server.instructions) },
		{ "pin", key_checksum, offsetof(struct tool_binding, server.instructions_pin) },
		{ "url", binding_server_url, offsetof(struct tool_binding, server.url) },
		{ "token", key_path, offsetof(struct tool_binding, server.token) },
		{ "secrets", key_path, offsetof(struct tool_binding, server.secrets) },
	};
	if (!reading->binding->server.is_server)
		return key_wrong(
			reading, toml_get(table, key->name), "is for bindings with protocol = \"mcp\"");
	return binding_keys_section(reading, key->name, keys, COUNT(keys), table);
}

const char *tool_lifetime_name(enum tool_lifetime lifetime)
{
	return server_lifetimes[lifetime];
}

const char *tool_era_name(enum mcp_upstream_era era)
{
	return server_eras[era];
}

void binding_write_server(struct buf *out, const struct tool_binding *binding)
{
	const struct tool_server *server = &binding->server;
	size_t start = binding_write_begin_table(out, "[mcp]");
	binding_write_text_unless(out, "era", server_eras[server->era], server_eras[MCP_FIND_OUT]);
	binding_write_text_unless(out, "lifetime", server_lifetimes[server->lifetime],
		server_lifetimes[TOOL_LIFETIME_SESSION]);
	binding_write_seconds_unless(out, "idle", server->idle_ns, TOOL_SERVER_IDLE_NS);
	binding_write_text_unless(out, "version", server->version, "");
	binding_write_text_unless(out, "instructions", server->instructions, "");
	binding_write_text_unless(out, "pin", server->instructions_pin, "");
	binding_write_text_unless(out, "url", server->url, "");
	binding_write_text_unless(out, "token", server->token, "");
	binding_write_text_unless(out, "secrets", server->secrets, "");
	binding_write_end_table(out, start, "[mcp]");
}
